//! Command documents under construction, and the few readings of a reply that every method needs.

use bson::raw::{BindRawBsonRef, CStr, CString};
use bson::{RawArrayBuf, RawBson, RawBsonRef, RawDocument, RawDocumentBuf};

use crate::value::raw;

/// Room for a command of ordinary length.
const ROOM: usize = 256;

/// A command document under construction. Its first key is the command's name.
pub(super) struct Command(RawDocumentBuf);

impl Command {
    /// The command `name` for `target`, usually a collection.
    pub(super) fn new(name: &CStr, target: impl BindRawBsonRef) -> Self {
        Self(raw::document(ROOM)).with(name, target)
    }

    /// The command with one field more.
    #[must_use]
    pub(super) fn with(mut self, key: &CStr, value: impl BindRawBsonRef) -> Self {
        self.0.append(key, value);
        self
    }

    /// The command with one field more, if there is a value.
    #[must_use]
    pub(super) fn maybe(self, key: &CStr, value: Option<impl BindRawBsonRef>) -> Self {
        match value {
            Some(value) => self.with(key, value),
            None => self,
        }
    }

    /// The command with all fields of `options` save those in `but`. What the server does not know it refuses.
    #[must_use]
    pub(super) fn options(mut self, options: &RawDocument, but: &[&str]) -> Self {
        for (key, value) in options.iter().flatten() {
            if !but.contains(&key.as_str()) {
                self.0.append(key, value);
            }
        }
        self
    }

    /// The finished document.
    pub(super) fn body(self) -> RawDocumentBuf {
        self.0
    }
}

/// The field `key` of `document`; `None` when it is missing, null or undefined.
pub(super) fn field<'a>(document: &'a RawDocument, key: &str) -> Option<RawBsonRef<'a>> {
    let value = document.get(key).ok().flatten()?;
    (!matches!(value, RawBsonRef::Null | RawBsonRef::Undefined)).then_some(value)
}

/// As [`field`], owned.
pub(super) fn owned(document: &RawDocument, key: &str) -> Option<RawBson> {
    field(document, key).map(RawBson::from)
}

/// The field `key` as a whole number, 0 when it is missing or no number.
pub(super) fn count(document: &RawDocument, key: &str) -> i64 {
    field(document, key).and_then(whole).unwrap_or(0)
}

/// A number without its fraction; `None` for anything else.
pub(super) fn whole(value: RawBsonRef<'_>) -> Option<i64> {
    match value {
        RawBsonRef::Int32(number) => Some(i64::from(number)),
        RawBsonRef::Int64(number) => Some(number),
        // Saturates, and NaN is 0: both are what a limit or a count of that size means.
        #[allow(clippy::cast_possible_truncation)]
        RawBsonRef::Double(number) => Some(number as i64),
        _ => None,
    }
}

/// A count as scripts see it: a number.
pub(super) fn number(count: i64) -> RawBson {
    match i32::try_from(count) {
        Ok(count) => RawBson::Int32(count),
        #[allow(clippy::cast_precision_loss)]
        Err(_) => RawBson::Double(count as f64),
    }
}

/// What JavaScript takes for true. Objects, an ObjectId or a NumberLong among them, always are.
pub(super) fn truthy(value: RawBsonRef<'_>) -> bool {
    match value {
        RawBsonRef::Null | RawBsonRef::Undefined => false,
        RawBsonRef::Boolean(value) => value,
        RawBsonRef::Int32(value) => value != 0,
        RawBsonRef::Double(value) => value != 0.0 && !value.is_nan(),
        RawBsonRef::String(value) => !value.is_empty(),
        _ => true,
    }
}

/// An array of values.
pub(super) fn array(values: impl IntoIterator<Item = RawBson>) -> RawArrayBuf {
    values.into_iter().collect()
}

/// A document of keys that are only known at run time. A key with a NUL in it cannot be stored and is cut there.
pub(super) fn document(fields: impl IntoIterator<Item = (String, RawBson)>) -> RawDocumentBuf {
    let mut document = RawDocumentBuf::new();
    for (key, value) in fields {
        document.append(key_of(&key), value);
    }
    document
}

/// `text` as a key, cut at its first NUL.
pub(super) fn key_of(text: &str) -> CString {
    let end = text.find('\0').unwrap_or(text.len());
    CString::try_from(&text[..end]).expect("there is no NUL before the first NUL")
}
