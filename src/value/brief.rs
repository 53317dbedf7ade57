//! A value in one short line, as somebody would type it: `{_id: "users", next: 7}`.
//!
//! For texts that people glance at, such as a trace. Exact texts are printing's. What does not fit is counted, not shown.

use std::fmt::{self, Write};

use bson::raw::{RawArray, RawBsonRef, RawDocument};
use bson::{DateTime, RawJavaScriptCodeWithScopeRef};

use super::number::double_text;

/// Nested deeper than this, a value is cut short.
const DEPTH: usize = 50;

/// A line of limited width under construction.
pub struct Line {
    text: String,
    /// How many more characters fit.
    room: usize,
    /// How many characters did not fit.
    over: usize,
}

impl Line {
    /// An empty line of at most `width` characters.
    pub fn new(width: usize) -> Self {
        Self { text: String::new(), room: width, over: 0 }
    }

    /// Adds text as it stands; line ends in it become blanks.
    pub fn push(&mut self, text: &str) {
        for character in text.chars() {
            if self.room == 0 {
                self.over += 1;
                continue;
            }
            self.room -= 1;
            self.text.push(if character.is_control() { ' ' } else { character });
        }
    }

    /// Adds a value.
    pub fn value(&mut self, value: RawBsonRef<'_>) {
        self.nested(value, DEPTH);
    }

    /// Adds a document in braces, without the fields that `skip` names.
    pub fn document(&mut self, document: &RawDocument, skip: impl Fn(&str) -> bool) {
        self.fields(document, skip, DEPTH);
    }

    /// Adds the documents of an array.
    pub fn documents<'a>(&mut self, documents: impl IntoIterator<Item = &'a RawDocument>) {
        self.push("[");
        for (at, document) in documents.into_iter().enumerate() {
            self.push(if at == 0 { "" } else { ", " });
            self.document(document, |_| false);
        }
        self.push("]");
    }

    /// The line, and how much of it was left out.
    pub fn finish(mut self) -> String {
        match self.over {
            0 => {}
            1 => self.text.push_str("... 1 more character"),
            over => self.text.push_str(&format!("... {over} more characters")),
        }
        self.text
    }

    fn fields(&mut self, document: &RawDocument, skip: impl Fn(&str) -> bool, depth: usize) {
        if depth == 0 {
            return self.push("{...}");
        }
        self.push("{");
        let mut before = "";
        for element in document.iter() {
            // What is damaged was told of where it was read.
            let Ok((key, value)) = element else { break };
            let key = key.as_str();
            if skip(key) {
                continue;
            }
            self.push(std::mem::replace(&mut before, ", "));
            if is_name(key) {
                self.push(key)
            } else {
                self.quoted(key)
            }
            self.push(": ");
            self.nested(value, depth - 1);
        }
        self.push("}");
    }

    fn array(&mut self, array: &RawArray, depth: usize) {
        if depth == 0 {
            return self.push("[...]");
        }
        self.push("[");
        for (at, value) in array.into_iter().flatten().enumerate() {
            self.push(if at == 0 { "" } else { ", " });
            self.nested(value, depth - 1);
        }
        self.push("]");
    }

    fn nested(&mut self, value: RawBsonRef<'_>, depth: usize) {
        match value {
            RawBsonRef::Double(number) => self.push(&double_text(number)),
            RawBsonRef::Int32(number) => self.put(format_args!("{number}")),
            RawBsonRef::Int64(number) if i32::try_from(number).is_ok() => {
                self.put(format_args!("NumberLong({number})"));
            }
            RawBsonRef::Int64(number) => self.put(format_args!("NumberLong(\"{number}\")")),
            RawBsonRef::Decimal128(number) => {
                self.put(format_args!("NumberDecimal(\"{number}\")"));
            }
            RawBsonRef::String(text) | RawBsonRef::Symbol(text) => self.quoted(text),
            RawBsonRef::Boolean(value) => self.push(if value { "true" } else { "false" }),
            RawBsonRef::Null => self.push("null"),
            RawBsonRef::Undefined => self.push("undefined"),
            RawBsonRef::MinKey => self.push("MinKey"),
            RawBsonRef::MaxKey => self.push("MaxKey"),
            RawBsonRef::ObjectId(id) => self.put(format_args!("ObjectId(\"{}\")", id.to_hex())),
            RawBsonRef::DateTime(date) => self.date(date),
            RawBsonRef::Timestamp(stamp) => {
                self.put(format_args!("Timestamp({}, {})", stamp.time, stamp.increment));
            }
            RawBsonRef::Binary(binary) => {
                let (subtype, length) = (u8::from(binary.subtype), binary.bytes.len());
                self.put(format_args!("BinData({subtype}, {length} bytes)"));
            }
            RawBsonRef::RegularExpression(regex) => {
                self.put(format_args!("/{}/{}", regex.pattern, regex.options));
            }
            RawBsonRef::JavaScriptCode(code)
            | RawBsonRef::JavaScriptCodeWithScope(RawJavaScriptCodeWithScopeRef { code, .. }) => {
                self.push("Code(");
                self.quoted(code);
                self.push(")");
            }
            RawBsonRef::DbPointer(_) => self.push("DBPointer(...)"),
            RawBsonRef::Document(document) => self.fields(document, |_| false, depth),
            RawBsonRef::Array(array) => self.array(array, depth),
        }
    }

    fn date(&mut self, date: DateTime) {
        match date.try_to_rfc3339_string() {
            Ok(text) => self.put(format_args!("ISODate(\"{text}\")")),
            Err(_) => self.put(format_args!("new Date({})", date.timestamp_millis())),
        }
    }

    fn quoted(&mut self, text: &str) {
        self.push("\"");
        for character in text.chars() {
            match character {
                '"' => self.push("\\\""),
                '\\' => self.push("\\\\"),
                '\n' => self.push("\\n"),
                '\t' => self.push("\\t"),
                '\r' => self.push("\\r"),
                control if control.is_control() => {
                    self.put(format_args!("\\u{:04x}", u32::from(control)));
                }
                other => self.push(other.encode_utf8(&mut [0; 4])),
            }
        }
        self.push("\"");
    }

    fn put(&mut self, arguments: fmt::Arguments<'_>) {
        // Writing to a line cannot fail.
        let _ = self.write_fmt(arguments);
    }
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.push(text);
        Ok(())
    }
}

/// Whether a field name needs no quotes in an object literal.
fn is_name(key: &str) -> bool {
    let mut characters = key.chars();
    characters.next().is_some_and(|first| first.is_alphabetic() || matches!(first, '_' | '$'))
        && characters.all(|part| part.is_alphanumeric() || matches!(part, '_' | '$'))
}

#[cfg(test)]
mod tests {
    use bson::{Bson, doc, rawdoc};

    use super::*;

    fn text(document: &RawDocument, width: usize) -> String {
        let mut line = Line::new(width);
        line.document(document, |_| false);
        line.finish()
    }

    #[test]
    fn a_document_reads_as_it_is_typed() {
        let document = rawdoc! {
            "_id": "us\"ers", "$inc": { "a.b": 1.0, "n": 7_i64 }, "list": [1, 1.5, true, null],
            "big": 1_i64 << 40, "new": {},
        };
        assert_eq!(
            text(&document, 500),
            "{_id: \"us\\\"ers\", $inc: {\"a.b\": 1, n: NumberLong(7)}, list: [1, 1.5, true, null], \
             big: NumberLong(\"1099511627776\"), new: {}}"
        );
    }

    #[test]
    fn what_does_not_fit_is_counted() {
        let document = rawdoc! { "text": "0123456789" };
        assert_eq!(text(&document, 20), "{text: \"0123456789\"}");
        assert_eq!(text(&document, 19), "{text: \"0123456789\"... 1 more character");
        assert_eq!(text(&document, 8), "{text: \"... 12 more characters");
    }

    #[test]
    fn deep_nesting_is_cut() {
        let mut deep = Bson::Int32(1);
        for _ in 0..100 {
            deep = Bson::Document(doc! { "a": deep });
        }
        let raw = RawDocument::to_owned(
            &bson::RawDocumentBuf::try_from(&doc! { "a": deep }).expect("plain BSON"),
        );
        assert!(text(&raw, 1000).contains("{...}"));
    }
}
