//! The storage crate, opened: two keyspaces, batches that commit together, and a thread that hands them to the disk.
//!
//! A keyspace of the storage crate costs a dozen disk waits to create, four files, and several milliseconds at every
//! start (measured: 200 collections with one index, 400 keyspaces, took 28 s to create and 1.6 s to open). So there are
//! two for all collections, and every key begins with the number of the tree it belongs to:
//!
//! | keyspace | key | value |
//! |---|---|---|
//! | `records` | tree, record number | the document |
//! | `entries` | tree of an index, key encoding, and the record number unless unique | nothing, or the record number |
//! | `entries` | 0, a row of the catalog | see [`super::catalog`] |
//!
//! Numbers are big-endian, so that byte order is their order. Trees are numbered from 1 and never reused: a dropped
//! tree's keys are swept in the background.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use fjall::{Database, Keyspace, KeyspaceCreateOptions, OwnedWriteBatch, PersistMode};

use super::Bytes;
use super::directory::{self, Directory};
use super::journal::Journal;
use super::synced::{self, Synced};
use crate::engine::Location;
use crate::error::{Error, Result};

/// How long an acknowledged write may wait for the disk.
const SYNC_WITHIN: Duration = Duration::from_millis(80);

/// How long a re-opening waits for reads to end, and the end for tables to be written.
const PATIENCE: Duration = Duration::from_secs(5);

/// So many bytes of keys and values are gathered in memory before they are written to files.
const MEMTABLE: u64 = 6 * 1024 * 1024;

/// The storage crate puts a keyspace's memory aside by itself from here on, which is never reached but by the largest
/// commands. It asks its worker for that with every write; a worker busy for long finds its queue full of such requests,
/// and then waits for room in it for ever when it wants to send itself one.
const LARGEST_MEMTABLE: u64 = 128 * 1024 * 1024;

/// Shared by all reads of blocks from files.
const CACHE: u64 = 32 * 1024 * 1024;

/// A journal of more bytes is not left to the next opening, which reads some 50 MB of it a second.
const LONG_JOURNAL: u64 = 256 * 1024;

/// The tree of the catalog's rows, in `entries`.
pub(super) const CATALOG: u32 = 0;

/// The opened database of the storage crate.
pub(super) struct Open {
    pub(super) database: Database,
    pub(super) records: Keyspace,
    pub(super) entries: Keyspace,
}

impl Open {
    fn at(path: &Path) -> fjall::Result<Self> {
        // One worker: the first of several would spin while another one merges tables.
        let database = Database::builder(path).worker_threads(1).cache_size(CACHE).open()?;
        let options = || KeyspaceCreateOptions::default().max_memtable_size(LARGEST_MEMTABLE);
        let records = database.keyspace("records", options)?;
        let entries = database.keyspace("entries", options)?;
        Ok(Self { database, records, entries })
    }
}

/// The storage of one data directory: what is open, and whether it can still be written.
pub(super) struct Store {
    /// `None` after a re-opening that failed; the next access tries again.
    open: RwLock<Option<Arc<Open>>>,
    /// Set when a write failed: the storage crate refuses every further one until it is opened anew.
    failed: AtomicBool,
    /// Counts the openings, so that what is kept in memory knows when to read itself again.
    epoch: AtomicU64,
    reopening: Mutex<()>,
    journal: Journal,
    /// How many bytes the journal holds, about.
    journaled: AtomicU64,
    /// How many bytes were gathered in memory, about.
    gathered: AtomicU64,
    synced: Synced,
    /// What had to be mended when the directory was opened.
    mended: Option<String>,
    syncer: Arc<Syncer>,
    thread: Mutex<Option<JoinHandle<()>>>,
    /// Last: the directory is let go of after everything in it is closed.
    directory: Directory,
}

impl Store {
    /// Opens the store at `location` and starts the thread that hands writes to the disk.
    pub(super) fn open(location: &Location) -> Result<Arc<Self>> {
        let directory = Directory::open(location, |path| {
            // The second opening cuts the journal, preallocated by the first one, to its contents.
            for _ in 0..2 {
                Open::at(path).map_err(|error| directory::failure(path, not_opened(&error)))?;
            }
            Ok(())
        })?;
        let mended = synced::inspect(&directory)?;
        let open =
            Open::at(&directory.store()).map_err(|error| directory.failure(not_opened(&error)))?;
        let journal = Journal::of(directory.store());
        let store = Arc::new(Self {
            open: RwLock::new(Some(Arc::new(open))),
            failed: AtomicBool::new(false),
            epoch: AtomicU64::new(0),
            reopening: Mutex::new(()),
            journaled: AtomicU64::new(journal.size()),
            // What the journal holds was read into memory.
            gathered: AtomicU64::new(journal.size()),
            journal,
            synced: Synced::keep(&directory),
            mended,
            syncer: Arc::default(),
            thread: Mutex::new(None),
            directory,
        });
        let (syncer, weak) = (Arc::clone(&store.syncer), Arc::downgrade(&store));
        let thread = std::thread::Builder::new().name("tally sync".into()).spawn(move || {
            while syncer.wait() {
                let Some(store) = weak.upgrade() else { return };
                // A failure stays noted; the next write answers it.
                if !store.failed.load(Ordering::Acquire) {
                    let _ = store.sync();
                }
            }
        });
        let thread =
            thread.map_err(|error| Error::Storage(format!("no thread for the disk: {error}")))?;
        *lock(&store.thread) = Some(thread);
        Ok(store)
    }

    /// What is open, for reading.
    pub(super) fn reading(&self) -> Result<Arc<Open>> {
        if let Some(open) = &*self.open.read().unwrap_or_else(PoisonError::into_inner) {
            return Ok(Arc::clone(open));
        }
        self.reopen()
    }

    /// What is open, for writing: opened anew if the last write failed.
    pub(super) fn writing(&self) -> Result<Arc<Open>> {
        if self.failed.load(Ordering::Acquire) { self.reopen() } else { self.reading() }
    }

    /// How often the store was opened.
    pub(super) fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Acquire)
    }

    /// The size of all files.
    pub(super) fn disk_space(&self) -> u64 {
        self.reading().ok().and_then(|open| open.database.disk_space().ok()).unwrap_or(0)
    }

    /// Writes a batch: handed to the operating system when this returns, to the disk if `durable`.
    pub(super) fn commit(&self, batch: OwnedWriteBatch, durable: bool) -> Result<()> {
        batch.durability(Some(PersistMode::Buffer)).commit().map_err(|error| self.fail(&error))?;
        self.set_aside()?;
        if durable {
            return self.sync();
        }
        self.syncer.notice();
        Ok(())
    }

    /// Writes one value, as [`Store::commit`] would in a batch of its own.
    pub(super) fn put(&self, keyspace: &Keyspace, key: Bytes, value: Bytes) -> Result<()> {
        self.note(key.len() + value.len());
        keyspace.insert(key, value).map_err(|error| self.fail(&error))?;
        self.set_aside()?;
        self.syncer.notice();
        Ok(())
    }

    /// Lets what was gathered in memory be written to files, once it is much.
    fn set_aside(&self) -> Result<()> {
        if self.gathered.load(Ordering::Relaxed) < MEMTABLE
            || self.gathered.swap(0, Ordering::Relaxed) < MEMTABLE
        {
            return Ok(());
        }
        let open = self.reading()?;
        for keyspace in [&open.records, &open.entries] {
            keyspace.rotate_memtable().map_err(|error| self.fail(&error))?;
        }
        Ok(())
    }

    /// Counts what goes into the journal; a few bytes more or less do not matter.
    pub(super) fn note(&self, bytes: usize) {
        self.journaled.fetch_add(bytes as u64, Ordering::Relaxed);
        self.gathered.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Lets other processes know where they can join this one.
    pub(super) fn announce(&self, socket: &Path) -> Result<()> {
        self.directory.announce(socket)
    }

    /// Hands everything written to the disk.
    pub(super) fn sync(&self) -> Result<()> {
        let open = self.writing()?;
        let reached = self.synced.beat(&open).map_err(|error| self.fail(&error))?;
        self.journal.sync().map_err(|error| self.fail(&error.into()))?;
        self.synced.note(reached);
        Ok(())
    }

    /// Ends the thread that hands writes to the disk. While it does, it holds the store as well; without this it could be
    /// the last to let go, and the directory would be free only some time after its user was done.
    pub(super) fn retire(&self) {
        self.syncer.stop();
        if let Some(thread) = lock(&self.thread).take()
            && thread.thread().id() != std::thread::current().id()
        {
            let _ = thread.join();
        }
    }

    /// What had to be mended when the directory was opened, in words.
    pub(super) fn mended(&self) -> Option<&str> {
        self.mended.as_deref()
    }

    /// Notes that writing failed, and says so.
    pub(super) fn fail(&self, error: &fjall::Error) -> Error {
        self.failed.store(true, Ordering::Release);
        self.directory.failure(format_args!("cannot be written: {}", reason(error)))
    }

    /// Says that reading failed.
    pub(super) fn unreadable(&self, error: &fjall::Error) -> Error {
        self.directory.failure(format_args!("cannot be read: {}", reason(error)))
    }

    /// Says that what was read makes no sense.
    pub(super) fn damaged(&self, what: &str) -> Error {
        self.directory.damaged(what)
    }

    /// Closes and opens the storage crate, once for all that wait for it.
    fn reopen(&self) -> Result<Arc<Open>> {
        let before = self.epoch();
        let _turn = lock(&self.reopening);
        let mut open = self.open.write().unwrap_or_else(PoisonError::into_inner);
        if let (true, Some(open)) =
            (self.epoch() != before && !self.failed.load(Ordering::Acquire), &*open)
        {
            return Ok(Arc::clone(open));
        }
        if let Some(mut old) = open.take() {
            // Readers finish their batch; two openings of one directory would harm each other.
            let deadline = Instant::now() + PATIENCE;
            while let Err(shared) = Arc::try_unwrap(old) {
                if Instant::now() > deadline {
                    *open = Some(shared);
                    return Err(self.directory.failure(
                        "cannot be written: an earlier write failed and reads still go on",
                    ));
                }
                old = shared;
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        let new = Open::at(&self.directory.store())
            .map_err(|error| self.directory.failure(not_opened(&error)))?;
        let new = Arc::new(new);
        *open = Some(Arc::clone(&new));
        self.failed.store(false, Ordering::Release);
        self.epoch.fetch_add(1, Ordering::AcqRel);
        Ok(new)
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        self.retire();
        let open = self.open.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        let Some(open) = open.and_then(Arc::into_inner) else { return };
        // Everything acknowledged is with the operating system already; there is nobody left to tell.
        let written = self.syncer.dirty.load(Ordering::Acquire);
        let reached = if written { self.synced.beat(&open) } else { Ok(0) };
        if let (Ok(()), Ok(reached)) = (open.database.persist(PersistMode::SyncAll), reached) {
            self.synced.note(reached);
        }
        let long = *self.journaled.get_mut() > LONG_JOURNAL && !self.directory.is_scratch();
        if long && !*self.failed.get_mut() {
            self.leave_no_journal(open);
        }
    }
}

impl Store {
    /// Puts everything into tables and empties the journal, so that the next opening need not read it again. When that
    /// takes too long, or the disk is full, the journal is kept, which is no harm.
    fn leave_no_journal(&self, open: Open) {
        let Open { database, records, entries } = open;
        let keyspaces = [&records, &entries];
        let mut done = keyspaces.iter().all(|keyspace| keyspace.rotate_memtable().is_ok());
        let deadline = Instant::now() + PATIENCE;
        while done && keyspaces.iter().any(|keyspace| keyspace.sealed_memtable_count() > 0) {
            std::thread::sleep(Duration::from_millis(1));
            done = Instant::now() < deadline;
        }
        drop((database, records, entries));
        if done {
            self.synced.note_tables();
            // What is left in the journal is read again.
            let _ = self.journal.empty();
        }
    }
}

/// Why a store which is there cannot be opened: it is damaged, unless the system is in the way.
fn not_opened(error: &fjall::Error) -> String {
    let io = match error {
        fjall::Error::Io(error) | fjall::Error::Storage(fjall::LsmError::Io(error)) => {
            Some(error.kind())
        }
        _ => None,
    };
    let damaged = match io {
        Some(kind) => matches!(
            kind,
            ErrorKind::NotFound
                | ErrorKind::AlreadyExists
                | ErrorKind::UnexpectedEof
                | ErrorKind::InvalidInput
                | ErrorKind::InvalidData
        ),
        None => !matches!(error, fjall::Error::Poisoned | fjall::Error::Locked),
    };
    let why = if damaged { "is damaged" } else { "cannot be opened" };
    format!("{why}: {}", reason(error))
}

/// The storage crate's error in a user's words.
fn reason(error: &fjall::Error) -> String {
    match error {
        fjall::Error::Io(error) => error.to_string(),
        fjall::Error::Storage(fjall::LsmError::Io(error)) => error.to_string(),
        fjall::Error::Poisoned => "an earlier write failed, as it does on a full disk".to_owned(),
        fjall::Error::Locked => "its store is in use by another process".to_owned(),
        fjall::Error::InvalidVersion(_) => "its store has no known version".to_owned(),
        fjall::Error::Storage(fjall::LsmError::Unrecoverable) => {
            "files of its store are missing or spoilt".to_owned()
        }
        other => format!("{other:?}"),
    }
}

/// A lock that a panicking thread held is as good as any: nothing here is left half done.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Wakes the thread that hands writes to the disk.
#[derive(Default)]
struct Syncer {
    /// Whether something was written since the last time.
    dirty: AtomicBool,
    stopped: Mutex<bool>,
    wake: Condvar,
}

impl Syncer {
    /// Something was written.
    fn notice(&self) {
        if !self.dirty.load(Ordering::Relaxed) && !self.dirty.swap(true, Ordering::AcqRel) {
            let _guard = lock(&self.stopped);
            self.wake.notify_one();
        }
    }

    /// Waits until it is time to hand something to the disk; false at the end.
    fn wait(&self) -> bool {
        let mut stopped = lock(&self.stopped);
        while !*stopped && !self.dirty.load(Ordering::Acquire) {
            stopped = self.wake.wait(stopped).unwrap_or_else(PoisonError::into_inner);
        }
        // Gathers what comes within the time.
        let (stopped, _) = self
            .wake
            .wait_timeout_while(stopped, SYNC_WITHIN, |stopped| !*stopped)
            .unwrap_or_else(PoisonError::into_inner);
        if *stopped {
            return false;
        }
        self.dirty.store(false, Ordering::Release);
        true
    }

    fn stop(&self) {
        *lock(&self.stopped) = true;
        self.wake.notify_all();
    }
}
