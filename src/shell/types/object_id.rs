//! `ObjectId`.

use bson::oid::ObjectId;
use bson::{RawBson, RawBsonRef, rawdoc};

use super::{text, this};
use crate::error::{Error, Result};
use crate::shell::command::whole;
use crate::shell::refusal::{raised, usage};
use crate::shell::rows::native;
use crate::shell::{Call, Class, Emulate, Reply, Shell, Shells};

/// `ObjectId("507f1f77bcf86cd799439011")`.
pub(in crate::shell) const OBJECT_ID: Class = Class::instances(
    "ObjectId",
    "ObjectId",
    "twelve bytes: a time, a process, a count",
    &[
        native("constructor", "(hex)", "a new one, or the one of 24 hex digits", construct),
        native("equals", "(other)", "whether both are the same", equals),
        native("getTimestamp", "()", "when it was made", timestamp),
        native("isObjectId", "", "true", is_object_id).only(Shells::Mongo),
        native("str", "", "its 24 hex digits", hex).only(Shells::Mongo),
        native("toHexString", "()", "its 24 hex digits", hex).only(Shells::Mongosh),
        native("toJSON", "()", "what JSON.stringify writes", to_json),
        native("toString", "()", "its text", to_string),
        native("tojson", "()", "its text", to_string).only(Shells::Mongo),
        native("valueOf", "()", "its 24 hex digits", hex).only(Shells::Mongo),
    ],
);

/// Functions on `ObjectId` itself.
pub(in crate::shell) const OBJECT_ID_FUNCTIONS: Class = Class::functions(
    "ObjectIdFunctions",
    "ObjectId",
    "ways to make an ObjectId",
    &[
        native("createFromHexString", "(hex)", "the one of 24 hex digits", construct)
            .only(Shells::Mongosh),
        native("createFromTime", "(seconds)", "one that sorts by that time", from_seconds)
            .only(Shells::Mongosh),
        native("fromDate", "(date)", "one that sorts by that date", from_date).only(Shells::Mongo),
        native("isValid", "(value)", "whether a value can be made one", is_valid),
    ],
);

fn refused(shell: &Shell, classic: &str) -> Error {
    let other = "input must be a 24 character hex string, 12 byte Uint8Array, or an integer";
    shell.wrong(classic, raised("BSONError", other))
}

fn construct(call: &mut Call<'_>) -> Result<Reply> {
    let id = match call.value(0) {
        None => ObjectId::new(),
        Some(RawBson::ObjectId(id)) => *id,
        Some(RawBson::String(hex)) if hex.len() == 24 => ObjectId::parse_str(hex)
            .map_err(|_| refused(call.shell, "invalid object id: not hex"))?,
        Some(RawBson::Binary(bytes)) if bytes.bytes.len() == 12 => {
            let mut id = [0; 12];
            id.copy_from_slice(&bytes.bytes);
            ObjectId::from_bytes(id)
        }
        Some(number @ (RawBson::Int32(_) | RawBson::Double(_)))
            if call.shell.emulate == Emulate::Mongosh =>
        {
            let seconds = whole(number.as_raw_bson_ref()).unwrap_or(0);
            let mut id = ObjectId::new().bytes();
            id[..4].copy_from_slice(&seconds_bytes(seconds));
            ObjectId::from_bytes(id)
        }
        Some(_) => return Err(refused(call.shell, "invalid object id: length")),
    };
    Ok(Reply::Typed(RawBson::ObjectId(id)))
}

/// The low 32 bits of a time, as the id holds them.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn seconds_bytes(seconds: i64) -> [u8; 4] {
    (seconds as u32).to_be_bytes()
}

fn of_seconds(seconds: i64) -> Reply {
    let mut id = [0; 12];
    id[..4].copy_from_slice(&seconds_bytes(seconds));
    Reply::Typed(RawBson::ObjectId(ObjectId::from_bytes(id)))
}

fn from_seconds(call: &mut Call<'_>) -> Result<Reply> {
    match call.value(0).and_then(|value| whole(value.as_raw_bson_ref())) {
        Some(seconds) => Ok(of_seconds(seconds)),
        None => Err(usage("createFromTime needs seconds since 1970")),
    }
}

fn from_date(call: &mut Call<'_>) -> Result<Reply> {
    match call.value(0) {
        Some(RawBson::DateTime(date)) => Ok(of_seconds(date.timestamp_millis().div_euclid(1000))),
        _ => Err(usage("Cannot create ObjectId from an argument that is not a Date")),
    }
}

fn is_valid(call: &mut Call<'_>) -> Result<Reply> {
    let valid = match call.value(0) {
        Some(RawBson::ObjectId(_) | RawBson::Int32(_) | RawBson::Double(_)) => true,
        Some(RawBson::String(hex)) => ObjectId::parse_str(hex).is_ok(),
        _ => false,
    };
    Ok(Reply::Value(RawBson::Boolean(valid)))
}

fn own(call: &Call<'_>) -> Result<ObjectId> {
    match this(call)? {
        RawBson::ObjectId(id) => Ok(*id),
        _ => Err(usage(format!("{} must be called on an ObjectId", call.method))),
    }
}

fn equals(call: &mut Call<'_>) -> Result<Reply> {
    let id = own(call)?;
    let same = match call.value(0).map(RawBson::as_raw_bson_ref) {
        Some(RawBsonRef::ObjectId(other)) => other == id,
        Some(RawBsonRef::String(hex)) => id.to_hex().eq_ignore_ascii_case(hex),
        _ => false,
    };
    Ok(Reply::Value(RawBson::Boolean(same)))
}

fn timestamp(call: &mut Call<'_>) -> Result<Reply> {
    Ok(Reply::Value(RawBson::DateTime(own(call)?.timestamp())))
}

fn is_object_id(_: &mut Call<'_>) -> Result<Reply> {
    Ok(Reply::Value(RawBson::Boolean(true)))
}

fn hex(call: &mut Call<'_>) -> Result<Reply> {
    Ok(text(own(call)?.to_hex()))
}

fn to_json(call: &mut Call<'_>) -> Result<Reply> {
    let hex = own(call)?.to_hex();
    Ok(match call.shell.emulate {
        Emulate::Mongo => Reply::Value(RawBson::Document(rawdoc! { "$oid": hex })),
        Emulate::Mongosh => text(hex),
    })
}

fn to_string(call: &mut Call<'_>) -> Result<Reply> {
    let hex = own(call)?.to_hex();
    Ok(text(match call.shell.emulate {
        Emulate::Mongo => format!("ObjectId(\"{hex}\")"),
        Emulate::Mongosh => hex,
    }))
}
