//! Commands that write: `insert`.

use std::sync::Arc;

use bson::{Document, RawDocument, RawDocumentBuf, doc, rawdoc};

use super::Command;
use super::capped::Limits;
use super::context::{Context, count as tick};
use super::fields::{Fields, decode};
use super::name;
use super::read::encode;
use super::storable::prepare;
use super::target::Checks;
use crate::engine::storage::{Collection, Kind, Writing};
use crate::error::{Code, Error, Result};
use crate::refuse;

pub(super) const COMMANDS: &[Command] = &[Command {
    name: "insert",
    aliases: &[],
    help: "adds documents",
    admin_only: false,
    run: insert,
}];

/// The most operations of one command.
const LARGEST_BATCH: usize = 100_000;

fn insert(context: &Context<'_>) -> Result<RawDocumentBuf> {
    let name = context.collection_name()?;
    let fields = Fields::command("insert", context.body)?;
    let documents = fields.documents("documents")?;
    let documents = fields.required("documents", documents)?;
    let ordered = fields.flag("ordered")?.unwrap_or(true);
    let bypass = fields.loose_flag("bypassDocumentValidation")?;
    fields.ignore(&["encryptionInformation", "stmtId", "stmtIds"]);
    fields.finish()?;
    check_batch(documents.len())?;
    let namespace = context.namespace(name);
    let (mut inserted, mut failures) = (0, Vec::new());
    loop {
        let collection = existing_or_new(context, name)?;
        // Dropped since: the next one is another collection of that name.
        let Some(mut writing) = context.storage().writing(&collection)? else { continue };
        let checks = Checks::new(context, writing.shape(), bypass)?;
        let limits = Limits::of(writing.shape());
        for (at, document) in documents.iter().enumerate() {
            tick(&context.shared.tally.insert);
            if at % 1024 == 0 {
                context.interrupt.check()?;
            }
            let fits = limits.as_ref().map_or(Ok(()), |limits| limits.check(document));
            match fits.and_then(|()| add(&mut writing, &namespace, document, &checks)) {
                Ok(()) => inserted += 1,
                Err(error) => {
                    failures.push(write_error(at, error)?);
                    if ordered {
                        break;
                    }
                }
            }
        }
        let reply = match failures.is_empty() {
            true => rawdoc! { "n": inserted, "ok": 1.0 },
            false => encode(&doc! { "n": inserted, "writeErrors": failures, "ok": 1.0 })?,
        };
        context.remember(&mut writing, &reply);
        if let Some(limits) = limits {
            writing.flush(context.durable)?;
            limits.keep(&mut writing, &collection)?;
        }
        writing.commit(context.durable)?;
        return Ok(reply);
    }
}

/// Puts one document into the batch.
fn add(
    writing: &mut Writing<'_>,
    namespace: &str,
    document: &RawDocument,
    checks: &Checks,
) -> Result<()> {
    let prepared = prepare(document)?;
    let document = prepared.as_deref().unwrap_or(document);
    if !checks.are_none() {
        checks.check(&decode(document)?)?;
    }
    writing.insert(namespace, document).map(drop)
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

/// The collection to write to, if it is there.
pub(super) fn existing(context: &Context<'_>, name: &str) -> Result<Option<Arc<Collection>>> {
    let collection = context.collection(name);
    if collection.as_ref().is_some_and(|collection| collection.shape().kind() == Kind::View) {
        return Err(refuse!(
            COMMAND_NOT_SUPPORTED_ON_VIEW,
            "Namespace {} is a view, not a collection",
            context.namespace(name)
        ));
    }
    Ok(collection)
}

/// The collection to write to, which comes into being with the first write.
pub(super) fn existing_or_new(context: &Context<'_>, name: &str) -> Result<Arc<Collection>> {
    loop {
        if let Some(collection) = existing(context, name)? {
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
    let error = match error {
        // The time is over for the whole command.
        Error::Command(error) if error.code != Code::MAX_TIME_MS_EXPIRED => error,
        other => return Err(other),
    };
    let mut entry = doc! { "index": i32::try_from(at).unwrap_or(i32::MAX), "code": error.code.0 };
    entry.extend(error.details);
    entry.insert("errmsg", error.message);
    Ok(entry)
}
