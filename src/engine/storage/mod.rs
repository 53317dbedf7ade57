//! What is on the disk: catalog, records, index entries, and the batch that changes them together.
//!
//! The only room that names the storage crate. A collection is a tree of record number -> document, in the order of
//! insertion, and one tree an index; [`Writing`] changes them in one batch, [`Reading`] sees them as they were at one
//! moment. The layout is described in `store`.

mod catalog;
mod collection;
mod directory;
mod journal;
mod memory;
mod reading;
mod store;
mod survey;
mod synced;
mod writing;

pub use catalog::{Catalog, Kind};
pub use collection::{Collection, Index, Shape};
pub use directory::{Holder, is_data};
pub use reading::{Entries, Entry, Reading, Records, document};
pub use writing::{Changed, Writing, id_key};

use std::path::Path;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard};

use store::Store;

use super::Location;
use crate::error::Result;

/// Bytes as the storage crate hands them out, cheap to clone.
pub type Bytes = fjall::Slice;

/// All data of one directory.
pub struct Storage {
    store: Arc<Store>,
    catalog: RwLock<Catalog>,
    /// Held while the catalog changes.
    changing: Mutex<()>,
    /// Held while trees are numbered.
    allocating: Mutex<()>,
    /// Trees below are taken, written or not.
    next_tree: AtomicU32,
    /// The opening of the store that the catalog was read in.
    catalog_epoch: AtomicU64,
}

impl Drop for Storage {
    fn drop(&mut self) {
        self.store.retire();
    }
}

impl Storage {
    /// Opens the data at `location` and reads its catalog.
    ///
    /// # Errors
    /// [`crate::Error::Storage`] naming the directory when it is held by another process, damaged, of another format
    /// number, or not readable and writable.
    pub fn open(location: &Location) -> Result<Self> {
        let store = Store::open(location)?;
        let catalog = Catalog::load(&store, &Catalog::default())?;
        let (highest, epoch) = (catalog.highest_tree(), store.epoch());
        let storage = Self {
            store,
            catalog: RwLock::new(catalog),
            changing: Mutex::default(),
            allocating: Mutex::default(),
            next_tree: AtomicU32::new(highest + 1),
            catalog_epoch: AtomicU64::new(epoch),
        };
        storage.sweep()?;
        storage.forget()?;
        Ok(storage)
    }

    /// The catalog as it is now. To be let go of soon.
    pub fn catalog(&self) -> RwLockReadGuard<'_, Catalog> {
        self.catalog.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// A collection by name.
    pub fn collection(&self, database: &str, name: &str) -> Option<Arc<Collection>> {
        self.catalog().collection(database, name).cloned()
    }

    /// Everything as it is at this moment.
    ///
    /// # Errors
    /// [`crate::Error::Storage`] when a failed write closed the storage and it cannot be opened again.
    pub fn reading(&self) -> Result<Reading> {
        Ok(Reading::new(Arc::clone(&self.store), self.store.reading()?))
    }

    /// Takes the turn to write to `collection`. `None` when it was dropped meanwhile.
    ///
    /// # Errors
    /// [`crate::Error::Storage`] when the last write failed and the storage cannot be opened again.
    pub fn writing<'a>(&'a self, collection: &'a Collection) -> Result<Option<Writing<'a>>> {
        Writing::begin(self, collection)
    }

    /// Hands everything written to the disk.
    ///
    /// # Errors
    /// [`crate::Error::Storage`] when the disk fails.
    pub fn sync(&self) -> Result<()> {
        self.store.sync()
    }

    /// Lets other processes know where they can join this one.
    ///
    /// # Errors
    /// [`crate::Error::Storage`] when the directory cannot be written to.
    pub fn announce(&self, socket: &Path) -> Result<()> {
        self.store.announce(socket)
    }

    /// What had to be mended when the directory was opened, in words.
    pub fn mended(&self) -> Option<&str> {
        self.store.mended()
    }

    /// The size of all files.
    pub fn disk_space(&self) -> u64 {
        self.store.disk_space()
    }

    /// Reads the catalog again after the storage was opened anew.
    fn refresh(&self) -> Result<()> {
        let mut catalog = self.catalog.write().unwrap_or_else(PoisonError::into_inner);
        let epoch = self.store.epoch();
        if self.catalog_epoch.load(Ordering::Acquire) != epoch {
            *catalog = Catalog::load(&self.store, &catalog)?;
            self.catalog_epoch.store(epoch, Ordering::Release);
        }
        Ok(())
    }
}
