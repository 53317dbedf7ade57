//! Writes of a collection: insert, update, replace, delete, and `bulkWrite`.

use bson::raw::cstr;
use bson::{RawBson, RawBsonRef, RawDocument, RawDocumentBuf, rawdoc};

use crate::error::{Error, Result};
use crate::shell::command::{field, owned, truthy};
use crate::shell::refusal::{invalid_argument, missing_argument, raised_with, usage};
use crate::shell::write::{Operation, Orders, Outcome, Verb, with_id, write};
use crate::shell::{Call, Reply, Shell, result};

/// Options of a statement that the statement itself carries.
const STATEMENT_OPTIONS: &[&str] = &["collation", "arrayFilters", "hint"];

/// Options of a write that its command carries.
const COMMAND_OPTIONS: &[&str] = &["bypassDocumentValidation", "let", "comment", "maxTimeMS"];

/// Writes and lets a command that was refused as a whole be the error of either shell.
pub(in crate::shell) fn written(
    shell: &Shell,
    namespace: (&str, &str),
    operations: &[Operation],
    orders: &Orders<'_>,
) -> Result<Outcome> {
    write(shell, namespace, operations, orders).map_err(|error| match error {
        Error::Command(error) if shell.classic() => {
            let reply = error.reply();
            raised_with("WriteCommandError", &error.message, reply)
        }
        error => error,
    })
}

/// The fields of `options` that a write command carries.
fn command_options(options: Option<&RawDocument>) -> RawDocumentBuf {
    chosen(options, COMMAND_OPTIONS)
}

fn chosen(options: Option<&RawDocument>, names: &[&str]) -> RawDocumentBuf {
    options
        .into_iter()
        .flat_map(|options| options.iter().flatten())
        .filter(|(key, _)| names.contains(&key.as_str()))
        .collect()
}

/// Writes one operation.
fn one(call: &Call<'_>, operation: Operation, options: Option<&RawDocument>) -> Result<Outcome> {
    let (db, name) = call.collection()?;
    let carried = command_options(options);
    let concern = options.and_then(|options| owned(options, "writeConcern"));
    let orders = Orders { ordered: true, concern, options: Some(&carried) };
    written(call.shell, (&db, &name), &[operation], &orders)
}

/// Says once that mongosh would rather have another method called.
fn deprecated(call: &mut Call<'_>, notice: &'static str) {
    if !call.shell.classic() {
        call.shell.notice(notice);
    }
}

pub(super) fn insert(call: &mut Call<'_>) -> Result<Reply> {
    deprecated(
        call,
        "DeprecationWarning: Collection.insert() is deprecated. Use insertOne, insertMany, or bulkWrite.",
    );
    let documents = match call.value(0) {
        Some(RawBson::Document(document)) => {
            let (document, id) = with_id(document, call.shell.emulate)?;
            let options = call.options(1);
            let outcome = one(call, Operation::Insert(document), options.as_deref())?;
            if call.shell.classic() {
                return Ok(result::write_result(call.shell, Verb::Insert, &outcome));
            }
            let ids = vec![(0, id)];
            return match result::failed_many(call.shell, &outcome, &ids) {
                Some(error) => Err(error),
                None => Ok(result::inserted_many(call.shell, &outcome, ids)),
            };
        }
        Some(RawBson::Array(documents)) => documents,
        None => {
            let missing = missing_argument(0, "Collection.insert");
            return Err(call.shell.wrong("no object passed to insert!", missing));
        }
        Some(_) => return Err(not_an_object(call.shell)),
    };
    let (operations, ids) = inserts(call.shell, documents)?;
    let outcome = many(call, &operations)?;
    if call.shell.classic() {
        return Ok(result::bulk_result(call.shell, &outcome, &ids));
    }
    match result::failed_many(call.shell, &outcome, &ids) {
        Some(error) => Err(error),
        None => Ok(result::inserted_many(call.shell, &outcome, ids)),
    }
}

fn not_an_object(shell: &Shell) -> Error {
    shell.wrong(
        "argument passed to addIdIfNeeded is not an object",
        invalid_argument("Argument \"docs\" must be an array of documents"),
    )
}

/// The `_id`s of inserted documents, by their places in the list.
type Ids = Vec<(usize, RawBson)>;

/// The inserts of an array of documents, and their `_id`s by place.
fn inserts(shell: &Shell, documents: &bson::raw::RawArray) -> Result<(Vec<Operation>, Ids)> {
    let mut operations = Vec::new();
    let mut ids = Vec::new();
    for element in documents {
        let Ok(RawBsonRef::Document(document)) = element else { return Err(not_an_object(shell)) };
        let (document, id) = with_id(document, shell.emulate)?;
        ids.push((operations.len(), id));
        operations.push(Operation::Insert(document));
    }
    if operations.is_empty() {
        return Err(nothing_to_do(shell));
    }
    Ok((operations, ids))
}

pub(super) fn nothing_to_do(shell: &Shell) -> Error {
    shell.wrong(
        "Invalid Operation, no operations specified",
        invalid_argument("Invalid BulkOperation, Batch cannot be empty"),
    )
}

/// Writes a list with the options of the second argument: `{ordered, writeConcern, ...}`.
pub(super) fn many(call: &Call<'_>, operations: &[Operation]) -> Result<Outcome> {
    let (db, name) = call.collection()?;
    let options = call.options(1);
    let carried = command_options(options.as_deref());
    let ordered = options.as_ref().and_then(|options| field(options, "ordered"));
    let orders = Orders {
        ordered: ordered.is_none_or(truthy),
        concern: options.as_ref().and_then(|options| owned(options, "writeConcern")),
        options: Some(&carried),
    };
    written(call.shell, (&db, &name), operations, &orders)
}

pub(super) fn insert_one(call: &mut Call<'_>) -> Result<Reply> {
    let document = match call.value(0) {
        Some(RawBson::Document(document)) => document,
        None => {
            let missing = missing_argument(0, "Collection.insertOne");
            return Err(call.shell.wrong("no object passed to insert!", missing));
        }
        Some(_) => return Err(not_an_object(call.shell)),
    };
    let (document, id) = with_id(document, call.shell.emulate)?;
    let outcome = one(call, Operation::Insert(document), call.options(1).as_deref())?;
    match result::failed_one(call.shell, &outcome) {
        Some(error) => Err(error),
        None => Ok(result::inserted_one(call.shell, &outcome, id)),
    }
}

pub(super) fn insert_many(call: &mut Call<'_>) -> Result<Reply> {
    let Some(RawBson::Array(documents)) = call.value(0) else {
        return Err(match (call.shell.classic(), call.value(0)) {
            (false, None) => missing_argument(0, "Collection.insertMany"),
            (false, _) => invalid_argument("Argument \"docs\" must be an array of documents"),
            (true, _) => usage("insertMany needs an array of documents"),
        });
    };
    let (operations, ids) = inserts(call.shell, documents)?;
    let outcome = many(call, &operations)?;
    match result::failed_many(call.shell, &outcome, &ids) {
        Some(error) => Err(error),
        None => Ok(result::inserted_many(call.shell, &outcome, ids)),
    }
}

/// Saves a document under its `_id`, or inserts it when it has none.
pub(super) fn save(call: &mut Call<'_>) -> Result<Reply> {
    let document = match call.value(0) {
        Some(RawBson::Document(document)) => document.clone(),
        None => return Err(usage("can't save a null")),
        Some(_) => return Err(usage("can't save a number or string")),
    };
    let Some(id) = document.get("_id").ok().flatten().filter(|id| *id != RawBsonRef::Undefined)
    else {
        return insert(call);
    };
    let mut query = RawDocumentBuf::new();
    query.append(cstr!("_id"), id);
    let statement = rawdoc! { "q": query, "u": document, "multi": false, "upsert": true };
    let outcome = one(call, Operation::Update(statement), call.options(1).as_deref())?;
    if call.shell.classic() {
        return Ok(result::write_result(call.shell, Verb::Update, &outcome));
    }
    match result::failed_one(call.shell, &outcome) {
        Some(error) => Err(error),
        None => Ok(result::updated(call.shell, &outcome)),
    }
}

/// The filter of a classic method: an object, an ObjectId that stands for `{_id: ...}`, 24 hex digits likewise, or
/// JavaScript that stands for `{$where: ...}`.
pub(in crate::shell) fn filter(shell: &Shell, value: Option<&RawBson>) -> Result<RawDocumentBuf> {
    let mut by_id = RawDocumentBuf::new();
    match value {
        None => {}
        Some(RawBson::Document(filter)) => return Ok(filter.clone()),
        Some(RawBson::ObjectId(id)) => by_id.append(cstr!("_id"), *id),
        Some(_) if !shell.classic() => {
            return Err(invalid_argument("Query filter must be a plain object or ObjectId"));
        }
        Some(RawBson::String(text)) => match bson::oid::ObjectId::parse_str(text) {
            Ok(id) => by_id.append(cstr!("_id"), id),
            Err(_) => by_id.append(cstr!("$where"), text.as_str()),
        },
        Some(code @ (RawBson::JavaScriptCode(_) | RawBson::JavaScriptCodeWithScope(_))) => {
            by_id.append(cstr!("$where"), code.clone());
        }
        Some(other) => {
            let kind = match other {
                RawBson::Boolean(_) => "boolean",
                RawBson::Int32(_) | RawBson::Double(_) => "number",
                _ => "object",
            };
            return Err(usage(format!("don't know how to massage : {kind}")));
        }
    }
    Ok(by_id)
}

/// An update: a document of operators or a replacement, or a pipeline.
pub(super) fn update_of(value: Option<&RawBson>) -> Option<RawBson> {
    value.filter(|value| matches!(value, RawBson::Document(_) | RawBson::Array(_))).cloned()
}

/// One statement of the `update` command.
pub(in crate::shell) fn statement(
    filter: RawDocumentBuf,
    update: RawBson,
    multi: bool,
    upsert: bool,
    options: Option<&RawDocument>,
) -> RawDocumentBuf {
    let mut statement = RawDocumentBuf::new();
    statement.append(cstr!("q"), filter);
    statement.append(cstr!("u"), update);
    statement.append(cstr!("multi"), multi);
    statement.append(cstr!("upsert"), upsert);
    carry(&mut statement, options);
    statement
}

fn carry(statement: &mut RawDocumentBuf, options: Option<&RawDocument>) {
    for (key, value) in chosen(options, STATEMENT_OPTIONS).iter().flatten() {
        statement.append(key, value);
    }
}

/// One statement of the `delete` command; `limit` 0 deletes all that match.
pub(in crate::shell) fn deletion(
    filter: RawDocumentBuf,
    limit: i32,
    options: Option<&RawDocument>,
) -> RawDocumentBuf {
    let mut statement = RawDocumentBuf::new();
    statement.append(cstr!("q"), filter);
    statement.append(cstr!("limit"), limit);
    carry(&mut statement, options);
    statement
}

/// `update(query, update, upsert, multi)` or `update(query, update, {upsert, multi, ...})`.
pub(super) fn update(call: &mut Call<'_>) -> Result<Reply> {
    deprecated(
        call,
        "DeprecationWarning: Collection.update() is deprecated. Use updateOne, updateMany, or bulkWrite.",
    );
    if call.value(0).is_none() {
        let missing = missing_argument(0, "Collection.update");
        return Err(call.shell.wrong("need a query", missing));
    }
    let query = filter(call.shell, call.value(0))?;
    let Some(update) = update_of(call.value(1)) else {
        let missing = missing_argument(1, "Collection.update");
        return Err(call.shell.wrong("need an update object or pipeline", missing));
    };
    let options = call.options(2);
    if options.is_some() && call.value(3).is_some() {
        return Err(usage(
            "Fourth argument must be empty when specifying upsert and multi with an object.",
        ));
    }
    let flag = |name, at| match &options {
        Some(options) => field(options, name).is_some_and(truthy),
        None => call.truthy(at),
    };
    let (upsert, multi) = (flag("upsert", 2), flag("multi", 3));
    let statement = statement(query, update, multi, upsert, options.as_deref());
    let outcome = one(call, Operation::Update(statement), options.as_deref())?;
    if call.shell.classic() {
        return Ok(result::write_result(call.shell, Verb::Update, &outcome));
    }
    match result::failed_one(call.shell, &outcome) {
        Some(error) => Err(error),
        None => Ok(result::updated(call.shell, &outcome)),
    }
}

/// Refuses a replacement where operators are wanted.
///
/// Both shells look at the first key only; what follows is the server's to judge.
pub(in crate::shell) fn must_have_operators(shell: &Shell, update: &RawBson) -> Result<()> {
    let RawBson::Document(update) = update else { return Ok(()) };
    let first = update.iter().flatten().next().map(|(key, _)| key);
    match first {
        Some(key) if key.as_str().starts_with('$') => Ok(()),
        first => Err(shell.wrong(
            match first {
                None => "the update operation document must contain at least one atomic operator",
                Some(_) => "the update operation document must contain atomic operators",
            },
            invalid_argument("Update document requires atomic operators"),
        )),
    }
}

/// Refuses operators, and pipelines, where a replacement is wanted.
pub(in crate::shell) fn must_be_replacement(shell: &Shell, update: &RawBson) -> Result<()> {
    let starts_with_operator = match update {
        RawBson::Document(update) => {
            update.iter().flatten().next().is_some_and(|(key, _)| key.as_str().starts_with('$'))
        }
        _ => {
            let text = "Cannot use pipeline-style updates in a replacement operation";
            return Err(shell.wrong(text, invalid_argument(text)));
        }
    };
    if starts_with_operator {
        return Err(shell.wrong(
            "the replace operation document must not contain atomic operators",
            invalid_argument("Replacement document must not contain atomic operators"),
        ));
    }
    Ok(())
}

/// Which of the CRUD updates is called.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Updates {
    One,
    Many,
    Replace,
}

pub(super) fn update_one(call: &mut Call<'_>) -> Result<Reply> {
    crud_update(call, Updates::One, "Collection.updateOne")
}

pub(super) fn update_many(call: &mut Call<'_>) -> Result<Reply> {
    crud_update(call, Updates::Many, "Collection.updateMany")
}

pub(super) fn replace_one(call: &mut Call<'_>) -> Result<Reply> {
    crud_update(call, Updates::Replace, "Collection.replaceOne")
}

fn crud_update(call: &mut Call<'_>, which: Updates, method: &str) -> Result<Reply> {
    if call.value(0).is_none() {
        let missing = missing_argument(0, method);
        return Err(call.shell.wrong("find() requires query criteria", missing));
    }
    let query = filter(call.shell, call.value(0))?;
    let Some(update) = update_of(call.value(1)) else {
        let refused = match which {
            Updates::One | Updates::Many => {
                invalid_argument("Update document requires atomic operators")
            }
            Updates::Replace => missing_argument(1, method),
        };
        return Err(call.shell.wrong("need an update object or pipeline", refused));
    };
    match which {
        Updates::One | Updates::Many => must_have_operators(call.shell, &update)?,
        Updates::Replace => must_be_replacement(call.shell, &update)?,
    }
    let options = call.options(2);
    let upsert = options.as_ref().and_then(|options| field(options, "upsert")).is_some_and(truthy);
    let multi = which == Updates::Many;
    let statement = statement(query, update, multi, upsert, options.as_deref());
    let outcome = one(call, Operation::Update(statement), options.as_deref())?;
    match result::failed_one(call.shell, &outcome) {
        Some(error) => Err(error),
        None => Ok(result::updated(call.shell, &outcome)),
    }
}

/// `remove(query, justOne)` or `remove(query, {justOne, ...})`.
pub(super) fn remove(call: &mut Call<'_>) -> Result<Reply> {
    deprecated(
        call,
        "DeprecationWarning: Collection.remove() is deprecated. Use deleteOne, deleteMany, findOneAndDelete, or bulkWrite.",
    );
    if call.value(0).is_none() {
        let missing = missing_argument(0, "Collection.remove");
        return Err(call.shell.wrong("remove needs a query", missing));
    }
    let query = filter(call.shell, call.value(0))?;
    let options = call.options(1);
    let just_one = match &options {
        Some(options) => field(options, "justOne").is_some_and(truthy),
        None => call.truthy(1),
    };
    let statement = deletion(query, i32::from(just_one), options.as_deref());
    let outcome = one(call, Operation::Delete(statement), options.as_deref())?;
    if call.shell.classic() {
        return Ok(result::write_result(call.shell, Verb::Delete, &outcome));
    }
    match result::failed_one(call.shell, &outcome) {
        Some(error) => Err(error),
        None => Ok(result::deleted(call.shell, &outcome)),
    }
}

pub(super) fn delete_one(call: &mut Call<'_>) -> Result<Reply> {
    crud_delete(call, 1, "Collection.deleteOne")
}

pub(super) fn delete_many(call: &mut Call<'_>) -> Result<Reply> {
    crud_delete(call, 0, "Collection.deleteMany")
}

fn crud_delete(call: &mut Call<'_>, limit: i32, method: &str) -> Result<Reply> {
    if call.value(0).is_none() {
        let missing = missing_argument(0, method);
        return Err(call.shell.wrong("find() requires query criteria", missing));
    }
    let query = filter(call.shell, call.value(0))?;
    let options = call.options(1);
    let statement = deletion(query, limit, options.as_deref());
    let outcome = one(call, Operation::Delete(statement), options.as_deref())?;
    match result::failed_one(call.shell, &outcome) {
        Some(error) => Err(error),
        None => Ok(result::deleted(call.shell, &outcome)),
    }
}
