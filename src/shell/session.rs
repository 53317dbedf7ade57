//! `db.getMongo().startSession()`: sessions and transactions.
//!
//! Where the server keeps sessions, what the databases of a session run goes through it. A standalone server and the
//! embedded engine have nothing that would set it apart: there a session's databases are those of its connection, and a
//! transaction is refused in the words of such a server.

use std::sync::Arc;

use bson::raw::cstr;
use bson::spec::BinarySubtype;
use bson::{Binary, RawBson, RawBsonRef, RawDocumentBuf, Timestamp, rawdoc};

use super::command::field;
use super::database::database_name;
use super::held::Held;
use super::refusal::{raised, usage};
use super::road::Road;
use super::rows::{native, prelude};
use super::{Call, Class, Reply, Shell, Shells, help};
use crate::backend;
use crate::error::{Code, Error, Result};

/// What `startSession` answers.
pub(super) const SESSION: Class = Class::instances(
    "Session",
    "DriverSession",
    "a session",
    &[
        native("__open", "()", "", is_open),
        native("abortTransaction", "()", "undoes the transaction", abort),
        native(
            "advanceClusterTime",
            "(time)",
            "waits for what another session has seen",
            advance_cluster,
        ),
        native(
            "advanceOperationTime",
            "(time)",
            "waits for what another session has seen",
            advance_operation,
        ),
        native("commitTransaction", "()", "keeps the transaction", commit),
        native("endSession", "()", "ends the session", end),
        native(
            "getClusterTime",
            "()",
            "the latest time of the cluster that it has seen",
            cluster_time,
        ),
        native("getDatabase", "(name)", "a database", database),
        native("getOperationTime", "()", "the time of its last operation", operation_time),
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
        prelude(
            "withTransaction",
            "(function, options)",
            "runs a function in a transaction (needs a replica set)",
        ),
    ],
);

/// A session.
pub(super) struct Session {
    /// Its id, `{id: UUID(...)}`.
    id: RawDocumentBuf,
    options: RawDocumentBuf,
    ended: bool,
    /// The session at the server, where it keeps one.
    server: Option<Arc<dyn backend::Session>>,
    transaction: Transaction,
}

/// How far the last transaction of a session has come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Transaction {
    /// There was none.
    None,
    Open,
    Committed,
    Aborted,
}

/// `db.getMongo().startSession(options)`.
pub(super) fn start(call: &mut Call<'_>) -> Result<Reply> {
    let options = call.options(0).unwrap_or_default();
    let interrupt = call.shell.interrupt.clone();
    let server = call.shell.server().session(&options, &interrupt)?;
    let id = server.as_ref().map_or_else(fresh_id, |server| server.id());
    let road = Road { session: server.clone(), ..call.shell.held.road.clone() };
    let session = Session { id, options, ended: false, server, transaction: Transaction::None };
    Ok(Reply::Handle("Session", call.shell.held.insert_at(Held::Session(session), road)))
}

fn fresh_id() -> RawDocumentBuf {
    let bytes = uuid::Uuid::new_v4().as_bytes().to_vec();
    rawdoc! { "id": Binary { subtype: BinarySubtype::Uuid, bytes } }
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

fn end(call: &mut Call<'_>) -> Result<Reply> {
    let session = own(call)?;
    session.ended = true;
    session.transaction = Transaction::None;
    if let Some(server) = &session.server {
        server.end();
    }
    Ok(Reply::Nothing)
}

fn cluster_time(call: &mut Call<'_>) -> Result<Reply> {
    let time = own(call)?.server.as_ref().and_then(|server| server.times().0);
    Ok(time.map_or(Reply::Nothing, |time| Reply::Served(RawBson::Document(time))))
}

fn operation_time(call: &mut Call<'_>) -> Result<Reply> {
    let time = own(call)?.server.as_ref().and_then(|server| server.times().1);
    Ok(time.map_or(Reply::Nothing, |time| Reply::Served(RawBson::Timestamp(time))))
}

fn advance_cluster(call: &mut Call<'_>) -> Result<Reply> {
    let time = call.raw_document(0, "time")?.map(ToOwned::to_owned);
    if let (Some(time), Some(server)) = (time, &own(call)?.server) {
        server.advance(Some(&time), None);
    }
    Ok(Reply::Nothing)
}

fn advance_operation(call: &mut Call<'_>) -> Result<Reply> {
    let time: Option<Timestamp> = match call.value(0) {
        None => None,
        Some(RawBson::Timestamp(time)) => Some(*time),
        Some(_) => return Err(usage("advanceOperationTime needs a Timestamp")),
    };
    if let Some(server) = &own(call)?.server {
        server.advance(None, time);
    }
    Ok(Reply::Nothing)
}

fn has_ended(call: &mut Call<'_>) -> Result<Reply> {
    Ok(Reply::Value(RawBson::Boolean(own(call)?.ended)))
}

fn options(call: &mut Call<'_>) -> Result<Reply> {
    Ok(Reply::Value(RawBson::Document(own(call)?.options.clone())))
}

fn id(call: &mut Call<'_>) -> Result<Reply> {
    Ok(Reply::Value(RawBson::Document(own(call)?.id.clone())))
}

fn text(call: &mut Call<'_>) -> Result<Reply> {
    let id = match field(&own(call)?.id, "id") {
        Some(RawBsonRef::Binary(id)) => uuid::Uuid::from_slice(id.bytes).unwrap_or_default(),
        _ => uuid::Uuid::default(),
    };
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

/// The words in which the old shell and the driver of mongosh refuse something of a transaction.
fn refused(shell: &Shell, classic: &str, modern: &str) -> Error {
    match shell.classic() {
        true => usage(classic),
        false => raised("MongoTransactionError", modern),
    }
}

fn transaction(call: &mut Call<'_>) -> Result<Reply> {
    let options = call.options(0).unwrap_or_default();
    let interrupt = call.shell.interrupt.clone();
    let session = living(call)?;
    // A standalone server answers so to the first command of a transaction. It is said at once, so that nothing runs that
    // was meant to be undone together.
    let Some(server) = session.server.clone() else {
        return Err(Error::command(
            Code::ILLEGAL_OPERATION,
            "Transaction numbers are only allowed on a replica set member or mongos",
        ));
    };
    if session.transaction == Transaction::Open {
        return Err(refused(
            call.shell,
            "Transaction already in progress on this session.",
            "Transaction already in progress",
        ));
    }
    server.begin(&options, &interrupt)?;
    living(call)?.transaction = Transaction::Open;
    Ok(Reply::Nothing)
}

/// Whether a transaction is open.
fn is_open(call: &mut Call<'_>) -> Result<Reply> {
    Ok(Reply::Value(RawBson::Boolean(own(call)?.transaction == Transaction::Open)))
}

fn commit(call: &mut Call<'_>) -> Result<Reply> {
    let session = living(call)?;
    match (session.transaction, session.server.clone()) {
        (Transaction::Open | Transaction::Committed, Some(server)) => {
            session.transaction = Transaction::Committed;
            call.shell.told_transaction(cstr!("commitTransaction"), |interrupt| {
                server.commit(interrupt)
            })?;
            Ok(Reply::Nothing)
        }
        (Transaction::Aborted, _) => Err(refused(
            call.shell,
            "Cannot call commitTransaction after calling abortTransaction.",
            "Cannot call commitTransaction after calling abortTransaction",
        )),
        _ => Err(refused(
            call.shell,
            "There is no active transaction to commit on this session.",
            "No transaction started",
        )),
    }
}

fn abort(call: &mut Call<'_>) -> Result<Reply> {
    let session = living(call)?;
    match (session.transaction, session.server.clone()) {
        (Transaction::Open, Some(server)) => {
            session.transaction = Transaction::Aborted;
            call.shell
                .told_transaction(cstr!("abortTransaction"), |interrupt| server.abort(interrupt))?;
            Ok(Reply::Nothing)
        }
        (Transaction::Committed, _) => Err(refused(
            call.shell,
            "Cannot call abortTransaction after calling commitTransaction.",
            "Cannot call abortTransaction after calling commitTransaction",
        )),
        (Transaction::Aborted, _) => Err(refused(
            call.shell,
            "Cannot call abortTransaction twice.",
            "Cannot call abortTransaction twice",
        )),
        _ => Err(refused(
            call.shell,
            "There is no active transaction to abort on this session.",
            "No transaction started",
        )),
    }
}
