//! Modules by `require` and `import`: what a CommonJS file becomes, and the names that `import` finds in a module.

use rquickjs::function::Opt;
use rquickjs::module::Declared;
use rquickjs::{Ctx, Function, Module, Value};

use super::super::realm::{Realm, realm};
use super::super::{errors, files};

type Result<T> = rquickjs::Result<T>;

/// What stands before the name of a module that is no file of ECMAScript, in the engine's table of modules.
const MADE: &str = "\u{1}module:";

/// The name under which the engine knows a module that JavaScript made: one of Node's, or a CommonJS file.
pub(in crate::script) fn made(id: &str) -> String {
    format!("{MADE}{id}")
}

/// The module of such a name: a default export, and one for each field of the module.
pub(in crate::script) fn declare<'js>(
    ctx: &Ctx<'js>,
    realm: &Realm<'js>,
    name: &str,
) -> Option<Result<Module<'js, Declared>>> {
    let id = name.strip_prefix(MADE)?;
    Some(exports(ctx, realm, name, id))
}

fn exports<'js>(
    ctx: &Ctx<'js>,
    realm: &Realm<'js>,
    name: &str,
    id: &str,
) -> Result<Module<'js, Declared>> {
    let value: Value = realm.core("required")?.call((id,))?;
    let names: Vec<String> = realm.core("exported")?.call((value.clone(),))?;
    let mut source = "const made = import.meta.made; export default made;".to_owned();
    for (at, name) in names.iter().enumerate() {
        source.push_str(&format!(" const _{at} = made.{name}; export {{ _{at} as {name} }};"));
    }
    let module = Module::declare(ctx.clone(), name, source)?;
    module.meta()?.set("made", value)?;
    Ok(module)
}

/// The function that a CommonJS file becomes, and what `__filename` is in it.
pub(super) fn compile<'js>(ctx: Ctx<'js>, path: String) -> Result<Function<'js>> {
    let realm = realm(&ctx);
    if realm.state.is_stopped() {
        return Err(errors::unwind(&ctx, &realm));
    }
    files::compile(&ctx, &realm, path.as_ref())
}

/// The file that calls, or none at the prompt.
pub(super) fn calling(ctx: Ctx<'_>, _: Opt<bool>) -> Option<String> {
    let file = files::calling_file(&ctx, &realm(&ctx))?;
    Some(file.to_string_lossy().into_owned())
}
