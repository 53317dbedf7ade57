//! The journal of the storage crate as a file: handed to the disk beside the crate's back, and emptied at the end.
//!
//! The crate writes each batch to the newest of its journal files and lets nobody write while it waits for the disk. A
//! second handle on the same file can wait just as well and is in nobody's way.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::store::lock;

/// How the names of journal files end; in front of it stands a number that grows.
const ENDING: &str = "jnl";

/// The journal of one store.
pub(super) struct Journal {
    folder: PathBuf,
    /// The newest file, and its number.
    newest: Mutex<Option<(u64, File)>>,
}

impl Journal {
    /// The journal of the store in `folder`.
    pub(super) fn of(folder: PathBuf) -> Self {
        Self { folder, newest: Mutex::default() }
    }

    /// Hands everything written so far to the disk. Older files were handed over when the newest was begun.
    pub(super) fn sync(&self) -> io::Result<()> {
        let mut newest = lock(&self.newest);
        let files = files(&self.folder)?;
        let Some((number, path)) = files.last() else { return Err(io::ErrorKind::NotFound.into()) };
        let file = match newest.take() {
            Some((known, file)) if known == *number => file,
            _ => OpenOptions::new().append(true).open(path)?,
        };
        let outcome = file.sync_data();
        *newest = Some((*number, file));
        outcome
    }

    /// Empties the journal of a closed store all of whose contents are in tables. The newest file stays: the storage crate
    /// learns from it that the store is not a new one.
    pub(super) fn empty(&self) -> io::Result<()> {
        let mut files = files(&self.folder)?;
        let newest = files.pop();
        for (_, path) in files {
            fs::remove_file(path)?;
        }
        let Some((_, path)) = newest else { return Ok(()) };
        let file = OpenOptions::new().write(true).open(path)?;
        file.set_len(0)?;
        file.sync_all()
    }

    /// The size of its files.
    pub(super) fn size(&self) -> u64 {
        let files = files(&self.folder).unwrap_or_default();
        files.iter().filter_map(|(_, path)| path.metadata().ok()).map(|file| file.len()).sum()
    }
}

/// The journal files in a folder, the newest last.
pub(super) fn files(folder: &Path) -> io::Result<Vec<(u64, PathBuf)>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let number = path.file_stem().and_then(|stem| stem.to_str()?.parse().ok());
        if let (Some(number), true) = (number, path.extension().is_some_and(|end| end == ENDING)) {
            files.push((number, path));
        }
    }
    files.sort_unstable();
    Ok(files)
}
