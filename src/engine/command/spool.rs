//! A spool: documents that were made before anyone asked for them, in memory while they are few, else in a file.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, Write};

use bson::RawDocumentBuf;

use crate::error::{Error, Result};

/// Documents beyond so many bytes go to a file.
const MEMORY: usize = 16 * 1024 * 1024;

/// Documents on their way into a spool.
#[derive(Default)]
pub(super) struct Spool {
    memory: VecDeque<RawDocumentBuf>,
    bytes: usize,
    file: Option<BufWriter<File>>,
    filed: u64,
}

/// Documents on their way out of a spool.
pub(super) struct Unspooled {
    memory: VecDeque<RawDocumentBuf>,
    file: Option<BufReader<File>>,
    filed: u64,
}

impl Spool {
    pub(super) fn push(&mut self, document: &RawDocumentBuf) -> Result<()> {
        self.bytes += document.as_bytes().len();
        if self.bytes <= MEMORY {
            self.memory.push_back(document.clone());
            return Ok(());
        }
        let file = match &mut self.file {
            Some(file) => file,
            None => self
                .file
                .insert(BufWriter::new(tempfile::tempfile().map_err(|error| failed(&error))?)),
        };
        self.filed += 1;
        file.write_all(document.as_bytes()).map_err(|error| failed(&error))
    }

    /// Ends writing.
    pub(super) fn finish(self) -> Result<Unspooled> {
        let file = self.file.map(|file| {
            let mut file = file.into_inner().map_err(|error| error.into_error())?;
            file.rewind()?;
            Ok(BufReader::new(file))
        });
        let file = file.transpose().map_err(|error: std::io::Error| failed(&error))?;
        Ok(Unspooled { memory: self.memory, file, filed: self.filed })
    }
}

impl Unspooled {
    /// The next document, which stays the next one until it is taken.
    pub(super) fn peek(&mut self) -> Result<Option<&RawDocumentBuf>> {
        if self.memory.is_empty()
            && self.filed > 0
            && let Some(file) = &mut self.file
        {
            let mut length = [0; 4];
            file.read_exact(&mut length).map_err(|error| failed(&error))?;
            let mut bytes =
                vec![0; usize::try_from(i32::from_le_bytes(length)).unwrap_or(4).max(4)];
            bytes[..4].copy_from_slice(&length);
            file.read_exact(&mut bytes[4..]).map_err(|error| failed(&error))?;
            self.filed -= 1;
            self.memory
                .push_back(RawDocumentBuf::from_bytes(bytes).map_err(|error| failed(&error))?);
        }
        Ok(self.memory.front())
    }

    /// Takes the next document away.
    pub(super) fn pop(&mut self) {
        self.memory.pop_front();
    }

    /// Whether there are no more.
    pub(super) fn is_empty(&self) -> bool {
        self.memory.is_empty() && self.filed == 0
    }
}

impl From<VecDeque<RawDocumentBuf>> for Unspooled {
    fn from(memory: VecDeque<RawDocumentBuf>) -> Self {
        Self { memory, file: None, filed: 0 }
    }
}

fn failed(error: &dyn std::fmt::Display) -> Error {
    Error::Storage(format!("results cannot be kept in {}: {error}", std::env::temp_dir().display()))
}
