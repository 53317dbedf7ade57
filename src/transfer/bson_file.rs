//! Documents out of BSON, one after the other: what `mongodump` writes.

use std::io::{BufRead, Read};

use bson::{Document, RawDocumentBuf};

use super::json::LARGEST;
use super::source::{Documents, Fault, Found, Place, Source, Trouble, unread};

/// A server's own documents may be a little larger than a user's (its `BSONObjMaxInternalSize`).
const ROOM: usize = 16 * 1024;

/// The documents of a source.
pub(super) fn documents(source: Source) -> Documents {
    Box::new(BsonFile { source, number: 0, byte: 0, ended: false })
}

struct BsonFile {
    source: Source,
    /// How many documents were read.
    number: u64,
    /// Where the next one begins.
    byte: u64,
    ended: bool,
}

impl Iterator for BsonFile {
    type Item = std::result::Result<Found, Trouble>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let next = self.read().transpose();
        self.ended = match &next {
            None | Some(Err(Trouble::Failed(_))) => true,
            Some(Err(Trouble::Fault(fault))) => fault.last,
            Some(Ok(_)) => false,
        };
        next
    }
}

impl BsonFile {
    fn read(&mut self) -> std::result::Result<Option<Found>, Trouble> {
        let name = &self.source.name;
        let failed = |error| Trouble::Failed(unread(name, error));
        if self.source.reader.fill_buf().map_err(failed)?.is_empty() {
            return Ok(None);
        }
        let place = Place::Document { number: self.number + 1, byte: self.byte };
        let fault = |reason: String, last| Err(Trouble::Fault(Fault { place, reason, last }));
        let mut length = Vec::with_capacity(4);
        self.source.reader.by_ref().take(4).read_to_end(&mut length).map_err(failed)?;
        let Ok(length) = <[u8; 4]>::try_from(&length[..]) else {
            return fault("the file ends within a document".to_owned(), true);
        };
        let size = u32::from_le_bytes(length) as usize;
        if !(5..=LARGEST + ROOM).contains(&size) {
            return fault(format!("this is no BSON: a document cannot have {size} bytes"), true);
        }
        let mut bytes = Vec::with_capacity(size);
        bytes.extend_from_slice(&length);
        let rest = (size - 4) as u64;
        self.source.reader.by_ref().take(rest).read_to_end(&mut bytes).map_err(failed)?;
        if bytes.len() < size {
            return fault("the file ends within a document".to_owned(), true);
        }
        self.number += 1;
        self.byte += size as u64;
        // Going through all of it finds what is wrong deep inside.
        let read = RawDocumentBuf::from_bytes(bytes)
            .and_then(|document| Document::try_from(&*document).map(|_| document));
        match read {
            Ok(document) => Ok(Some(Found { place, document })),
            Err(error) => fault(format!("this is no BSON: {error}"), false),
        }
    }
}
