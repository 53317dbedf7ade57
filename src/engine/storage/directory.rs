//! The data directory: who holds it, which format it has, and scratch ones that vanish.
//!
//! ```text
//! DIR/FORMAT   "tally data format 1", written once the store beside it is complete
//! DIR/HOLDER   locked while a process has the directory open; holds its process id, and where others can join it
//! DIR/SOCKET   the socket for those, see `serve::private`
//! DIR/store/   the storage crate's files
//! DIR/SYNCED   how much of them was handed to the disk, see `synced`
//! DIR/learn.toml   the user's progress in lessons, which is none of this room's business
//! ```

use std::fmt::Display;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::journal;
use super::survey::ALL_KEYSPACES;
use crate::engine::Location;
use crate::error::{Error, Result};

/// The number of the layout that this version reads and writes.
const FORMAT: u32 = 1;

const FORMAT_FILE: &str = "FORMAT";
const FORMAT_PREFIX: &str = "tally data format ";
const HOLDER_FILE: &str = "HOLDER";
const PROGRESS_FILE: &str = "learn.toml";
const STORE: &str = "store";
const UNFINISHED_STORE: &str = "store.new";

/// How long a program may take from its fork to its own code.
const STARTING: Duration = Duration::from_millis(200);

/// How the name of a scratch directory begins.
const SCRATCH_PREFIX: &str = "tally-scratch-";

/// Memory-backed on Linux: files there cost no disk access.
const MEMORY: &str = "/dev/shm";

/// Whether a directory is one of data.
pub fn is_data(path: &Path) -> bool {
    path.join(FORMAT_FILE).exists() || path.join(STORE).exists()
}

/// The process that holds a data directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Holder {
    /// Its number.
    pub process: String,
    /// Where it can be joined.
    pub socket: Option<PathBuf>,
}

impl Holder {
    /// Who holds the directory at `path`, or did.
    pub fn of(path: &Path) -> Option<Self> {
        File::open(path.join(HOLDER_FILE)).ok().map(|mut file| Self::read(&mut file))
    }

    fn read(file: &mut File) -> Self {
        let mut text = String::new();
        let _ = file.read_to_string(&mut text);
        let mut lines = text.split('\n');
        let process = lines.next().unwrap_or_default().trim().to_owned();
        // A path whose line has no end is not whole.
        let socket = match (lines.next(), lines.next()) {
            (Some(path), Some(_)) if !path.is_empty() => Some(PathBuf::from(path)),
            _ => None,
        };
        Self { process, socket }
    }
}

/// A data directory held by this process until it is dropped.
pub(super) struct Directory {
    path: PathBuf,
    /// The lock lasts as long as the file is open.
    holder: File,
    /// Removes a scratch directory, after everything in it is closed.
    scratch: Option<TempDir>,
}

impl Directory {
    /// Takes hold of the directory at `location`, creating it with an empty store when there is none.
    ///
    /// `create` makes an empty store at a path that does not exist yet.
    pub(super) fn open(location: &Location, create: impl Fn(&Path) -> Result<()>) -> Result<Self> {
        match location {
            Location::Directory(path) => {
                if path.is_file() {
                    return Err(failure(path, "cannot be used: it is a file"));
                }
                fs::create_dir_all(path)
                    .map_err(|error| unusable(path, "cannot be created", &error))?;
                // Nothing is written into a directory of something else, not even the lock.
                if !is_data(path) {
                    check_empty(path)?;
                }
                let holder = hold(path)?;
                let directory = Self { path: path.clone(), holder, scratch: None };
                directory.prepare(&create)?;
                Ok(directory)
            }
            Location::Ephemeral => Self::scratch(&create),
        }
    }

    fn scratch(create: &impl Fn(&Path) -> Result<()>) -> Result<Self> {
        let temporary = std::env::temp_dir();
        sweep(&temporary);
        let scratch = tempfile::Builder::new()
            .prefix(SCRATCH_PREFIX)
            .tempdir_in(&temporary)
            .map_err(|error| unusable(&temporary, "cannot hold scratch data", &error))?;
        let path = scratch.path().to_owned();
        let holder = hold(&path)?;
        let directory = Self { path, holder, scratch: Some(scratch) };
        // Creating a store waits for the disk a dozen times, which scratch data need not. Made in memory and then moved,
        // it costs a fraction of that.
        let store = directory.store();
        let moved = tempfile::tempdir_in(MEMORY).is_ok_and(|memory| {
            let made = memory.path().join(STORE);
            create(&made).is_ok() && copy(&made, &store).is_ok()
        });
        if !moved {
            let _ = fs::remove_dir_all(&store);
            create(&store)?;
        }
        Ok(directory)
    }

    /// Where the storage crate keeps its files.
    pub(super) fn store(&self) -> PathBuf {
        self.path.join(STORE)
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Lets other processes know where they can join this one.
    pub(super) fn announce(&self, socket: &Path) -> Result<()> {
        let failed = |error: std::io::Error| unusable(&self.path, "cannot be used", &error);
        let mut holder = &self.holder;
        let socket = socket.display();
        holder.rewind().map_err(failed)?;
        // In one piece, because others read it meanwhile.
        let text = format!("{}\n{socket}\n", std::process::id());
        holder.write_all(text.as_bytes()).map_err(failed)
    }

    /// Whether it is removed at the end.
    pub(super) fn is_scratch(&self) -> bool {
        self.scratch.is_some()
    }

    /// The directory as a user names it.
    pub(super) fn name(&self) -> String {
        name(&self.path)
    }

    /// The error that says what is the matter with it: `cannot be read: …`.
    pub(super) fn failure(&self, what: impl Display) -> Error {
        failure(&self.path, what)
    }

    /// The error that says what of it makes no sense.
    pub(super) fn damaged(&self, what: impl Display) -> Error {
        self.failure(format_args!("is damaged: {what}"))
    }

    /// Checks the format number, or writes it beside a new store.
    ///
    /// A store is made under another name, then the number is written, then the store gets its name. So a creation that
    /// was cut short is told from a directory that lost a part.
    fn prepare(&self, create: &impl Fn(&Path) -> Result<()>) -> Result<()> {
        let failed = |error: std::io::Error| unusable(&self.path, "cannot be used", &error);
        let (format, store, unfinished) =
            (self.path.join(FORMAT_FILE), self.store(), self.path.join(UNFINISHED_STORE));
        match fs::read_to_string(&format) {
            Ok(text) => self.check(&text)?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && !store.exists() => {
                check_empty(&self.path)?;
                let _ = fs::remove_dir_all(&unfinished);
                create(&unfinished)?;
                let mut file = File::create(&format).map_err(failed)?;
                writeln!(file, "{FORMAT_PREFIX}{FORMAT}")
                    .and_then(|()| file.sync_all())
                    .map_err(failed)?;
            }
            Err(error) => {
                return Err(self.damaged(format_args!("its FORMAT file cannot be read: {error}")));
            }
        }
        if !store.exists() {
            if !unfinished.exists() {
                return Err(self.damaged("its store is missing"));
            }
            fs::rename(&unfinished, &store).map_err(failed)?;
            File::open(&self.path).and_then(|directory| directory.sync_all()).map_err(failed)?;
        }
        self.check_store(&store)
    }

    /// Refuses a store that lost a file which the storage crate would make anew, empty, without a word.
    fn check_store(&self, store: &Path) -> Result<()> {
        let damaged = |error: std::io::Error| self.damaged(error);
        let missing = |what: &str| self.damaged(format_args!("{what} is missing"));
        let keyspaces = store.join("keyspaces");
        for entry in fs::read_dir(&keyspaces).map_err(damaged)? {
            let entry = entry.map_err(damaged)?;
            let name = entry.file_name();
            if name.to_str().is_none_or(|name| name.parse::<u64>().is_err()) {
                let what = format_args!("its store holds an unknown {}", name.display());
                return Err(self.damaged(what));
            }
            if !entry.path().join("current").is_file() {
                return Err(missing(&format!("store/keyspaces/{}/current", name.display())));
            }
        }
        for keyspace in ALL_KEYSPACES {
            if !keyspaces.join(keyspace.to_string()).is_dir() {
                return Err(missing(&format!("store/keyspaces/{keyspace}")));
            }
        }
        if journal::files(store).map_err(damaged)?.is_empty() {
            return Err(missing("the journal of its store"));
        }
        Ok(())
    }

    fn check(&self, text: &str) -> Result<()> {
        let number =
            text.strip_prefix(FORMAT_PREFIX).and_then(|rest| rest.trim_end().parse::<u32>().ok());
        match number {
            Some(FORMAT) => Ok(()),
            Some(other) => Err(self.failure(format_args!(
                "has format {other}; this version of tally reads format {FORMAT}"
            ))),
            None => Err(self.damaged("its FORMAT file is no format number")),
        }
    }
}

/// A directory without a format must be an empty one, lest data of something else is taken for ours.
fn check_empty(path: &Path) -> Result<()> {
    let entries = fs::read_dir(path).map_err(|error| unusable(path, "cannot be read", &error))?;
    for entry in entries {
        let entry = entry.map_err(|error| unusable(path, "cannot be read", &error))?;
        let found = entry.file_name();
        // Progress in lessons may be kept before there is any data.
        let progress = found.to_string_lossy().starts_with(PROGRESS_FILE);
        if found != HOLDER_FILE && found != UNFINISHED_STORE && !progress {
            return Err(Error::Storage(format!(
                "the directory {} holds {} and no data of tally; use an empty one",
                name(path),
                found.display()
            )));
        }
    }
    Ok(())
}

/// Locks the directory for this process, or says who holds it.
fn hold(path: &Path) -> Result<File> {
    let failed = |error: std::io::Error| unusable(path, "is not readable and writable", &error);
    let mut holder = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path.join(HOLDER_FILE))
        .map_err(failed)?;
    let begun = Instant::now();
    loop {
        match holder.try_lock() {
            Ok(()) => break,
            Err(TryLockError::Error(error)) => return Err(failed(error)),
            Err(TryLockError::WouldBlock) => {}
        }
        holder.rewind().map_err(failed)?;
        let process = Holder::read(&mut holder).process;
        // A program that this process is just starting has a copy of what was open here, until it runs.
        if process != std::process::id().to_string() || begun.elapsed() > STARTING {
            return Err(Error::Held(format!(
                "the data directory {} is in use by process {}. Wait for it with --wait, use another with --data DIR, or \
                 a scratch one with --ephemeral.",
                name(path),
                process
            )));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    holder
        .set_len(0)
        .and_then(|()| holder.rewind())
        .and_then(|()| write!(holder, "{}", std::process::id()))
        .map_err(failed)?;
    Ok(holder)
}

/// A path as a user names it: the home directory as `~`.
fn name(path: &Path) -> String {
    let home = std::env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
    match home.as_deref().and_then(|home| path.strip_prefix(home).ok()) {
        Some(rest) => Path::new("~").join(rest).display().to_string(),
        None => path.display().to_string(),
    }
}

fn unusable(path: &Path, what: &str, error: &std::io::Error) -> Error {
    failure(path, format_args!("{what}: {error}"))
}

/// The error that says what is the matter with the data directory at `path`.
pub(super) fn failure(path: &Path, what: impl Display) -> Error {
    Error::Storage(format!("the data directory {} {what}", name(path)))
}

/// Removes the scratch directories of processes that were killed.
///
/// A living process holds its lock from before its number stands in the file until after the directory is gone.
fn sweep(temporary: &Path) {
    let Ok(entries) = fs::read_dir(temporary) else { return };
    for entry in entries.flatten() {
        let ours = entry.file_name().to_string_lossy().starts_with(SCRATCH_PREFIX)
            && entry.file_type().is_ok_and(|kind| kind.is_dir());
        // Data that is kept has a format; nobody's scratch has one.
        if !ours || entry.path().join(FORMAT_FILE).exists() {
            continue;
        }
        let holder = OpenOptions::new().read(true).write(true).open(entry.path().join(HOLDER_FILE));
        let Ok(holder) = holder else { continue };
        let begun = holder.metadata().is_ok_and(|metadata| metadata.len() > 0);
        if begun && holder.try_lock().is_ok() {
            // What cannot be removed is left for the next one.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Copies a small tree of files.
fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
