//! Commands that change what is there: `update` and `delete`.

use std::sync::Arc;

use bson::{Bson, Document, RawBsonRef, RawDocument, RawDocumentBuf, doc, rawdoc};

use super::Command;
use super::context::{Context, count as tick};
use super::fields::{Fields, decode, decode_value};
use super::read::encode;
use super::retry::Progress;
use super::scan::Flow;
use super::search::Search;
use super::target::{Checks, Target, encode_stored};
use super::write::{check_batch, existing, existing_or_new, write_error};
use crate::engine::expr::Scope;
use crate::engine::index::check_collation;
use crate::engine::storage::{Collection, Writing};
use crate::engine::update::Update;
use crate::error::{Code, Error, Result};
use crate::refuse;

pub(super) const COMMANDS: &[Command] = &[
    Command {
        name: "delete",
        aliases: &[],
        help: "removes documents",
        admin_only: false,
        run: delete,
    },
    Command {
        name: "update",
        aliases: &[],
        help: "changes documents",
        admin_only: false,
        run: update,
    },
];

/// How many documents of a write to many are changed in one batch.
const CHUNK: usize = 1000;

/// How many changes a command that may come again makes in one batch.
const AT_ONCE: usize = 200_000;

/// One of the operations of `update`.
struct Change<'a> {
    query: &'a RawDocument,
    update: RawBsonRef<'a>,
    multi: bool,
    upsert: bool,
    hint: Option<RawBsonRef<'a>>,
    filters: Vec<Document>,
    constants: Option<&'a RawDocument>,
}

fn update(context: &Context<'_>) -> Result<RawDocumentBuf> {
    let name = context.collection_name()?;
    let fields = Fields::command("update", context.body)?;
    let operations = fields.documents("updates")?;
    let operations = fields.required("updates", operations)?;
    let ordered = fields.flag("ordered")?.unwrap_or(true);
    let bypass = fields.loose_flag("bypassDocumentValidation")?;
    let variables = fields.raw_document("let")?;
    fields.ignore(&["encryptionInformation", "stmtId", "stmtIds"]);
    fields.finish()?;
    check_batch(operations.len())?;
    let changes = operations.into_iter().map(parse_change).collect::<Result<Vec<_>>>()?;
    existing(context, name)?;
    let scope = context.scope(variables)?;
    let mut total = Progress::of(context)?;
    for (at, change) in changes.iter().enumerate().skip(total.next) {
        tick(&context.shared.tally.update);
        context.interrupt.check()?;
        total.next = at + 1;
        if let Err(error) = apply(context, name, change, &scope, bypass, &mut total) {
            total.failures.push(write_error(at, error)?);
            if ordered {
                break;
            }
        }
    }
    let Progress { upserted, failures, .. } = total;
    if context.durable {
        context.storage().sync()?;
    }
    if upserted.is_empty() && failures.is_empty() {
        return Ok(rawdoc! { "n": total.matched, "nModified": total.modified, "ok": 1.0 });
    }
    let mut reply = doc! { "n": total.matched, "nModified": total.modified };
    if !upserted.is_empty() {
        reply.insert("upserted", upserted);
    }
    if !failures.is_empty() {
        reply.insert("writeErrors", failures);
    }
    reply.insert("ok", 1.0);
    encode(&reply)
}

fn parse_change(operation: &RawDocument) -> Result<Change<'_>> {
    let fields = Fields::part("update.updates", operation)?;
    let query = fields.raw_document("q")?;
    let query = fields.required("q", query)?;
    let update = fields.value("u");
    let update = fields.required("u", update)?;
    let change = Change {
        query,
        update,
        multi: fields.loose_flag("multi")?,
        upsert: fields.loose_flag("upsert")?,
        hint: fields.value("hint"),
        filters: array_filters(&fields)?,
        constants: fields.raw_document("c")?,
    };
    if let Some(collation) = fields.document("collation")? {
        check_collation(&Bson::Document(collation))?;
    }
    fields.ignore(&["upsertSupplied", "sampleId"]);
    fields.finish()?;
    if change.constants.is_some() && !matches!(update, RawBsonRef::Array(_)) {
        return Err(Error::command(
            Code(51198),
            "Constant values may only be specified for pipeline updates",
        ));
    }
    Ok(change)
}

/// The documents of `arrayFilters`.
pub(super) fn array_filters(fields: &Fields<'_>) -> Result<Vec<Document>> {
    fields.documents("arrayFilters")?.unwrap_or_default().into_iter().map(decode).collect()
}

fn apply(
    context: &Context<'_>,
    name: &str,
    change: &Change<'_>,
    scope: &Scope,
    bypass: bool,
    done: &mut Progress,
) -> Result<()> {
    let with_constants;
    let scope = match change.constants {
        None => scope,
        Some(constants) => {
            let mut variables = scope.variables.clone();
            variables.extend(decode(constants)?);
            with_constants = scope.clone().with_variables(variables);
            &with_constants
        }
    };
    let query = decode(change.query)?;
    let search = Search::new(&query, &Document::new(), change.hint, scope)?;
    let update = Update::parse(&decode_value(change.update)?, &change.filters, scope)?;
    if change.multi && update.is_replacement() {
        return Err(refuse!(
            FAILED_TO_PARSE,
            "multi update is not supported for replacement-style update"
        ));
    }
    let namespace = context.namespace(name);
    let collection = if change.upsert {
        Some(existing_or_new(context, name)?)
    } else {
        existing(context, name)?
    };
    let Some(mut collection) = collection else { return Ok(()) };
    if change.multi {
        let checks = Checks::new(context, &collection.shape(), bypass)?;
        let before = done.matched;
        apply_to_all(context, &collection, &namespace, &search, &update, scope, &checks, done)?;
        if done.matched > before || !change.upsert {
            return Ok(());
        }
    }
    loop {
        let Some(mut writing) = context.storage().writing(&collection)? else {
            if !change.upsert {
                return Ok(());
            }
            // Dropped since: the next one is another collection of that name.
            collection = existing_or_new(context, name)?;
            continue;
        };
        let checks = Checks::new(context, writing.shape(), bypass)?;
        if let Some(target) = Target::find(context, &writing, &collection, &namespace, &search)? {
            let changed = target.update(&mut writing, &namespace, &update, scope, &checks)?;
            done.matched += 1;
            done.modified += i32::from(changed.is_some());
            done.remember(context, &mut writing, false)?;
            writing.commit(false)?;
        } else if change.upsert {
            let document = update.upsert(&search.filter, scope)?;
            checks.check(&document)?;
            writing.insert(&namespace, &encode_stored(&document)?)?;
            done.matched += 1;
            let index = i32::try_from(done.next - 1).unwrap_or(i32::MAX);
            let id = document.get("_id").cloned().unwrap_or(Bson::Null);
            done.upserted.push(doc! { "index": index, "_id": id });
            done.remember(context, &mut writing, false)?;
            writing.commit(false)?;
        }
        return Ok(());
    }
}

/// Updates every document that matches. What was changed before an error stays changed.
#[allow(clippy::too_many_arguments)]
fn apply_to_all(
    context: &Context<'_>,
    collection: &Arc<Collection>,
    namespace: &str,
    search: &Search,
    update: &Update,
    scope: &Scope,
    checks: &Checks,
    done: &mut Progress,
) -> Result<()> {
    for_each_chunk(context, collection, namespace, search, done, &mut |writing, target, done| {
        let changed = target.update(writing, namespace, update, scope, checks)?;
        done.matched += 1;
        done.modified += i32::from(changed.is_some());
        Ok(())
    })
}

/// Changes one document.
type Step<'a> = &'a mut dyn FnMut(&mut Writing<'_>, &Target, &mut Progress) -> Result<()>;

/// Gives every document that matches to `write`, chunk by chunk, each with the turn to write.
///
/// All are read from one snapshot, so that none is met twice because it was changed; under its write each is read again
/// and asked again. A command that may come again does all in one batch, if it is not too large, so that there is no
/// middle in which it could end.
fn for_each_chunk(
    context: &Context<'_>,
    collection: &Arc<Collection>,
    namespace: &str,
    search: &Search,
    done: &mut Progress,
    write: Step<'_>,
) -> Result<()> {
    let reading = context.storage().reading()?;
    let (mut scan, _) = search.scan(namespace, collection)?;
    let mut held = None;
    loop {
        let mut chunk = Vec::new();
        scan.run(&reading, &context.interrupt, &mut |record, bytes| {
            if let Some(target) = Target::of(record, bytes, &search.filter)? {
                chunk.push(target);
            }
            Ok(if chunk.len() == CHUNK { Flow::Stop } else { Flow::On })
        })?;
        let turn = match held.take() {
            Some(held) => Some(held),
            None => context.storage().writing(collection)?,
        };
        let Some(mut writing) = turn else { return Ok(()) };
        let mut outcome = Ok(());
        for target in &chunk {
            let now = match writing.record(target.record)? {
                Some(bytes) if bytes == target.bytes => None,
                Some(bytes) => match Target::of(target.record, &bytes, &search.filter)? {
                    Some(now) => Some(now),
                    None => continue,
                },
                None => continue,
            };
            outcome = write(&mut writing, now.as_ref().unwrap_or(target), done);
            if outcome.is_err() {
                break;
            }
        }
        let ended = scan.is_done() || outcome.is_err();
        if !ended && context.retried.is_some() && writing.waiting() < AT_ONCE {
            held = Some(writing);
            continue;
        }
        done.remember(context, &mut writing, !ended || outcome.is_err())?;
        writing.commit(false)?;
        outcome?;
        if ended {
            return Ok(());
        }
    }
}

/// One of the operations of `delete`.
struct Removal<'a> {
    query: &'a RawDocument,
    all: bool,
    hint: Option<RawBsonRef<'a>>,
}

fn delete(context: &Context<'_>) -> Result<RawDocumentBuf> {
    let name = context.collection_name()?;
    let fields = Fields::command("delete", context.body)?;
    let operations = fields.documents("deletes")?;
    let operations = fields.required("deletes", operations)?;
    let ordered = fields.flag("ordered")?.unwrap_or(true);
    let variables = fields.raw_document("let")?;
    fields.ignore(&["bypassDocumentValidation", "encryptionInformation", "stmtId", "stmtIds"]);
    fields.finish()?;
    check_batch(operations.len())?;
    let removals = operations.into_iter().map(parse_removal).collect::<Result<Vec<_>>>()?;
    let collection = existing(context, name)?;
    let scope = context.scope(variables)?;
    let namespace = context.namespace(name);
    let mut total = Progress::of(context)?;
    for (at, removal) in removals.iter().enumerate().skip(total.next) {
        tick(&context.shared.tally.delete);
        context.interrupt.check()?;
        total.next = at + 1;
        if let Err(error) =
            remove(context, collection.as_ref(), &namespace, removal, &scope, &mut total)
        {
            total.failures.push(write_error(at, error)?);
            if ordered {
                break;
            }
        }
    }
    if context.durable {
        context.storage().sync()?;
    }
    if total.failures.is_empty() {
        return Ok(rawdoc! { "n": total.matched, "ok": 1.0 });
    }
    encode(&doc! { "n": total.matched, "writeErrors": total.failures, "ok": 1.0 })
}

fn parse_removal(operation: &RawDocument) -> Result<Removal<'_>> {
    let fields = Fields::part("delete.deletes", operation)?;
    let query = fields.raw_document("q")?;
    let query = fields.required("q", query)?;
    let limit = fields.long("limit")?;
    let limit = fields.required("limit", limit)?;
    let hint = fields.value("hint");
    if let Some(collation) = fields.document("collation")? {
        check_collation(&Bson::Document(collation))?;
    }
    fields.ignore(&["sampleId"]);
    fields.finish()?;
    if !matches!(limit, 0 | 1) {
        return Err(refuse!(
            FAILED_TO_PARSE,
            "The limit field in delete objects must be 0 or 1. Got {limit}"
        ));
    }
    Ok(Removal { query, all: limit == 0, hint })
}

fn remove(
    context: &Context<'_>,
    collection: Option<&Arc<Collection>>,
    namespace: &str,
    removal: &Removal<'_>,
    scope: &Scope,
    done: &mut Progress,
) -> Result<()> {
    let search = Search::new(&decode(removal.query)?, &Document::new(), removal.hint, scope)?;
    let Some(collection) = collection else { return Ok(()) };
    if removal.all && search.id().is_none() {
        let remove: Step<'_> = &mut |writing, target, done| {
            writing.remove(target.record, target.raw()?)?;
            done.matched += 1;
            Ok(())
        };
        return for_each_chunk(context, collection, namespace, &search, done, remove);
    }
    let Some(mut writing) = context.storage().writing(collection)? else { return Ok(()) };
    if let Some(target) = Target::find(context, &writing, collection, namespace, &search)? {
        writing.remove(target.record, target.raw()?)?;
        done.matched += 1;
        done.remember(context, &mut writing, false)?;
        writing.commit(false)?;
    }
    Ok(())
}
