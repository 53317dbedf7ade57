//! Somewhere commands can be sent: the embedded engine or a server. The shell cannot tell them apart.
//!
//! The currency is MongoDB's own protocol: a raw command document in, a raw reply document out.

mod embedded;
mod joined;
mod remote;

pub use embedded::Embedded;
pub use remote::{Address, Compression, Mechanism, Remote, ServerSettings, StableApi, TlsSettings};

use bson::{RawBsonRef, RawDocument, RawDocumentBuf};

pub use crate::engine::Request;
use crate::error::Result;

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

    /// What the user should hear that is no reply, such as a repair. Each is told once.
    fn remarks(&self) -> Vec<String> {
        Vec::new()
    }
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
}

/// The batch size that the command asked for, which its `getMore`s repeat.
fn batch_size(body: &RawDocument) -> Option<i64> {
    let number = |value: RawBsonRef<'_>| match value {
        RawBsonRef::Int32(size) => Some(i64::from(size)),
        RawBsonRef::Int64(size) => Some(size),
        #[allow(clippy::cast_possible_truncation)]
        RawBsonRef::Double(size) => Some(size as i64),
        _ => None,
    };
    let size = body.get("batchSize").ok().flatten().and_then(number).or_else(|| {
        let cursor = body.get_document("cursor").ok()?;
        cursor.get("batchSize").ok().flatten().and_then(number)
    });
    size.filter(|size| *size > 0)
}
