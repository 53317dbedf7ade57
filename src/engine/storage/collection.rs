//! A collection in memory: its indexes and options, and the tail where records are appended.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use bson::Document;
use uuid::Uuid;

use super::Bytes;
use crate::engine::index::Definition;

/// One collection. The same one for as long as it lives, renames included; its name is the catalog's matter.
pub struct Collection {
    /// The tree of its records.
    pub(super) tree: u32,
    uuid: Uuid,
    shape: RwLock<Arc<Shape>>,
    /// Who holds it writes.
    pub(super) tail: Mutex<Tail>,
    documents: AtomicU64,
    bytes: AtomicU64,
    next: AtomicU64,
}

/// What a change of the collection's definition replaces as a whole.
#[derive(Clone, Default)]
pub struct Shape {
    /// The options it was created with, as `listCollections` shows them.
    pub options: Document,
    /// Its indexes in the order of their creation, `_id_` first.
    pub indexes: Vec<Arc<Index>>,
    /// Set once it is dropped; a write that still holds it finds out by this.
    pub dropped: bool,
}

/// One index of a collection.
pub struct Index {
    /// The tree of its entries.
    pub(super) tree: u32,
    /// What it indexes.
    pub definition: Definition,
    /// A bit for each field that has led through an array.
    multikey: AtomicU64,
    /// How many searches it has led since it was opened.
    uses: AtomicU64,
    /// Of a unique index: no key in it is larger; empty when it has none, `None` before anybody asked. It is never
    /// lowered. Sequences and ObjectIds grow, so that most new keys are larger and need not be looked for.
    pub(super) ceiling: Mutex<Option<Bytes>>,
}

/// Where the next record goes, and what is there already.
#[derive(Clone, Copy, Default)]
pub(super) struct Tail {
    /// The opening of the store that this was read in; another one has to be read again.
    pub(super) epoch: Option<u64>,
    pub(super) next: u64,
    pub(super) documents: u64,
    pub(super) bytes: u64,
}

impl Collection {
    pub(super) fn new(tree: u32, uuid: Uuid, shape: Shape) -> Self {
        Self {
            tree,
            uuid,
            shape: RwLock::new(Arc::new(shape)),
            tail: Mutex::default(),
            documents: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            next: AtomicU64::new(1),
        }
    }

    /// Its identity, which a rename keeps.
    pub fn uuid(&self) -> Uuid {
        self.uuid
    }

    /// Its options and indexes as they are now.
    pub fn shape(&self) -> Arc<Shape> {
        Arc::clone(&self.shape.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn reshape(&self, shape: Shape) {
        *self.shape.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(shape);
    }

    /// How many documents it has.
    pub fn documents(&self) -> u64 {
        self.documents.load(Ordering::Relaxed)
    }

    /// The size of all its documents.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// The highest record number given out so far.
    pub fn highest(&self) -> u64 {
        self.next.load(Ordering::Acquire) - 1
    }

    /// Makes what a write changed visible to [`Collection::documents`] and its neighbours.
    pub(super) fn publish(&self, tail: &Tail) {
        self.documents.store(tail.documents, Ordering::Relaxed);
        self.bytes.store(tail.bytes, Ordering::Relaxed);
        self.next.store(tail.next, Ordering::Release);
    }
}

impl Index {
    pub(super) fn new(tree: u32, definition: Definition, multikey: u64) -> Self {
        let (multikey, uses) = (AtomicU64::new(multikey), AtomicU64::new(0));
        Self { tree, definition, multikey, uses, ceiling: Mutex::default() }
    }

    /// A bit for each field that has led through an array.
    pub fn multikey(&self) -> u64 {
        self.multikey.load(Ordering::Acquire)
    }

    /// Counts a search that it leads.
    pub fn note_use(&self) {
        self.uses.fetch_add(1, Ordering::Relaxed);
    }

    /// How many searches it has led since it was opened.
    pub fn uses(&self) -> u64 {
        self.uses.load(Ordering::Relaxed)
    }

    /// Notes further fields that lead through an array. Answers whether that is news.
    pub(super) fn note_multikey(&self, fields: u64) -> bool {
        fields & !self.multikey() != 0
            && self.multikey.fetch_or(fields, Ordering::AcqRel) & fields != fields
    }
}
