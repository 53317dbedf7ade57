//! What an answer is as data: BSON, converted as a save would convert it, or what JSON has for the rest.

use bson::RawBson;
use rquickjs::{Ctx, Value};

use super::native::{Held, Place};
use super::realm::{Realm, realm};
use super::{convert, errors, show};
use crate::print::{Data, Options};

type Result<T> = rquickjs::Result<T>;

/// A value of JavaScript's as data.
#[derive(Debug, PartialEq)]
pub enum Datum {
    /// `undefined`.
    Nothing,
    /// What can be stored.
    Value(RawBson),
    /// The JSON of what cannot.
    Json(String),
}

/// A value as data: never nothing unless it is `undefined`.
pub(super) fn datum<'js>(ctx: &Ctx<'js>, realm: &Realm<'js>, value: &Value<'js>) -> Result<Datum> {
    if value.is_undefined() {
        return Ok(Datum::Nothing);
    }
    if !value.is_symbol() {
        match convert::value(ctx, realm, value) {
            Ok(value) => return Ok(Datum::Value(value)),
            Err(rquickjs::Error::Exception) if !realm.state.is_stopped() => drop(ctx.catch()),
            Err(error) => return Err(error),
        }
    }
    // What the shell holds has no JSON; what a shell shows of it is a text.
    let held = value.as_object().is_some_and(|object| {
        object.as_class::<Held>().is_some() || object.as_class::<Place>().is_some()
    });
    if held {
        let shown = show::value(ctx, realm, value)?;
        let text = realm.state.style().argument(&shown, &Options::SCRIPT);
        return Ok(Datum::Value(RawBson::String(text)));
    }
    let json = ctx.json_stringify(value.clone())?;
    let json = json.map(|json| convert::string(ctx, realm, json.as_value())).transpose()?;
    Ok(Datum::Json(json.unwrap_or_else(|| "null".to_owned())))
}

/// What `print` makes of a value: a text stays as it is.
pub(super) fn argument<'js>(
    ctx: &Ctx<'js>,
    realm: &Realm<'js>,
    data: Data,
    value: &Value<'js>,
) -> Result<String> {
    if value.is_string() {
        return convert::string(ctx, realm, value);
    }
    json(ctx, realm, data, value)
}

/// What `printjson` makes of a value.
pub(super) fn json<'js>(
    ctx: &Ctx<'js>,
    realm: &Realm<'js>,
    data: Data,
    value: &Value<'js>,
) -> Result<String> {
    match datum(ctx, realm, value)? {
        Datum::Nothing => Ok(String::new()),
        Datum::Json(text) => Ok(text),
        Datum::Value(value) => {
            data.argument(value.as_raw_bson_ref()).map_err(|error| errors::throw(ctx, realm, error))
        }
    }
}

/// Values as rows and columns: what `cursor.table()` and `cursor.csv()` answer.
pub(super) fn text<'js>(ctx: &Ctx<'js>, data: Data, values: &Value<'js>) -> Result<String> {
    let realm = realm(ctx);
    let values = convert::value(ctx, &realm, values)?;
    let text = data.value(values.as_raw_bson_ref());
    text.map(Option::unwrap_or_default).map_err(|error| errors::throw(ctx, &realm, error))
}
