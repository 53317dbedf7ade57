//! `findAndModify`: finds one document, changes or removes it, and answers with it, in one step that nobody can come
//! between.
//!
//! This is what a sequence is made of: `{query: {_id: "users"}, update: {$inc: {next: 1}}, new: true, upsert: true}` gives
//! every caller another number. The collection's turn to write is held from the search to the storage batch.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bson::raw::cstr;
use bson::{Bson, Document, RawBsonRef, RawDocument, RawDocumentBuf, rawdoc};

use super::Command;
use super::context::{Context, count as tick};
use super::fields::{Fields, decode, decode_value};
use super::modify::array_filters;
use super::search::Search;
use super::target::{Checks, Target, encode_stored};
use super::write::{existing, existing_or_new};
use crate::engine::expr::Scope;
use crate::engine::index::check_collation;
use crate::engine::query::Projection;
use crate::engine::update::Update;
use crate::error::{Error, Result};
use crate::value::raw;
use crate::{bad_value, refuse};

pub(super) const COMMANDS: &[Command] = &[Command {
    name: "findAndModify",
    aliases: &["findandmodify"],
    help: "changes one document and answers with it",
    admin_only: false,
    run: find_and_modify,
}];

/// What stands in front of an error that a document raises.
const RUNNING: &str = "Plan executor error during findAndModify :: caused by :: ";

/// What is to be done with the document.
enum Action {
    Remove,
    Update { update: Box<Update>, upsert: bool },
}

/// The command, compiled.
pub(super) struct Plan {
    search: Search,
    action: Action,
    /// Whether to answer with the document as it is afterwards.
    new: bool,
    shown: Option<Projection>,
    bypass: bool,
    /// The variables it was compiled with; none when it depends on neither variables nor the time.
    scope: Option<Scope>,
}

/// Commands compiled before: whoever takes numbers from a sequence sends the same bytes each time.
#[derive(Default)]
pub(crate) struct Plans {
    known: Mutex<HashMap<Vec<u8>, Arc<Plan>>>,
}

/// How many compiled commands are kept.
const KNOWN: usize = 256;

/// What a reply has around its documents.
const FRAME: usize = 64;

/// Longer commands are compiled each time.
const LONGEST: usize = 4096;

impl Plans {
    /// The command, compiled now or before.
    fn of(&self, context: &Context<'_>) -> Result<Arc<Plan>> {
        let body = context.body.as_bytes();
        if let Some(plan) = self.lock().get(body) {
            return Ok(Arc::clone(plan));
        }
        let plan = Arc::new(parse(context)?);
        if plan.scope.is_none() && body.len() <= LONGEST {
            let mut known = self.lock();
            if known.len() >= KNOWN {
                known.clear();
            }
            known.insert(body.to_vec(), Arc::clone(&plan));
        }
        Ok(plan)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Vec<u8>, Arc<Plan>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn find_and_modify(context: &Context<'_>) -> Result<RawDocumentBuf> {
    tick(&context.shared.tally.command);
    let name = context.collection_name()?;
    let plan = context.shared.plans.of(context)?;
    let scope = match &plan.scope {
        Some(scope) => scope.clone(),
        None => context.scope(None)?,
    };
    let (plan, scope) = (&*plan, &scope);
    let namespace = context.namespace(name);
    let upsert = matches!(plan.action, Action::Update { upsert: true, .. });
    let running = |error: Error| error.prefixed(RUNNING);
    loop {
        let collection =
            if upsert { Some(existing_or_new(context, name)?) } else { existing(context, name)? };
        let Some(collection) = collection else { return Ok(nothing(plan)) };
        // Dropped since: the next one is another collection of that name.
        let Some(mut writing) = context.storage().writing(&collection)? else { continue };
        let target = Target::find(context, &writing, &collection, &namespace, &plan.search)?;
        return match (&plan.action, target) {
            (Action::Remove, None) => Ok(nothing(plan)),
            (Action::Remove, Some(target)) => {
                writing.remove(target.record, target.raw()?)?;
                let value = shown(plan, scope, target.raw()?, Some(&target))?;
                let reply = reply(rawdoc! { "n": 1 }, value.as_deref().or(Some(target.raw()?)));
                context.remember(&mut writing, &reply);
                writing.commit(context.durable)?;
                Ok(reply)
            }
            (Action::Update { update, .. }, Some(target)) => {
                let checks = Checks::new(context, writing.shape(), plan.bypass)?;
                let updated = target
                    .update(&mut writing, &namespace, update, scope, &checks)
                    .map_err(running)?;
                let answer = match &updated {
                    Some(updated) if plan.new => updated,
                    _ => target.raw()?,
                };
                let value = shown(plan, scope, answer, Some(&target))?;
                let last = rawdoc! { "n": 1, "updatedExisting": true };
                let reply = reply(last, value.as_deref().or(Some(answer)));
                context.remember(&mut writing, &reply);
                writing.commit(context.durable)?;
                Ok(reply)
            }
            (Action::Update { upsert: false, .. }, None) => Ok(nothing(plan)),
            (Action::Update { update, upsert: true }, None) => {
                let document = update.upsert(&plan.search.filter, scope).map_err(running)?;
                let checks = Checks::new(context, writing.shape(), plan.bypass)?;
                checks.check(&document).map_err(running)?;
                let stored = encode_stored(&document).map_err(running)?;
                writing.insert(&namespace, &stored).map_err(running)?;
                let value = if plan.new { shown(plan, scope, &stored, None)? } else { None };
                let mut last = rawdoc! { "n": 1, "updatedExisting": false };
                if let Ok(Some(id)) = stored.get("_id") {
                    last.append(cstr!("upserted"), id);
                }
                let answer = value.as_deref().or(Some(&*stored)).filter(|_| plan.new);
                let reply = reply(last, answer);
                context.remember(&mut writing, &reply);
                writing.commit(context.durable)?;
                Ok(reply)
            }
        };
    }
}

fn parse(context: &Context<'_>) -> Result<Plan> {
    let fields = Fields::command("findAndModify", context.body)?;
    let query = fields.document("query")?.unwrap_or_default();
    let sort = fields.document("sort")?.unwrap_or_default();
    let remove = fields.loose_flag("remove")?;
    let update = fields.value("update");
    let new = fields.loose_flag("new")?;
    let upsert = fields.loose_flag("upsert")?;
    let projection = fields.document("fields")?.filter(|projection| !projection.is_empty());
    let filters = array_filters(&fields)?;
    let hint = fields.value("hint");
    let bypass = fields.loose_flag("bypassDocumentValidation")?;
    let variables = fields.raw_document("let")?;
    if let Some(collation) = fields.document("collation")? {
        check_collation(&Bson::Document(collation))?;
    }
    fields.ignore(&["encryptionInformation", "stmtId", "sampleId"]);
    fields.finish()?;
    match (remove, update) {
        (false, None) => {
            return Err(refuse!(
                FAILED_TO_PARSE,
                "Either an update or remove=true must be specified"
            ));
        }
        (true, Some(_)) => {
            return Err(refuse!(FAILED_TO_PARSE, "Cannot specify both an update and remove=true"));
        }
        // The space at the end is the server's.
        (true, None) if upsert => {
            return Err(refuse!(
                FAILED_TO_PARSE,
                "Cannot specify both upsert=true and remove=true "
            ));
        }
        (true, None) if new => {
            return Err(refuse!(
                FAILED_TO_PARSE,
                "Cannot specify both new=true and remove=true; 'remove' always returns the deleted document"
            ));
        }
        (true, None) if !filters.is_empty() => {
            return Err(refuse!(FAILED_TO_PARSE, "Cannot specify arrayFilters and remove=true"));
        }
        _ => {}
    }
    let scope = context.scope(variables)?;
    let search = Search::new(&query, &sort, hint, &scope)?;
    let action = match update {
        None => Action::Remove,
        Some(update @ (RawBsonRef::Document(_) | RawBsonRef::Array(_))) => {
            let update = Update::parse(&decode_value(update)?, &filters, &scope)?;
            Action::Update { update: Box::new(update), upsert }
        }
        Some(_) => {
            return Err(refuse!(
                FAILED_TO_PARSE,
                "Update argument must be either an object or an array"
            ));
        }
    };
    let shown = projection.map(|projection| Projection::parse(&projection, &scope)).transpose()?;
    if new && shown.as_ref().is_some_and(Projection::is_positional) {
        return Err(bad_value!("Cannot use a positional projection and return the new document"));
    }
    // Only a variable (`$$NOW`, one of `let`) makes two runs of one text differ, and an expression of the query, which
    // keeps the deadline it was compiled under.
    let bytes = context.body.as_bytes();
    let varies = variables.is_some()
        || bytes.windows(2).any(|pair| pair == b"$$")
        || bytes.windows(5).any(|name| name == b"$expr")
        || bytes.windows(6).any(|name| name == b"$where");
    Ok(Plan { search, action, new, shown, bypass, scope: varies.then_some(scope) })
}

/// What `fields` shows of a document; `None` when it shows all of it.
fn shown(
    plan: &Plan,
    scope: &Scope,
    document: &RawDocument,
    target: Option<&Target>,
) -> Result<Option<RawDocumentBuf>> {
    let Some(projection) = &plan.shown else { return Ok(None) };
    let matched = target.and_then(|target| target.matched.index);
    let shown: Document = projection.apply_owned(decode(document)?, matched, scope)?;
    RawDocumentBuf::try_from(&shown).map(Some).map_err(|error| refuse!(INVALID_BSON, "{error}"))
}

/// The reply when no document was found and none was made.
fn nothing(plan: &Plan) -> RawDocumentBuf {
    match plan.action {
        Action::Remove => reply(rawdoc! { "n": 0 }, None),
        Action::Update { .. } => reply(rawdoc! { "n": 0, "updatedExisting": false }, None),
    }
}

fn reply(last: RawDocumentBuf, value: Option<&RawDocument>) -> RawDocumentBuf {
    let size = value.map_or(0, |value| value.as_bytes().len());
    let mut reply = raw::document(size + last.as_bytes().len() + FRAME);
    reply.append(cstr!("lastErrorObject"), last);
    match value {
        Some(value) => reply.append(cstr!("value"), value),
        None => reply.append(cstr!("value"), RawBsonRef::Null),
    }
    reply.append(cstr!("ok"), 1.0);
    reply
}
