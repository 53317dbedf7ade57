//! Documents gathered until a command is worth its journey.

use bson::raw::CStr;
use bson::{RawArrayBuf, RawBsonRef, RawDocument, RawDocumentBuf};

/// The most documents of a batch: the ones that a server reads at once by itself.
const DOCUMENTS: usize = 1000;

/// The most bytes of a batch. A server takes 48 MB; less keeps memory flat, and Ctrl-C near.
const BYTES: usize = 4 * 1024 * 1024;

/// Documents, each with what its owner wants to know of it.
pub(super) struct Batch<T> {
    entries: Vec<(T, RawDocumentBuf)>,
    bytes: usize,
}

impl<T> Batch<T> {
    pub(super) fn new() -> Self {
        Self { entries: Vec::new(), bytes: 0 }
    }

    /// Adds a document; answers whether the batch is full.
    pub(super) fn push(&mut self, mark: T, document: RawDocumentBuf) -> bool {
        self.bytes += document.as_bytes().len();
        self.entries.push((mark, document));
        self.entries.len() >= DOCUMENTS || self.bytes >= BYTES
    }

    /// Everything in it; it is empty then.
    pub(super) fn take(&mut self) -> Vec<(T, RawDocumentBuf)> {
        self.bytes = 0;
        std::mem::take(&mut self.entries)
    }
}

/// What a server refused of a batch: the place in it, and its words.
pub(super) struct Refused {
    /// The place in the batch, from 0.
    pub(super) index: usize,
    /// Its words.
    pub(super) message: String,
}

/// The write errors of a reply.
pub(super) fn refused(reply: &RawDocument) -> Vec<Refused> {
    let errors = reply.get_array("writeErrors").ok();
    let errors = errors.into_iter().flatten().flatten();
    let documents = errors.filter_map(|error| error.as_document());
    let read = documents.map(|error| Refused {
        index: error.get_i32("index").map_or(0, |index| usize::try_from(index).unwrap_or(0)),
        message: error.get_str("errmsg").unwrap_or("refused").to_owned(),
    });
    read.collect()
}

/// A number of a reply, whichever type it has.
pub(super) fn count(reply: &RawDocument, field: &str) -> u64 {
    let number = match reply.get(field) {
        Ok(Some(RawBsonRef::Int32(number))) => i64::from(number),
        Ok(Some(RawBsonRef::Int64(number))) => number,
        // Counts are whole and not negative.
        #[allow(clippy::cast_possible_truncation)]
        Ok(Some(RawBsonRef::Double(number))) => number as i64,
        _ => 0,
    };
    u64::try_from(number).unwrap_or(0)
}

/// A write of many: the command's name and collection, its list, and whether the first refusal ends it.
pub(super) fn write(
    command: &CStr,
    collection: &str,
    list: &CStr,
    entries: impl IntoIterator<Item = RawDocumentBuf>,
    ordered: bool,
) -> RawDocumentBuf {
    let mut array = RawArrayBuf::new();
    entries.into_iter().for_each(|entry| array.push(entry));
    let mut body = RawDocumentBuf::new();
    body.append(command, collection);
    body.append(list, array);
    body.append(bson::raw::cstr!("ordered"), ordered);
    body
}
