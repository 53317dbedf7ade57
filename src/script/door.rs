//! The one native door: a row of the class table is called with JavaScript values and answers with one.
//!
//! The door never runs a script while the shell is borrowed: arguments are converted before, the reply after.

use std::rc::Rc;

use bson::{RawBson, RawDocument};
use rquickjs::function::{Args, Params};
use rquickjs::object::Property;
use rquickjs::{Ctx, Function, Object, Value};

use super::convert::{self, Decoder};
use super::native::{Handle, Held, Place, Via, number};
use super::realm::{Realm, class_index, realm};
use super::{classes, errors, show};
use crate::shell::{self, Call, Kind, Method, Receiver, Reply, Run};

type Result<T> = rquickjs::Result<T>;

/// Runs a row. `row` is `None` for the global of a class without a constructor.
pub(super) fn call<'js>(
    params: &Params<'_, 'js>,
    class: usize,
    row: Option<usize>,
) -> Result<Value<'js>> {
    let ctx = params.ctx();
    let realm = realm(ctx);
    if realm.state.is_stopped() {
        return Err(errors::unwind(ctx, &realm));
    }
    let table = &shell::classes()[class];
    let Some(method) = row.map(|row| &table.methods[row]) else {
        let text = format!("{} cannot be called", table.global);
        return Err(errors::type_error(ctx, &realm, &text));
    };
    match method.run {
        Run::Native(run) => native(params, &realm, class, method, run),
        Run::Show(show) => show::call(ctx, &realm, show, &arguments(params).collect::<Vec<_>>()),
        Run::Prelude => {
            let body = classes::body(ctx, &realm, class, method)?;
            if params.is_constructor() {
                // `this` is `new.target` then, no object yet.
                return forward(params, &body, Value::new_undefined(ctx.clone()));
            }
            forward(params, &body, params.this())
        }
    }
}

/// Calls `body` with the arguments of this call.
fn forward<'js>(
    params: &Params<'_, 'js>,
    body: &Function<'js>,
    this: Value<'js>,
) -> Result<Value<'js>> {
    let mut args = Args::new(params.ctx().clone(), params.len());
    args.this(this)?;
    for argument in arguments(params) {
        args.push_arg(argument)?;
    }
    body.call_arg(args)
}

/// The arguments of a call.
fn arguments<'a, 'js>(params: &'a Params<'_, 'js>) -> impl Iterator<Item = Value<'js>> + 'a {
    (0..params.len()).filter_map(|index| params.arg(index))
}

fn native<'js>(
    params: &Params<'_, 'js>,
    realm: &Realm<'js>,
    class: usize,
    method: &'static Method,
    run: fn(&mut Call<'_>) -> crate::Result<Reply>,
) -> Result<Value<'js>> {
    let ctx = params.ctx();
    let kind = shell::classes()[class].kind;
    let (this, via) = if kind == Kind::Functions || method.name == "constructor" {
        (Receiver::None, None)
    } else {
        receiver(ctx, realm, class, method, &params.this())?
    };
    let mut arguments = Vec::with_capacity(params.len());
    for index in 0..params.len() {
        let argument = params.arg(index).unwrap_or_else(|| Value::new_undefined(ctx.clone()));
        arguments.push(match collection(realm, &argument).filter(|_| kind == Kind::Functions) {
            Some(name) => RawBson::String(name),
            None => convert::value(ctx, realm, &argument)?,
        });
    }
    let reply = {
        let Ok(mut shell) = realm.state.shell.try_borrow_mut() else {
            return Err(errors::type_error(ctx, realm, "the shell is busy"));
        };
        for handle in realm.state.released.take() {
            shell.release(handle);
        }
        let road = match &this {
            Receiver::Handle(handle) => shell.set_out(*handle),
            Receiver::Database(_) | Receiver::Collection(..) => shell.set_out(number(&via)),
            Receiver::None | Receiver::Value(_) => Ok(()),
        };
        let reply = road.and_then(|()| {
            run(&mut Call { shell: &mut shell, method: method.name, this, arguments })
        });
        shell.return_home();
        reply
    };
    match reply {
        Ok(reply) => answer(ctx, realm, reply, &via, || params.this()),
        Err(error) => Err(errors::throw(ctx, realm, error)),
    }
}

/// The name of a collection of the current database: what functions that want a collection's name can be given instead.
fn collection(realm: &Realm<'_>, value: &Value<'_>) -> Option<String> {
    let object = value.as_function()?;
    let place = object.as_class::<Place>()?;
    let place = place.borrow();
    let shell = realm.state.shell.try_borrow().ok()?;
    (*place.db == *shell.db).then(|| place.name.to_string())
}

/// Whose method is called, and what objects that it answers with belong to.
fn receiver<'js>(
    ctx: &Ctx<'js>,
    realm: &Realm<'js>,
    class: usize,
    method: &Method,
    this: &Value<'js>,
) -> Result<(Receiver, Via)> {
    let Some(object) = this.as_object() else {
        if this.is_null() || this.is_undefined() {
            let text =
                format!("{} was called without its {}", method.name, shell::classes()[class].name);
            return Err(errors::type_error(ctx, realm, &text));
        }
        return Ok((Receiver::Value(convert::value(ctx, realm, this)?), None));
    };
    if object.is_function() {
        if let Some(place) = object.as_class::<Place>() {
            let place = place.borrow();
            let receiver = Receiver::Collection(place.db.to_string(), place.name.to_string());
            return Ok((receiver, place.via.clone()));
        }
    } else if let Some(held) = object.as_class::<Held>() {
        return Ok(match &*held.borrow() {
            Held::Bson(value) => (Receiver::Value(value.clone()), None),
            Held::Handle(handle) => {
                let number = handle.number.number;
                let via = match shell::classes()[handle.class].name {
                    "Mongo" if number == 0 => None,
                    "Mongo" | "Session" => Some(handle.clone()),
                    _ => handle.via.clone(),
                };
                (Receiver::Handle(number), via)
            }
            Held::Database(name, via) => (Receiver::Database(name.to_string()), via.clone()),
            Held::Origin(_) => (Receiver::None, None),
        });
    }
    // A result is an ordinary object of its class: its fields are what the method sees.
    let value = match shell::classes()[class].kind {
        Kind::Results | Kind::Errors | Kind::Instances => {
            RawBson::Document(convert::document(ctx, realm, object)?)
        }
        Kind::Functions | Kind::Extensions => convert::value(ctx, realm, this)?,
    };
    Ok((Receiver::Value(value), None))
}

/// What a reply becomes.
pub(super) fn answer<'js>(
    ctx: &Ctx<'js>,
    realm: &Realm<'js>,
    reply: Reply,
    via: &Via,
    this: impl FnOnce() -> Value<'js>,
) -> Result<Value<'js>> {
    Ok(match reply {
        Reply::Nothing => Value::new_undefined(ctx.clone()),
        Reply::Value(value) => Decoder::built(ctx, realm).value(value.as_raw_bson_ref())?,
        Reply::Typed(value) => Decoder::built(ctx, realm).typed(&value)?,
        Reply::Served(value) => Decoder::served(ctx, realm).value(value.as_raw_bson_ref())?,
        Reply::Documents(documents) => {
            let mut decoder = Decoder::served(ctx, realm);
            let array = rquickjs::Array::new(ctx.clone())?;
            for (index, document) in documents.iter().enumerate() {
                array.set(index, decoder.document(document)?)?;
            }
            array.into_value()
        }
        Reply::Instance(class, fields) => instance(ctx, realm, class, &fields)?.into_value(),
        Reply::Veiled { class, fields, hidden } => {
            let object = instance(ctx, realm, class, &fields)?;
            let mut decoder = Decoder::built(ctx, realm);
            for (name, value) in hidden.iter().flatten() {
                let value = decoder.value(value)?;
                object.prop(name.as_str(), Property::from(value).writable().configurable())?;
            }
            object.into_value()
        }
        Reply::Handle(class, number) => {
            realm.handle(handle(realm, class, number, via))?.into_value()
        }
        Reply::Connection => {
            let session = |via: &Rc<Handle>| shell::classes()[via.class].name == "Session";
            let connection = match via {
                Some(via) if session(via) => via.via.clone(),
                via => via.clone(),
            };
            let own = || handle(realm, "Mongo", 0, &None);
            realm.handle(connection.unwrap_or_else(own))?.into_value()
        }
        Reply::Database(name) => realm.database(&name, via)?.into_value(),
        Reply::DatabaseAt(number, name) => {
            let via = Some(handle(realm, "Mongo", number, &None));
            realm.database(&name, &via)?.into_value()
        }
        Reply::Collection(db, name) => realm.collection(&db, &name, via)?.into_value(),
        Reply::This => this(),
    })
}

/// What stands for something that the shell holds, as an object of a class.
fn handle(realm: &Realm<'_>, class: &str, number: u32, via: &Via) -> Rc<Handle> {
    let class = class_index(class).unwrap_or_default();
    Rc::new(Handle { class, number: realm.state.number(number), via: via.clone() })
}

/// A new object of a class with own fields.
fn instance<'js>(
    ctx: &Ctx<'js>,
    realm: &Realm<'js>,
    class: &str,
    fields: &RawDocument,
) -> Result<Object<'js>> {
    let object = Object::new_proto(ctx.clone(), Some(&realm.prototype(class)))?;
    Decoder::built(ctx, realm).fields(fields, &object)?;
    Ok(object)
}
