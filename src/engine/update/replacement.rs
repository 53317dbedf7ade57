//! Replacement documents: everything but `_id` becomes new.

use bson::{Bson, Document, Timestamp};

use crate::engine::expr::Scope;
use crate::error::Result;
use crate::refuse;
use crate::value::text;

use super::compiled::same_id;

/// Refuses a replacement with a name that begins with a dollar at the top.
pub(super) fn parse(replacement: &Document) -> Result<Document> {
    match replacement
        .keys()
        .find(|name| name.starts_with('$') && !matches!(name.as_str(), "$ref" | "$id" | "$db"))
    {
        Some(name) => Err(refuse!(
            DOLLAR_PREFIXED_FIELD_NAME,
            "The dollar ($) prefixed field '{name}' in '{name}' is not allowed in the context of an update's \
             replacement document. Consider using an aggregation pipeline with $replaceWith."
        )),
        None => Ok(replacement.clone()),
    }
}

/// The replacement with the `_id` of the document it replaces in front.
pub(super) fn apply(
    replacement: &Document,
    document: &Document,
    scope: &Scope,
) -> Result<Document> {
    let mut replaced = with_id_of(document, replacement.clone())?;
    fill_timestamps(&mut replaced, scope);
    Ok(replaced)
}

/// `made` with the `_id` of `document` in front, as it is stored.
///
/// # Errors
/// 66 when `made` has another `_id`.
pub(super) fn with_id_of(document: &Document, mut made: Document) -> Result<Document> {
    if let (false, Some(id)) = (same_id(document, &made), made.get("_id")) {
        return Err(refuse!(
            IMMUTABLE_FIELD,
            "After applying the update, the (immutable) field '_id' was found to have been altered to {}",
            text::element("_id", id)
        ));
    }
    let own = made.remove("_id");
    let mut whole = Document::new();
    if let Some(id) = document.get("_id").cloned().or(own) {
        whole.insert("_id", id);
    }
    whole.extend(made);
    Ok(whole)
}

/// An empty timestamp at the top of a document becomes the time of the command; the `_id` is left alone.
pub(super) fn fill_timestamps(document: &mut Document, scope: &Scope) {
    for (name, value) in document.iter_mut() {
        if name != "_id" && *value == Bson::Timestamp(Timestamp { time: 0, increment: 0 }) {
            *value = Bson::Timestamp(super::field::timestamp(scope.now));
        }
    }
}
