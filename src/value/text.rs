//! How the server writes values inside its messages: `{ a: 1, b: "x" }`.

use std::fmt::Write;

use bson::{Bson, Document};

/// Nested deeper than this, a value is cut short: a message is no place for it.
const DEPTH: usize = 200;

/// A document as server messages show it, `{ a: 1, b: "x" }`; `{}` when empty.
pub fn document(document: &Document) -> String {
    let mut out = String::new();
    write_document(&mut out, document, DEPTH);
    out
}

/// A value as server messages show it: doubles with a decimal point, strings quoted.
pub fn value(value: &Bson) -> String {
    let mut out = String::new();
    write_value(&mut out, value, DEPTH);
    out
}

fn write_document(out: &mut String, document: &Document, depth: usize) {
    list(out, '{', document, '}', |out, (name, value)| {
        out.push_str(name);
        out.push_str(": ");
        write_value(out, value, depth);
    });
}

fn list<T>(
    out: &mut String,
    open: char,
    items: impl IntoIterator<Item = T>,
    close: char,
    write: impl Fn(&mut String, T),
) {
    out.push(open);
    let mut empty = true;
    for item in items {
        out.push_str(if empty { " " } else { ", " });
        empty = false;
        write(out, item);
    }
    if !empty {
        out.push(' ');
    }
    out.push(close);
}

fn write_value(out: &mut String, value: &Bson, depth: usize) {
    if depth == 0 {
        return out.push_str("...");
    }
    // Writing to a string cannot fail.
    let _ = match value {
        Bson::Double(double) if double.is_nan() => write!(out, "nan"),
        Bson::Double(double) if double.is_infinite() => {
            write!(out, "{}", if *double > 0.0 { "inf" } else { "-inf" })
        }
        Bson::Double(double) if double.fract() == 0.0 && double.abs() < 1e16 => {
            write!(out, "{double:.1}")
        }
        Bson::Double(double) if double.abs() >= 1e16 || double.abs() < 1e-4 => {
            write!(out, "{double:e}")
        }
        Bson::Double(double) => write!(out, "{double}"),
        Bson::String(string) => write!(out, "\"{string}\""),
        Bson::Symbol(string) => write!(out, "\"{string}\""),
        Bson::Array(elements) => {
            list(out, '[', elements, ']', |out, element| write_value(out, element, depth - 1));
            Ok(())
        }
        Bson::Document(document) => {
            write_document(out, document, depth - 1);
            Ok(())
        }
        Bson::Boolean(boolean) => write!(out, "{boolean}"),
        Bson::Null => write!(out, "null"),
        Bson::Undefined => write!(out, "undefined"),
        Bson::Int32(int) => write!(out, "{int}"),
        Bson::Int64(long) => write!(out, "{long}"),
        Bson::Decimal128(decimal) => write!(out, "{decimal}"),
        Bson::RegularExpression(regex) => write!(out, "/{}/{}", regex.pattern, regex.options),
        Bson::JavaScriptCode(code) => write!(out, "{code}"),
        Bson::JavaScriptCodeWithScope(code) => {
            let _ = write!(out, "CodeWScope( {}, ", code.code);
            write_document(out, &code.scope, depth - 1);
            write!(out, ")")
        }
        Bson::Timestamp(timestamp) => {
            write!(out, "Timestamp({}, {})", timestamp.time, timestamp.increment)
        }
        Bson::Binary(binary) => {
            let _ = write!(out, "BinData({}, ", u8::from(binary.subtype));
            for byte in &binary.bytes {
                let _ = write!(out, "{byte:02X}");
            }
            write!(out, ")")
        }
        Bson::ObjectId(id) => write!(out, "ObjectId('{id}')"),
        Bson::DateTime(date) => write!(out, "new Date({})", date.timestamp_millis()),
        Bson::MinKey => write!(out, "MinKey"),
        Bson::MaxKey => write!(out, "MaxKey"),
        Bson::DbPointer(_) => write!(out, "DBRef(...)"),
    };
}

/// The server's name of a value's type, as `$type` answers it and messages use it.
pub fn type_name(value: &Bson) -> &'static str {
    match value {
        Bson::Double(_) => "double",
        Bson::String(_) => "string",
        Bson::Array(_) => "array",
        Bson::Document(_) => "object",
        Bson::Boolean(_) => "bool",
        Bson::Null => "null",
        Bson::RegularExpression(_) => "regex",
        Bson::JavaScriptCode(_) => "javascript",
        Bson::JavaScriptCodeWithScope(_) => "javascriptWithScope",
        Bson::Int32(_) => "int",
        Bson::Int64(_) => "long",
        Bson::Timestamp(_) => "timestamp",
        Bson::Binary(_) => "binData",
        Bson::ObjectId(_) => "objectId",
        Bson::DateTime(_) => "date",
        Bson::Symbol(_) => "symbol",
        Bson::Decimal128(_) => "decimal",
        Bson::Undefined => "undefined",
        Bson::MaxKey => "maxKey",
        Bson::MinKey => "minKey",
        Bson::DbPointer(_) => "dbPointer",
    }
}

#[cfg(test)]
mod tests {
    use bson::doc;

    use super::*;

    #[test]
    fn values_look_as_in_the_servers_messages() {
        assert_eq!(document(&doc! { "$type": "v", "$op": "v" }), r#"{ $type: "v", $op: "v" }"#);
        assert_eq!(document(&doc! {}), "{}");
        assert_eq!(
            document(&doc! { "a": 1, "b": 1.0, "c": null, "d": [1, {}] }),
            "{ a: 1, b: 1.0, c: null, d: [ 1, {} ] }"
        );
        assert_eq!(value(&Bson::Int64(7)), "7");
    }
}
