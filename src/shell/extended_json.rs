//! `EJSON`: BSON as extended JSON text and back.

use bson::RawBson;

use super::refusal::{raised, usage};
use super::rows::{native, prelude};
use super::{Call, Class, Reply};
use crate::error::{Error, Result};
use crate::value::extended_json::{Form, Refusal, parse, plain, text};

/// The functions of `EJSON`.
pub(super) const EJSON: Class = Class::functions(
    "EJSON",
    "EJSON",
    "values as extended JSON and back, types and all",
    &[
        native("__text", "(value, options, indent)", "", write),
        prelude("deserialize", "(object, options)", "the values that an object of EJSON tells"),
        native("parse", "(text, options)", "the values that a text of EJSON tells", read),
        native("serialize", "(value, options)", "a value as plain objects of EJSON", serialize),
        prelude("stringify", "(value, replacer, space, options)", "a value as text of EJSON"),
    ],
);

/// What `{relaxed: false}` asks for.
fn form(call: &Call<'_>, at: usize) -> Form {
    let relaxed = call.options(at).and_then(|options| options.get_bool("relaxed").ok());
    if relaxed == Some(false) { Form::Canonical } else { Form::Relaxed }
}

fn refused(refusal: &Refusal) -> Error {
    let class = if refusal.position.is_some() { "SyntaxError" } else { "BSONError" };
    raised(class, refusal.to_string())
}

fn written(call: &Call<'_>, indent: &str) -> Result<String> {
    let value = call.arguments.first().unwrap_or(&RawBson::Undefined);
    text(value.as_raw_bson_ref(), form(call, 1), indent).map_err(|refusal| refused(&refusal))
}

fn write(call: &mut Call<'_>) -> Result<Reply> {
    let indent = call.text(2, "indent")?.unwrap_or_default();
    Ok(Reply::Value(RawBson::String(written(call, indent)?)))
}

fn serialize(call: &mut Call<'_>) -> Result<Reply> {
    let text = written(call, "")?;
    Ok(Reply::Value(plain(&text).map_err(|refusal| refused(&refusal))?))
}

fn read(call: &mut Call<'_>) -> Result<Reply> {
    let form = form(call, 1);
    let Some(text) = call.text(0, "text")? else {
        return Err(usage("EJSON.parse needs a text"));
    };
    let value = parse(text, form).map_err(|refusal| refused(&refusal))?;
    Ok(match form {
        Form::Relaxed => Reply::Value(value),
        Form::Canonical => Reply::Typed(value),
    })
}
