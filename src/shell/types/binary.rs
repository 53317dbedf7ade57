//! `BinData` and the functions that make one: `HexData`, `MD5`, `UUID` and the old byte orders of UUIDs.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::general_purpose::STANDARD;
use base64::engine::{GeneralPurpose, GeneralPurposeConfig};
use bson::spec::BinarySubtype;
use bson::{Binary, RawBson, rawdoc};

use super::{text, this};
use crate::error::{Error, Result};
use crate::shell::command::{number, whole};
use crate::shell::refusal::{raised, usage};
use crate::shell::rows::{native, prelude};
use crate::shell::{Call, Class, Emulate, Reply, Shells};

/// `BinData(0, "YWJj")`.
pub(in crate::shell) const BIN_DATA: Class = Class::instances(
    "BinData",
    "BinData",
    "bytes with a subtype",
    &[
        native("base64", "()", "its bytes in base64", base64).only(Shells::Mongo),
        prelude("buffer", "", "its bytes as a Buffer").only(Shells::Mongosh),
        native("constructor", "(subtype, base64)", "bytes from base64", construct),
        native("hex", "()", "its bytes in hexadecimal", hex),
        native("len", "", "how many bytes", length).only(Shells::Mongo),
        native("length", "()", "how many bytes", length),
        native("sub_type", "", "its subtype", subtype).only(Shells::Mongosh),
        native("subtype", "()", "its subtype", subtype).only(Shells::Mongo),
        native("toHexString", "()", "its bytes in hexadecimal", hex).only(Shells::Mongosh),
        native("toJSON", "()", "what JSON.stringify writes", to_json),
        native("toString", "(encoding)", "its text", to_string),
        native("tojson", "()", "its text", to_string).only(Shells::Mongo),
        native("type", "", "its subtype", subtype).only(Shells::Mongo),
        prelude("value", "()", "its bytes as a Buffer").only(Shells::Mongosh),
    ],
)
.modern("Binary");

/// Functions on mongosh's `Binary` itself.
pub(in crate::shell) const BINARY_FUNCTIONS: Class = Class::functions(
    "BinaryFunctions",
    "Binary",
    "ways to make bytes with a subtype",
    &[
        native("SUBTYPE_BYTE_ARRAY", "", "the old subtype of bytes", known_subtype),
        native("SUBTYPE_COLUMN", "", "the subtype of a compressed column", known_subtype),
        native("SUBTYPE_DEFAULT", "", "the subtype of any bytes", known_subtype),
        native("SUBTYPE_ENCRYPTED", "", "the subtype of an encrypted value", known_subtype),
        native("SUBTYPE_FUNCTION", "", "the subtype of a function", known_subtype),
        native("SUBTYPE_MD5", "", "the subtype of an MD5 digest", known_subtype),
        native("SUBTYPE_SENSITIVE", "", "the subtype of a sensitive value", known_subtype),
        native("SUBTYPE_USER_DEFINED", "", "the first subtype of the users' own", known_subtype),
        native("SUBTYPE_UUID", "", "the subtype of a UUID", known_subtype),
        native("SUBTYPE_UUID_OLD", "", "the old subtype of a UUID", known_subtype),
        native("SUBTYPE_VECTOR", "", "the subtype of a vector", known_subtype),
        native("createFromBase64", "(base64, subtype)", "bytes from base64", from_base64),
        native("createFromHexString", "(hex, subtype)", "bytes from hexadecimal", from_hex),
        native("fromFloat32Array", "(Float32Array)", "a vector of floating-point numbers", floats),
        native("fromInt8Array", "(Int8Array)", "a vector of small integers", integers),
        native("fromPackedBits", "(Uint8Array, padding)", "a vector of bits", bits),
    ],
)
.only(Shells::Mongosh);

/// A subtype by its name in the BSON specification.
fn known_subtype(call: &mut Call<'_>) -> Result<Reply> {
    Ok(Reply::Value(RawBson::Int32(match call.method {
        "SUBTYPE_FUNCTION" => 1,
        "SUBTYPE_BYTE_ARRAY" => 2,
        "SUBTYPE_UUID_OLD" => 3,
        "SUBTYPE_UUID" => 4,
        "SUBTYPE_MD5" => 5,
        "SUBTYPE_ENCRYPTED" => 6,
        "SUBTYPE_COLUMN" => 7,
        "SUBTYPE_SENSITIVE" => 8,
        "SUBTYPE_VECTOR" => 9,
        "SUBTYPE_USER_DEFINED" => 128,
        _ => 0,
    })))
}

fn binary(subtype: u8, bytes: Vec<u8>) -> Reply {
    Reply::Typed(RawBson::Binary(Binary { subtype: BinarySubtype::from(subtype), bytes }))
}

/// The first argument as a subtype. mongosh takes the low byte of any number.
fn subtype_of(call: &Call<'_>, name: &str) -> Result<u8> {
    let number = call.value(0).and_then(|value| whole(value.as_raw_bson_ref()));
    match (number.map(u8::try_from), call.shell.emulate) {
        (Some(Ok(subtype)), _) => Ok(subtype),
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        (Some(Err(_)), Emulate::Mongosh) => Ok(number.unwrap_or(0) as u8),
        _ => Err(usage(format!("{name} subtype must be a Number between 0 and 255 inclusive"))),
    }
}

/// Reads what both shells read: the bits that the last digit has too many may be set, as in the manual's
/// `BinData(0, "MC==")`.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true),
);

/// The second argument as a subtype, 0 without one.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn subtype_behind(call: &Call<'_>) -> u8 {
    call.value(1).and_then(|value| whole(value.as_raw_bson_ref())).unwrap_or(0) as u8
}

fn from_base64(call: &mut Call<'_>) -> Result<Reply> {
    let bytes = LENIENT.decode(call.text(0, "base64")?.unwrap_or_default().trim());
    Ok(binary(subtype_behind(call), bytes.unwrap_or_default()))
}

fn from_hex(call: &mut Call<'_>) -> Result<Reply> {
    match bytes_of(call.text(0, "hex")?.unwrap_or_default()) {
        Some(bytes) => Ok(binary(subtype_behind(call), bytes)),
        None => Err(usage("createFromHexString needs an even number of hexadecimal digits")),
    }
}

/// A vector: the type of its elements, the padding, the elements as they lie in a typed array.
fn vector(call: &Call<'_>, kind: u8, padding: u8) -> Result<Reply> {
    let Some(RawBson::Binary(elements)) = call.value(0) else {
        return Err(usage(format!("{} needs a typed array", call.method)));
    };
    let mut bytes = vec![kind, padding];
    bytes.extend_from_slice(&elements.bytes);
    Ok(binary(9, bytes))
}

fn floats(call: &mut Call<'_>) -> Result<Reply> {
    vector(call, 0x27, 0)
}

fn integers(call: &mut Call<'_>) -> Result<Reply> {
    vector(call, 0x03, 0)
}

fn bits(call: &mut Call<'_>) -> Result<Reply> {
    let padding = subtype_behind(call);
    vector(call, 0x10, padding)
}

fn construct(call: &mut Call<'_>) -> Result<Reply> {
    // mongosh's `new Binary(bytes, subtype)`.
    match call.value(0) {
        Some(RawBson::Binary(given)) if !call.shell.classic() => {
            let subtype = match call.value(1) {
                None => given.subtype.into(),
                Some(_) => subtype_behind(call),
            };
            return Ok(binary(subtype, given.bytes.clone()));
        }
        Some(RawBson::String(given)) if !call.shell.classic() => {
            return Ok(binary(subtype_behind(call), given.clone().into_bytes()));
        }
        _ => {}
    }
    let subtype = subtype_of(call, "BinData")?;
    let Some(data) = call.text(1, "base64")? else {
        return Err(usage("BinData takes 2 arguments -- BinData(subtype,data)"));
    };
    let bytes = match (LENIENT.decode(data.trim()), call.shell.emulate) {
        (Ok(bytes), _) => bytes,
        (Err(_), Emulate::Mongosh) => Vec::new(),
        (Err(_), Emulate::Mongo) => return Err(usage("invalid base64")),
    };
    Ok(binary(subtype, bytes))
}

/// The bytes of a text of hexadecimal digits.
fn bytes_of(digits: &str) -> Option<Vec<u8>> {
    let digits = digits.as_bytes();
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    let value = |digit: u8| char::from(digit).to_digit(16);
    digits.chunks(2).map(|pair| u8::try_from(value(pair[0])? * 16 + value(pair[1])?).ok()).collect()
}

fn digits_of(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// `HexData(subtype, hex)`.
pub(in crate::shell) fn hex_data(call: &mut Call<'_>) -> Result<Reply> {
    let subtype = subtype_of(call, "HexData")?;
    let digits = call.text(1, "hex")?.unwrap_or_default();
    match bytes_of(digits) {
        Some(bytes) => Ok(binary(subtype, bytes)),
        None => Err(usage("HexData needs an even number of hexadecimal digits")),
    }
}

/// `MD5(hex)`.
pub(in crate::shell) fn md5(call: &mut Call<'_>) -> Result<Reply> {
    match call.text(0, "hex")?.and_then(bytes_of) {
        Some(bytes) if bytes.len() == 16 || !call.shell.classic() => Ok(binary(5, bytes)),
        _ => Err(usage("MD5 needs 32 hexadecimal digits")),
    }
}

/// The sixteen bytes of a text with or without dashes and braces.
fn uuid_bytes(given: &str) -> Option<Vec<u8>> {
    let digits: String = given.chars().filter(|character| !"-{}".contains(*character)).collect();
    bytes_of(&digits).filter(|bytes| bytes.len() == 16)
}

/// `UUID(text)`, or a random one. The classic shell makes the old subtype of digits without dashes.
pub(in crate::shell) fn uuid(call: &mut Call<'_>) -> Result<Reply> {
    let Some(given) = call.text(0, "uuid")?.map(ToOwned::to_owned) else {
        return Ok(binary(4, uuid::Uuid::new_v4().as_bytes().to_vec()));
    };
    let old = call.shell.classic() && !given.contains('-');
    match uuid_bytes(&given) {
        Some(bytes) => Ok(binary(if old { 3 } else { 4 }, bytes)),
        None => Err(refused_uuid(call, &given)),
    }
}

fn refused_uuid(call: &Call<'_>, given: &str) -> Error {
    let other = raised(
        "BSONError",
        "UUID string representation must be 32 hex digits or canonical hyphenated representation",
    );
    call.shell.wrong(&format!("Invalid UUID string: {given}"), other)
}

fn old_uuid(call: &Call<'_>, order: impl Fn(&mut [u8])) -> Result<Reply> {
    let given = call.text(0, "uuid")?.unwrap_or_default().to_owned();
    match uuid_bytes(&given) {
        Some(mut bytes) => {
            order(&mut bytes);
            Ok(binary(3, bytes))
        }
        None => Err(refused_uuid(call, &given)),
    }
}

/// `JUUID(text)`: the byte order of old Java drivers, each half backwards.
pub(in crate::shell) fn juuid(call: &mut Call<'_>) -> Result<Reply> {
    old_uuid(call, |bytes| {
        bytes[..8].reverse();
        bytes[8..].reverse();
    })
}

/// `CSUUID(text)`: the byte order of old C# drivers, the first three groups backwards.
pub(in crate::shell) fn csuuid(call: &mut Call<'_>) -> Result<Reply> {
    old_uuid(call, |bytes| {
        bytes[..4].reverse();
        bytes[4..6].reverse();
        bytes[6..8].reverse();
    })
}

/// `PYUUID(text)`: the byte order of old Python drivers, as written.
pub(in crate::shell) fn pyuuid(call: &mut Call<'_>) -> Result<Reply> {
    old_uuid(call, |_| {})
}

fn own<'a>(call: &'a Call<'_>) -> Result<&'a Binary> {
    match this(call)? {
        RawBson::Binary(binary) => Ok(binary),
        _ => Err(usage(format!("{} must be called on a BinData", call.method))),
    }
}

fn base64(call: &mut Call<'_>) -> Result<Reply> {
    Ok(text(STANDARD.encode(&own(call)?.bytes)))
}

fn hex(call: &mut Call<'_>) -> Result<Reply> {
    Ok(text(digits_of(&own(call)?.bytes)))
}

fn length(call: &mut Call<'_>) -> Result<Reply> {
    let length = own(call)?.bytes.len();
    Ok(Reply::Value(number(i64::try_from(length).unwrap_or(i64::MAX))))
}

fn subtype(call: &mut Call<'_>) -> Result<Reply> {
    Ok(Reply::Value(RawBson::Int32(i32::from(u8::from(own(call)?.subtype)))))
}

fn to_json(call: &mut Call<'_>) -> Result<Reply> {
    let own = own(call)?;
    let encoded = STANDARD.encode(&own.bytes);
    Ok(match call.shell.emulate {
        Emulate::Mongo => {
            let kind = format!("{:02x}", u8::from(own.subtype));
            Reply::Value(RawBson::Document(rawdoc! { "$binary": encoded, "$type": kind }))
        }
        Emulate::Mongosh => text(encoded),
    })
}

/// The dashed form of sixteen bytes.
fn dashed(bytes: &[u8]) -> String {
    let digits = digits_of(bytes);
    let groups = [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]];
    groups.join("-")
}

fn to_string(call: &mut Call<'_>) -> Result<Reply> {
    let own = own(call)?;
    let is_uuid = own.subtype == BinarySubtype::Uuid && own.bytes.len() == 16;
    Ok(text(match (call.shell.emulate, call.text(0, "encoding")?) {
        (Emulate::Mongo, _) if is_uuid => format!("UUID(\"{}\")", dashed(&own.bytes)),
        (Emulate::Mongo, _) => {
            let encoded = STANDARD.encode(&own.bytes);
            format!("BinData({},\"{encoded}\")", u8::from(own.subtype))
        }
        (Emulate::Mongosh, Some("hex")) => digits_of(&own.bytes),
        (Emulate::Mongosh, Some("base64")) => STANDARD.encode(&own.bytes),
        (Emulate::Mongosh, _) if is_uuid => dashed(&own.bytes),
        (Emulate::Mongosh, _) => String::from_utf8_lossy(&own.bytes).into_owned(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hexadecimal_digits_come_in_pairs() {
        assert_eq!(bytes_of("00ff"), Some(vec![0, 255]));
        assert_eq!(bytes_of("0"), None);
        assert_eq!(bytes_of("zz"), None);
        let id = "3b241101-e2bb-4255-8caf-4136c566a962";
        assert_eq!(uuid_bytes(id).map(|bytes| dashed(&bytes)).as_deref(), Some(id));
    }
}
