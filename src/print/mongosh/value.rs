//! BSON values as mongosh writes them: the call that makes an equal one.

use bson::spec::BinarySubtype;
use bson::{Binary, Bson};

use super::text;
use crate::print::ink::Ink;
use crate::print::scalar::{self, Moment};
use crate::print::served;

/// The text of a value that needs no layout, and its ink; `None` for one that holds a document.
pub(super) fn scalar(value: &Bson) -> Option<(String, Ink)> {
    Some(match value {
        Bson::Null => ("null".to_owned(), Ink::Nothing),
        Bson::Undefined => ("undefined".to_owned(), Ink::Nothing),
        Bson::Boolean(value) => (value.to_string(), Ink::Number),
        Bson::String(text) => (text::quoted(text), Ink::Text),
        Bson::Double(number) => (format!("Double({})", super::number(*number)), Ink::Special),
        Bson::Int32(number) => (format!("Int32({number})"), Ink::Special),
        Bson::Int64(number) => (format!("Long('{number}')"), Ink::Special),
        Bson::Decimal128(number) => (format!("Decimal128('{number}')"), Ink::Special),
        Bson::ObjectId(id) => (format!("ObjectId('{}')", id.to_hex()), Ink::Special),
        Bson::DateTime(date) => match Moment::from_millis(date.timestamp_millis()) {
            Some(moment) => (format!("ISODate('{}')", moment.iso()), Ink::Special),
            None => ("Invalid Date".to_owned(), Ink::Special),
        },
        Bson::Timestamp(stamp) => {
            (format!("Timestamp({{ t: {}, i: {} }})", stamp.time, stamp.increment), Ink::Special)
        }
        Bson::Binary(binary) => (bytes(binary), Ink::Special),
        // Node has no flags x and l; they are lost on the way from the server.
        Bson::RegularExpression(regex) => {
            let flags: String =
                regex.options.as_str().chars().filter(|flag| !matches!(flag, 'x' | 'l')).collect();
            (scalar::regex(regex.pattern.as_str(), &flags), Ink::Regex)
        }
        Bson::JavaScriptCode(code) => (format!("Code({})", text::quoted(code)), Ink::Special),
        Bson::Symbol(text) => (format!("BSONSymbol({})", text::quoted(text)), Ink::Special),
        // The driver reads the old DBPointer as a DBRef.
        Bson::DbPointer(_) => {
            let (namespace, id) = served::db_pointer(value);
            (format!("DBRef({}, ObjectId('{id}'))", text::quoted(&namespace)), Ink::Special)
        }
        Bson::MinKey => ("MinKey()".to_owned(), Ink::Special),
        Bson::MaxKey => ("MaxKey()".to_owned(), Ink::Special),
        Bson::JavaScriptCodeWithScope(_) | Bson::Document(_) | Bson::Array(_) => return None,
    })
}

fn bytes(binary: &Binary) -> String {
    if let Some(uuid) = scalar::uuid(binary) {
        return format!("UUID('{uuid}')");
    }
    let vector = match binary.subtype {
        BinarySubtype::Md5 => return format!("MD5('{}')", scalar::hex(&binary.bytes)),
        BinarySubtype::Vector => vector(&binary.bytes),
        _ => None,
    };
    vector.unwrap_or_else(|| {
        let subtype: u8 = binary.subtype.into();
        format!("Binary.createFromBase64('{}', {subtype})", scalar::base64(&binary.bytes))
    })
}

/// A vector of numbers: a byte for the type of its elements, a byte of padding, the elements.
fn vector(bytes: &[u8]) -> Option<String> {
    let (&[kind, padding], elements) = bytes.split_first_chunk::<2>()?;
    let (maker, array, elements): (_, _, Vec<String>) = match (kind, padding) {
        (0x27, 0) if elements.len() % 4 == 0 => (
            "fromFloat32Array",
            "Float32Array",
            elements
                .as_chunks::<4>()
                .0
                .iter()
                .map(|&element| super::number(f64::from(f32::from_le_bytes(element))))
                .collect(),
        ),
        (0x03, 0) => (
            "fromInt8Array",
            "Int8Array",
            elements.iter().map(|&byte| (byte as i8).to_string()).collect(),
        ),
        (0x10, 0..=7) => {
            ("fromPackedBits", "Uint8Array", elements.iter().map(u8::to_string).collect())
        }
        _ => return None,
    };
    let list =
        if elements.is_empty() { "[]".to_owned() } else { format!("[ {} ]", elements.join(", ")) };
    Some(format!("Binary.{maker}(new {array}({list}))"))
}
