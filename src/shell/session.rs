//! `db.getMongo().startSession()`: sessions, and what a standalone server says of transactions.
//!
//! A session's databases are those of its connection: without transactions there is nothing that would set what runs in
//! a session apart.

use bson::spec::BinarySubtype;
use bson::{Binary, RawBson, RawDocumentBuf, rawdoc};

use super::database::database_name;
use super::held::Held;
use super::refusal::usage;
use super::rows::native;
use super::{Call, Class, Reply, Shells, help};
use crate::backend::Topology;
use crate::error::{Code, Error, Result};

/// What `startSession` answers.
pub(super) const SESSION: Class = Class::instances(
    "Session",
    "DriverSession",
    "a session",
    &[
        native("abortTransaction", "()", "undoes the transaction", abort),
        native("advanceClusterTime", "(time)", "nothing on one server", nothing),
        native("advanceOperationTime", "(time)", "nothing on one server", nothing),
        native("commitTransaction", "()", "keeps the transaction", commit),
        native("endSession", "()", "ends the session", end),
        native("getClusterTime", "()", "nothing on one server", nothing),
        native("getDatabase", "(name)", "a database", database),
        native("getOperationTime", "()", "nothing on one server", nothing),
        native("getOptions", "()", "the options that it was started with", options),
        native("getSessionId", "()", "its id", id),
        native("hasEnded", "()", "whether it was ended", has_ended),
        native("help", "()", "this list", |call| help::object(call, "Session")),
        native("id", "", "its id", id).only(Shells::Mongosh),
        native(
            "startTransaction",
            "(options)",
            "begins a transaction (needs a replica set)",
            transaction,
        ),
        native("toString", "()", "its id", text),
        native("tojson", "()", "its id", text),
        native(
            "withTransaction",
            "(function, options)",
            "runs a function in a transaction (needs a replica set)",
            transaction,
        ),
    ],
);

/// A session.
#[derive(Clone)]
pub(super) struct Session {
    id: uuid::Uuid,
    options: RawDocumentBuf,
    ended: bool,
}

/// `db.getMongo().startSession(options)`.
pub(super) fn start(call: &mut Call<'_>) -> Result<Reply> {
    let options = call.options(0).unwrap_or_default();
    let session = Session { id: uuid::Uuid::new_v4(), options, ended: false };
    Ok(Reply::Handle("Session", call.shell.held.insert(Held::Session(session))))
}

fn own<'a>(call: &'a mut Call<'_>) -> Result<&'a mut Session> {
    let handle = call.handle()?;
    match call.shell.held.get_mut(handle) {
        Some(Held::Session(session)) => Ok(session),
        _ => Err(usage("this is no session")),
    }
}

/// The session, as long as it was not ended.
fn living<'a>(call: &'a mut Call<'_>) -> Result<&'a mut Session> {
    let session = own(call)?;
    if session.ended { Err(usage("Cannot use a session that has ended")) } else { Ok(session) }
}

fn nothing(call: &mut Call<'_>) -> Result<Reply> {
    own(call)?;
    Ok(Reply::Nothing)
}

fn end(call: &mut Call<'_>) -> Result<Reply> {
    own(call)?.ended = true;
    Ok(Reply::Nothing)
}

fn has_ended(call: &mut Call<'_>) -> Result<Reply> {
    Ok(Reply::Value(RawBson::Boolean(own(call)?.ended)))
}

fn options(call: &mut Call<'_>) -> Result<Reply> {
    Ok(Reply::Value(RawBson::Document(own(call)?.options.clone())))
}

fn id(call: &mut Call<'_>) -> Result<Reply> {
    let bytes = own(call)?.id.as_bytes().to_vec();
    let id = Binary { subtype: BinarySubtype::Uuid, bytes };
    Ok(Reply::Value(RawBson::Document(rawdoc! { "id": id })))
}

fn text(call: &mut Call<'_>) -> Result<Reply> {
    let id = own(call)?.id;
    let text = match call.shell.classic() {
        true => format!("session {{ \"id\" : UUID(\"{id}\") }}"),
        false => format!("{{ id: UUID('{id}') }}"),
    };
    Ok(Reply::Value(RawBson::String(text)))
}

fn database(call: &mut Call<'_>) -> Result<Reply> {
    living(call)?;
    database_name(call.shell, call.value(0), "Session.getDatabase").map(Reply::Database)
}

/// What a standalone server answers to the first command of a transaction. It is said at once, so that nothing runs that
/// was meant to be undone together.
fn transaction(call: &mut Call<'_>) -> Result<Reply> {
    living(call)?;
    match call.shell.backend.describe() {
        Topology::Embedded { .. } => Err(Error::command(
            Code::ILLEGAL_OPERATION,
            "Transaction numbers are only allowed on a replica set member or mongos",
        )),
        Topology::Server { .. } => Err(usage("transactions are not available in tally")),
    }
}

fn commit(call: &mut Call<'_>) -> Result<Reply> {
    living(call)?;
    Err(usage("There is no active transaction to commit on this session."))
}

fn abort(call: &mut Call<'_>) -> Result<Reply> {
    living(call)?;
    Err(usage("There is no active transaction to abort on this session."))
}
