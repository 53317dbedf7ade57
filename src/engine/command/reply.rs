//! Replies put together from raw parts, so that a stored document reaches the caller without being decoded.

use bson::raw::{CStr, cstr};
use bson::{RawDocument, RawDocumentBuf, rawdoc};

/// The most bytes of documents in one batch.
pub(super) const LARGEST_BATCH: usize = 16 * 1024 * 1024;

/// `{ok: 1}`.
pub(super) fn ok() -> RawDocumentBuf {
    rawdoc! { "ok": 1.0 }
}

/// Documents gathered for the batch of a cursor.
pub(super) struct Batch {
    /// The elements of a BSON array.
    bytes: Vec<u8>,
    count: usize,
}

impl Batch {
    pub(super) fn new() -> Self {
        Self { bytes: vec![0; 4], count: 0 }
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
        self.bytes.push(bson::spec::ElementType::EmbeddedDocument as u8);
        let mut digits = [0; 20];
        self.bytes.extend_from_slice(decimal(self.count, &mut digits));
        self.bytes.push(0);
        self.bytes.extend_from_slice(document.as_bytes());
        self.count += 1;
    }

    /// The reply `{cursor: {firstBatch | nextBatch, id, ns}, ok: 1}`.
    pub(super) fn reply(mut self, first: bool, id: i64, namespace: &str) -> RawDocumentBuf {
        self.bytes.push(0);
        let length = i32::try_from(self.bytes.len()).unwrap_or(i32::MAX);
        self.bytes[..4].copy_from_slice(&length.to_le_bytes());
        let name = if first { cstr!("firstBatch") } else { cstr!("nextBatch") };
        let tail = rawdoc! { "id": id, "ns": namespace };
        let cursor = wrap(bson::spec::ElementType::Array, name, &self.bytes, &tail);
        let reply =
            wrap(bson::spec::ElementType::EmbeddedDocument, cstr!("cursor"), &cursor, &ok());
        RawDocumentBuf::from_bytes(reply).unwrap_or_else(|_| ok())
    }
}

/// A document of one element with raw contents, followed by the elements of `tail`.
fn wrap(
    kind: bson::spec::ElementType,
    name: &CStr,
    contents: &[u8],
    tail: &RawDocument,
) -> Vec<u8> {
    let tail = &tail.as_bytes()[4..];
    let length = 4 + 1 + name.len() + 1 + contents.len() + tail.len();
    let mut bytes = Vec::with_capacity(length);
    bytes.extend_from_slice(&i32::try_from(length).unwrap_or(i32::MAX).to_le_bytes());
    bytes.push(kind as u8);
    bytes.extend_from_slice(name.as_str().as_bytes());
    bytes.push(0);
    bytes.extend_from_slice(contents);
    bytes.extend_from_slice(tail);
    bytes
}

/// A number in decimal, without an allocation.
fn decimal(mut number: usize, digits: &mut [u8; 20]) -> &[u8] {
    let mut start = digits.len();
    loop {
        start -= 1;
        digits[start] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            return &digits[start..];
        }
    }
}
