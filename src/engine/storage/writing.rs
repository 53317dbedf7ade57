//! Writing: the turn to write to one collection, and the batch that changes records, index entries and counts together.

use std::collections::HashMap;
use std::ops::Bound;
use std::sync::{Arc, MutexGuard};

use bson::{Bson, Document, RawDocument, doc};
use fjall::{Keyspace, OwnedWriteBatch, Readable};

use super::catalog::counts_key;
use super::collection::{Collection, Index, Shape, Tail};
use super::memory::memory_key;
use super::reading::{Reading, number, record_key, tree_key};
use super::store::{Open, Store, lock};
use super::{Bytes, Storage};
use crate::engine::index::{Definition, Keys};
use crate::error::{Code, Error, Result};
use crate::refuse;
use crate::value::{key, text};

/// What an update did to a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Changed {
    /// It was stored anew.
    Stored,
    /// The bytes were the same already.
    Nothing,
}

/// The turn to write to one collection. Nothing is changed before [`Writing::commit`].
pub struct Writing<'a> {
    storage: &'a Storage,
    collection: &'a Collection,
    tail: MutexGuard<'a, Tail>,
    shape: Arc<Shape>,
    open: Arc<Open>,
    /// What the batch makes of the counts and the next record number.
    after: Tail,
    changes: Vec<Change>,
    /// Index entries that the batch adds (with their value) or removes, which the store does not know yet.
    pending: HashMap<Bytes, Option<Bytes>>,
    /// How many of the changes are in `pending`. It is brought up to date when somebody asks.
    noted: usize,
    /// Set when an index turned multikey in this batch.
    row_changed: bool,
    /// A row of the catalog's tree that goes into the next batch.
    memory: Option<(Vec<u8>, Vec<u8>)>,
}

/// A change of one key; no value removes it.
struct Change {
    entries: bool,
    key: Bytes,
    value: Option<Bytes>,
}

/// What a document has in one index: whole keys, as the store has them.
struct Entered {
    keys: Vec<Bytes>,
    multikey: u64,
}

impl<'a> Writing<'a> {
    pub(super) fn begin(storage: &'a Storage, collection: &'a Collection) -> Result<Option<Self>> {
        let mut tail = lock(&collection.tail);
        let open = storage.store.writing()?;
        storage.refresh_if_reopened()?;
        let shape = collection.shape();
        if shape.dropped {
            return Ok(None);
        }
        if tail.epoch != Some(storage.store.epoch()) {
            *tail = collection.read_tail(&storage.store, &open)?;
            collection.publish(&tail);
        }
        let after = *tail;
        Ok(Some(Self {
            storage,
            collection,
            tail,
            shape,
            open,
            after,
            changes: Vec::new(),
            pending: HashMap::new(),
            noted: 0,
            row_changed: false,
            memory: None,
        }))
    }

    /// The collection's indexes and options, which do not change while this turn lasts.
    pub fn shape(&self) -> &Arc<Shape> {
        &self.shape
    }

    /// Everything as it is now. Changes of this turn that are not committed are not in it.
    pub fn reading(&self) -> Reading {
        Reading::new(Arc::clone(&self.storage.store), Arc::clone(&self.open))
    }

    /// The stored document with this record number.
    pub fn record(&self, number: u64) -> Result<Option<Bytes>> {
        self.read(&self.open.records, &record_key(self.collection.tree, number))
    }

    /// The record number and document of the `_id` with this encoding.
    pub fn find_id(&self, id: &[u8]) -> Result<Option<(u64, Bytes)>> {
        let Some(index) = self.shape.indexes.first() else { return Ok(None) };
        let Some(value) = self.read(&self.open.entries, &tree_key(index.tree, id))? else {
            return Ok(None);
        };
        let number = number(&self.storage.store, &value)?;
        Ok(self.record(number)?.map(|document| (number, document)))
    }

    fn read(&self, keyspace: &Keyspace, key: &[u8]) -> Result<Option<Bytes>> {
        keyspace.get(key).map_err(|error| self.storage.store.unreadable(&error))
    }

    /// Adds a document under the next record number.
    ///
    /// # Errors
    /// E11000 when a unique index has one of its keys, 171; nothing of the document is in the batch then.
    pub fn insert(&mut self, namespace: &str, document: &RawDocument) -> Result<u64> {
        let record = self.after.next;
        let shape = Arc::clone(&self.shape);
        let entered = self.entered(document, record)?;
        for (index, entered) in shape.indexes.iter().zip(&entered) {
            self.check_unique(namespace, index, &entered.keys, record, document)?;
        }
        for (index, entered) in shape.indexes.iter().zip(entered) {
            self.add_entries(index, entered, record);
        }
        self.change_record(record, Some(document.as_bytes().into()));
        self.after.next += 1;
        self.after.documents += 1;
        self.after.bytes += document.as_bytes().len() as u64;
        Ok(record)
    }

    /// Replaces a record's document. The record keeps its number.
    ///
    /// # Errors
    /// As [`Writing::insert`].
    pub fn update(
        &mut self,
        namespace: &str,
        record: u64,
        old: &RawDocument,
        new: &RawDocument,
    ) -> Result<Changed> {
        if old.as_bytes() == new.as_bytes() {
            return Ok(Changed::Nothing);
        }
        let shape = Arc::clone(&self.shape);
        // `_id` never changes its value, but 1 may become 1.0, whose key is the same. So the first index is left alone.
        if shape.indexes.len() > 1 {
            let (before, after) = (decode(old)?, decode(new)?);
            let mut moves = Vec::new();
            for index in &shape.indexes[1..] {
                let before = index.definition.keys(&before)?.encoded;
                let mut after = index.definition.keys(&after)?;
                let mut gone = before.clone();
                gone.retain(|key| after.encoded.binary_search(key).is_err());
                after.encoded.retain(|key| before.binary_search(key).is_err());
                let after = Entered::of(index, &after, record);
                self.check_unique(namespace, index, &after.keys, record, new)?;
                let gone: Vec<_> = gone.iter().map(|key| whole_key(index, key, record)).collect();
                moves.push((index, gone, after));
            }
            for (index, gone, after) in moves {
                self.remove_entries(gone);
                self.add_entries(index, after, record);
            }
        }
        self.change_record(record, Some(new.as_bytes().into()));
        self.after.bytes = (self.after.bytes + new.as_bytes().len() as u64)
            .saturating_sub(old.as_bytes().len() as u64);
        Ok(Changed::Stored)
    }

    /// Removes a record and its index entries.
    ///
    /// # Errors
    /// [`crate::Error::Storage`] when the stored document is damaged.
    pub fn remove(&mut self, record: u64, document: &RawDocument) -> Result<()> {
        for entered in self.entered(document, record)? {
            self.remove_entries(entered.keys);
        }
        self.change_record(record, None);
        self.after.documents = self.after.documents.saturating_sub(1);
        self.after.bytes = self.after.bytes.saturating_sub(document.as_bytes().len() as u64);
        Ok(())
    }

    /// Puts what is to be remembered of this write into its next batch that changes anything.
    pub fn remember(&mut self, session: &[u8; 16], row: Vec<u8>) {
        self.memory = Some((memory_key(session), row));
    }

    /// How many changes wait for [`Writing::commit`].
    pub fn waiting(&self) -> usize {
        self.changes.len()
    }

    /// Writes everything as one batch; it survives the end of this process when this returns, and that of the machine
    /// if `durable`.
    ///
    /// # Errors
    /// [`crate::Error::Storage`] when it could not be written; then nothing of it is.
    pub fn commit(mut self, durable: bool) -> Result<()> {
        self.flush(durable)
    }

    /// As [`Writing::commit`], and goes on with an empty batch.
    ///
    /// # Errors
    /// As [`Writing::commit`].
    pub fn flush(&mut self, durable: bool) -> Result<()> {
        let mut changes = std::mem::take(&mut self.changes);
        self.pending.clear();
        self.noted = 0;
        let memory = self.memory.take();
        if changes.is_empty() {
            return if durable { self.storage.store.sync() } else { Ok(()) };
        }
        let (before, after) = (*self.tail, self.after);
        let counted = (before.documents, before.bytes) != (after.documents, after.bytes);
        if changes.len() == 1
            && !counted
            && !durable
            && !self.row_changed
            && memory.is_none()
            && let Some(Change { entries: false, key, value: Some(value) }) =
                changes.pop_if(|change| change.value.is_some())
        {
            // The increment of a counter: one record and nothing else.
            self.storage.store.put(&self.open.records, key, value)?;
            return Ok(());
        }
        let mut batch =
            OwnedWriteBatch::with_capacity(self.open.database.clone(), changes.len() + 1);
        let mut bytes = 0;
        for change in changes {
            let keyspace = if change.entries { &self.open.entries } else { &self.open.records };
            bytes += change.key.len() + change.value.as_deref().map_or(0, <[u8]>::len);
            match change.value {
                Some(value) => batch.insert(keyspace, change.key, value),
                None => batch.remove(keyspace, change.key),
            }
        }
        if counted {
            let mut counts = after.documents.to_be_bytes().to_vec();
            counts.extend_from_slice(&after.bytes.to_be_bytes());
            batch.insert(&self.open.entries, counts_key(self.collection.tree), counts);
        }
        if let Some((key, row)) = memory {
            bytes += key.len() + row.len();
            batch.insert(&self.open.entries, key, row);
        }
        if std::mem::take(&mut self.row_changed) {
            self.storage.write_row(&self.open, &mut batch, self.collection, &self.shape)?;
        }
        self.storage.store.note(bytes);
        self.storage.store.commit(batch, durable)?;
        *self.tail = after;
        self.collection.publish(&after);
        Ok(())
    }

    /// Builds an index over all documents and adds it to the collection.
    ///
    /// `tick` is asked now and then whether to go on.
    ///
    /// # Errors
    /// E11000, 171, what `tick` answers; the collection is as before then.
    pub fn build_index(
        &mut self,
        namespace: &str,
        definition: &Definition,
        tick: &dyn Fn() -> Result<()>,
    ) -> Result<()> {
        let mut batch = self.open.database.batch();
        let index = self.storage.new_index(&self.open, &mut batch, definition)?;
        let reading = self.reading();
        let mut keys = Vec::new();
        for (at, record) in reading
            .records(self.collection, (Bound::Unbounded, Bound::Unbounded), false)
            .enumerate()
        {
            if at % 1024 == 0 {
                tick()?;
            }
            let (record, bytes) = record?;
            let document = decode(super::reading::document(&bytes)?)?;
            let found = definition.keys(&document)?;
            index.note_multikey(found.multikey);
            keys.extend(found.encoded.into_iter().map(|key| (key, record)));
        }
        keys.sort_unstable();
        if definition.unique
            && let Some(pair) = keys.windows(2).find(|pair| pair[0].0 == pair[1].0)
        {
            let bytes =
                reading.record(self.collection, pair[1].1)?.unwrap_or_else(|| Bytes::from(&[][..]));
            let document = decode(super::reading::document(&bytes)?)?;
            return Err(duplicate(namespace, definition, &document, &pair[1].0));
        }
        drop(reading);
        self.storage.store.note(keys.iter().map(|(key, _)| key.len() + 16).sum());
        for (key, record) in keys {
            batch.insert(
                &self.open.entries,
                whole_key(&index, &key, record),
                index.entry_value(record),
            );
        }
        let mut shape = (*self.shape).clone();
        shape.indexes.push(Arc::new(index));
        self.storage.write_row(&self.open, &mut batch, self.collection, &shape)?;
        self.storage.store.commit(batch, false)?;
        self.collection.reshape(shape);
        self.shape = self.collection.shape();
        Ok(())
    }

    /// What a document has in every index.
    fn entered(&self, document: &RawDocument, record: u64) -> Result<Vec<Entered>> {
        let Some((first, others)) = self.shape.indexes.split_first() else { return Ok(Vec::new()) };
        let id = match document.get("_id") {
            Ok(Some(id)) => Bson::try_from(id).map_err(|error| unreadable(&error))?,
            Ok(None) => Bson::Null,
            Err(error) => return Err(unreadable(&error)),
        };
        let mut entered = Vec::with_capacity(1 + others.len());
        entered.push(Entered { keys: vec![whole_key(first, &id_key(&id), record)], multikey: 0 });
        if !others.is_empty() {
            let document = decode(document)?;
            for index in others {
                entered.push(Entered::of(index, &index.definition.keys(&document)?, record));
            }
        }
        Ok(entered)
    }

    fn check_unique(
        &mut self,
        namespace: &str,
        index: &Index,
        keys: &[Bytes],
        record: u64,
        document: &RawDocument,
    ) -> Result<()> {
        if !index.definition.unique {
            return Ok(());
        }
        for key in keys {
            if self.holder(index, key)?.is_some_and(|holder| holder != record) {
                return Err(duplicate(namespace, &index.definition, &decode(document)?, &key[4..]));
            }
        }
        Ok(())
    }

    /// The record that a unique index has under a whole key, this batch included.
    fn holder(&mut self, index: &Index, key: &Bytes) -> Result<Option<u64>> {
        {
            let mut ceiling = lock(&index.ceiling);
            if ceiling.is_none() {
                *ceiling = Some(self.reading().last_key(index)?);
            }
            if ceiling.as_ref().is_some_and(|ceiling| key > ceiling) {
                return Ok(None);
            }
        }
        let fresh = self.changes[self.noted..].iter().filter(|change| change.entries);
        self.pending.extend(fresh.map(|change| (change.key.clone(), change.value.clone())));
        self.noted = self.changes.len();
        let value = match self.pending.get(key) {
            Some(value) => value.clone(),
            None => self.read(&self.open.entries, key)?,
        };
        value.map(|value| number(&self.storage.store, &value)).transpose()
    }

    fn add_entries(&mut self, index: &Index, entered: Entered, record: u64) {
        self.row_changed |= index.note_multikey(entered.multikey);
        for key in entered.keys {
            if index.definition.unique
                && let Some(ceiling) = &mut *lock(&index.ceiling)
                && key > *ceiling
            {
                *ceiling = key.clone();
            }
            self.changes.push(Change {
                entries: true,
                key,
                value: Some(index.entry_value(record)),
            });
        }
    }

    fn remove_entries(&mut self, keys: Vec<Bytes>) {
        let gone = keys.into_iter().map(|key| Change { entries: true, key, value: None });
        self.changes.extend(gone);
    }

    fn change_record(&mut self, record: u64, value: Option<Bytes>) {
        let key = record_key(self.collection.tree, record).into();
        self.changes.push(Change { entries: false, key, value });
    }
}

impl Entered {
    fn of(index: &Index, keys: &Keys, record: u64) -> Self {
        let whole = keys.encoded.iter().map(|key| whole_key(index, key, record));
        Self { keys: whole.collect(), multikey: keys.multikey }
    }
}

impl Index {
    /// What stands under a key: the record, unless the key ends with it.
    fn entry_value(&self, record: u64) -> Bytes {
        if self.definition.unique { record.to_be_bytes().into() } else { Bytes::from(&[][..]) }
    }
}

/// An index entry's key as the store has it: tree, encoding, and the record unless the index is unique.
fn whole_key(index: &Index, key: &[u8], record: u64) -> Bytes {
    let mut whole = tree_key(index.tree, key);
    if !index.definition.unique {
        whole.extend_from_slice(&record.to_be_bytes());
    }
    Bytes::from(&whole[..])
}

/// The encoding of an `_id` in the index on it.
pub fn id_key(id: &Bson) -> Vec<u8> {
    let mut encoded = Vec::with_capacity(24);
    key::encode(id, false, &mut encoded);
    crate::engine::index::shorten(encoded)
}

/// The server's E11000.
fn duplicate(namespace: &str, definition: &Definition, document: &Document, key: &[u8]) -> Error {
    let values = definition.key_values(document, key);
    Error::command_with(
        Code::DUPLICATE_KEY,
        format!(
            "E11000 duplicate key error collection: {namespace} index: {} dup key: {}",
            definition.name,
            text::document(&values)
        ),
        doc! { "keyPattern": definition.key(), "keyValue": values },
    )
}

fn decode(document: &RawDocument) -> Result<Document> {
    Document::try_from(document).map_err(|error| unreadable(&error))
}

fn unreadable(error: &bson::error::Error) -> Error {
    refuse!(INVALID_BSON, "{error}")
}

impl Storage {
    /// Reads the catalog again if the storage was opened anew since.
    fn refresh_if_reopened(&self) -> Result<()> {
        if self.catalog_epoch.load(std::sync::atomic::Ordering::Acquire) == self.store.epoch() {
            return Ok(());
        }
        self.refresh()
    }
}

impl Collection {
    /// Reads the counts and the next record number from the store.
    pub(super) fn read_tail(&self, store: &Store, open: &Open) -> Result<Tail> {
        let counts =
            open.entries.get(counts_key(self.tree)).map_err(|error| store.unreadable(&error))?;
        let (documents, bytes) = match counts {
            None => (0, 0),
            Some(counts) if counts.len() == 16 => {
                (number(store, &counts[..8])?, number(store, &counts[8..])?)
            }
            Some(_) => return Err(store.damaged("the counts of a collection cannot be read")),
        };
        let range = record_key(self.tree, 0)..=record_key(self.tree, u64::MAX);
        let next = match open.database.snapshot().range(&open.records, range).next_back() {
            None => 1,
            Some(guard) => {
                number(store, &guard.key().map_err(|error| store.unreadable(&error))?[4..])? + 1
            }
        };
        Ok(Tail {
            epoch: Some(store.epoch()),
            next: next.max(self.highest() + 1),
            documents,
            bytes,
        })
    }
}
