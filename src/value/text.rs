//! How the server writes values inside its messages: `{ a: 1.0, b: "x" }`, `ObjectId('...')`, `new Date(0)`.
//!
//! Duplicate-key errors print the whole key document; update errors print one element in braces, `{_id: 1}`.

use std::fmt::Write;

use bson::{Bson, Document};

pub use super::kind::name as type_name;
use super::number::{self, Decimal, Number};

/// Nested deeper than this, a value is cut short: a message is no place for it.
const DEPTH: usize = 200;

/// The text of a value: `"x"`, `1.0`, `{ a: [ 1, 2 ] }`.
pub fn value(value: &Bson) -> String {
    let mut text = String::new();
    write_value(value, &mut text, DEPTH);
    text
}

/// The text of a document with inner spaces: `{ a: 1, b: "x" }`; `{}` when empty.
pub fn document(document: &Document) -> String {
    let mut text = String::new();
    write_document(document, &mut text, DEPTH);
    text
}

/// One field and its value: `a: "x"`.
pub fn element(name: &str, value: &Bson) -> String {
    let mut text = format!("{name}: ");
    write_value(value, &mut text, DEPTH);
    text
}

/// A number with its class in front, as overflow messages have it: `(NumberLong)5`.
pub fn tagged_number(number: Number) -> String {
    match number {
        Number::Int32(value) => format!("(NumberInt){value}"),
        Number::Int64(value) => format!("(NumberLong){value}"),
        Number::Double(value) => format!("(NumberDouble){}", number::double_text(value)),
        Number::Decimal(value) => format!("(NumberDecimal){value}"),
    }
}

fn write_document(document: &Document, text: &mut String, depth: usize) {
    if document.is_empty() {
        text.push_str("{}");
        return;
    }
    for (at, (name, value)) in document.iter().enumerate() {
        text.push_str(if at == 0 { "{ " } else { ", " });
        text.push_str(name);
        text.push_str(": ");
        write_value(value, text, depth - 1);
    }
    text.push_str(" }");
}

fn write_value(value: &Bson, text: &mut String, depth: usize) {
    if depth == 0 {
        return text.push_str("...");
    }
    match value {
        Bson::Double(value) => text.push_str(&number::double_message_text(*value)),
        Bson::String(value) | Bson::Symbol(value) => write_string(value, text),
        Bson::Array(values) => {
            for (at, value) in values.iter().enumerate() {
                text.push_str(if at == 0 { "[ " } else { ", " });
                write_value(value, text, depth - 1);
            }
            text.push_str(if values.is_empty() { "[]" } else { " ]" });
        }
        Bson::Document(document) => write_document(document, text, depth),
        Bson::Boolean(value) => text.push_str(if *value { "true" } else { "false" }),
        Bson::Null => text.push_str("null"),
        Bson::Undefined => text.push_str("undefined"),
        Bson::MinKey => text.push_str("MinKey"),
        Bson::MaxKey => text.push_str("MaxKey"),
        Bson::Int32(value) => push(text, format_args!("{value}")),
        Bson::Int64(value) => push(text, format_args!("{value}")),
        Bson::Decimal128(value) => push(text, format_args!("{}", Decimal::decode(*value))),
        Bson::ObjectId(value) => push(text, format_args!("ObjectId('{}')", value.to_hex())),
        Bson::DateTime(value) => push(text, format_args!("new Date({})", value.timestamp_millis())),
        Bson::Timestamp(value) => {
            push(text, format_args!("Timestamp({}, {})", value.time, value.increment))
        }
        Bson::RegularExpression(value) => {
            push(text, format_args!("/{}/{}", value.pattern, value.options))
        }
        Bson::JavaScriptCode(code) => text.push_str(code),
        Bson::JavaScriptCodeWithScope(code) => {
            push(text, format_args!("CodeWScope( {}, ", code.code));
            write_document(&code.scope, text, depth);
            text.push(')');
        }
        Bson::Binary(binary) => {
            push(text, format_args!("BinData({}, ", u8::from(binary.subtype)));
            for byte in &binary.bytes {
                push(text, format_args!("{byte:02X}"));
            }
            text.push(')');
        }
        Bson::DbPointer(_) => push(text, format_args!("{value}")),
    }
}

/// A quoted string; a long one is cut as the server cuts it, after 150 bytes.
fn write_string(value: &str, text: &mut String) {
    text.push('"');
    if value.len() > 160 {
        let end = (0..=150).rev().find(|at| value.is_char_boundary(*at)).unwrap_or(0);
        text.push_str(&value[..end]);
        text.push_str("...\"");
    } else {
        text.push_str(value);
        text.push('"');
    }
}

fn push(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    // Writing to a String cannot fail.
    let _ = text.write_fmt(arguments);
}

#[cfg(test)]
mod tests {
    use bson::{DateTime, doc, oid::ObjectId};

    use super::*;

    #[test]
    fn documents_print_with_inner_spaces() {
        let oid = ObjectId::parse_str("507f1f77bcf86cd799439011").unwrap();
        assert_eq!(document(&doc! {"_id": 1.0}), "{ _id: 1.0 }");
        assert_eq!(document(&doc! {"a": "cat1", "b": Bson::Null}), "{ a: \"cat1\", b: null }");
        assert_eq!(
            document(&doc! {"a": {"b": [1, 2_i64]}, "c": {}, "d": []}),
            "{ a: { b: [ 1, 2 ] }, c: {}, d: [] }"
        );
        assert_eq!(document(&doc! {"_id": oid}), "{ _id: ObjectId('507f1f77bcf86cd799439011') }");
        assert_eq!(value(&Bson::DateTime(DateTime::from_millis(5))), "new Date(5)");
        assert_eq!(element("_id", &Bson::Int32(1)), "_id: 1");
        assert_eq!(tagged_number(Number::Int64(i64::MAX)), "(NumberLong)9223372036854775807");
    }
}
