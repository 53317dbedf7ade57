//! Where documents are written: standard output, or a file that appears once it is whole.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::source::reason;
use crate::error::{Error, Result};
use crate::shell::Output;

/// What the file under construction has behind its name.
const PARTIAL: &str = ".partial";

/// How much is written at once.
const CHUNK: usize = 256 * 1024;

/// A place for bytes.
pub(super) enum Target<'a> {
    /// Standard output.
    Output(&'a Output),
    /// A file.
    File(Box<Partial>),
}

/// A file that is written beside the one whose place it takes in the end, so that what was there before stays whole
/// until then. A pipe or a device is written as it is.
pub(super) struct Partial {
    writer: BufWriter<File>,
    /// The name it was given.
    name: String,
    /// Where it is, and where it goes to.
    moves: Option<(PathBuf, PathBuf)>,
}

impl<'a> Target<'a> {
    /// Opens a file; without one it is standard output.
    ///
    /// # Errors
    /// [`Error::Usage`] naming the file when it cannot be made.
    pub(super) fn open(file: Option<&Path>, output: &'a Output) -> Result<Self> {
        let Some(path) = file else { return Ok(Self::Output(output)) };
        let name = path.display().to_string();
        let refused =
            |error: io::Error| Error::Usage(format!("cannot write {name}: {}", reason(&error)));
        let special = fs::metadata(path).is_ok_and(|there| !there.is_file());
        let (file, moves) = if special {
            (File::options().write(true).open(path).map_err(refused)?, None)
        } else {
            // A link stays one.
            let end = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
            let mut partial = end.clone().into_os_string();
            partial.push(PARTIAL);
            let partial = PathBuf::from(partial);
            (File::create(&partial).map_err(refused)?, Some((partial, end)))
        };
        let writer = BufWriter::with_capacity(CHUNK, file);
        Ok(Self::File(Box::new(Partial { writer, name, moves })))
    }

    /// Writes bytes.
    ///
    /// # Errors
    /// Those of [`Output::bytes`]; [`Error::Storage`] when the disk is full.
    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        match self {
            Self::Output(output) => output.bytes(bytes),
            Self::File(file) => file.writer.write_all(bytes).map_err(|error| file.failed(&error)),
        }
    }

    /// Everything is written.
    ///
    /// # Errors
    /// As [`Target::write`].
    pub(super) fn end(self) -> Result<()> {
        match self {
            Self::Output(output) => output.flush(),
            Self::File(mut file) => {
                let written = file.writer.flush().and_then(|()| match &file.moves {
                    Some((from, to)) => {
                        file.writer.get_ref().sync_all().and_then(|()| fs::rename(from, to))
                    }
                    None => Ok(()),
                });
                written.map_err(|error| file.failed(&error))?;
                file.moves = None;
                Ok(())
            }
        }
    }
}

impl Partial {
    fn failed(&self, error: &io::Error) -> Error {
        Error::Storage(format!("cannot write {}: {}", self.name, reason(error)))
    }
}

impl Drop for Partial {
    /// What is not whole is removed.
    fn drop(&mut self) {
        if let Some((partial, _)) = &self.moves {
            let _ = fs::remove_file(partial);
        }
    }
}
