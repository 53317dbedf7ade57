//! The JavaScript of the shell's own: the core that is evaluated at the start, and the bodies of prelude rows.
//!
//! A file of bodies is one object literal, a method for each row of its class that the table marks as the prelude's.
//! It sees `shell`, the functions of the core. It is evaluated when the first of its rows is called.

use rquickjs::context::EvalOptions;
use rquickjs::{Ctx, Function, Object, Value};

use super::realm::Realm;
use super::sources::INTERNAL;

/// The global that carries the core's functions while the setup runs.
pub(super) const CORE: &str = "\u{1}core";

/// The core that is read at each start.
const CORE_SOURCE: &str = include_str!("prelude/core.js");

/// Further files of the core, each read when one of its functions is asked for.
const LATER: &[(&str, &str)] = &[
    ("core_view", include_str!("prelude/core_view.js")),
    ("core_cursors", include_str!("prelude/core_cursors.js")),
    ("core_names", include_str!("prelude/core_names.js")),
    ("core_workers", include_str!("prelude/core_workers.js")),
    ("core_results", include_str!("prelude/core_results.js")),
    ("core_modules", include_str!("prelude/core_modules.js")),
];

/// The bodies of each class's prelude rows, sorted by class: `("Cursor", include_str!("prelude/cursor.js"))`.
const BODIES: &[(&str, &str)] = &[
    ("ArrayFunctions", include_str!("prelude/array_functions.js")),
    ("Assert", include_str!("prelude/assert.js")),
    ("BinData", include_str!("prelude/bin_data.js")),
    ("Bulk", include_str!("prelude/bulk.js")),
    ("BulkWriteError", include_str!("prelude/bulk_write_error.js")),
    ("BulkWriteResult", include_str!("prelude/bulk_write_result.js")),
    ("ChangeStream", include_str!("prelude/change_stream.js")),
    ("Collection", include_str!("prelude/collection.js")),
    ("CommandCursor", include_str!("prelude/command_cursor.js")),
    ("Console", include_str!("prelude/console.js")),
    ("Cursor", include_str!("prelude/cursor.js")),
    ("DBRef", include_str!("prelude/db_ref.js")),
    ("Database", include_str!("prelude/database.js")),
    ("DateFunctions", include_str!("prelude/date_functions.js")),
    ("EJSON", include_str!("prelude/ejson.js")),
    ("Global", include_str!("prelude/global.js")),
    ("MathFunctions", include_str!("prelude/math_functions.js")),
    ("Node", include_str!("prelude/node.js")),
    ("NodeAssert", include_str!("prelude/node_assert.js")),
    ("NumberLong", include_str!("prelude/number_long.js")),
    ("NumberMethods", include_str!("prelude/number_methods.js")),
    ("ObjectFunctions", include_str!("prelude/object_functions.js")),
    ("ObjectId", include_str!("prelude/object_id.js")),
    ("RandomFunctions", include_str!("prelude/random_functions.js")),
    ("RegExpFunctions", include_str!("prelude/reg_exp_functions.js")),
    ("Session", include_str!("prelude/session.js")),
    ("StringMethods", include_str!("prelude/string_methods.js")),
    ("TestFunctions", include_str!("prelude/test_functions.js")),
    ("TestHelpers", include_str!("prelude/test_helpers.js")),
    ("WriteCommandError", include_str!("prelude/write_command_error.js")),
    ("WriteConcernError", include_str!("prelude/write_concern_error.js")),
    ("WriteError", include_str!("prelude/write_error.js")),
    ("WriteResult", include_str!("prelude/write_result.js")),
];

/// The text of a class's bodies.
pub(super) fn source(class: &str) -> Option<&'static str> {
    BODIES.binary_search_by_key(&class, |(class, _)| class).ok().map(|at| BODIES[at].1)
}

/// The classes that have bodies.
#[cfg(test)]
pub(super) fn classes() -> impl Iterator<Item = &'static str> {
    BODIES.iter().map(|(class, _)| *class)
}

/// What every file but the first sees instead of the globals of these names, which a script may have given another
/// meaning by the time the file is read.
const GLOBALS: &str = "const { Array, Date, Error, JSON, Map, Math, Number, Object, Promise, Reflect, RegExp, Set, \
                       String, Symbol, TypeError } = shell.globals;";

fn evaluate<'js>(
    ctx: &Ctx<'js>,
    name: &str,
    globals: &str,
    source: &str,
) -> rquickjs::Result<Function<'js>> {
    let mut options = EvalOptions::default();
    options.filename = Some(format!("{INTERNAL}{name}"));
    let source = format!("(function (shell) {{ {globals} return (\n{source}\n); }})");
    ctx.eval_with_options(source, options)
}

/// Evaluates the core.
pub(super) fn core<'js>(ctx: &Ctx<'js>, natives: Object<'js>) -> rquickjs::Result<Object<'js>> {
    evaluate(ctx, "core", "", CORE_SOURCE)?.call((natives,))
}

/// Reads the next file of the core that was not read yet; `false` when there is none.
pub(super) fn read_on<'js>(ctx: &Ctx<'js>, realm: &Realm<'js>) -> rquickjs::Result<bool> {
    let at = realm.read.get();
    let Some((name, source)) = LATER.get(at) else { return Ok(false) };
    realm.read.set(at + 1);
    let functions: Object = evaluate(ctx, name, GLOBALS, source)?.call((realm.core.clone(),))?;
    realm.core.get::<_, Function>("adopt")?.call::<_, ()>((functions,))?;
    Ok(true)
}

/// Evaluates a module of Node's.
pub(super) fn module<'js>(
    ctx: &Ctx<'js>,
    realm: &Realm<'js>,
    name: &str,
    source: &str,
) -> rquickjs::Result<Value<'js>> {
    evaluate(ctx, name, GLOBALS, source)?.call((realm.core.clone(),))
}

/// Evaluates the bodies of a class; an empty object when there are none.
pub(super) fn bodies<'js>(
    ctx: &Ctx<'js>,
    realm: &Realm<'js>,
    class: &str,
) -> rquickjs::Result<Object<'js>> {
    match source(class) {
        Some(source) => {
            while read_on(ctx, realm)? {}
            evaluate(ctx, class, GLOBALS, source)?.call((realm.core.clone(),))
        }
        None => Object::new(ctx.clone()),
    }
}
