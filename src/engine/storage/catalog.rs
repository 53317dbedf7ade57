//! The catalog: which databases, collections and indexes there are, and how they come and go.
//!
//! Its rows live in the tree [`CATALOG`] of the keyspace `entries`, so that they change in one batch with what they
//! describe:
//!
//! | row | key | value |
//! |---|---|---|
//! | a collection | `c`, database, NUL, name | `{uuid, records, options, indexes: [{tree, spec, multikey}]}` |
//! | its counts | `n`, tree of its records | number of documents, bytes |
//! | a tree to sweep | `g`, tree | `r` for records, `e` for entries |
//! | the next tree | `t` | its number |
//! | a write that may come again | `r`, session | see [`super::memory`] |

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{Arc, PoisonError};

use bson::spec::BinarySubtype;
use bson::{Binary, Bson, Document, RawDocument, doc};
use fjall::{OwnedWriteBatch, Readable};
use uuid::Uuid;

use super::collection::{Collection, Index, Shape};
use super::reading::{record_key, tree_key};
use super::store::{CATALOG, Open, Store, lock};
use super::{Bytes, Storage};
use crate::engine::index::Definition;
use crate::error::Result;
use crate::refuse;

/// A dropped tree of at most so many keys is swept in the batch that drops it.
const SWEPT_AT_ONCE: usize = 256;

/// How many keys a batch of the background sweep removes.
const SWEEP: usize = 4096;

/// Databases and their collections by name.
#[derive(Default)]
pub struct Catalog {
    databases: BTreeMap<String, BTreeMap<String, Arc<Collection>>>,
}

/// What a name in the catalog stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Documents.
    Collection,
    /// A pipeline over another collection.
    View,
}

impl Shape {
    /// What its name stands for.
    pub fn kind(&self) -> Kind {
        if self.options.contains_key("viewOn") { Kind::View } else { Kind::Collection }
    }
}

impl Catalog {
    /// The names of all databases that hold something, sorted.
    pub fn databases(&self) -> impl Iterator<Item = &str> {
        self.databases.keys().map(String::as_str)
    }

    /// The collections of a database by name.
    pub fn collections(&self, database: &str) -> impl Iterator<Item = (&str, &Arc<Collection>)> {
        self.databases
            .get(database)
            .into_iter()
            .flatten()
            .map(|(name, collection)| (name.as_str(), collection))
    }

    /// A collection by name.
    pub fn collection(&self, database: &str, name: &str) -> Option<&Arc<Collection>> {
        self.databases.get(database)?.get(name)
    }

    /// The highest number of a tree in use.
    pub(super) fn highest_tree(&self) -> u32 {
        let collections = self.databases.values().flat_map(BTreeMap::values);
        let trees = collections.flat_map(|collection| {
            let shape = collection.shape();
            shape.indexes.iter().map(|index| index.tree).chain([collection.tree]).max()
        });
        trees.max().unwrap_or(CATALOG)
    }

    fn put(&mut self, database: &str, name: &str, collection: Arc<Collection>) {
        self.databases.entry(database.to_owned()).or_default().insert(name.to_owned(), collection);
    }

    fn take(&mut self, database: &str, name: &str) {
        if let Some(collections) = self.databases.get_mut(database) {
            collections.remove(name);
            if collections.is_empty() {
                self.databases.remove(database);
            }
        }
    }

    /// Reads all rows. Collections that `known` has already stay the same ones.
    pub(super) fn load(store: &Store, known: &Self) -> Result<Self> {
        let open = store.reading()?;
        let mut catalog = Self::default();
        let known: BTreeMap<u32, &Arc<Collection>> = known
            .databases
            .values()
            .flat_map(BTreeMap::values)
            .map(|collection| (collection.tree, collection))
            .collect();
        for (key, value) in rows(store, &open, b'c')? {
            let damaged = || store.damaged("a row of its catalog cannot be read");
            let name = std::str::from_utf8(&key).ok().and_then(|key| key.split_once('\0'));
            let (database, name) = name.ok_or_else(damaged)?;
            let row =
                RawDocument::from_bytes(&*value).ok().and_then(|row| Document::try_from(row).ok());
            let (tree, uuid, shape) = row.as_ref().and_then(parse_row).ok_or_else(damaged)?;
            let collection = match known.get(&tree) {
                Some(collection) => {
                    collection.reshape(shape);
                    Arc::clone(collection)
                }
                None => Arc::new(Collection::new(tree, uuid, shape)),
            };
            collection.publish(&collection.read_tail(store, &open)?);
            catalog.put(database, name, collection);
        }
        for collection in known.into_values() {
            let kept = catalog
                .databases
                .values()
                .flat_map(BTreeMap::values)
                .any(|other| Arc::ptr_eq(other, collection));
            if !kept {
                collection.reshape(Shape { dropped: true, ..(*collection.shape()).clone() });
            }
        }
        Ok(catalog)
    }
}

/// All rows of one sort: what follows the sort in their keys, and their values.
pub(super) fn rows(store: &Store, open: &Open, sort: u8) -> Result<Vec<(Vec<u8>, Bytes)>> {
    let prefix = tree_key(CATALOG, &[sort]);
    let rows = open.database.snapshot().prefix(&open.entries, &prefix).map(|guard| {
        let (key, value) = guard.into_inner().map_err(|error| store.unreadable(&error))?;
        Ok((key[prefix.len()..].to_vec(), value))
    });
    rows.collect()
}

fn collection_key(database: &str, name: &str) -> Vec<u8> {
    let mut key = tree_key(CATALOG, b"c");
    key.extend_from_slice(database.as_bytes());
    key.push(0);
    key.extend_from_slice(name.as_bytes());
    key
}

/// The key of a collection's counts.
pub(super) fn counts_key(tree: u32) -> Vec<u8> {
    let mut key = tree_key(CATALOG, b"n");
    key.extend_from_slice(&tree.to_be_bytes());
    key
}

fn sweep_key(tree: u32) -> Vec<u8> {
    let mut key = tree_key(CATALOG, b"g");
    key.extend_from_slice(&tree.to_be_bytes());
    key
}

/// A collection's row.
fn row(collection: &Collection, shape: &Shape) -> Vec<u8> {
    let indexes = shape.indexes.iter().map(|index| {
        doc! {
            "tree": i64::from(index.tree),
            "spec": index.definition.spec.clone(),
            "multikey": index.multikey().cast_signed(),
        }
    });
    let uuid =
        Binary { subtype: BinarySubtype::Uuid, bytes: collection.uuid().as_bytes().to_vec() };
    let row = doc! {
        "uuid": uuid,
        "records": i64::from(collection.tree),
        "options": shape.options.clone(),
        "indexes": indexes.collect::<Vec<_>>(),
    };
    // A document that came in as BSON goes out as BSON.
    row.to_vec().unwrap_or_default()
}

fn parse_row(row: &Document) -> Option<(u32, Uuid, Shape)> {
    let tree = |document: &Document, field: &str| u32::try_from(document.get_i64(field).ok()?).ok();
    let Bson::Binary(uuid) = row.get("uuid")? else { return None };
    let mut shape =
        Shape { options: row.get_document("options").ok()?.clone(), ..Shape::default() };
    for index in row.get_array("indexes").ok()? {
        let index = index.as_document()?;
        let definition = Definition::parse(index.get_document("spec").ok()?).ok()?;
        let multikey = index.get_i64("multikey").ok()?.cast_unsigned();
        shape.indexes.push(Arc::new(Index::new(tree(index, "tree")?, definition, multikey)));
    }
    Some((tree(row, "records")?, Uuid::from_slice(&uuid.bytes).ok()?, shape))
}

impl Storage {
    /// Adds a collection. `None` when there is one of that name already.
    ///
    /// # Errors
    /// 13297 when a database differs from `database` only by case; [`crate::Error::Storage`].
    pub fn create(
        &self,
        database: &str,
        name: &str,
        options: Document,
    ) -> Result<Option<Arc<Collection>>> {
        let _turn = lock(&self.changing);
        let open = self.store.writing()?;
        self.refresh()?;
        if self.collection(database, name).is_some() {
            return Ok(None);
        }
        let lower = database.to_lowercase();
        if let Some(other) = self
            .catalog()
            .databases()
            .find(|other| *other != database && other.to_lowercase() == lower)
        {
            return Err(crate::Error::command(
                crate::error::Code(13297),
                format!(
                    "db already exists with different case already have: [{other}] trying to create [{database}]"
                ),
            ));
        }
        let mut batch = open.database.batch();
        let [records, entries] = self.allocate(&open, &mut batch)?;
        let indexes = vec![Arc::new(Index::new(entries, Definition::id(), 0))];
        let shape = Shape { options, indexes, dropped: false };
        let collection = Arc::new(Collection::new(records, Uuid::new_v4(), shape));
        batch.insert(
            &open.entries,
            collection_key(database, name),
            row(&collection, &collection.shape()),
        );
        self.store.commit(batch, false)?;
        self.change(|catalog| catalog.put(database, name, Arc::clone(&collection)));
        Ok(Some(collection))
    }

    /// Removes a collection. Answers how many indexes it had; `None` when there is none of that name.
    ///
    /// # Errors
    /// [`crate::Error::Storage`].
    pub fn drop_collection(&self, database: &str, name: &str) -> Result<Option<usize>> {
        let _turn = lock(&self.changing);
        let open = self.store.writing()?;
        self.refresh()?;
        let Some(collection) = self.collection(database, name) else { return Ok(None) };
        // Whoever writes finishes; whoever comes later finds it dropped.
        let _tail = lock(&collection.tail);
        let mut batch = open.database.batch();
        self.remove(&open, &mut batch, database, name, &collection)?;
        self.store.commit(batch, false)?;
        let shape = collection.shape();
        collection.reshape(Shape { dropped: true, ..(*shape).clone() });
        self.change(|catalog| catalog.take(database, name));
        self.sweep()?;
        Ok(Some(shape.indexes.len()))
    }

    /// Gives a collection another name, in another database perhaps; one that has the name already is dropped if
    /// `replace`.
    ///
    /// # Errors
    /// 26 when there is no such collection, 48 when the target exists; [`crate::Error::Storage`].
    pub fn rename(&self, from: (&str, &str), to: (&str, &str), replace: bool) -> Result<()> {
        let _turn = lock(&self.changing);
        let open = self.store.writing()?;
        self.refresh()?;
        let Some(collection) = self.collection(from.0, from.1) else {
            return Err(refuse!(
                NAMESPACE_NOT_FOUND,
                "Source collection {}.{} does not exist",
                from.0,
                from.1
            ));
        };
        let _tail = lock(&collection.tail);
        let mut batch = open.database.batch();
        let target = self.collection(to.0, to.1);
        let target_tail = target.as_ref().map(|target| lock(&target.tail));
        if let Some(target) = &target {
            if !replace {
                return Err(refuse!(NAMESPACE_EXISTS, "target namespace exists"));
            }
            self.remove(&open, &mut batch, to.0, to.1, target)?;
        }
        batch.remove(&open.entries, collection_key(from.0, from.1));
        batch.insert(
            &open.entries,
            collection_key(to.0, to.1),
            row(&collection, &collection.shape()),
        );
        self.store.commit(batch, false)?;
        if let Some(target) = &target {
            target.reshape(Shape { dropped: true, ..(*target.shape()).clone() });
        }
        drop(target_tail);
        self.change(|catalog| {
            catalog.take(from.0, from.1);
            catalog.put(to.0, to.1, Arc::clone(&collection));
        });
        self.sweep()
    }

    /// Replaces a collection's options.
    ///
    /// # Errors
    /// [`crate::Error::Storage`].
    pub fn set_options(&self, database: &str, name: &str, options: Document) -> Result<()> {
        self.reshape(database, name, |shape| shape.options = options)
    }

    /// Replaces the definition of an index by one with the same keys.
    ///
    /// # Errors
    /// [`crate::Error::Storage`].
    pub fn redefine_index(
        &self,
        database: &str,
        name: &str,
        definition: &Definition,
    ) -> Result<()> {
        self.reshape(database, name, |shape| {
            for index in &mut shape.indexes {
                if index.definition.name == definition.name {
                    *index = Arc::new(Index::new(index.tree, definition.clone(), index.multikey()));
                }
            }
        })
    }

    /// Removes the indexes with these names.
    ///
    /// # Errors
    /// [`crate::Error::Storage`].
    pub fn drop_indexes(&self, database: &str, name: &str, indexes: &[String]) -> Result<()> {
        self.reshape(database, name, |shape| {
            shape.indexes.retain(|index| !indexes.contains(&index.definition.name));
        })?;
        self.sweep()
    }

    /// Changes a collection's definition; indexes that are gone afterwards are swept.
    fn reshape(&self, database: &str, name: &str, change: impl FnOnce(&mut Shape)) -> Result<()> {
        let _turn = lock(&self.changing);
        let open = self.store.writing()?;
        self.refresh()?;
        let Some(collection) = self.collection(database, name) else { return Ok(()) };
        let _tail = lock(&collection.tail);
        let before = collection.shape();
        let mut shape = (*before).clone();
        change(&mut shape);
        let mut batch = open.database.batch();
        batch.insert(&open.entries, collection_key(database, name), row(&collection, &shape));
        for index in &before.indexes {
            if !shape.indexes.iter().any(|other| other.tree == index.tree) {
                self.abandon(&open, &mut batch, index.tree, Tree::Entries)?;
            }
        }
        self.store.commit(batch, false)?;
        collection.reshape(shape);
        Ok(())
    }

    /// A new index's tree, without entries yet and not in the catalog. The collection's turn to write is the caller's.
    pub(super) fn new_index(
        &self,
        open: &Open,
        batch: &mut OwnedWriteBatch,
        definition: &Definition,
    ) -> Result<Index> {
        let [tree] = self.allocate(open, batch)?;
        Ok(Index::new(tree, definition.clone(), 0))
    }

    /// Writes a collection's row into a batch, by its identity.
    pub(super) fn write_row(
        &self,
        open: &Open,
        batch: &mut OwnedWriteBatch,
        collection: &Collection,
        shape: &Shape,
    ) -> Result<()> {
        let catalog = self.catalog();
        let name = catalog.databases.iter().find_map(|(database, collections)| {
            let name =
                collections.iter().find(|(_, other)| std::ptr::eq(&raw const ***other, collection));
            name.map(|(name, _)| (database, name))
        });
        if let Some((database, name)) = name {
            batch.insert(&open.entries, collection_key(database, name), row(collection, shape));
        }
        Ok(())
    }

    /// Removes a collection's rows and hands its trees to the sweep.
    fn remove(
        &self,
        open: &Open,
        batch: &mut OwnedWriteBatch,
        database: &str,
        name: &str,
        collection: &Collection,
    ) -> Result<()> {
        batch.remove(&open.entries, collection_key(database, name));
        batch.remove(&open.entries, counts_key(collection.tree));
        self.abandon(open, batch, collection.tree, Tree::Records)?;
        for index in &collection.shape().indexes {
            self.abandon(open, batch, index.tree, Tree::Entries)?;
        }
        Ok(())
    }

    fn change(&self, change: impl FnOnce(&mut Catalog)) {
        change(&mut self.catalog.write().unwrap_or_else(PoisonError::into_inner));
    }

    /// Takes numbers for new trees. The turn to change the catalog must be held.
    fn allocate<const COUNT: usize>(
        &self,
        open: &Open,
        batch: &mut OwnedWriteBatch,
    ) -> Result<[u32; COUNT]> {
        let _turn = lock(&self.allocating);
        let key = tree_key(CATALOG, b"t");
        let stored = open.entries.get(&key).map_err(|error| self.store.unreadable(&error))?;
        let stored =
            stored.and_then(|value| value.as_ref().try_into().ok()).map_or(1, u32::from_be_bytes);
        let first = stored.max(self.next_tree.load(std::sync::atomic::Ordering::Relaxed));
        let next = first + u32::try_from(COUNT).unwrap_or(u32::MAX);
        self.next_tree.store(next, std::sync::atomic::Ordering::Relaxed);
        batch.insert(&open.entries, key, next.to_be_bytes().as_slice());
        let mut tree = first;
        Ok([(); COUNT].map(|()| {
            tree += 1;
            tree - 1
        }))
    }

    /// Removes a small tree's keys in this batch, or notes a large one for the sweep.
    fn abandon(
        &self,
        open: &Open,
        batch: &mut OwnedWriteBatch,
        tree: u32,
        kind: Tree,
    ) -> Result<()> {
        let keys = self.keys(open, tree, kind, SWEPT_AT_ONCE + 1)?;
        if keys.len() > SWEPT_AT_ONCE {
            batch.insert(&open.entries, sweep_key(tree), kind.mark());
            return Ok(());
        }
        for key in keys {
            batch.remove(kind.keyspace(open), key);
        }
        Ok(())
    }

    fn keys(&self, open: &Open, tree: u32, kind: Tree, limit: usize) -> Result<Vec<Bytes>> {
        let snapshot = open.database.snapshot();
        let keys = snapshot.prefix(kind.keyspace(open), tree.to_be_bytes()).take(limit);
        keys.map(|guard| guard.key().map_err(|error| self.store.unreadable(&error))).collect()
    }

    /// Starts to remove what dropped collections and indexes left behind, if there is anything.
    pub(super) fn sweep(&self) -> Result<()> {
        let trees: Vec<_> = {
            let open = self.store.reading()?;
            rows(&self.store, &open, b'g')?
        };
        if trees.is_empty() {
            return Ok(());
        }
        let store = Arc::downgrade(&self.store);
        let work = move || {
            for (tree, kind) in trees {
                let (Ok(tree), Some(kind)) =
                    (tree.as_slice().try_into().map(u32::from_be_bytes), Tree::of(&kind))
                else {
                    continue;
                };
                loop {
                    // What stays behind is swept after the next start.
                    let Some(store) = store.upgrade() else { return };
                    match sweep_some(&store, tree, kind) {
                        Ok(true) => {}
                        Ok(false) => break,
                        Err(_) => return,
                    }
                }
            }
        };
        // Without a thread it stays for the next start.
        let _ = std::thread::Builder::new().name("tally sweep".into()).spawn(work);
        Ok(())
    }
}

/// Which keyspace a tree is in.
#[derive(Clone, Copy)]
enum Tree {
    Records,
    Entries,
}

impl Tree {
    fn mark(self) -> &'static [u8] {
        match self {
            Self::Records => b"r",
            Self::Entries => b"e",
        }
    }

    fn of(value: &[u8]) -> Option<Self> {
        match value {
            b"r" => Some(Self::Records),
            b"e" => Some(Self::Entries),
            _ => None,
        }
    }

    fn keyspace(self, open: &Open) -> &fjall::Keyspace {
        match self {
            Self::Records => &open.records,
            Self::Entries => &open.entries,
        }
    }
}

/// Removes some keys of a dropped tree; false once there are none.
fn sweep_some(store: &Store, tree: u32, kind: Tree) -> Result<bool> {
    let open = store.writing()?;
    let range = (
        Bound::Included(record_key(tree, 0)[..4].to_vec()),
        Bound::Excluded((tree + 1).to_be_bytes().to_vec()),
    );
    let keys = open.database.snapshot().range(kind.keyspace(&open), range).take(SWEEP);
    let keys: Vec<_> = keys
        .map(|guard| guard.key().map_err(|error| store.unreadable(&error)))
        .collect::<Result<_>>()?;
    let mut batch = open.database.batch();
    let more = !keys.is_empty();
    for key in keys {
        batch.remove(kind.keyspace(&open), key);
    }
    if !more {
        batch.remove(&open.entries, sweep_key(tree));
    }
    store.commit(batch, false)?;
    Ok(more)
}
