//! Replies put together from raw parts, so that a stored document reaches the caller without being decoded.

use bson::spec::ElementType;
use bson::{RawDocument, RawDocumentBuf, rawdoc};

use crate::value::raw;

/// The most bytes of documents in one batch.
pub(super) const LARGEST_BATCH: usize = 16 * 1024 * 1024;

/// `{ok: 1}`.
pub(super) fn ok() -> RawDocumentBuf {
    rawdoc! { "ok": 1.0 }
}

/// Where the bytes of the cursor begin: behind the reply's length, the type and the name of the element.
const CURSOR: usize = 4 + 1 + b"cursor\0".len();

/// The reply `{cursor: {firstBatch | nextBatch, id, ns}, ok: 1}` under construction. It is made in one place, so that a
/// large one is in memory once.
pub(super) struct Batch {
    /// The reply, up to the last document.
    bytes: Vec<u8>,
    /// Where the array of documents begins.
    array: usize,
    count: usize,
}

impl Batch {
    /// The batch of the command that opens a cursor.
    pub(super) fn first() -> Self {
        Self::named(b"firstBatch\0")
    }

    /// A batch of `getMore`.
    pub(super) fn next() -> Self {
        Self::named(b"nextBatch\0")
    }

    fn named(name: &[u8]) -> Self {
        let mut bytes = vec![0; 4];
        bytes.push(ElementType::EmbeddedDocument as u8);
        bytes.extend_from_slice(b"cursor\0");
        bytes.extend_from_slice(&[0; 4]);
        bytes.push(ElementType::Array as u8);
        bytes.extend_from_slice(name);
        let array = bytes.len();
        bytes.extend_from_slice(&[0; 4]);
        Self { bytes, array, count: 0 }
    }

    /// How many documents are in it.
    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// Whether a document of `size` bytes has room; the first one always has.
    pub(super) fn fits(&self, size: usize) -> bool {
        self.count == 0 || self.bytes.len() + size <= LARGEST_BATCH
    }

    pub(super) fn push(&mut self, document: &RawDocument) {
        raw::push_element(&mut self.bytes, self.count, document.as_bytes());
        self.count += 1;
    }

    /// The reply of a cursor with this number, 0 when it has no more to give.
    pub(super) fn reply(mut self, id: i64, namespace: &str) -> RawDocumentBuf {
        let bytes = &mut self.bytes;
        raw::close(bytes, self.array);
        bytes.extend_from_slice(elements(&rawdoc! { "id": id, "ns": namespace }));
        raw::close(bytes, CURSOR);
        bytes.extend_from_slice(elements(&ok()));
        raw::close(bytes, 0);
        RawDocumentBuf::from_bytes(self.bytes).unwrap_or_else(|_| ok())
    }
}

/// The bytes of a document's elements.
fn elements(document: &RawDocument) -> &[u8] {
    let bytes = document.as_bytes();
    &bytes[4..bytes.len() - 1]
}
