//! Where documents are read from: a file or standard input, compressed or not; and what can be wrong with them.

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bson::RawDocumentBuf;
use flate2::bufread::MultiGzDecoder;

use crate::error::{Error, Result};
use crate::interrupt::Interrupt;
use crate::pipe::Arriving;

/// How much is read at once.
const CHUNK: usize = 256 * 1024;

/// What every gzip file begins with (RFC 1952).
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// What many programs on Windows begin a text with.
const BYTE_ORDER_MARK: [u8; 3] = [0xef, 0xbb, 0xbf];

/// An open file, or standard input.
pub(super) struct Source {
    /// Its bytes, uncompressed.
    pub(super) reader: Box<dyn BufRead>,
    /// How the user knows it.
    pub(super) name: String,
    /// How many bytes of the file were taken so far.
    taken: Arc<AtomicU64>,
    /// How many it has, where that is known.
    size: Option<u64>,
}

/// How far a [`Source`] was read.
pub(super) struct Gauge {
    taken: Arc<AtomicU64>,
    size: Option<u64>,
}

impl Gauge {
    /// ` (12 %)`, or nothing where the size is not known.
    pub(super) fn percent(&self) -> String {
        match self.size {
            Some(size @ 1..) => {
                format!(" ({} %)", (self.taken.load(Ordering::Relaxed) * 100 / size).min(100))
            }
            _ => String::new(),
        }
    }
}

impl Source {
    /// Opens a file; without a name, standard input.
    ///
    /// # Errors
    /// [`Error::Usage`] naming the file when it cannot be read.
    pub(super) fn open(file: Option<&Path>, interrupt: &Interrupt) -> Result<Self> {
        let taken = Arc::new(AtomicU64::new(0));
        let (reader, name, size): (Box<dyn Read>, _, _) = match file {
            None => {
                let arriving = Arriving::new(io::stdin(), interrupt.clone())?;
                (Box::new(arriving), "standard input".to_owned(), None)
            }
            Some(path) => {
                let name = path.display().to_string();
                let refused = |error: io::Error| {
                    Error::Usage(format!("cannot read {name}: {}", reason(&error)))
                };
                let file = File::open(path).map_err(refused)?;
                let metadata = file.metadata().map_err(refused)?;
                if metadata.is_dir() {
                    return Err(Error::Usage(format!("cannot read {name}: it is a directory")));
                }
                let size = metadata.is_file().then_some(metadata.len());
                (Box::new(file), name, size)
            }
        };
        let counting = Counting { inner: reader, taken: Arc::clone(&taken) };
        let mut reader = BufReader::with_capacity(CHUNK, counting);
        let start = reader.fill_buf().map_err(|error| unread(&name, error))?;
        let reader: Box<dyn BufRead> = if start.starts_with(&GZIP) {
            Box::new(BufReader::with_capacity(CHUNK, MultiGzDecoder::new(reader)))
        } else {
            Box::new(reader)
        };
        Ok(Self { reader, name, taken, size })
    }

    /// What stands in memory, for tests.
    #[cfg(test)]
    pub(super) fn of(bytes: Vec<u8>) -> Self {
        let reader = Box::new(io::Cursor::new(bytes));
        Self { reader, name: "memory".to_owned(), taken: Arc::default(), size: None }
    }

    /// Leaves a byte-order mark out.
    ///
    /// # Errors
    /// When the source cannot be read.
    pub(super) fn skip_mark(&mut self) -> Result<()> {
        let start = self.reader.fill_buf().map_err(|error| unread(&self.name, error))?;
        if start.starts_with(&BYTE_ORDER_MARK) {
            self.reader.consume(BYTE_ORDER_MARK.len());
        }
        Ok(())
    }

    /// How far it is read.
    pub(super) fn gauge(&self) -> Gauge {
        Gauge { taken: Arc::clone(&self.taken), size: self.size }
    }
}

/// Counts the bytes that pass.
struct Counting {
    inner: Box<dyn Read>,
    taken: Arc<AtomicU64>,
}

impl Read for Counting {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(bytes)?;
        self.taken.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

/// Why a source could not be read on.
pub(super) fn unread(name: &str, error: io::Error) -> Error {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) {
        Some(Error::Interrupted) => Error::Interrupted,
        _ => Error::Usage(format!("cannot read {name}: {}", reason(&error))),
    }
}

/// An error of the system in a user's words, without its number.
pub(super) fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut characters = text.chars();
    match characters.next() {
        Some(first) => first.to_lowercase().chain(characters).collect(),
        None => text.to_owned(),
    }
}

/// Where in a source something stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// In a text; both count from 1.
    Line {
        /// The line.
        line: u64,
        /// The column, in characters.
        column: u64,
    },
    /// The number of a document, from 1, and the byte that it begins at, from 0.
    Document {
        /// The number.
        number: u64,
        /// The byte.
        byte: u64,
    },
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line { line, column } => write!(f, "line {line}, column {column}"),
            Self::Document { number, byte } => write!(f, "document {number}, at byte {byte}"),
        }
    }
}

/// A document, and where it begins.
#[derive(Debug, PartialEq)]
pub(super) struct Found {
    /// Where it begins.
    pub(super) place: Place,
    /// The document.
    pub(super) document: RawDocumentBuf,
}

/// What is no document.
#[derive(Debug, PartialEq)]
pub(super) struct Fault {
    /// Where it is.
    pub(super) place: Place,
    /// What is wrong, in one sentence.
    pub(super) reason: String,
    /// Nothing after it can be read.
    pub(super) last: bool,
}

/// What reading may come to.
#[derive(Debug, PartialEq)]
pub(super) enum Trouble {
    /// The source holds something that is no document.
    Fault(Fault),
    /// The source cannot be read.
    Failed(Error),
}

/// Documents, one after the other.
pub(super) type Documents = Box<dyn Iterator<Item = std::result::Result<Found, Trouble>>>;
