//! The embedded database: commands in, replies out, as MongoDB 7.0 standalone answers them.
//!
//! A command is compiled once - every bad one dies there - and then run. Only `storage` touches the disk and names the
//! storage crate; `query`, `update`, `expr` and `aggregate` are pure and never read storage.

pub mod aggregate;
pub mod command;
pub mod expr;
pub mod functions;
pub mod index;
pub mod query;
pub mod storage;
pub mod update;

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use bson::RawDocumentBuf;

use crate::error::{Error, Result};
use crate::interrupt::{self, Interrupt};

pub use command::Retry;
use command::{Cursors, Plans, Tally};
use functions::{Functions, Hook};
pub use storage::Holder;
use storage::Storage;

/// One command for one database, as it would travel to a server.
#[derive(Clone, Debug)]
pub struct Request {
    /// The database it runs on.
    pub db: String,
    /// The command document; its first key is the command's name.
    pub body: RawDocumentBuf,
    /// Stops a long scan, sort or wait.
    pub interrupt: Interrupt,
}

/// Where an engine keeps its data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// A directory, created when missing, kept afterwards.
    Directory(PathBuf),
    /// A scratch directory that is removed when the engine is dropped.
    Ephemeral,
}

impl Location {
    /// Whether there are data, which opening it would otherwise make.
    pub fn has_data(&self) -> bool {
        match self {
            Self::Directory(path) => storage::is_data(path),
            Self::Ephemeral => false,
        }
    }
}

/// An open database. Cheap to clone; clones share everything.
#[derive(Clone)]
pub struct Engine {
    shared: Arc<Shared>,
}

/// What all clones share.
pub(crate) struct Shared {
    /// The data.
    pub(crate) storage: Storage,
    /// The cursors that wait for a `getMore`.
    pub(crate) cursors: Cursors,
    /// The `findAndModify` commands compiled before.
    pub(crate) plans: Plans,
    /// What was run so far.
    pub(crate) tally: Tally,
    /// Whether a thread looks for expired documents.
    pub(crate) expiring: AtomicBool,
    /// Who runs JavaScript, if somebody does.
    pub(crate) functions: OnceLock<Arc<dyn Functions>>,
}

impl Shared {
    /// JavaScript for a new command.
    pub(crate) fn hook(&self) -> Option<Hook> {
        self.functions.get().map(Hook::new)
    }
}

impl Engine {
    /// Opens (and repairs, if the last process died) the data at `location`.
    ///
    /// # Errors
    /// [`crate::Error::Held`] when another process has the directory open; [`crate::Error::Storage`] naming the directory
    /// when it is damaged, of another format number, or not readable and writable.
    pub fn open(location: &Location) -> Result<Self> {
        let storage = Storage::open(location)?;
        let shared = Arc::new(Shared {
            storage,
            cursors: Cursors::default(),
            plans: Plans::default(),
            tally: Tally::default(),
            expiring: AtomicBool::new(false),
            functions: OnceLock::new(),
        });
        command::start_expiry(&shared);
        Ok(Self { shared })
    }

    /// As [`Engine::open`], but while another process holds the directory it tries again, at most for so long or until it
    /// is interrupted.
    ///
    /// # Errors
    /// As [`Engine::open`], and [`crate::Error::Interrupted`].
    pub fn open_within(location: &Location, wait: Duration, interrupt: &Interrupt) -> Result<Self> {
        let started = Instant::now();
        loop {
            match Self::open(location) {
                Err(Error::Held(_)) if started.elapsed() < wait => {
                    interrupt.check()?;
                    thread::sleep(interrupt::LOOK);
                }
                opened => return opened,
            }
        }
    }

    /// The process that holds the data at `location`, as it has said itself; it may have ended since.
    pub fn holder(location: &Location) -> Option<Holder> {
        match location {
            Location::Directory(path) => Holder::of(path),
            Location::Ephemeral => None,
        }
    }

    /// Lets other processes know at which socket they can join this one.
    ///
    /// # Errors
    /// [`crate::Error::Storage`] when the directory cannot be written to.
    pub fn announce(&self, socket: &Path) -> Result<()> {
        self.shared.storage.announce(socket)
    }

    /// The same with somebody who runs the JavaScript of `$where`, `$function`, `$accumulator` and `mapReduce`.
    #[must_use]
    pub fn with_functions(self, functions: Arc<dyn Functions>) -> Self {
        self.shared.functions.get_or_init(|| functions);
        self
    }

    /// What had to be mended when the data was opened, in words: the end of a write that a killed process or a power
    /// failure cut short.
    pub fn mended(&self) -> Option<&str> {
        self.shared.storage.mended()
    }

    /// Runs one command and answers with the reply document (`ok: 1.0`, write errors inside).
    ///
    /// # Errors
    /// [`crate::Error::Command`] where a server would reply `ok: 0`; [`crate::Error::Interrupted`];
    /// [`crate::Error::Storage`] when the disk fails.
    pub fn run(&self, request: &Request) -> Result<RawDocumentBuf> {
        command::run(&self.shared, request)
    }

    /// As [`Engine::run`]; a write with the same `retry` is done once, however often it comes, and answered the same way.
    ///
    /// # Errors
    /// As [`Engine::run`]; 11601 for a write to many documents whose first attempt ended in the middle.
    pub fn run_once(&self, request: &Request, retry: Retry) -> Result<RawDocumentBuf> {
        command::run_once(&self.shared, request, Some(retry))
    }
}
