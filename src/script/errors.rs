//! Exceptions: a Rust error becomes one, and an uncaught one becomes an error again, in the user's positions.

use bson::{Document, RawDocumentBuf};
use rquickjs::function::Constructor;
use rquickjs::object::Property;
use rquickjs::{Ctx, Function, Object, Value};

use super::convert::Decoder;
use super::realm::{Realm, class_index, realm};
use crate::error::{CommandError, Error, Raised};
use crate::print::mongo;
use crate::shell::{self, Emulate, Kind};

/// Makes everything unwind, past `catch` and `finally`: an endless loop that the interrupt handler ends at once.
pub(super) fn unwind<'js>(ctx: &Ctx<'js>, realm: &Realm<'js>) -> rquickjs::Error {
    let _ = ctx;
    match realm.core("spin").and_then(|spin: Function| spin.call::<_, ()>(())) {
        Err(error) => error,
        Ok(()) => rquickjs::Error::Exception,
    }
}

/// Throws a `TypeError`.
pub(super) fn type_error<'js>(ctx: &Ctx<'js>, realm: &Realm<'js>, text: &str) -> rquickjs::Error {
    throw_new(ctx, &realm.type_error, text)
}

/// Throws what calling a collection means: a method of that name was meant.
pub(super) fn not_a_function<'js>(ctx: &Ctx<'js>, collection: &str) -> rquickjs::Error {
    let realm = realm(ctx);
    let (class, name) = match collection.rsplit_once('.') {
        Some((_, last)) => ("Collection", last),
        None => ("Database", collection),
    };
    let methods = shell::class(class).map_or(&[][..], |class| class.methods);
    let listed = methods.iter().filter(|method| method.shells.include(realm.state.emulate));
    let hint = match shell::nearest(name, listed.map(|method| method.name)) {
        Some(method) => format!(". Did you mean {method}?"),
        None => String::new(),
    };
    type_error(ctx, &realm, &format!("db.{collection} is not a function{hint}"))
}

/// Throws an `Error`.
pub(super) fn plain_error<'js>(ctx: &Ctx<'js>, realm: &Realm<'js>, text: &str) -> rquickjs::Error {
    throw_new(ctx, &realm.error, text)
}

fn throw_new<'js>(ctx: &Ctx<'js>, class: &Constructor<'js>, text: &str) -> rquickjs::Error {
    match class.construct::<_, Value>((text,)) {
        Ok(error) => ctx.throw(error),
        Err(error) => error,
    }
}

/// Throws what a Rust error is to a script.
pub(super) fn throw<'js>(ctx: &Ctx<'js>, realm: &Realm<'js>, error: Error) -> rquickjs::Error {
    let thrown = match error {
        Error::Interrupted | Error::Exit(_) => {
            realm.state.stop_with(error);
            return unwind(ctx, realm);
        }
        Error::Command(error) => command(ctx, realm, &error),
        Error::Raised(raised) => self::raised(ctx, realm, &raised),
        Error::Syntax(_)
        | Error::Thrown(_)
        | Error::Connection(_)
        | Error::Storage(_)
        | Error::Held(_)
        | Error::Usage(_) => plain(realm, &error.to_string()),
    };
    match thrown {
        Ok(error) => ctx.throw(error.into_value()),
        Err(error) => error,
    }
}

fn plain<'js>(realm: &Realm<'js>, text: &str) -> rquickjs::Result<Object<'js>> {
    realm.error.construct((text,))
}

/// A refused command: in the classic shell an `Error` with a code, in mongosh a `MongoServerError`.
pub(super) fn command<'js>(
    ctx: &Ctx<'js>,
    realm: &Realm<'js>,
    error: &CommandError,
) -> rquickjs::Result<Object<'js>> {
    let object = plain(realm, &error.message)?;
    if realm.state.emulate == Emulate::Mongosh {
        hide(&object, "name", "MongoServerError")?;
        hide(&object, "errmsg", error.message.as_str())?;
        object.set("ok", 0)?;
    }
    object.set("code", error.code.0)?;
    object.set("codeName", error.code.name())?;
    if !error.labels.is_empty() {
        object.set("errorLabels", error.labels.clone())?;
    }
    let mut reply = Document::new();
    reply.insert("ok", 0.0);
    reply.insert("errmsg", error.message.as_str());
    reply.insert("code", error.code.0);
    reply.insert("codeName", error.code.name());
    reply.extend(error.details.clone());
    let reply = raw(&reply);
    let mut decoder = Decoder::served(ctx, realm);
    hide(&object, "errorResponse", decoder.document(&reply)?)?;
    decoder.fields(&raw(&error.details), &object)?;
    Ok(object)
}

/// An error that a method raised in the shell's own words.
fn raised<'js>(
    ctx: &Ctx<'js>,
    realm: &Realm<'js>,
    raised: &Raised,
) -> rquickjs::Result<Object<'js>> {
    let text = raised.text(mongo::quote);
    let object = plain(realm, &text)?;
    Decoder::served(ctx, realm).fields(&raw(&raised.fields), &object)?;
    if raised.class == "MongoBulkWriteError"
        && let Ok(result) = raised.fields.get_document("result")
    {
        // The driver's error tells its counts itself, too.
        let counts = raw(result);
        let mut decoder = Decoder::served(ctx, realm);
        for (name, value) in counts.iter().flatten() {
            hide(&object, name.as_str(), decoder.value(value)?)?;
        }
    }
    if raised.class.starts_with("Mongosh")
        && let Some((code, _)) = text.strip_prefix('[').and_then(|text| text.split_once(']'))
    {
        hide(&object, "code", code)?;
    }
    match class_index(raised.class).filter(|at| shell::classes()[*at].kind == Kind::Errors) {
        Some(at) => object.set_prototype(Some(&realm.prototypes[at]))?,
        None if raised.class != "Error" => hide(&object, "name", raised.class)?,
        None => {}
    }
    Ok(object)
}

/// Gives an object a field that no listing shows.
pub(super) fn hide<'js>(
    object: &Object<'js>,
    name: &str,
    value: impl rquickjs::IntoJs<'js>,
) -> rquickjs::Result<()> {
    object.prop(name, Property::from(value).writable().configurable())
}

fn raw(document: &Document) -> RawDocumentBuf {
    RawDocumentBuf::try_from(document).unwrap_or_default()
}
