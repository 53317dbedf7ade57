//! Everything that is done once, before the first script: classes, globals, the accessor `db`.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use rquickjs::function::{Constructor, Func, Rest};
use rquickjs::object::{Accessor, Property};
use rquickjs::{Class, Ctx, IntoJs, Object, Symbol, Value};

use super::limits::Limits;
use super::native::{Held, Place, Row, number};
use super::realm::{Realm, State, realm};
use super::sources::Sources;
use super::workers::{self, Workers};
use super::{classes, datum, errors, files, jobs, node, prelude, show, thrown};
use crate::print::{self, Data, Printer};
use crate::shell::{Emulate, Shell, Show};

type Result<T> = rquickjs::Result<T>;

impl State {
    /// The Rust side of a world over `shell`.
    pub(super) fn new(shell: Shell, limits: Limits) -> Self {
        Self {
            limits,
            emulate: shell.emulate,
            printer: shell
                .given
                .format
                .as_deref()
                .and_then(print::printer)
                .unwrap_or_else(|| Printer::Shell(print::emulated(shell.emulate))),
            interrupt: shell.interrupt.clone(),
            shell: RefCell::new(shell),
            halt: RefCell::new(None),
            halted: Rc::new(Cell::new(false)),
            released: Rc::default(),
            numbers: RefCell::default(),
            loaded: RefCell::default(),
            sources: RefCell::new(Sources::default()),
            workers: Workers::default(),
        }
    }
}

/// Makes the world.
pub(super) fn install(ctx: &Ctx<'_>, state: &Rc<State>) -> Result<()> {
    let globals = ctx.globals();
    let core = prelude::core(ctx, natives(ctx, state.emulate)?)?;
    let prototypes = classes::prototypes(ctx)?;
    for (class, prototype) in crate::shell::classes().iter().zip(&prototypes) {
        let behind = match class.name {
            "Collection" | "Database" => "unknown",
            "Cursor" if state.emulate == Emulate::Mongo => "indexed",
            _ => continue,
        };
        prototype.set_prototype(Some(&core.get(behind)?))?;
    }
    globals.prop(prelude::CORE, Property::from(core.clone()).configurable())?;
    classes::install(ctx, &prototypes, state.emulate)?;
    globals.remove(prelude::CORE)?;
    let prototype_of = |name: &str| globals.get::<_, Object>(name)?.get::<_, Object>("prototype");
    let object = prototype_of("Object")?;
    let served =
        Class::instance_proto(Held::Origin(None), object.clone())?.into_inner().into_value();
    let stored = ctx.store_userdata(Realm {
        state: Rc::clone(state),
        prototypes,
        other: Object::new(ctx.clone())?,
        get_time: prototype_of("Date")?.get("getTime")?,
        date_prototype: prototype_of("Date")?,
        date: globals.get::<_, Constructor>("Date")?,
        regexp: globals.get::<_, Constructor>("RegExp")?,
        error: globals.get::<_, Constructor>("Error")?,
        type_error: globals.get::<_, Constructor>("TypeError")?,
        origin: Symbol::with_description(ctx.clone(), "origin")?.as_atom(),
        served,
        core,
        read: Cell::new(0),
        viewed: RefCell::default(),
        rejected: RefCell::default(),
        timers: RefCell::default(),
        databases: RefCell::new(HashMap::new()),
        home: RefCell::default(),
        bodies: RefCell::new(HashMap::new()),
        object,
    });
    stored.map_err(|_| rquickjs::Error::Unknown)?;
    give_db(ctx)?;
    let given = state.shell.borrow().given.clone();
    globals.prop("scriptArgs", Property::from(given.arguments).writable().configurable())?;
    realm(ctx).core("remember")?.call::<_, ()>(())?;
    // What the user sets is the user's, whatever had the name before.
    for (name, value) in given.variables {
        let own = Property::from(value).writable().configurable().enumerable();
        globals.prop(name, own)?;
    }
    Ok(())
}

/// Makes `db` the current database, whatever it was.
pub(super) fn give_db(ctx: &Ctx<'_>) -> Result<()> {
    let db = Accessor::from(current).set(become_current).configurable().enumerable();
    ctx.globals().prop("db", db)
}

/// The natives that the core is built on.
fn natives<'js>(ctx: &Ctx<'js>, emulate: Emulate) -> Result<Object<'js>> {
    let natives = Object::new(ctx.clone())?;
    natives.set("mongosh", emulate == Emulate::Mongosh)?;
    natives.set("wait", Func::from(wait))?;
    natives.set("make", Func::from(make))?;
    natives.set("isRow", Func::from(is_row))?;
    natives.set("isHeld", Func::from(is_held))?;
    natives.set("load", Func::from(files::load))?;
    natives.set("stack", Func::from(stack))?;
    natives.set("place", Func::from(place))?;
    natives.set("print", Func::from(|ctx, values| show(ctx, Show::Print, values)))?;
    natives.set("csv", Func::from(|ctx, values| datum::text(&ctx, Data::Csv, &values)))?;
    natives.set("table", Func::from(|ctx, values| datum::text(&ctx, Data::Table, &values)))?;
    natives.set("recall", Func::from(|ctx| show::recall(&ctx, &realm(&ctx))))?;
    natives.set("tojson", Func::from(|ctx, values| show(ctx, Show::ToJson, values)))?;
    natives.set("node", Func::from(node::natives))?;
    natives.set("readModule", Func::from(node::module))?;
    workers::install(&natives)?;
    Ok(natives)
}

/// What a promise is settled with.
fn wait<'js>(ctx: Ctx<'js>, promise: Value<'js>) -> Result<Value<'js>> {
    match promise.as_promise() {
        Some(promise) => jobs::wait(&ctx, &realm(&ctx), promise),
        None => Ok(promise),
    }
}

/// A stack of the engine's in the user's positions, as the emulated shell writes it.
fn stack(ctx: Ctx<'_>, stack: String) -> String {
    let state = &realm(&ctx).state;
    let frames = thrown::frames(&state.sources.borrow(), &stack);
    match state.emulate {
        Emulate::Mongo => frames.iter().map(|frame| format!("{}\n", frame.classic())).collect(),
        Emulate::Mongosh => thrown::stack_text(&frames),
    }
}

/// Where a stack begins: its file, line or column.
fn place<'js>(ctx: Ctx<'js>, stack: String, what: String) -> Result<Value<'js>> {
    let frames = thrown::frames(&realm(&ctx).state.sources.borrow(), &stack);
    match (frames.first(), what.as_str()) {
        (Some(frame), "fileName") => frame.file.as_str().into_js(&ctx),
        (Some(frame), "lineNumber") => frame.line.into_js(&ctx),
        (Some(frame), _) => frame.column.into_js(&ctx),
        (None, _) => Ok(Value::new_undefined(ctx)),
    }
}

/// A function that shows any values, for the bodies of the prelude.
fn show<'js>(ctx: Ctx<'js>, show: Show, values: Rest<Value<'js>>) -> Result<Value<'js>> {
    show::call(&ctx, &realm(&ctx), show, &values.0)
}

/// The collection that an unknown name of a database or collection is.
fn make<'js>(ctx: Ctx<'js>, owner: Value<'js>, name: String) -> Result<Value<'js>> {
    let realm = realm(&ctx);
    let Some(object) = owner.as_object() else { return Ok(Value::new_undefined(ctx.clone())) };
    if object.is_function() {
        if let Some(place) = object.as_class::<Place>() {
            let place = place.borrow();
            let name = format!("{}.{name}", place.name);
            return Ok(realm.collection(&place.db, &name, &place.via)?.into_value());
        }
    } else if let Some(held) = object.as_class::<Held>()
        && let Held::Database(db, via) = &*held.borrow()
    {
        return Ok(realm.collection(db, &name, via)?.into_value());
    }
    Ok(Value::new_undefined(ctx.clone()))
}

/// Whether a value is a function of the table.
fn is_row(value: Value<'_>) -> bool {
    value.as_function().is_some_and(|function| function.as_class::<Row>().is_some())
}

/// Whether a value is one of BSON's or of the shell's, with no fields of its own.
fn is_held(value: Value<'_>) -> bool {
    value.as_object().is_some_and(|object| {
        object.as_class::<Held>().is_some() || object.as_class::<Place>().is_some()
    })
}

/// What `db` is.
fn current<'js>(ctx: Ctx<'js>) -> Result<Value<'js>> {
    let realm = realm(&ctx);
    let Ok(shell) = realm.state.shell.try_borrow() else {
        return Ok(Value::new_undefined(ctx.clone()));
    };
    if shell.db.is_empty() {
        let error = shell.no_database();
        drop(shell);
        return Err(errors::throw(&ctx, &realm, error));
    }
    let home = realm.home.borrow().clone();
    Ok(realm.database(&shell.db, &home)?.into_value())
}

/// What `db = x` does: a database becomes the current one, as `use` does.
fn become_current<'js>(ctx: Ctx<'js>, value: Value<'js>) -> Result<()> {
    let realm = realm(&ctx);
    let held = value.as_object().filter(|object| !object.is_function());
    if let Some(held) = held.and_then(|object| object.as_class::<Held>())
        && let Held::Database(name, via) = &*held.borrow()
    {
        if let Ok(mut shell) = realm.state.shell.try_borrow_mut() {
            shell.db = name.to_string();
            shell.settle(number(via));
            realm.home.replace(via.clone());
        }
        return Ok(());
    }
    // Anything else replaces the accessor: `db` is the user's own variable then.
    let own = Property::from(value).writable().configurable().enumerable();
    ctx.globals().prop("db", own)
}
