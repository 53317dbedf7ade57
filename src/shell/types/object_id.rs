//! `ObjectId`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bson::oid::ObjectId;
use bson::{RawBson, RawBsonRef, rawdoc};

use super::{text, this};
use crate::error::{Error, Result};
use crate::shell::command::whole;
use crate::shell::refusal::{raised, usage};
use crate::shell::rows::{native, prelude};
use crate::shell::{Call, Class, Emulate, Reply, Shell, Shells};

/// `ObjectId("507f1f77bcf86cd799439011")`.
pub(in crate::shell) const OBJECT_ID: Class = Class::instances(
    "ObjectId",
    "ObjectId",
    "twelve bytes: a time, a process, a count",
    &[
        native("constructor", "(hex)", "a new one, or the one of 24 hex digits", construct),
        native("equals", "(other)", "whether both are the same", equals),
        native("explain", "()", "its bytes and what they mean", explain),
        native("getTimestamp", "()", "when it was made", timestamp),
        prelude("id", "", "its twelve bytes as a Buffer").only(Shells::Mongosh),
        native("inspect", "()", "its text", inspected).only(Shells::Mongosh),
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
        native("createFromBase64", "(base64)", "the one of 16 digits of base64", from_base64)
            .only(Shells::Mongosh),
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

/// `ObjectId.createFromBase64("UH8fd7z4bNeZQ5AR")`.
fn from_base64(call: &mut Call<'_>) -> Result<Reply> {
    let digits = call.text(0, "base64")?.unwrap_or_default();
    let bytes = STANDARD.decode(digits).ok();
    match bytes.and_then(|bytes| <[u8; 12]>::try_from(bytes).ok()) {
        Some(bytes) => Ok(Reply::Typed(RawBson::ObjectId(ObjectId::from_bytes(bytes)))),
        None => Err(raised("BSONError", "base64 string must be of length 16")),
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

/// Both layouts there are: the present one, and that of 2010, which can still be met in old collections.
fn explain(call: &mut Call<'_>) -> Result<Reply> {
    let id = own(call)?;
    for line in layouts(id) {
        call.shell.output.line(&line)?;
    }
    Ok(Reply::Nothing)
}

fn layouts(id: ObjectId) -> Vec<String> {
    let (bytes, hex) = (id.bytes(), id.to_hex());
    let seconds = u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    let process = u16::from_be_bytes([bytes[7], bytes[8]]);
    let count = u32::from_be_bytes([0, bytes[9], bytes[10], bytes[11]]);
    let moment = id.timestamp().try_to_rfc3339_string().unwrap_or_default();
    let time = format!("{seconds} seconds since 1970: {moment}");
    let row = |from: usize, to: usize, name: &str, meaning: &str| {
        format!("  {:<12}{name:<9}{meaning}", &hex[2 * from..2 * to])
    };
    vec![
        "the present layout: 4 bytes time, 5 random, 3 counter".to_owned(),
        row(0, 4, "time", &time),
        row(4, 9, "random", "chosen once by the process that made it"),
        row(9, 12, "counter", &format!("{count}, which began at a random number")),
        "the layout of 2010: 4 bytes time, 3 machine, 2 process, 3 counter".to_owned(),
        row(0, 4, "time", &time),
        row(4, 7, "machine", "the beginning of a digest of its name"),
        row(
            7,
            9,
            "process",
            &format!("{process}, or {} with its bytes swapped", process.swap_bytes()),
        ),
        row(9, 12, "counter", &count.to_string()),
    ]
}

fn is_object_id(_: &mut Call<'_>) -> Result<Reply> {
    Ok(Reply::Value(RawBson::Boolean(true)))
}

fn hex(call: &mut Call<'_>) -> Result<Reply> {
    Ok(text(own(call)?.to_hex()))
}

/// What Node's inspector calls: the digits in the constructor's words.
fn inspected(call: &mut Call<'_>) -> Result<Reply> {
    Ok(text(format!("ObjectId(\"{}\")", own(call)?.to_hex())))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_layouts_are_told_byte_by_byte() {
        let id = ObjectId::parse_str("507f1f77bcf86cd799439011").expect("24 digits");
        let lines = layouts(id);
        assert_eq!(
            lines[1],
            "  507f1f77    time     1350508407 seconds since 1970: 2012-10-17T21:13:27Z"
        );
        assert_eq!(lines[2], "  bcf86cd799  random   chosen once by the process that made it");
        assert_eq!(lines[3], "  439011      counter  4427793, which began at a random number");
        assert_eq!(lines[6], "  bcf86c      machine  the beginning of a digest of its name");
        assert_eq!(lines[7], "  d799        process  55193, or 39383 with its bytes swapped");
        assert_eq!(lines[8], "  439011      counter  4427793");
    }

    #[test]
    fn the_time_has_no_sign() {
        let id = ObjectId::from_bytes([255; 12]);
        assert!(layouts(id)[1].ends_with("4294967295 seconds since 1970: 2106-02-07T06:28:15Z"));
    }
}
