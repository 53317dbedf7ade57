//! How many bytes a value takes in BSON.

use bson::{Bson, Document};

/// The bytes of a document, as it is stored and sent.
pub fn of_document(document: &Document) -> usize {
    // A length, the elements, and a zero byte.
    5 + document.iter().map(|(name, value)| 2 + name.len() + of(value)).sum::<usize>()
}

/// The bytes of a value without its type and name.
pub fn of(value: &Bson) -> usize {
    match value {
        Bson::Double(_) | Bson::Int64(_) | Bson::DateTime(_) | Bson::Timestamp(_) => 8,
        Bson::Int32(_) => 4,
        Bson::Boolean(_) => 1,
        Bson::Null | Bson::Undefined | Bson::MinKey | Bson::MaxKey => 0,
        Bson::Decimal128(_) => 16,
        Bson::ObjectId(_) => 12,
        Bson::String(text) | Bson::Symbol(text) | Bson::JavaScriptCode(text) => 5 + text.len(),
        Bson::Binary(binary) => {
            // The old binary subtype repeats its length.
            let old = u8::from(binary.subtype) == 2;
            5 + binary.bytes.len() + if old { 4 } else { 0 }
        }
        Bson::RegularExpression(regex) => 2 + regex.pattern.len() + regex.options.len(),
        Bson::JavaScriptCodeWithScope(code) => 9 + code.code.len() + of_document(&code.scope),
        Bson::DbPointer(_) => 5 + 12,
        Bson::Document(document) => of_document(document),
        Bson::Array(elements) => {
            let named = |(at, element): (usize, &Bson)| 2 + digits(at) + of(element);
            5 + elements.iter().enumerate().map(named).sum::<usize>()
        }
    }
}

fn digits(number: usize) -> usize {
    number.checked_ilog10().unwrap_or(0) as usize + 1
}

#[cfg(test)]
mod tests {
    use bson::doc;

    use super::*;

    #[test]
    fn sizes_are_those_of_the_encoding() {
        let many: Vec<i32> = (0..12).collect();
        let document = doc! {
            "a": 1, "b": 2_i64, "c": "text", "d": [1, "x", {}], "e": { "f": null }, "g": true,
            "h": bson::oid::ObjectId::new(), "i": 1.5, "many": many,
            "r": bson::Bson::RegularExpression(bson::Regex { pattern: "a+".try_into().unwrap(), options: "i".try_into().unwrap() }),
            "code": bson::Bson::JavaScriptCode("f()".into()), "min": bson::Bson::MinKey,
        };
        assert_eq!(of_document(&document), document.to_vec().unwrap().len());
        assert_eq!(of_document(&doc! {}), 5);
    }
}
