//! BSON bytes, written front to back.

use bson::spec::{BinarySubtype, ElementType};
use bson::{Binary, RawBson, RawDocumentBuf, RawJavaScriptCodeWithScope};

/// A document that is being written. Open documents are a stack of the places where their lengths go.
pub(super) struct Bytes {
    bytes: Vec<u8>,
}

/// Where the length of an open document goes.
pub(super) struct Open(usize);

/// Room for an argument of ordinary length.
const ROOM: usize = 256;

impl Bytes {
    /// Nothing yet.
    pub(super) fn new() -> Self {
        Self { bytes: Vec::with_capacity(ROOM) }
    }

    /// Opens a document; its length is filled in when it is closed.
    pub(super) fn open(&mut self) -> Open {
        let at = self.bytes.len();
        self.bytes.extend_from_slice(&[0; 4]);
        Open(at)
    }

    /// Closes the innermost open document.
    pub(super) fn close(&mut self, open: Open) {
        self.bytes.push(0);
        self.fill_length(open);
    }

    fn fill_length(&mut self, open: Open) {
        let length = i32::try_from(self.bytes.len() - open.0).unwrap_or(i32::MAX);
        self.bytes[open.0..open.0 + 4].copy_from_slice(&length.to_le_bytes());
    }

    /// Starts an element. The name must not hold a null byte.
    pub(super) fn element(&mut self, element: ElementType, name: &str) {
        self.bytes.push(element as u8);
        self.bytes.extend_from_slice(name.as_bytes());
        self.bytes.push(0);
    }

    /// Starts an element of an array.
    pub(super) fn indexed(&mut self, element: ElementType, index: usize) {
        let mut digits = [0; 20];
        let mut at = digits.len();
        let mut rest = index;
        loop {
            at -= 1;
            digits[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        self.bytes.push(element as u8);
        self.bytes.extend_from_slice(&digits[at..]);
        self.bytes.push(0);
    }

    /// The value of a double.
    pub(super) fn double(&mut self, value: f64) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// The value of an int32.
    pub(super) fn int32(&mut self, value: i32) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// The value of an int64 or a date.
    pub(super) fn int64(&mut self, value: i64) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// The value of a boolean.
    pub(super) fn boolean(&mut self, value: bool) {
        self.bytes.push(u8::from(value));
    }

    /// The value of a string, a symbol or code.
    pub(super) fn string(&mut self, text: &str) {
        let length = i32::try_from(text.len() + 1).unwrap_or(i32::MAX);
        self.int32(length);
        self.bytes.extend_from_slice(text.as_bytes());
        self.bytes.push(0);
    }

    /// The value of a binary.
    pub(super) fn binary(&mut self, subtype: BinarySubtype, bytes: &[u8]) {
        let old = subtype == BinarySubtype::BinaryOld;
        let length = bytes.len() + if old { 4 } else { 0 };
        self.int32(i32::try_from(length).unwrap_or(i32::MAX));
        self.bytes.push(subtype.into());
        if old {
            self.int32(i32::try_from(bytes.len()).unwrap_or(i32::MAX));
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// The value of a regular expression.
    pub(super) fn regex(&mut self, pattern: &str, options: &str) {
        for text in [pattern, options] {
            self.bytes.extend_from_slice(text.as_bytes());
            self.bytes.push(0);
        }
    }

    /// The value of a scalar as it stands.
    pub(super) fn raw(&mut self, value: &RawBson) {
        match value {
            RawBson::Double(value) => self.double(*value),
            RawBson::String(text) | RawBson::Symbol(text) | RawBson::JavaScriptCode(text) => {
                self.string(text);
            }
            RawBson::Array(array) => self.bytes.extend_from_slice(array.as_bytes()),
            RawBson::Document(document) => self.bytes.extend_from_slice(document.as_bytes()),
            RawBson::Boolean(value) => self.boolean(*value),
            RawBson::Null | RawBson::Undefined | RawBson::MinKey | RawBson::MaxKey => {}
            RawBson::RegularExpression(regex) => {
                self.regex(regex.pattern.as_str(), regex.options.as_str());
            }
            RawBson::JavaScriptCodeWithScope(RawJavaScriptCodeWithScope { code, scope }) => {
                let open = self.open();
                self.string(code);
                self.bytes.extend_from_slice(scope.as_bytes());
                self.fill_length(open);
            }
            RawBson::Int32(value) => self.int32(*value),
            RawBson::Int64(value) => self.int64(*value),
            RawBson::Timestamp(stamp) => {
                self.bytes.extend_from_slice(&stamp.increment.to_le_bytes());
                self.bytes.extend_from_slice(&stamp.time.to_le_bytes());
            }
            RawBson::Binary(Binary { subtype, bytes }) => self.binary(*subtype, bytes),
            RawBson::ObjectId(id) => self.bytes.extend_from_slice(&id.bytes()),
            RawBson::DateTime(date) => self.int64(date.timestamp_millis()),
            RawBson::Decimal128(decimal) => self.bytes.extend_from_slice(&decimal.bytes()),
            RawBson::DbPointer(_) => self.pointer(value),
        }
    }

    /// The `bson` crate keeps the fields of a DBPointer to itself; its own writer knows them.
    fn pointer(&mut self, value: &RawBson) {
        let mut document = RawDocumentBuf::new();
        document.append(bson::raw::cstr!(""), value.clone());
        let bytes = document.as_bytes();
        // Four bytes of length, the type, the empty name's end; the document's own end at the back.
        self.bytes.extend_from_slice(&bytes[6..bytes.len() - 1]);
    }

    /// Ends the outermost document.
    pub(super) fn finish(self) -> RawDocumentBuf {
        RawDocumentBuf::from_bytes(self.bytes).expect("every opened document was closed")
    }

    /// Ends a document that holds one value under the empty name, and answers with that value.
    pub(super) fn finish_value(self) -> RawBson {
        let document = self.finish();
        let value = document.iter_elements().next().and_then(Result::ok);
        let value = value.and_then(|element| element.value().ok().map(RawBson::from));
        value.unwrap_or(RawBson::Undefined)
    }
}
