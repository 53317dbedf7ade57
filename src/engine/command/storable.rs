//! What may be stored: `_id`, size and nesting of a document that comes in, and what is put right on the way.

use bson::oid::ObjectId;
use bson::raw::cstr;
use bson::{RawBsonRef, RawDocument, RawDocumentBuf, Timestamp};

use super::fields::type_name;
use crate::error::{Code, Error, Result};
use crate::{bad_value, refuse};

/// The most bytes of a document.
pub(super) const LARGEST_DOCUMENT: usize = 16 * 1024 * 1024;

/// The deepest nesting of a stored document.
const DEEPEST: usize = 180;

/// Checks a document that is to be stored, and puts it right: `_id` there and first, an empty timestamp the time of now.
///
/// `None` when it can be stored as it is.
pub(super) fn prepare(document: &RawDocument) -> Result<Option<RawDocumentBuf>> {
    let size = document.as_bytes().len();
    if size > LARGEST_DOCUMENT {
        return Err(bad_value!(
            "object to insert too large. size in bytes: {size}, max size: {LARGEST_DOCUMENT}"
        ));
    }
    let (mut id, mut change) = (None, false);
    for (at, element) in document.into_iter().enumerate() {
        let (name, value) = element.map_err(|error| refuse!(INVALID_BSON, "{error}"))?;
        check_depth(value, 1)?;
        if name.as_str() == "_id" {
            if id.is_none() {
                check_id(value)?;
                id = Some(value);
                change |= at > 0;
            }
        } else if matches!(value, RawBsonRef::Timestamp(Timestamp { time: 0, increment: 0 })) {
            change = true;
        }
    }
    if id.is_some() && !change {
        return Ok(None);
    }
    let mut prepared = RawDocumentBuf::new();
    match id {
        Some(id) => prepared.append(cstr!("_id"), id),
        None => prepared.append(cstr!("_id"), ObjectId::new()),
    }
    let mut skipped = id.is_none();
    for element in document {
        let (name, value) = element.map_err(|error| refuse!(INVALID_BSON, "{error}"))?;
        if name.as_str() == "_id" && !skipped {
            skipped = true;
            continue;
        }
        match value {
            RawBsonRef::Timestamp(Timestamp { time: 0, increment: 0 }) => {
                prepared.append(name, now_stamp())
            }
            value => prepared.append(name, value),
        }
    }
    Ok(Some(prepared))
}

/// The time of now as a timestamp; no two of one process are the same.
pub(super) fn now_stamp() -> Timestamp {
    use std::sync::atomic::{AtomicU64, Ordering};
    static LAST: AtomicU64 = AtomicU64::new(0);
    let seconds = u64::try_from(bson::DateTime::now().timestamp_millis() / 1000).unwrap_or(0);
    let floor = seconds << 32;
    let last = LAST.fetch_max(floor, Ordering::Relaxed).max(floor);
    let next = LAST.fetch_add(1, Ordering::Relaxed).max(last) + 1;
    Timestamp { time: (next >> 32) as u32, increment: (next & 0xffff_ffff) as u32 }
}

/// Refuses what cannot be an `_id`.
pub(super) fn check_id(id: RawBsonRef<'_>) -> Result<()> {
    match id {
        RawBsonRef::Array(_) | RawBsonRef::RegularExpression(_) | RawBsonRef::Undefined => {
            Err(refuse!(INVALID_ID_FIELD, "The '_id' value cannot be of type {}", type_name(id)))
        }
        RawBsonRef::Document(document) => {
            for element in document {
                let (name, _) = element.map_err(|error| refuse!(INVALID_BSON, "{error}"))?;
                if name.as_str().starts_with('$') {
                    return Err(refuse!(
                        DOLLAR_PREFIXED_FIELD_NAME,
                        "_id fields may not contain '$'-prefixed fields: {} is not valid for storage.",
                        name.as_str()
                    ));
                }
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Refuses what is nested too deep, and bytes that are no BSON.
fn check_depth(value: RawBsonRef<'_>, depth: usize) -> Result<()> {
    let invalid = |error: bson::error::Error| refuse!(INVALID_BSON, "{error}");
    if depth > DEEPEST {
        return Err(Error::command(
            Code::OVERFLOW,
            format!("cannot insert document because it exceeds {DEEPEST} levels of nesting"),
        ));
    }
    match value {
        RawBsonRef::Document(document) => {
            for element in document {
                check_depth(element.map_err(invalid)?.1, depth + 1)?;
            }
        }
        RawBsonRef::Array(array) => {
            for element in array {
                check_depth(element.map_err(invalid)?, depth + 1)?;
            }
        }
        RawBsonRef::JavaScriptCodeWithScope(code) => {
            check_depth(RawBsonRef::Document(code.scope), depth)?
        }
        _ => {}
    }
    Ok(())
}
