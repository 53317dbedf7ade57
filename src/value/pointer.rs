//! `DBPointer`, the oldest reference to a document, whose parts the `bson` crate neither takes nor shows: from bytes and
//! to bytes.

use bson::oid::ObjectId;
use bson::raw::{RawBsonRef, cstr};
use bson::{RawBson, RawDocumentBuf};

/// Behind the length, the type and the empty name of a document of one field stand a text with its length and its end,
/// and twelve bytes.
const TEXT: usize = 10;

/// A pointer; `None` when the namespace is longer than any document or holds what no text may.
pub fn make(namespace: &str, id: ObjectId) -> Option<RawBson> {
    let length = i32::try_from(namespace.len() + 1).ok()?;
    let mut bytes = vec![0; 4];
    bytes.extend([0x0c, 0]);
    bytes.extend(length.to_le_bytes());
    bytes.extend(namespace.as_bytes());
    bytes.push(0);
    bytes.extend(id.bytes());
    bytes.push(0);
    let whole = i32::try_from(bytes.len()).ok()?;
    bytes[..4].copy_from_slice(&whole.to_le_bytes());
    let document = RawDocumentBuf::from_bytes(bytes).ok()?;
    match document.get("") {
        Ok(Some(pointer @ RawBsonRef::DbPointer(_))) => Some(RawBson::from(pointer)),
        _ => None,
    }
}

/// The namespace and the id of a pointer; `None` for any other value.
pub fn parts(pointer: RawBsonRef<'_>) -> Option<(String, ObjectId)> {
    if !matches!(pointer, RawBsonRef::DbPointer(_)) {
        return None;
    }
    let mut document = RawDocumentBuf::new();
    document.append(cstr!(""), pointer);
    let bytes = document.as_bytes();
    let text = bytes.get(TEXT..bytes.len().checked_sub(14)?)?;
    let id = bytes.get(bytes.len() - 13..bytes.len() - 1)?;
    Some((String::from_utf8_lossy(text).into_owned(), ObjectId::from_bytes(id.try_into().ok()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pointer_made_is_a_pointer_read() {
        let id = ObjectId::new();
        let pointer = make("test.c", id).expect("a short namespace");
        assert_eq!(parts(pointer.as_raw_bson_ref()), Some(("test.c".to_owned(), id)));
        assert_eq!(parts(RawBsonRef::Null), None);
    }
}
