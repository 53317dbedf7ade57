//! Bulk builders: writes that are collected first and executed together.

use bson::raw::cstr;
use bson::{RawBson, RawDocumentBuf, rawdoc};

use super::collection::{
    deletion, filter, must_be_replacement, must_have_operators, statement, written,
};
use super::command::{number, owned};
use super::held::Held;
use super::refusal::{invalid_argument, missing_argument, usage};
use super::rows::{native, prelude};
use super::write::{Operation, Orders, Verb, batches, with_id};
use super::{Call, Class, Reply, help, result};
use crate::error::Result;

/// Writes that were collected and not yet executed.
pub(super) struct Bulk {
    db: String,
    collection: String,
    ordered: bool,
    operations: Vec<Operation>,
    executed: bool,
}

/// What `bulk.find(query)` answers: which documents the next write is for, and how.
#[derive(Clone)]
pub(super) struct Selection {
    bulk: u32,
    query: RawDocumentBuf,
    upsert: bool,
    /// `collation`, `arrayFilters`, `hint`.
    options: RawDocumentBuf,
}

/// `db.c.initializeOrderedBulkOp()` and its unordered sister.
pub(super) const BULK: Class = Class::instances(
    "Bulk",
    "Bulk",
    "writes collected for one execution",
    &[
        native("execute", "(writeConcern)", "writes everything collected", execute),
        native("find", "(query)", "chooses the documents of the next write", find),
        native("getOperations", "()", "what was collected, one entry a batch", operations),
        native("help", "()", "this list", |call| help::object(call, "Bulk")),
        native("insert", "(document)", "collects an insert", insert),
        native("toJSON", "()", "how much was collected", to_json),
        prelude("toString", "()", "how much was collected"),
        prelude("tojson", "(indent, nolint)", "how much was collected"),
    ],
);

/// `bulk.find(query)`.
pub(super) const BULK_FIND: Class = Class::instances(
    "BulkFind",
    "BulkFindOp",
    "the documents of the next write of a bulk",
    &[
        native("arrayFilters", "(filters)", "which array elements to update", array_filters),
        native("collation", "(collation)", "compares texts by the rules of a language", collation),
        native("delete", "()", "deletes all of them", remove),
        native("deleteOne", "()", "deletes the first of them", remove_one),
        native("help", "()", "this list", |call| help::object(call, "BulkFind")),
        native("hint", "(index)", "makes the server use an index", hint),
        native("remove", "()", "deletes all of them", remove),
        native("removeOne", "()", "deletes the first of them", remove_one),
        native("replaceOne", "(document)", "replaces the first of them", replace_one),
        native("update", "(update)", "updates all of them", update),
        native("updateOne", "(update)", "updates the first of them", update_one),
        native("upsert", "()", "inserts a document when there is none", upsert),
    ],
);

/// Starts a bulk that stops at its first error.
pub(super) fn ordered(call: &mut Call<'_>) -> Result<Reply> {
    start(call, true)
}

/// Starts a bulk whose writes may run in any order.
pub(super) fn unordered(call: &mut Call<'_>) -> Result<Reply> {
    start(call, false)
}

fn start(call: &mut Call<'_>, ordered: bool) -> Result<Reply> {
    let (db, collection) = call.collection()?;
    let bulk = Bulk { db, collection, ordered, operations: Vec::new(), executed: false };
    Ok(Reply::Handle("Bulk", call.shell.held.insert(Held::Bulk(bulk))))
}

/// The bulk under `handle`.
fn bulk<'a>(call: &'a mut Call<'_>, handle: u32) -> Result<&'a mut Bulk> {
    match call.shell.held.get_mut(handle) {
        Some(Held::Bulk(bulk)) => Ok(bulk),
        _ => Err(usage("this bulk is gone")),
    }
}

/// Collects one write.
fn collect(call: &mut Call<'_>, handle: u32, operation: Operation) -> Result<()> {
    let classic = call.shell.classic();
    let bulk = bulk(call, handle)?;
    if bulk.executed {
        return Err(re_executed(classic));
    }
    bulk.operations.push(operation);
    Ok(())
}

/// What a write of a selection answers: nothing in the classic shell, in mongosh the bulk.
fn collected(call: &mut Call<'_>, handle: u32, operation: Operation) -> Result<Reply> {
    collect(call, handle, operation)?;
    if call.shell.classic() {
        return Ok(Reply::Nothing);
    }
    call.shell.held.share(handle);
    Ok(Reply::Handle("Bulk", handle))
}

fn re_executed(classic: bool) -> crate::error::Error {
    if classic {
        usage("A bulk operation cannot be re-executed")
    } else {
        super::refusal::raised(
            "MongoBatchReExecutionError",
            "This batch has already been executed, create new batch to execute",
        )
    }
}

fn insert(call: &mut Call<'_>) -> Result<Reply> {
    let handle = call.handle()?;
    let document = match call.value(0) {
        Some(RawBson::Document(document)) => with_id(document, call.shell.emulate)?.0,
        None => {
            let missing = missing_argument(0, "Bulk.insert");
            return Err(call.shell.wrong("insert() requires a document", missing));
        }
        Some(_) => {
            let text = "argument passed to addIdIfNeeded is not an object";
            return Err(call.shell.wrong(text, invalid_argument("Document must be an object")));
        }
    };
    collect(call, handle, Operation::Insert(document))?;
    Ok(if call.shell.classic() { Reply::Nothing } else { Reply::This })
}

fn find(call: &mut Call<'_>) -> Result<Reply> {
    let handle = call.handle()?;
    if call.value(0).is_none() {
        let missing = missing_argument(0, "Bulk.find");
        return Err(call.shell.wrong("find() requires query criteria", missing));
    }
    let query = filter(call.shell, call.value(0))?;
    bulk(call, handle)?;
    let selection = Selection { bulk: handle, query, upsert: false, options: rawdoc! {} };
    Ok(Reply::Handle("BulkFind", call.shell.held.insert(Held::Selection(selection))))
}

/// What the receiver chose.
fn selection(call: &mut Call<'_>) -> Result<Selection> {
    let handle = call.handle()?;
    match call.shell.held.get_mut(handle) {
        Some(Held::Selection(selection)) => Ok(selection.clone()),
        _ => Err(usage("this is no bulk.find()")),
    }
}

/// Changes what the receiver chose.
fn choose(call: &mut Call<'_>, change: impl FnOnce(&mut Selection)) -> Result<Reply> {
    let handle = call.handle()?;
    match call.shell.held.get_mut(handle) {
        Some(Held::Selection(selection)) => change(selection),
        _ => return Err(usage("this is no bulk.find()")),
    }
    Ok(Reply::This)
}

fn upsert(call: &mut Call<'_>) -> Result<Reply> {
    choose(call, |selection| selection.upsert = true)
}

fn array_filters(call: &mut Call<'_>) -> Result<Reply> {
    let value = call.value(0).cloned().unwrap_or(RawBson::Null);
    choose(call, |selection| selection.options.append(cstr!("arrayFilters"), value))
}

fn collation(call: &mut Call<'_>) -> Result<Reply> {
    let value = call.value(0).cloned().unwrap_or(RawBson::Null);
    choose(call, |selection| selection.options.append(cstr!("collation"), value))
}

fn hint(call: &mut Call<'_>) -> Result<Reply> {
    let value = call.value(0).cloned().unwrap_or(RawBson::Null);
    choose(call, |selection| selection.options.append(cstr!("hint"), value))
}

/// Collects an update of what the receiver chose.
fn collect_update(call: &mut Call<'_>, multi: bool, replace: bool) -> Result<Reply> {
    let chosen = selection(call)?;
    let update = match call.value(0) {
        Some(update @ (RawBson::Document(_) | RawBson::Array(_))) => update.clone(),
        _ => {
            let missing = missing_argument(0, "BulkFindOp.update");
            let text = format!("{}() requires an update document", call.method);
            return Err(call.shell.wrong(&text, missing));
        }
    };
    if replace {
        must_be_replacement(call.shell, &update)?;
    } else {
        must_have_operators(call.shell, &update)?;
    }
    let statement = statement(chosen.query, update, multi, chosen.upsert, Some(&chosen.options));
    collected(call, chosen.bulk, Operation::Update(statement))
}

fn update(call: &mut Call<'_>) -> Result<Reply> {
    collect_update(call, true, false)
}

fn update_one(call: &mut Call<'_>) -> Result<Reply> {
    collect_update(call, false, false)
}

fn replace_one(call: &mut Call<'_>) -> Result<Reply> {
    collect_update(call, false, true)
}

fn collect_delete(call: &mut Call<'_>, limit: i32) -> Result<Reply> {
    let chosen = selection(call)?;
    let statement = deletion(chosen.query, limit, Some(&chosen.options));
    collected(call, chosen.bulk, Operation::Delete(statement))
}

fn remove(call: &mut Call<'_>) -> Result<Reply> {
    collect_delete(call, 0)
}

fn remove_one(call: &mut Call<'_>) -> Result<Reply> {
    collect_delete(call, 1)
}

fn execute(call: &mut Call<'_>) -> Result<Reply> {
    let handle = call.handle()?;
    let classic = call.shell.classic();
    let bulk = bulk(call, handle)?;
    if bulk.executed {
        return Err(re_executed(classic));
    }
    let operations = std::mem::take(&mut bulk.operations);
    let (db, collection, ordered) = (bulk.db.clone(), bulk.collection.clone(), bulk.ordered);
    if operations.is_empty() {
        let text = "Invalid Operation, no operations specified";
        let empty = invalid_argument("Invalid BulkOperation, Batch cannot be empty");
        return Err(call.shell.wrong(text, empty));
    }
    bulk.executed = true;
    // mongosh takes `{writeConcern: ...}`, the classic shell the concern itself.
    let concern = match call.value(0) {
        Some(RawBson::Document(options)) => Some(
            owned(options, "writeConcern").unwrap_or_else(|| RawBson::Document(options.clone())),
        ),
        _ => None,
    };
    let inserted: Vec<_> = operations
        .iter()
        .enumerate()
        .filter(|(_, operation)| operation.verb() == Verb::Insert)
        .map(|(at, operation)| (at, owned(operation.document(), "_id").unwrap_or(RawBson::Null)))
        .collect();
    let orders = Orders { ordered, concern, options: None };
    let outcome = written(call.shell, (&db, &collection), &operations, &orders);
    if let Some(Held::Bulk(bulk)) = call.shell.held.get_mut(handle) {
        bulk.operations = operations;
    }
    let outcome = outcome?;
    match result::failed_many(call.shell, &outcome, &inserted) {
        Some(error) => Err(error),
        None if classic => Ok(result::bulk_result(call.shell, &outcome, &inserted)),
        None => Ok(result::bulk_written(call.shell, &outcome, &inserted)),
    }
}

/// What was collected, as the old shell lists it: `{originalZeroIndex, batchType, operations}` a batch.
fn operations(call: &mut Call<'_>) -> Result<Reply> {
    let handle = call.handle()?;
    let bulk = bulk(call, handle)?;
    let list = batches(&bulk.operations, bulk.ordered).into_iter().map(|batch| {
        let kind = match bulk.operations[batch[0]].verb() {
            Verb::Insert => 1,
            Verb::Update => 2,
            Verb::Delete => 3,
        };
        let documents = batch.iter().map(|at| bulk.operations[*at].document());
        rawdoc! {
            "originalZeroIndex": number(i64::try_from(batch[0]).unwrap_or(0)),
            "batchType": kind,
            "operations": documents.collect::<bson::RawArrayBuf>(),
        }
    });
    Ok(Reply::Documents(list.collect()))
}

/// How much was collected: what the prompt shows of a bulk.
fn summary(bulk: &Bulk) -> RawDocumentBuf {
    let count = |verb| {
        let matching = bulk.operations.iter().filter(|operation| operation.verb() == verb);
        number(i64::try_from(matching.count()).unwrap_or(i64::MAX))
    };
    let batches = batches(&bulk.operations, bulk.ordered).len();
    rawdoc! {
        "nInsertOps": count(Verb::Insert),
        "nUpdateOps": count(Verb::Update),
        "nRemoveOps": count(Verb::Delete),
        "nBatches": number(i64::try_from(batches).unwrap_or(i64::MAX)),
    }
}

fn to_json(call: &mut Call<'_>) -> Result<Reply> {
    let handle = call.handle()?;
    Ok(Reply::Value(RawBson::Document(summary(bulk(call, handle)?))))
}
