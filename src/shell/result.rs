//! What writes answer: `WriteResult` and its family for the classic shell, plain documents for CRUD and mongosh.

use bson::raw::{CStr, cstr};
use bson::{Bson, RawArrayBuf, RawBson, RawDocumentBuf, rawdoc};

use super::command::{array, document, number};
use super::refusal::raised_with;
use super::rows::prelude;
use super::write::{Failure, Outcome, Verb};
use super::{Class, Emulate, Kind, Method, Reply, Shell, Shells};
use crate::error::Error;

/// What a classic `insert`, `update`, `save` or `remove` of one answers: a `WriteResult`, failed or not.
pub(super) fn write_result(shell: &Shell, verb: Verb, outcome: &Outcome) -> Reply {
    shell.count_write_errors(outcome.failures.len());
    let mut fields = RawDocumentBuf::new();
    if outcome.unacknowledged {
        return Reply::Instance("WriteResult", fields);
    }
    let upserted = i64::try_from(outcome.upserted.len()).unwrap_or(i64::MAX);
    let mut put = |key: &CStr, count| fields.append(key, number(count));
    match verb {
        Verb::Insert => put(cstr!("nInserted"), outcome.inserted),
        Verb::Update => {
            put(cstr!("nMatched"), outcome.matched);
            put(cstr!("nUpserted"), upserted);
            put(cstr!("nModified"), outcome.modified);
            if let Some((_, id)) = outcome.upserted.first() {
                fields.append(cstr!("_id"), id.clone());
            }
        }
        Verb::Delete => put(cstr!("nRemoved"), outcome.removed),
    }
    if let Some(failure) = outcome.failures.first() {
        let mut error = rawdoc! { "code": failure.code, "errmsg": failure.message.as_str() };
        if let Some(info) = &failure.info {
            error.append(cstr!("errInfo"), info.clone());
        }
        fields.append(cstr!("writeError"), error);
    }
    if let Some(error) = outcome.concern_errors.first() {
        fields.append(cstr!("writeConcernError"), error.clone());
    }
    Reply::Instance("WriteResult", fields)
}

/// What a classic insert of an array and `bulk.execute()` answer.
pub(super) fn bulk_result(
    shell: &Shell,
    outcome: &Outcome,
    inserted: &[(usize, RawBson)],
) -> Reply {
    shell.count_write_errors(outcome.failures.len());
    let done = inserted.iter().filter(|(at, _)| went_in(outcome, *at));
    let ids: RawArrayBuf = done.map(|(at, id)| indexed(*at, id)).collect();
    // What is printed of a result never had them.
    let hidden = rawdoc! { "insertedIds": ids };
    Reply::Veiled { class: "BulkWriteResult", fields: bulk_fields(outcome), hidden }
}

/// An `_id` and the place of its operation in the list.
fn indexed(at: usize, id: &RawBson) -> RawDocumentBuf {
    let mut entry = RawDocumentBuf::new();
    entry.append(cstr!("index"), place(at));
    entry.append(cstr!("_id"), id.clone());
    entry
}

fn bulk_fields(outcome: &Outcome) -> RawDocumentBuf {
    let failures: RawArrayBuf = outcome.failures.iter().map(failure_fields).collect();
    let concerns: RawArrayBuf = outcome.concern_errors.iter().cloned().collect();
    let upserted: RawArrayBuf = outcome.upserted.iter().map(|(at, id)| indexed(*at, id)).collect();
    let mut fields = RawDocumentBuf::new();
    fields.append(cstr!("writeErrors"), failures);
    fields.append(cstr!("writeConcernErrors"), concerns);
    fields.append(cstr!("nInserted"), number(outcome.inserted));
    fields.append(cstr!("nUpserted"), place(outcome.upserted.len()));
    fields.append(cstr!("nMatched"), number(outcome.matched));
    fields.append(cstr!("nModified"), number(outcome.modified));
    fields.append(cstr!("nRemoved"), number(outcome.removed));
    fields.append(cstr!("upserted"), upserted);
    fields
}

/// A `WriteError`'s own fields.
fn failure_fields(failure: &Failure) -> RawDocumentBuf {
    let mut fields = RawDocumentBuf::new();
    fields.append(cstr!("index"), place(failure.index));
    fields.append(cstr!("code"), failure.code);
    fields.append(cstr!("errmsg"), failure.message.as_str());
    if let Some(info) = &failure.info {
        fields.append(cstr!("errInfo"), info.clone());
    }
    fields.append(cstr!("op"), failure.operation.clone());
    fields
}

fn place(index: usize) -> RawBson {
    number(i64::try_from(index).unwrap_or(i64::MAX))
}

/// The error that a CRUD function of one document throws, if its write failed.
pub(super) fn failed_one(shell: &Shell, outcome: &Outcome) -> Option<Error> {
    let Some(failure) = outcome.failures.first() else {
        let error = outcome.concern_errors.first()?;
        let message = error.get_str("errmsg").unwrap_or_default().to_owned();
        let class = match shell.emulate {
            Emulate::Mongo => "WriteConcernError",
            Emulate::Mongosh => "MongoWriteConcernError",
        };
        return Some(raised_with(class, message, decoded(error.clone())));
    };
    Some(match shell.emulate {
        Emulate::Mongo => {
            raised_with("WriteError", &failure.message, decoded(failure_fields(failure)))
        }
        Emulate::Mongosh => {
            let mut fields = vec![
                ("index".to_owned(), Bson::Int32(0)),
                ("code".to_owned(), Bson::Int32(failure.code)),
            ];
            for (key, value) in &failure.key {
                fields.push(((*key).to_owned(), plain(value.clone())));
            }
            if let Some(info) = &failure.info {
                fields.push(("errInfo".to_owned(), plain(info.clone())));
            }
            raised_with("MongoServerError", &failure.message, fields)
        }
    })
}

/// The error that a CRUD function of several documents and `bulk.execute()` throw, if some of their writes failed.
pub(super) fn failed_many(
    shell: &Shell,
    outcome: &Outcome,
    inserted: &[(usize, RawBson)],
) -> Option<Error> {
    let (class, message, fields) = match shell.emulate {
        Emulate::Mongo => {
            let message = match (outcome.failures.as_slice(), outcome.concern_errors.len()) {
                ([], 0) => return None,
                ([], _) => "write concern error in bulk operation".to_owned(),
                ([failure], _) => {
                    format!("write error at item {} in bulk operation", failure.index)
                }
                (failures, _) => format!("{} write errors in bulk operation", failures.len()),
            };
            ("BulkWriteError", message, decoded(bulk_fields(outcome)))
        }
        Emulate::Mongosh => {
            let failure = outcome.failures.first()?;
            let failures: RawArrayBuf = outcome.failures.iter().map(failure_fields).collect();
            let mut fields = RawDocumentBuf::new();
            fields.append(cstr!("code"), failure.code);
            fields.append(cstr!("writeErrors"), failures);
            fields.append(cstr!("result"), driver_result(outcome, inserted));
            ("MongoBulkWriteError", failure.message.clone(), decoded(fields))
        }
    };
    Some(raised_with(class, message, fields))
}

/// What the driver under mongosh calls the result of a bulk write that failed.
fn driver_result(outcome: &Outcome, inserted: &[(usize, RawBson)]) -> RawDocumentBuf {
    let done = inserted.iter().filter(|(at, _)| went_in(outcome, *at));
    let mut fields = RawDocumentBuf::new();
    fields.append(cstr!("insertedCount"), number(outcome.inserted));
    fields.append(cstr!("matchedCount"), number(outcome.matched));
    fields.append(cstr!("modifiedCount"), number(outcome.modified));
    fields.append(cstr!("deletedCount"), number(outcome.removed));
    fields.append(cstr!("upsertedCount"), place(outcome.upserted.len()));
    fields.append(cstr!("upsertedIds"), by_place(&outcome.upserted));
    fields.append(cstr!("insertedIds"), by_place(done));
    fields
}

/// Whether the insert at `at` was neither refused nor, in an ordered list, left undone after the failure.
fn went_in(outcome: &Outcome, at: usize) -> bool {
    let stop = if outcome.ordered { outcome.failures.first() } else { None };
    outcome.failures.iter().all(|failure| failure.index != at)
        && stop.is_none_or(|failure| at < failure.index)
}

fn by_place<'a>(entries: impl IntoIterator<Item = &'a (usize, RawBson)>) -> RawDocumentBuf {
    document(entries.into_iter().map(|(at, id)| (at.to_string(), id.clone())))
}

fn decoded(fields: RawDocumentBuf) -> Vec<(String, Bson)> {
    bson::Document::try_from(fields).map(|fields| fields.into_iter().collect()).unwrap_or_default()
}

fn plain(value: RawBson) -> Bson {
    Bson::try_from(value).unwrap_or(Bson::Null)
}

/// A result that the shell itself builds, as a plain object.
fn object(shell: &Shell, fields: RawDocumentBuf) -> Reply {
    match shell.emulate {
        Emulate::Mongo => Reply::Value(RawBson::Document(fields)),
        // mongosh lays out results as it does what the server sent.
        Emulate::Mongosh => Reply::Served(RawBson::Document(fields)),
    }
}

/// What `insertOne` answers.
pub(super) fn inserted_one(shell: &Shell, outcome: &Outcome, id: RawBson) -> Reply {
    let mut fields = rawdoc! { "acknowledged": !outcome.unacknowledged };
    if !outcome.unacknowledged || !shell.classic() {
        fields.append(cstr!("insertedId"), id);
    }
    object(shell, fields)
}

/// What `insertMany` answers, and `insert` in mongosh: the `_id`s as an array, or as an object by place.
pub(super) fn inserted_many(shell: &Shell, outcome: &Outcome, ids: Vec<(usize, RawBson)>) -> Reply {
    let mut fields = rawdoc! { "acknowledged": !outcome.unacknowledged };
    match shell.emulate {
        Emulate::Mongo if outcome.unacknowledged => {}
        Emulate::Mongo => {
            fields.append(cstr!("insertedIds"), array(ids.into_iter().map(|(_, id)| id)));
        }
        Emulate::Mongosh => fields.append(cstr!("insertedIds"), by_place(&ids)),
    }
    object(shell, fields)
}

/// What `updateOne`, `updateMany`, `replaceOne` answer, and `update` in mongosh.
pub(super) fn updated(shell: &Shell, outcome: &Outcome) -> Reply {
    let mut fields = rawdoc! { "acknowledged": !outcome.unacknowledged };
    let id = outcome.upserted.first().map(|(_, id)| id.clone());
    match shell.emulate {
        Emulate::Mongo if outcome.unacknowledged => {}
        Emulate::Mongo => {
            fields.append(cstr!("matchedCount"), number(outcome.matched));
            fields.append(cstr!("modifiedCount"), number(outcome.modified));
            if let Some(id) = id {
                fields.append(cstr!("upsertedId"), id);
            }
        }
        Emulate::Mongosh => {
            fields.append(cstr!("insertedId"), id.unwrap_or(RawBson::Null));
            fields.append(cstr!("matchedCount"), number(outcome.matched));
            fields.append(cstr!("modifiedCount"), number(outcome.modified));
            fields.append(cstr!("upsertedCount"), place(outcome.upserted.len()));
        }
    }
    object(shell, fields)
}

/// What `deleteOne` and `deleteMany` answer, and `remove` in mongosh.
pub(super) fn deleted(shell: &Shell, outcome: &Outcome) -> Reply {
    let mut fields = rawdoc! { "acknowledged": !outcome.unacknowledged };
    if !outcome.unacknowledged || !shell.classic() {
        fields.append(cstr!("deletedCount"), number(outcome.removed));
    }
    object(shell, fields)
}

/// What `bulkWrite` answers.
pub(super) fn bulk_written(
    shell: &Shell,
    outcome: &Outcome,
    inserted: &[(usize, RawBson)],
) -> Reply {
    let mut fields = rawdoc! { "acknowledged": !outcome.unacknowledged };
    match shell.emulate {
        Emulate::Mongo if outcome.unacknowledged => {}
        // The classic shell has no modifiedCount here.
        Emulate::Mongo => {
            fields.append(cstr!("deletedCount"), number(outcome.removed));
            fields.append(cstr!("insertedCount"), number(outcome.inserted));
            fields.append(cstr!("matchedCount"), number(outcome.matched));
            fields.append(cstr!("upsertedCount"), place(outcome.upserted.len()));
            fields.append(cstr!("insertedIds"), by_place(inserted));
            fields.append(cstr!("upsertedIds"), by_place(&outcome.upserted));
        }
        Emulate::Mongosh => {
            fields.append(cstr!("insertedCount"), number(outcome.inserted));
            fields.append(cstr!("insertedIds"), by_place(inserted));
            fields.append(cstr!("matchedCount"), number(outcome.matched));
            fields.append(cstr!("modifiedCount"), number(outcome.modified));
            fields.append(cstr!("deletedCount"), number(outcome.removed));
            fields.append(cstr!("upsertedCount"), place(outcome.upserted.len()));
            fields.append(cstr!("upsertedIds"), by_place(&outcome.upserted));
        }
    }
    object(shell, fields)
}

/// What a classic single write answers.
pub(super) const WRITE_RESULT: Class = Class::instances(
    "WriteResult",
    "WriteResult",
    "what insert, update, save and remove answer",
    &[
        prelude("getRawResponse", "()", "the counts as a plain object"),
        prelude("getUpsertedId", "()", "place and _id of the upserted document"),
        prelude("getWriteConcernError", "()", "the write concern error, or undefined"),
        prelude("getWriteError", "()", "the write error, or undefined"),
        prelude("hasWriteConcernError", "()", "whether there is a write concern error"),
        prelude("hasWriteError", "()", "whether the write failed"),
        prelude("nInserted", "", "how many documents were inserted"),
        prelude("nMatched", "", "how many documents matched"),
        prelude("nModified", "", "how many documents were changed"),
        prelude("nRemoved", "", "how many documents were removed"),
        prelude("nUpserted", "", "how many documents were upserted"),
        prelude("toString", "()", "WriteResult({...})"),
        prelude("tojson", "(indent, nolint)", "WriteResult({...})"),
    ],
)
.of(Kind::Results)
.only(Shells::Mongo);

/// The rows of a result of many writes, failed or not: those of both, in order with the ones of its own.
macro_rules! bulk_methods {
    ($text:literal, $first:expr, [$($last:expr)?]) => {
        &[
            $first,
            prelude("getRawResponse", "()", "the counts as a plain object"),
            prelude("getUpsertedIdAt", "(index)", "place and _id of one upserted document"),
            prelude("getUpsertedIds", "()", "place and _id of each upserted document"),
            prelude("getWriteConcernError", "()", "the write concern error, or undefined"),
            prelude("getWriteErrorAt", "(index)", "one write error"),
            prelude("getWriteErrorCount", "()", "how many writes failed"),
            prelude("getWriteErrors", "()", "the write errors"),
            prelude("hasWriteConcernError", "()", "whether there is a write concern error"),
            prelude("hasWriteErrors", "()", "whether any write failed"),
            $($last,)?
            prelude("toString", "()", $text),
            prelude("tojson", "(indent, nolint)", $text),
        ]
    };
}

/// What a classic insert of an array and a bulk answer.
pub(super) const BULK_WRITE_RESULT: Class = Class::instances(
    "BulkWriteResult",
    "BulkWriteResult",
    "what an insert of an array and bulk.execute answer",
    bulk_methods!(
        "BulkWriteResult({...})",
        prelude("getInsertedIds", "()", "place and _id of each inserted document"),
        []
    ),
)
.of(Kind::Results)
.only(Shells::Mongo);

/// What a classic bulk throws when some of its writes failed.
pub(super) const BULK_WRITE_ERROR: Class = Class::instances(
    "BulkWriteError",
    "BulkWriteError",
    "what a bulk throws when some of its writes failed",
    bulk_methods!(
        "BulkWriteError({...})",
        prelude("code", "", "the code of the first write error"),
        [prelude("toResult", "()", "the same as a BulkWriteResult")]
    ),
)
.of(Kind::Errors)
.only(Shells::Mongo);

const ERROR_METHODS: &[Method] = &[
    prelude("getOperation", "()", "the document or statement that failed"),
    prelude("toString", "()", "the class's name and the fields"),
    prelude("tojson", "(indent, nolint)", "the class's name and the fields"),
];

/// What the classic `insertOne`, `updateOne` and so on throw.
pub(super) const WRITE_ERROR: Class =
    Class::instances("WriteError", "WriteError", "one write that failed", ERROR_METHODS)
        .of(Kind::Errors)
        .only(Shells::Mongo);

/// What the classic CRUD functions throw when a write concern was not met.
pub(super) const WRITE_CONCERN_ERROR: Class = Class::instances(
    "WriteConcernError",
    "WriteConcernError",
    "a write concern that was not met",
    ERROR_METHODS,
)
.of(Kind::Errors)
.only(Shells::Mongo);

/// What the classic shell throws when a write command as a whole is refused.
pub(super) const WRITE_COMMAND_ERROR: Class = Class::instances(
    "WriteCommandError",
    "WriteCommandError",
    "a write command that was refused",
    ERROR_METHODS,
)
.of(Kind::Errors)
.only(Shells::Mongo);
