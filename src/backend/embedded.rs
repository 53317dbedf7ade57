//! The embedded backend: an engine in this process, opened by the first command.
//!
//! A stream is the command followed by `getMore` through [`Engine::run`], so the shell and a server over the same engine
//! exercise the same code.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use bson::{RawBsonRef, RawDocument, RawDocumentBuf, rawdoc};

use super::{Backend, Cursor, Request, Topology, batch_size};
use crate::engine::{Engine, Location};
use crate::error::{Error, Result};
use crate::interrupt::Interrupt;

/// How many documents a `getMore` asks for when the command named no batch size. A server sends 16 MB at once, to save
/// round trips; here there are none, and a small batch keeps the memory of a long read flat.
const MORE: i64 = 1000;

/// The engine in this process. Nothing touches the disk before the first command.
pub struct Embedded {
    location: Location,
    /// How long to wait while another process holds the data directory.
    wait: Duration,
    engine: OnceLock<Engine>,
    /// Held while the engine is being opened.
    opening: Mutex<()>,
    /// What the engine had to mend was told.
    told: AtomicBool,
}

impl Embedded {
    /// A backend over the data at `location`, not opened yet.
    pub fn new(location: Location) -> Self {
        Self {
            location,
            wait: Duration::ZERO,
            engine: OnceLock::new(),
            opening: Mutex::new(()),
            told: AtomicBool::new(false),
        }
    }

    /// The same, but it waits so long for a data directory that another process holds, or until it is interrupted.
    #[must_use]
    pub fn waiting(self, wait: Duration) -> Self {
        Self { wait, ..self }
    }

    /// The engine, opened now if it is not yet. A failure is not remembered: the next command tries again.
    fn engine(&self, interrupt: &Interrupt) -> Result<&Engine> {
        if let Some(engine) = self.engine.get() {
            return Ok(engine);
        }
        let _turn = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(engine) = self.engine.get() {
            return Ok(engine);
        }
        let engine = Engine::open_within(&self.location, self.wait, interrupt)?;
        Ok(self.engine.get_or_init(|| engine))
    }
}

impl Backend for Embedded {
    fn describe(&self) -> Topology {
        let directory = match &self.location {
            Location::Directory(path) => Some(path.display().to_string()),
            Location::Ephemeral => None,
        };
        Topology::Embedded { directory }
    }

    fn run(&self, request: Request) -> Result<RawDocumentBuf> {
        self.engine(&request.interrupt)?.run(&request)
    }

    fn stream(&self, request: Request) -> Result<Box<dyn Cursor>> {
        let engine = self.engine(&request.interrupt)?.clone();
        let reply = engine.run(&request)?;
        let (id, namespace, batch) = open_cursor(&reply, "firstBatch")?;
        let (db, collection) = namespace.split_once('.').unwrap_or((&request.db, ""));
        let (db, collection) = (db.to_owned(), collection.to_owned());
        let batch_size = batch_size(&request.body).unwrap_or(MORE);
        Ok(Box::new(EngineCursor {
            engine,
            db,
            collection,
            id,
            batch_size,
            first: Some(batch),
            interrupt: request.interrupt,
        }))
    }

    fn remarks(&self) -> Vec<String> {
        let Some(engine) = self.engine.get() else { return Vec::new() };
        if self.told.swap(true, Ordering::Relaxed) {
            return Vec::new();
        }
        engine.mended().map(ToOwned::to_owned).into_iter().collect()
    }
}

/// A cursor of the engine, drained by `getMore`.
struct EngineCursor {
    engine: Engine,
    db: String,
    collection: String,
    id: i64,
    batch_size: i64,
    first: Option<Vec<RawDocumentBuf>>,
    interrupt: Interrupt,
}

impl EngineCursor {
    fn run(&self, body: RawDocumentBuf) -> Result<RawDocumentBuf> {
        self.engine.run(&Request { db: self.db.clone(), body, interrupt: self.interrupt.clone() })
    }
}

impl Cursor for EngineCursor {
    fn next_batch(&mut self) -> Result<Option<Vec<RawDocumentBuf>>> {
        if let Some(batch) = self.first.take() {
            return Ok(Some(batch));
        }
        if self.id == 0 {
            return Ok(None);
        }
        let reply = self.run(rawdoc! {
            "getMore": self.id,
            "collection": self.collection.as_str(),
            "batchSize": self.batch_size,
        })?;
        let (id, _, batch) = open_cursor(&reply, "nextBatch")?;
        self.id = id;
        Ok(Some(batch))
    }

    fn id(&self) -> i64 {
        self.id
    }
}

impl Drop for EngineCursor {
    fn drop(&mut self) {
        if self.id != 0 {
            // Nobody is left to hear of a failure; the engine forgets idle cursors by itself.
            let _ =
                self.run(rawdoc! { "killCursors": self.collection.as_str(), "cursors": [self.id] });
        }
    }
}

/// The parts of a `cursor` reply: id, namespace and batch.
fn open_cursor(reply: &RawDocument, batch: &str) -> Result<(i64, String, Vec<RawDocumentBuf>)> {
    let malformed = |what: &str| Error::Storage(format!("the engine's reply has no `{what}`"));
    let cursor = reply.get_document("cursor").map_err(|_| malformed("cursor"))?;
    let id = cursor.get_i64("id").map_err(|_| malformed("cursor.id"))?;
    let namespace = cursor.get_str("ns").map_err(|_| malformed("cursor.ns"))?.to_owned();
    let documents = cursor.get_array(batch).map_err(|_| malformed(batch))?;
    let documents = documents.into_iter().filter_map(|element| match element {
        Ok(RawBsonRef::Document(document)) => Some(document.to_owned()),
        _ => None,
    });
    Ok((id, namespace, documents.collect()))
}
