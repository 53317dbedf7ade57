//! The embedded backend: an engine in this process, opened by the first command, or that of the process which has the data
//! directory open already.
//!
//! A stream is the command followed by `getMore` through [`Engine::run`], so the shell and a server over the same engine
//! exercise the same code. Whoever opens the engine shares it; when that process ends, exactly one of the others takes the
//! directory over with its next command, because only one gets the lock.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use bson::raw::cstr;
use bson::{RawBsonRef, RawDocument, RawDocumentBuf, rawdoc};

use super::joined::{self, Lane, Link, Lost, PATIENCE};
use super::{Backend, Cursor, Request, Topology, batch_size, take_patience};
use crate::engine::functions::Functions;
use crate::engine::{Engine, Location, Retry};
use crate::error::{Error, Result};
use crate::interrupt::Interrupt;
use crate::serve::{self, Sharing};

/// How many documents a `getMore` asks for when the command named no batch size. A server sends 16 MB at once, to save
/// round trips; here there are none, and a small batch keeps the memory of a long read flat.
const MORE: i64 = 1000;

/// How often whoever can neither open the directory nor join its holder tries again.
const LOOK: Duration = Duration::from_millis(20);

/// The engine in this process, or the one of the process that holds the directory. Nothing touches the disk before the
/// first command.
pub struct Embedded {
    place: Arc<Place>,
    /// What the engine had to mend was told.
    told: AtomicBool,
}

/// A data directory, and how its engine is reached.
struct Place {
    location: Location,
    /// How long to wait for a process that holds the data directory and does not answer.
    wait: Duration,
    /// Who runs the JavaScript of commands.
    functions: Option<Arc<dyn Functions>>,
    own: OnceLock<Own>,
    /// The process that has the directory open. Held while that is being found out.
    link: Mutex<Option<Arc<Link>>>,
    /// How many holders were found.
    generation: AtomicU64,
    /// Who is not sending anything at the moment.
    lanes: Mutex<Vec<Lane>>,
}

/// The engine of this process.
struct Own {
    /// Ends before the engine does.
    _sharing: Option<Sharing>,
    engine: Engine,
}

/// Whose engine it is.
enum Way<'a> {
    Own(&'a Engine),
    Joined(Arc<Link>),
}

impl Embedded {
    /// A backend over the data at `location`, not opened yet.
    pub fn new(location: Location) -> Self {
        let place = Place::new(location, Duration::ZERO, None);
        Self { place: Arc::new(place), told: AtomicBool::new(false) }
    }

    /// The same, but it waits so long for a process that holds the data directory and does not answer, or until it is
    /// interrupted.
    #[must_use]
    pub fn waiting(self, wait: Duration) -> Self {
        let place = Place::new(self.place.location.clone(), wait, self.place.functions.clone());
        Self { place: Arc::new(place), ..self }
    }

    /// The same with somebody who runs the JavaScript of commands, where the engine is this process's.
    #[must_use]
    pub fn with_functions(self, functions: Arc<dyn Functions>) -> Self {
        let place = Place::new(self.place.location.clone(), self.place.wait, Some(functions));
        Self { place: Arc::new(place), ..self }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Place {
    fn new(location: Location, wait: Duration, functions: Option<Arc<dyn Functions>>) -> Self {
        Self {
            location,
            wait,
            functions,
            own: OnceLock::new(),
            link: Mutex::new(None),
            generation: AtomicU64::new(0),
            lanes: Mutex::default(),
        }
    }

    /// The way to the engine, found now if it is not known yet. A failure is not remembered: the next command tries again.
    fn way(&self, interrupt: &Interrupt) -> Result<Way<'_>> {
        if let Some(own) = self.own.get() {
            return Ok(Way::Own(&own.engine));
        }
        let mut link = lock(&self.link);
        if let Some(own) = self.own.get() {
            return Ok(Way::Own(&own.engine));
        }
        if let Some(link) = &*link {
            return Ok(Way::Joined(Arc::clone(link)));
        }
        let patience = PATIENCE.max(self.wait);
        let begun = Instant::now();
        loop {
            match Engine::open(&self.location) {
                Ok(engine) => {
                    let engine = match &self.functions {
                        Some(functions) => engine.with_functions(Arc::clone(functions)),
                        None => engine,
                    };
                    let sharing = match &self.location {
                        Location::Directory(path) => Some(serve::share(engine.clone(), path)),
                        Location::Ephemeral => None,
                    };
                    let own = self.own.get_or_init(|| Own { _sharing: sharing, engine });
                    return Ok(Way::Own(&own.engine));
                }
                Err(Error::Held(_)) => {}
                Err(error) => return Err(error),
            }
            let generation = self.generation.fetch_add(1, Ordering::Relaxed) + 1;
            let found = Link::find(&self.location, generation);
            let left = patience.saturating_sub(begun.elapsed());
            if let Some(found) = found {
                match found.greet(left.min(PATIENCE), interrupt) {
                    Ok(()) => {
                        let found = Arc::new(found);
                        *link = Some(Arc::clone(&found));
                        return Ok(Way::Joined(found));
                    }
                    Err(Lost::Failed(error)) => return Err(error),
                    Err(Lost::Gone { .. }) => {}
                }
            }
            if begun.elapsed() >= patience {
                let holder = Engine::holder(&self.location);
                return Err(joined::silent(&holder.map(|one| one.process).unwrap_or_default()));
            }
            interrupt.check()?;
            thread::sleep(LOOK);
        }
    }

    /// Forgets a holder that has gone.
    fn part(&self, gone: &Link) {
        let mut link = lock(&self.link);
        if link.as_ref().is_some_and(|link| link.generation == gone.generation) {
            *link = None;
        }
    }

    fn run(&self, request: &Request) -> Result<RawDocumentBuf> {
        match self.own.get() {
            Some(own) => own.engine.run(request),
            None => self.run_somewhere(request),
        }
    }

    /// Runs a command by whoever has the engine. When that one ends in between, it is sent again to the next one, if it
    /// is sure not to be done twice.
    fn run_somewhere(&self, request: &Request) -> Result<RawDocumentBuf> {
        let lane = lock(&self.lanes).pop();
        let mut lane = lane.unwrap_or_default();
        let retry = lane.next(&request.body);
        loop {
            let link = match self.way(&request.interrupt)? {
                Way::Own(engine) => return run_own(engine, request, retry),
                Way::Joined(link) => link,
            };
            match lane.run(&link, request, retry) {
                Ok(reply) => {
                    lock(&self.lanes).push(lane);
                    return Ok(reply);
                }
                Err(Lost::Gone { sent }) => {
                    self.part(&link);
                    if sent && retry.is_none() && !joined::is_read(&request.body) {
                        return Err(Error::Connection(format!(
                            "process {}, which held the data, has ended before it answered; whether `{}` was done is not known",
                            link.process,
                            joined::name(&request.body)
                        )));
                    }
                }
                Err(Lost::Failed(error @ Error::Command(_))) => {
                    lock(&self.lanes).push(lane);
                    return Err(error);
                }
                // The command may still run; nothing else is to be taken for it.
                Err(Lost::Failed(error)) => return Err(error),
            }
        }
    }

    /// Which holder answers at the moment; 0 is this process.
    fn holder(&self) -> u64 {
        lock(&self.link).as_ref().map_or(0, |link| link.generation)
    }
}

fn run_own(engine: &Engine, request: &Request, retry: Option<Retry>) -> Result<RawDocumentBuf> {
    match retry {
        Some(retry) => engine.run_once(request, retry),
        None => engine.run(request),
    }
}

impl Backend for Embedded {
    fn describe(&self) -> Topology {
        let directory = match &self.place.location {
            Location::Directory(path) => Some(path.display().to_string()),
            Location::Ephemeral => None,
        };
        Topology::Embedded { directory }
    }

    fn run(&self, request: Request) -> Result<RawDocumentBuf> {
        self.place.run(&request)
    }

    fn stream(&self, mut request: Request) -> Result<Box<dyn Cursor>> {
        let patience = take_patience(&mut request.body);
        let reply = self.place.run(&request)?;
        let (id, namespace, batch) = open_cursor(&reply, "firstBatch")?;
        let (db, collection) = namespace.split_once('.').unwrap_or((&request.db, ""));
        let (db, collection) = (db.to_owned(), collection.to_owned());
        let batch_size = batch_size(&request.body).unwrap_or(MORE);
        Ok(Box::new(EngineCursor {
            holder: self.place.holder(),
            place: Arc::clone(&self.place),
            db,
            collection,
            id,
            batch_size,
            patience,
            first: Some(batch),
            interrupt: request.interrupt,
        }))
    }

    fn remarks(&self) -> Vec<String> {
        let Some(own) = self.place.own.get() else { return Vec::new() };
        if self.told.swap(true, Ordering::Relaxed) {
            return Vec::new();
        }
        own.engine.mended().map(ToOwned::to_owned).into_iter().collect()
    }
}

/// A cursor of the engine, drained by `getMore`.
struct EngineCursor {
    place: Arc<Place>,
    /// Whose cursor it is.
    holder: u64,
    db: String,
    collection: String,
    id: i64,
    batch_size: i64,
    /// How long a `getMore` may wait for new documents.
    patience: Option<Duration>,
    first: Option<Vec<RawDocumentBuf>>,
    interrupt: Interrupt,
}

impl EngineCursor {
    fn run(&self, body: RawDocumentBuf, interrupt: Interrupt) -> Result<RawDocumentBuf> {
        self.place.run(&Request { db: self.db.clone(), body, interrupt })
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
        let mut more = rawdoc! {
            "getMore": self.id,
            "collection": self.collection.as_str(),
            "batchSize": self.batch_size,
        };
        if let Some(patience) = self.patience {
            let time = i64::try_from(patience.as_millis()).unwrap_or(i64::MAX);
            more.append(cstr!("maxTimeMS"), time);
        }
        let reply = self.run(more, self.interrupt.clone())?;
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
        if self.id != 0 && self.place.holder() == self.holder {
            let kill = rawdoc! { "killCursors": self.collection.as_str(), "cursors": [self.id] };
            // Nobody is left to hear of a failure; the engine forgets idle cursors by itself.
            let _ = self.run(kill, Interrupt::new());
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
