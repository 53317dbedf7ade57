//! What may be stored: the types of `_id`, the depth of nesting.

use bson::{Bson, Document};

use crate::error::Result;
use crate::refuse;
use crate::value::kind;

/// How deep documents and arrays may nest when stored.
const MAX_DEPTH: usize = 180;

/// Refuses an `_id` of a type that cannot be one, or with a name in it that begins with a dollar.
///
/// # Errors
/// 53 for an array, a regular expression or undefined; 52 for a dollar name inside.
pub fn check_id(id: &Bson) -> Result<()> {
    match id {
        Bson::Array(_) | Bson::RegularExpression(_) | Bson::Undefined => {
            Err(refuse!(INVALID_ID_FIELD, "The '_id' value cannot be of type {}", kind::name(id)))
        }
        Bson::Document(document) => match document.keys().find(|name| is_operator_name(name)) {
            Some(name) => Err(refuse!(
                DOLLAR_PREFIXED_FIELD_NAME,
                "The dollar ($) prefixed field '{name}' in '_id.{name}' is not valid for storage."
            )),
            None => Ok(()),
        },
        _ => Ok(()),
    }
}

/// Refuses a document that nests too deep or has an `_id` that cannot be one.
///
/// # Errors
/// 15 for the depth, and those of [`check_id`].
pub fn check_storable(document: &Document) -> Result<()> {
    if document.values().any(|value| !fits(value, MAX_DEPTH - 1)) {
        return Err(refuse!(
            OVERFLOW,
            "Document exceeds maximum nesting object depth: {MAX_DEPTH}"
        ));
    }
    document.get("_id").map_or(Ok(()), check_id)
}

fn fits(value: &Bson, depth: usize) -> bool {
    match value {
        Bson::Document(document) => {
            depth > 0 && document.values().all(|value| fits(value, depth - 1))
        }
        Bson::Array(elements) => depth > 0 && elements.iter().all(|value| fits(value, depth - 1)),
        _ => true,
    }
}

fn is_operator_name(name: &str) -> bool {
    name.starts_with('$') && !matches!(name, "$ref" | "$id" | "$db")
}
