//! Commands that write: `insert`.

use std::sync::Arc;

use bson::oid::ObjectId;
use bson::raw::cstr;
use bson::{Document, RawBsonRef, RawDocument, RawDocumentBuf, Timestamp, doc, rawdoc};

use super::Command;
use super::context::{Context, count as tick};
use super::fields::{Fields, type_name};
use super::name;
use super::read::encode;
use crate::engine::storage::{Collection, Kind};
use crate::error::{Code, Error, Result};
use crate::{bad_value, refuse};

pub(super) const COMMANDS: &[Command] = &[Command {
    name: "insert",
    aliases: &[],
    help: "adds documents",
    admin_only: false,
    run: insert,
}];

/// The most operations of one command.
const LARGEST_BATCH: usize = 100_000;

/// The most bytes of a document.
pub(super) const LARGEST_DOCUMENT: usize = 16 * 1024 * 1024;

/// The deepest nesting of a stored document.
const DEEPEST: usize = 180;

fn insert(context: &Context<'_>) -> Result<RawDocumentBuf> {
    let name = context.collection_name()?;
    let fields = Fields::command("insert", context.body)?;
    let documents = fields.documents("documents")?;
    let documents = fields.required("documents", documents)?;
    let ordered = fields.flag("ordered")?.unwrap_or(true);
    fields.ignore(&["bypassDocumentValidation", "encryptionInformation", "stmtId", "stmtIds"]);
    fields.finish()?;
    check_batch(documents.len())?;
    let collection = existing_or_new(context, name)?;
    let namespace = context.namespace(name);
    let (mut inserted, mut failures) = (0, Vec::new());
    loop {
        let collection = match context.collection(name) {
            Some(collection) => collection,
            None => Arc::clone(&collection),
        };
        let Some(mut writing) = context.storage().writing(&collection)? else {
            // Dropped since: the next one is another collection of that name.
            existing_or_new(context, name)?;
            continue;
        };
        for (at, document) in documents.iter().enumerate() {
            tick(&context.shared.tally.insert);
            if at % 1024 == 0 {
                context.interrupt.check()?;
            }
            let stored = prepare(document).and_then(|prepared| match &prepared {
                None => writing.insert(&namespace, document),
                Some(prepared) => writing.insert(&namespace, prepared),
            });
            match stored {
                Ok(_) => inserted += 1,
                Err(error) => {
                    failures.push(write_error(at, error)?);
                    if ordered {
                        break;
                    }
                }
            }
        }
        writing.commit(context.durable)?;
        break;
    }
    if failures.is_empty() {
        return Ok(rawdoc! { "n": inserted, "ok": 1.0 });
    }
    encode(&doc! { "n": inserted, "writeErrors": failures, "ok": 1.0 })
}

/// Refuses a batch of no or too many operations.
pub(super) fn check_batch(operations: usize) -> Result<()> {
    if (1..=LARGEST_BATCH).contains(&operations) {
        return Ok(());
    }
    Err(refuse!(
        INVALID_LENGTH,
        "Write batch sizes must be between 1 and {LARGEST_BATCH}. Got {operations} operations."
    ))
}

/// The collection to write to, which comes into being with the first write.
pub(super) fn existing_or_new(context: &Context<'_>, name: &str) -> Result<Arc<Collection>> {
    loop {
        if let Some(collection) = context.collection(name) {
            if collection.shape().kind() == Kind::View {
                return Err(refuse!(
                    COMMAND_NOT_SUPPORTED_ON_VIEW,
                    "Namespace {} is a view, not a collection",
                    context.namespace(name)
                ));
            }
            return Ok(collection);
        }
        name::check_creatable(context.database, name)?;
        if let Some(collection) =
            context.storage().create(context.database, name, Document::new())?
        {
            return Ok(collection);
        }
    }
}

/// What a failed operation adds to `writeErrors`; an error that ends the whole command stays one.
pub(super) fn write_error(at: usize, error: Error) -> Result<Document> {
    let Error::Command(error) = error else { return Err(error) };
    let mut entry = doc! { "index": i32::try_from(at).unwrap_or(i32::MAX), "code": error.code.0 };
    entry.extend(error.details);
    entry.insert("errmsg", error.message);
    Ok(entry)
}

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
