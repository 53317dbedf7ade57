//! The private way in: other processes of this user that want the same data directory work with the engine of the one that
//! holds it.
//!
//! It is a Unix socket in the data directory, `DIR/SOCKET`, or, when that path is too long for one, in a folder of this
//! user alone under the runtime directory. Which it is stands in `DIR/HOLDER`. Whoever comes is let in if the system says
//! that it is the same user. It speaks OP_MSG; each command comes in an [`Envelope`], which says for which database it is
//! and, of a write, how to tell that it has come before.

use std::fs::DirBuilder;
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use bson::raw::cstr;
use bson::spec::BinarySubtype;
use bson::{Binary, RawBsonRef, RawDocument, RawDocumentBuf};
use tokio::net::UnixStream;
use tokio::sync::oneshot;
use xxhash_rust::xxh3::xxh3_64;

use super::listener::{Listeners, Socket};
use super::server::Server;
use super::{STACK, Settings, THREADS, shutdown};
use crate::engine::{Engine, Retry};
use crate::error::{Error, Result};
use crate::refuse;

/// The name of the socket in the data directory.
const SOCKET: &str = "SOCKET";

/// The longest path of a socket on any system: macOS has 104 bytes, the zero at its end included.
const LONGEST: usize = 103;

/// The private socket, and whose processes may come.
pub(super) struct Private {
    pub(super) socket: Socket,
    pub(super) user: u32,
}

/// Who this process is to others.
fn user() -> io::Result<u32> {
    let (one, _other) = UnixStream::pair()?;
    Ok(one.peer_cred()?.uid())
}

/// Where the socket of a data directory is.
fn place(directory: &Path, user: u32) -> io::Result<PathBuf> {
    let directory = directory.canonicalize()?;
    let inside = directory.join(SOCKET);
    if inside.to_str().is_some_and(|path| path.len() <= LONGEST) {
        return Ok(inside);
    }
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let runtime = runtime.filter(|path| path.is_absolute()).unwrap_or_else(std::env::temp_dir);
    let folder = runtime.join(format!("tally-{user}"));
    match DirBuilder::new().mode(0o700).create(&folder) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
        Ok(()) | Err(_) => {}
    }
    // In a folder for all somebody else may have been quicker.
    let found = std::fs::symlink_metadata(&folder)?;
    if !found.is_dir() || found.uid() != user || found.mode() & 0o077 != 0 {
        return Err(io::Error::new(ErrorKind::PermissionDenied, "it is not this user's alone"));
    }
    let name = xxh3_64(directory.as_os_str().as_encoded_bytes());
    Ok(folder.join(format!("{name:016x}")))
}

impl Private {
    /// Listens for others that want the directory which `engine` holds, and lets them know where.
    pub(super) async fn open(engine: &Engine, directory: &Path) -> Result<Self> {
        let failed = |error: io::Error| {
            Error::Connection(format!("no other process can join this one: {error}"))
        };
        let user = user().map_err(failed)?;
        let path = place(directory, user).map_err(failed)?;
        let socket = Socket::open(&path).await?;
        engine.announce(&path)?;
        Ok(Self { socket, user })
    }
}

/// An engine that others can join, for as long as this lives.
pub struct Sharing {
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// Lets other processes of this user work with `engine`, which holds `directory`. When that cannot be, they are told that
/// the directory is taken.
pub fn share(engine: Engine, directory: &Path) -> Sharing {
    let (end, ended) = oneshot::channel();
    let directory = directory.to_owned();
    let thread = std::thread::Builder::new().name("tally share".to_owned());
    let thread = thread.spawn(move || attend(engine, &directory, ended));
    Sharing { end: Some(end), thread: thread.ok() }
}

fn attend(engine: Engine, directory: &Path, ended: oneshot::Receiver<()>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .max_blocking_threads(THREADS)
        .thread_stack_size(STACK)
        .thread_name("tally share")
        .enable_all()
        .build();
    let Ok(runtime) = runtime else { return };
    runtime.block_on(async {
        let Ok(private) = Private::open(&engine, directory).await else { return };
        let listeners = Listeners::private(private);
        let settings = Settings { hosts: Vec::new(), quiet: true, ..Settings::default() };
        let server = Arc::new(Server::new(engine, &settings, &listeners));
        shutdown::share(&server, listeners, ended).await;
    });
    runtime.shutdown_timeout(Duration::from_secs(1));
}

impl Drop for Sharing {
    fn drop(&mut self) {
        drop(self.end.take());
        // The engine is free when its last command has ended.
        self.thread.take().map(JoinHandle::join);
    }
}

/// A command on its way through the private socket.
#[derive(Clone, Debug, PartialEq)]
pub struct Envelope {
    /// The database it runs on.
    pub db: String,
    /// The command.
    pub command: RawDocumentBuf,
    /// Of a write: how to tell that it has come before.
    pub retry: Option<Retry>,
}

impl Envelope {
    /// The document that travels.
    pub fn fold(db: &str, command: &RawDocument, retry: Option<Retry>) -> RawDocumentBuf {
        let mut folded = RawDocumentBuf::new();
        folded.append(cstr!("db"), db);
        folded.append(cstr!("command"), command);
        if let Some(Retry { session, number }) = retry {
            let session = Binary { subtype: BinarySubtype::Generic, bytes: session.to_vec() };
            folded.append(cstr!("session"), session);
            folded.append(cstr!("number"), number);
        }
        folded
    }

    /// The command of a document that came.
    ///
    /// # Errors
    /// 22 for a document that nobody here has folded.
    pub fn unfold(folded: &RawDocument) -> Result<Self> {
        let invalid = |error| refuse!(INVALID_BSON, "{error}");
        let db = folded.get_str("db").map_err(invalid)?.to_owned();
        let command = folded.get_document("command").map_err(invalid)?.to_owned();
        let retry = match folded.get("session") {
            Ok(Some(RawBsonRef::Binary(session))) => {
                let session = session.bytes.try_into();
                let session = session.map_err(|_| refuse!(INVALID_BSON, "a session has 16 bytes"));
                Some(Retry {
                    session: session?,
                    number: folded.get_i64("number").map_err(invalid)?,
                })
            }
            _ => None,
        };
        Ok(Self { db, command, retry })
    }
}

#[cfg(test)]
mod tests {
    use bson::rawdoc;

    use super::*;

    #[test]
    fn an_envelope_keeps_what_is_in_it() {
        let command = rawdoc! { "insert": "t", "documents": [{ "_id": 1 }], "db": "x" };
        for retry in [None, Some(Retry { session: [7; 16], number: 3 })] {
            let folded = Envelope::fold("shop", &command, retry);
            let envelope = Envelope { db: "shop".to_owned(), command: command.clone(), retry };
            assert_eq!(Envelope::unfold(&folded).expect("an envelope"), envelope);
        }
        assert!(Envelope::unfold(&rawdoc! { "ping": 1 }).is_err());
    }

    #[test]
    fn a_long_path_gets_a_folder_of_its_own() {
        let folder = tempfile::tempdir().expect("a folder");
        let long = folder.path().join("x".repeat(100));
        std::fs::create_dir(&long).expect("a folder");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let user = runtime.expect("a runtime").block_on(async { user() }).expect("a user");
        let place = place(&long, user).expect("a place");
        assert!(place.as_os_str().len() <= LONGEST && !place.starts_with(&long), "{place:?}");
        let mode = std::fs::metadata(place.parent().expect("a folder")).expect("its mode").mode();
        assert_eq!(mode & 0o777, 0o700);
    }
}
