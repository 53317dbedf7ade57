//! Reading: everything as it was at one moment.

use std::ops::Bound;
use std::sync::Arc;

use bson::RawDocument;
use fjall::{Keyspace, Readable, Snapshot};

use super::Bytes;
use super::collection::{Collection, Index};
use super::store::{Open, Store};
use crate::error::Result;

/// A view of all data as they were at one moment.
pub struct Reading {
    store: Arc<Store>,
    open: Arc<Open>,
    snapshot: Snapshot,
}

/// Records on their way: numbers and documents.
pub type Records<'a> = Box<dyn Iterator<Item = Result<(u64, Bytes)>> + 'a>;

/// Index entries on their way.
pub type Entries<'a> = Box<dyn Iterator<Item = Result<Entry>> + 'a>;

/// One entry of an index.
pub struct Entry {
    bytes: Bytes,
    end: usize,
    /// The record it leads to.
    pub record: u64,
}

impl Entry {
    /// The encoded key.
    pub fn key(&self) -> &[u8] {
        &self.bytes[4..self.end]
    }

    /// The entry as bounds are compared with it.
    pub fn whole(&self) -> &[u8] {
        &self.bytes[4..]
    }
}

impl Reading {
    pub(super) fn new(store: Arc<Store>, open: Arc<Open>) -> Self {
        let snapshot = open.database.snapshot();
        Self { store, open, snapshot }
    }

    /// The document with this record number.
    pub fn record(&self, collection: &Collection, number: u64) -> Result<Option<Bytes>> {
        let found = self.snapshot.get(&self.open.records, record_key(collection.tree, number));
        found.map_err(|error| self.store.unreadable(&error))
    }

    /// The record that a unique index has under `key`.
    pub fn lookup(&self, index: &Index, key: &[u8]) -> Result<Option<u64>> {
        let found = self.snapshot.get(&self.open.entries, tree_key(index.tree, key));
        found
            .map_err(|error| self.store.unreadable(&error))?
            .map(|value| number(&self.store, &value))
            .transpose()
    }

    /// The largest key of an index as the store has it; empty when there is none.
    pub(super) fn last_key(&self, index: &Index) -> Result<Bytes> {
        let (low, high) = (tree_key(index.tree, &[]), tree_key(index.tree + 1, &[]));
        match self.snapshot.range(&self.open.entries, low..high).next_back() {
            None => Ok(Bytes::from(&[][..])),
            Some(guard) => guard.key().map_err(|error| self.store.unreadable(&error)),
        }
    }

    /// The records between two numbers in natural order, or in its reverse.
    pub fn records(
        &self,
        collection: &Collection,
        (low, high): (Bound<u64>, Bound<u64>),
        reverse: bool,
    ) -> Records<'_> {
        let tree = collection.tree;
        let low = match low {
            Bound::Included(number) => Bound::Included(record_key(tree, number)),
            Bound::Excluded(number) => Bound::Excluded(record_key(tree, number)),
            Bound::Unbounded => Bound::Included(record_key(tree, 0)),
        };
        let high = match high {
            Bound::Included(number) => Bound::Included(record_key(tree, number)),
            Bound::Excluded(number) => Bound::Excluded(record_key(tree, number)),
            Bound::Unbounded => Bound::Included(record_key(tree, u64::MAX)),
        };
        Box::new(self.pairs(&self.open.records, (low, high), reverse).map(|pair| {
            let (key, value) = pair?;
            Ok((number(&self.store, &key[4..])?, value))
        }))
    }

    /// The entries of an index between two encoded keys, in key order or in its reverse.
    ///
    /// The bounds are compared with whole entries: a non-unique index's entries end with the record number.
    pub fn entries(
        &self,
        index: &Index,
        (low, high): (Bound<&[u8]>, Bound<&[u8]>),
        reverse: bool,
    ) -> Entries<'_> {
        let tree = index.tree;
        let low = match low {
            Bound::Included(key) => Bound::Included(tree_key(tree, key)),
            Bound::Excluded(key) => Bound::Excluded(tree_key(tree, key)),
            Bound::Unbounded => Bound::Included(tree_key(tree, &[])),
        };
        let high = match high {
            Bound::Included(key) => Bound::Included(tree_key(tree, key)),
            Bound::Excluded(key) => Bound::Excluded(tree_key(tree, key)),
            Bound::Unbounded => Bound::Excluded(tree_key(tree + 1, &[])),
        };
        let unique = index.definition.unique;
        Box::new(self.pairs(&self.open.entries, (low, high), reverse).map(move |pair| {
            let (key, value) = pair?;
            if unique {
                return Ok(Entry {
                    end: key.len(),
                    bytes: key,
                    record: number(&self.store, &value)?,
                });
            }
            let end = key.len().saturating_sub(8).max(4);
            let record = number(&self.store, &key[end..])?;
            Ok(Entry { bytes: key, end, record })
        }))
    }

    fn pairs<K: AsRef<[u8]> + 'static>(
        &self,
        keyspace: &Keyspace,
        range: (Bound<K>, Bound<K>),
        reverse: bool,
    ) -> Box<dyn Iterator<Item = Result<(Bytes, Bytes)>> + '_> {
        let pairs = self.snapshot.range(keyspace, range);
        let open =
            |guard: fjall::Guard| guard.into_inner().map_err(|error| self.store.unreadable(&error));
        if reverse { Box::new(pairs.rev().map(open)) } else { Box::new(pairs.map(open)) }
    }
}

/// The key of a record.
pub(super) fn record_key(tree: u32, number: u64) -> [u8; 12] {
    let mut key = [0; 12];
    key[..4].copy_from_slice(&tree.to_be_bytes());
    key[4..].copy_from_slice(&number.to_be_bytes());
    key
}

/// A key within a tree.
pub(super) fn tree_key(tree: u32, key: &[u8]) -> Vec<u8> {
    let mut whole = Vec::with_capacity(4 + key.len() + 8);
    whole.extend_from_slice(&tree.to_be_bytes());
    whole.extend_from_slice(key);
    whole
}

/// A record number from its bytes.
pub(super) fn number(store: &Store, bytes: &[u8]) -> Result<u64> {
    let bytes =
        bytes.try_into().map_err(|_| store.damaged("a record number is not eight bytes long"))?;
    Ok(u64::from_be_bytes(bytes))
}

/// The document in a record's bytes.
pub fn document(bytes: &[u8]) -> Result<&RawDocument> {
    RawDocument::from_bytes(bytes)
        .map_err(|error| crate::Error::Storage(format!("a stored document is damaged: {error}")))
}
