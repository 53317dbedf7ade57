//! From a server's BSON to what can be shown.

use bson::raw::{RawBsonRef, RawDocument};
use bson::{Bson, RawArray, RawBson};

use super::scalar::Moment;
use super::{Object, Origin, Shown};
use crate::value::pointer;

/// The name by which the styles know an object as a reference to another document.
pub const DB_REF: &str = "DBRef";

impl Shown {
    /// What a server sent: int32 and double are plain numbers, a symbol is a string, an embedded document whose first
    /// two fields are `$ref` (a string) and `$id` is a DBRef, and a date beyond JavaScript's is no date.
    pub fn from_raw(value: RawBsonRef<'_>) -> Self {
        match value {
            RawBsonRef::Double(number) => Self::Number(number),
            RawBsonRef::Int32(number) => Self::Number(f64::from(number)),
            RawBsonRef::Undefined => Self::Undefined,
            RawBsonRef::Symbol(text) => Self::Value(Bson::String(text.to_owned())),
            RawBsonRef::DateTime(date)
                if Moment::from_millis(date.timestamp_millis()).is_none() =>
            {
                Self::InvalidDate
            }
            RawBsonRef::Document(document) => Self::Object(embedded(document)),
            RawBsonRef::Array(array) => Self::from_raw_array(array),
            other => match Bson::try_from(other) {
                Ok(value) => Self::Value(value),
                Err(error) => Self::Text(format!("[damaged BSON: {error}]")),
            },
        }
    }

    /// A document of a server at the top level, where `$ref` means nothing special.
    pub fn from_raw_document(document: &RawDocument) -> Self {
        Self::Object(Object { name: None, fields: fields(document), origin: Origin::Server })
    }

    /// The same for a decoded value.
    pub fn from_bson(value: &Bson) -> Self {
        match RawBson::try_from(value.clone()) {
            Ok(raw) => Self::from_raw(raw.as_raw_bson_ref()),
            Err(error) => damaged(error),
        }
    }

    fn from_raw_array(array: &RawArray) -> Self {
        let elements =
            array.into_iter().map(|element| element.map_or_else(damaged, Self::from_raw)).collect();
        Self::Array(elements, Origin::Server)
    }
}

fn embedded(document: &RawDocument) -> Object {
    let mut first = document.iter().flatten();
    let is_reference = matches!(first.next(), Some((key, RawBsonRef::String(_))) if key == "$ref")
        && matches!(first.next(), Some((key, _)) if key == "$id");
    let name = is_reference.then(|| DB_REF.to_owned());
    Object { name, fields: fields(document), origin: Origin::Server }
}

fn fields(document: &RawDocument) -> Vec<(String, Shown)> {
    document
        .iter()
        .map(|field| match field {
            Ok((key, value)) => (key.as_str().to_owned(), Shown::from_raw(value)),
            Err(error) => (String::new(), damaged(error)),
        })
        .collect()
}

fn damaged(error: bson::error::Error) -> Shown {
    Shown::Text(format!("[damaged BSON: {error}]"))
}

/// Namespace and id (in hexadecimal) of a DBPointer; empty for any other value.
pub(super) fn db_pointer(value: &Bson) -> (String, String) {
    let raw = RawBson::try_from(value.clone()).ok();
    let parts = raw.and_then(|raw| pointer::parts(raw.as_raw_bson_ref()));
    parts.map_or_else(Default::default, |(namespace, id)| (namespace, id.to_hex()))
}
