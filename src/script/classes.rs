//! The class table as JavaScript: one function a row, on the prototype or global that its class names.

use rquickjs::object::Property;
use rquickjs::{Atom, Class, Ctx, Function, Object, Symbol, Value};

use super::native::Row;
use super::realm::Realm;
use super::{errors, prelude};
use crate::shell::{self, Emulate, Kind, Method, Run};

type Result<T> = rquickjs::Result<T>;

/// The classes whose objects are values of BSON.
const OF_BSON: &[&str] = &[
    "BSONRegExp",
    "BSONSymbol",
    "BinData",
    "Code",
    "DBRef",
    "Double",
    "MaxKey",
    "MinKey",
    "NumberDecimal",
    "NumberInt",
    "NumberLong",
    "ObjectId",
    "Timestamp",
];

/// An empty prototype for each class, so that rows may answer with objects of any of them.
pub(super) fn prototypes<'js>(ctx: &Ctx<'js>) -> Result<Vec<Object<'js>>> {
    let globals = ctx.globals();
    let error: Object = globals.get::<_, Object>("Error")?.get("prototype")?;
    let mut prototypes = Vec::with_capacity(shell::classes().len());
    for class in shell::classes() {
        prototypes.push(match class.kind {
            Kind::Errors => Object::new_proto(ctx.clone(), Some(&error))?,
            Kind::Extensions => globals.get::<_, Object>(class.global)?.get("prototype")?,
            Kind::Instances | Kind::Results | Kind::Functions => Object::new(ctx.clone())?,
        });
    }
    Ok(prototypes)
}

/// Makes the globals of the table that the emulated shell has.
pub(super) fn install<'js>(
    ctx: &Ctx<'js>,
    prototypes: &[Object<'js>],
    emulate: Emulate,
) -> Result<()> {
    let globals = ctx.globals();
    // Functions on a global come last: the global may be a constructor or a function of the table.
    for pass in 0..3 {
        for (index, class) in shell::classes().iter().enumerate() {
            let order = match class.kind {
                Kind::Functions if class.global == "globalThis" => 1,
                Kind::Functions => 2,
                Kind::Instances | Kind::Results | Kind::Errors | Kind::Extensions => 0,
            };
            if order != pass {
                continue;
            }
            // The prototype is filled even where the global is missing: a reply may still make such an object.
            let listed = class.shells.include(emulate);
            let target = match class.kind {
                Kind::Functions if !listed => continue,
                Kind::Functions if class.global == "globalThis" => globals.clone(),
                Kind::Functions => holder(ctx, &globals, class.global)?,
                Kind::Extensions if !listed => continue,
                Kind::Instances | Kind::Results | Kind::Errors | Kind::Extensions => {
                    prototypes[index].clone()
                }
            };
            for (row, method) in class.methods.iter().enumerate() {
                if method.shells.include(emulate) && method.name != "constructor" {
                    define(ctx, &target, index, row, method, class.kind)?;
                }
            }
            if order == 0 && class.kind != Kind::Extensions && !class.global.is_empty() {
                let row = class.methods.iter().position(|method| method.name == "constructor");
                let row = row.filter(|row| class.methods[*row].shells.include(emulate));
                let modern = emulate == Emulate::Mongosh && !class.modern.is_empty();
                let name = if modern { class.modern } else { class.global };
                let function = function(ctx, index, row, name)?;
                if emulate == Emulate::Mongosh && OF_BSON.contains(&class.name) {
                    // How the driver's libraries tell values of BSON.
                    target.prop("_bsontype", Property::from(name))?;
                }
                function.set_constructor(true);
                function.prop("prototype", Property::from(target.clone()))?;
                let hidden = |value| Property::from(value).writable().configurable();
                target.prop("constructor", hidden(function.clone()))?;
                if class.kind == Kind::Errors {
                    target.prop("name", Property::from(class.global).writable().configurable())?;
                }
                if listed {
                    globals.prop(class.global, hidden(function.clone()))?;
                }
                if emulate == Emulate::Mongosh && !class.modern.is_empty() {
                    globals.prop(class.modern, hidden(function))?;
                }
            }
        }
    }
    Ok(())
}

/// The object on a global of that name, made when there is none.
fn holder<'js>(ctx: &Ctx<'js>, globals: &Object<'js>, name: &str) -> Result<Object<'js>> {
    let found: Value = globals.get(name)?;
    if let Some(object) = found.into_object() {
        return Ok(object);
    }
    let made = Object::new(ctx.clone())?;
    globals.prop(name, Property::from(made.clone()).writable().configurable())?;
    Ok(made)
}

fn function<'js>(
    ctx: &Ctx<'js>,
    class: usize,
    row: Option<usize>,
    name: &str,
) -> Result<Function<'js>> {
    let object = Class::instance(ctx.clone(), Row { class, row })?.into_inner().into_value();
    let function = object.into_function().expect("a row's class is callable");
    function.set_name(name)?;
    Ok(function)
}

/// Gives `target` the function of a row; a property row becomes a getter, and a setter that on a global calls the row
/// with the new value and on an object shadows it with an own field.
fn define<'js>(
    ctx: &Ctx<'js>,
    target: &Object<'js>,
    class: usize,
    row: usize,
    method: &'static Method,
    kind: Kind,
) -> Result<()> {
    let function = function(ctx, class, Some(row), method.name)?;
    if !method.is_property() {
        let name = atom(ctx, method.name)?;
        return target.prop(name, Property::from(function).writable().configurable());
    }
    let prelude: Object = ctx.globals().get(prelude::CORE)?;
    let make: Function = prelude.get("property")?;
    make.call((target.clone(), key(ctx, method.name)?, function, kind == Kind::Functions))
}

/// The property that a row's name stands for: `[Symbol.iterator]` is written as JavaScript has it.
fn key<'js>(ctx: &Ctx<'js>, name: &str) -> Result<Value<'js>> {
    Ok(match name {
        "[Symbol.iterator]" => Symbol::iterator(ctx.clone()).into_value(),
        "[Symbol.asyncIterator]" => Symbol::async_iterator(ctx.clone()).into_value(),
        "[Symbol.toPrimitive]" => Symbol::to_primitive(ctx.clone()).into_value(),
        name => rquickjs::String::from_str(ctx.clone(), name)?.into_value(),
    })
}

/// As [`key`], for looking up.
pub(super) fn atom<'js>(ctx: &Ctx<'js>, name: &str) -> Result<Atom<'js>> {
    Atom::from_value(ctx.clone(), &key(ctx, name)?)
}

/// The body of a prelude's row. The file of its class is evaluated when the first of them is called, and the functions
/// of the table are replaced with the bodies themselves where nobody else did.
pub(super) fn body<'js>(
    ctx: &Ctx<'js>,
    realm: &Realm<'js>,
    class: usize,
    method: &Method,
) -> Result<Function<'js>> {
    let table = &shell::classes()[class];
    let known = realm.bodies.borrow().get(&class).cloned();
    let bodies = match known {
        Some(bodies) => bodies,
        None => {
            let bodies = prelude::bodies(ctx, realm, table.name)?;
            realm.bodies.borrow_mut().insert(class, bodies.clone());
            let replace: Function = realm.core("replace")?;
            let target = match table.kind {
                Kind::Functions if table.global == "globalThis" => ctx.globals(),
                Kind::Functions => ctx.globals().get(table.global)?,
                Kind::Instances | Kind::Results | Kind::Errors | Kind::Extensions => {
                    realm.prototypes[class].clone()
                }
            };
            for method in table.methods {
                let runs = matches!(method.run, Run::Prelude) && method.name != "constructor";
                if runs && !method.is_property() {
                    let name = key(ctx, method.name)?;
                    replace.call::<_, ()>((target.clone(), name, bodies.clone()))?;
                }
            }
            bodies
        }
    };
    let body: Value = bodies.get(atom(ctx, method.name)?)?;
    body.into_function().ok_or_else(|| {
        let text = format!("{}.{} has no body in the prelude", table.name, method.name);
        errors::type_error(ctx, realm, &text)
    })
}
