//! Somewhere commands can be sent: the embedded engine or a server. The shell cannot tell them apart.
//!
//! The currency is MongoDB's own protocol: a raw command document in, a raw reply document out.

mod changes;
mod embedded;
mod joined;
mod remote;

pub use changes::{Changes, Opener, id as change_token};
pub use embedded::Embedded;
pub use remote::{Address, Compression, Mechanism, Remote, ServerSettings, StableApi, TlsSettings};

use std::sync::Arc;
use std::time::Duration;

use bson::raw::{CStr, cstr};
use bson::{RawBsonRef, RawDocument, RawDocumentBuf, Timestamp};

pub use crate::engine::Request;
use crate::error::Result;
use crate::interrupt::Interrupt;

/// What stands behind a backend, for prompt and banner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Topology {
    /// The engine in this process, with a sentence that says where its data is.
    Embedded {
        /// The directory, or `None` for a scratch one.
        directory: Option<String>,
    },
    /// A server by address.
    Server {
        /// `host:port`.
        address: String,
        /// The replica set's name and this member's state, e.g. `rs0` and `primary`.
        replica_set: Option<(String, String)>,
    },
}

/// Somewhere commands can be sent. The only difference between here and far away.
pub trait Backend: Send + Sync {
    /// What stands behind this backend.
    fn describe(&self) -> Topology;

    /// Sends one command and returns the reply document.
    ///
    /// # Errors
    /// [`crate::Error::Command`] where the server replies `ok: 0`, in the server's words, with code and labels.
    fn run(&self, request: Request) -> Result<RawDocumentBuf>;

    /// Sends a command that answers with a cursor and streams its batches.
    ///
    /// # Errors
    /// As [`Backend::run`].
    fn stream(&self, request: Request) -> Result<Box<dyn Cursor>>;

    /// A session with these options (`causalConsistency`, `snapshot`, `defaultTransactionOptions`), or `None` where nothing
    /// would set apart what runs in it: on a standalone server and in the embedded engine.
    ///
    /// # Errors
    /// As [`Backend::run`]; [`crate::Error::Usage`] for options that contradict each other.
    fn session(&self, _: &RawDocument, _: &Interrupt) -> Result<Option<Arc<dyn Session>>> {
        Ok(None)
    }

    /// What the user should hear that is no reply, such as a repair. Each is told once.
    fn remarks(&self) -> Vec<String> {
        Vec::new()
    }
}

/// A session at the server: what runs in it is in order, and in a transaction happens together or not at all. Dropping it
/// ends it and undoes an open transaction.
pub trait Session: Send + Sync {
    /// Its id, `{id: UUID(...)}`.
    fn id(&self) -> RawDocumentBuf;

    /// As [`Backend::run`], in this session and its open transaction.
    ///
    /// # Errors
    /// As [`Backend::run`].
    fn run(&self, request: Request) -> Result<RawDocumentBuf>;

    /// As [`Backend::stream`], in this session and its open transaction.
    ///
    /// # Errors
    /// As [`Backend::run`].
    fn stream(&self, request: Request) -> Result<Box<dyn Cursor>>;

    /// Opens a transaction with these options (`readConcern`, `writeConcern`, `readPreference`, `maxCommitTimeMS`). The
    /// server hears of it with the first command.
    ///
    /// # Errors
    /// As [`Backend::run`].
    fn begin(&self, options: &RawDocument, interrupt: &Interrupt) -> Result<()>;

    /// Keeps what the transaction did. It may be called again when the outcome is unknown.
    ///
    /// # Errors
    /// As [`Backend::run`], with the labels by which it is known whether to try again.
    fn commit(&self, interrupt: &Interrupt) -> Result<()>;

    /// Undoes what the transaction did.
    ///
    /// # Errors
    /// As [`Backend::run`].
    fn abort(&self, interrupt: &Interrupt) -> Result<()>;

    /// Ends it; nothing runs in it from then on.
    fn end(&self);

    /// The latest time of the cluster and of an operation that it has seen.
    fn times(&self) -> (Option<RawDocumentBuf>, Option<Timestamp>);

    /// Makes it wait for what another session has seen: a cluster time, a time of an operation.
    fn advance(&self, cluster: Option<&RawDocument>, operation: Option<Timestamp>);
}

/// Documents that arrive in batches. Dropping it closes the cursor at the server.
pub trait Cursor: Send {
    /// The next batch, first the one that came with the command itself; `None` once the cursor is exhausted. A batch
    /// may be empty (a tailable cursor that waited in vain).
    ///
    /// # Errors
    /// As [`Backend::run`].
    fn next_batch(&mut self) -> Result<Option<Vec<RawDocumentBuf>>>;

    /// The server's cursor id, 0 when it is drained.
    fn id(&self) -> i64;

    /// Of a change stream, the place behind the last batch (`postBatchResumeToken`).
    fn resume_token(&self) -> Option<RawDocumentBuf> {
        None
    }
}

/// A number without its fraction.
fn whole(value: RawBsonRef<'_>) -> Option<i64> {
    match value {
        RawBsonRef::Int32(number) => Some(i64::from(number)),
        RawBsonRef::Int64(number) => Some(number),
        #[allow(clippy::cast_possible_truncation)]
        RawBsonRef::Double(number) => Some(number as i64),
        _ => None,
    }
}

/// The batch size that the command asked for, which its `getMore`s repeat.
fn batch_size(body: &RawDocument) -> Option<i64> {
    let size = body.get("batchSize").ok().flatten().and_then(whole).or_else(|| {
        let cursor = body.get_document("cursor").ok()?;
        cursor.get("batchSize").ok().flatten().and_then(whole)
    });
    size.filter(|size| *size > 0)
}

/// The field by which a command that is streamed says how long its `getMore`s may wait for new documents. The command
/// itself has no such field at a server; a backend takes it out.
pub const PATIENCE: &CStr = cstr!("maxAwaitTimeMS");

/// Takes [`PATIENCE`] out of a command.
fn take_patience(body: &mut RawDocumentBuf) -> Option<Duration> {
    let time = body.get(PATIENCE).ok().flatten().and_then(whole)?;
    *body = without(body, PATIENCE);
    u64::try_from(time).ok().filter(|time| *time > 0).map(Duration::from_millis)
}

/// A document without one of its fields.
fn without(document: &RawDocument, field: &CStr) -> RawDocumentBuf {
    let mut rest = RawDocumentBuf::new();
    for (name, value) in document.iter().flatten() {
        if name != field {
            rest.append(name, value);
        }
    }
    rest
}
