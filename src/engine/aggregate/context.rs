//! What a running pipeline is given: its variables, its interrupt, its limits, and other collections.

use std::fmt::Debug;
use std::sync::Arc;

use bson::Document;

use super::Documents;
use crate::engine::expr::Scope;
use crate::error::Result;
use crate::interrupt::Interrupt;

/// The surroundings of one run.
#[derive(Clone, Debug)]
pub struct Context {
    /// `$$NOW` and `let`.
    pub scope: Scope,
    /// Stops collecting stages.
    pub interrupt: Interrupt,
    /// Whether a collecting stage may go beyond the memory limit. The server then goes to the disk; here it stays in
    /// memory, which changes no result.
    pub allow_disk_use: bool,
    /// Where `$lookup` and its kin find other collections; without it they find them empty.
    pub collections: Option<Arc<dyn Collections>>,
}

impl Context {
    /// A context without other collections that may use the disk, as 7.0 does when it is not told otherwise.
    pub fn new(scope: Scope, interrupt: Interrupt) -> Self {
        let scope = scope.with_interrupt(interrupt.clone());
        Self { scope, interrupt, allow_disk_use: true, collections: None }
    }

    /// A context that can read the other collections of the database.
    #[must_use]
    pub fn with_collections(mut self, collections: Arc<dyn Collections>) -> Self {
        self.collections = Some(collections);
        self
    }
}

/// The other collections of the database that a pipeline runs in.
pub trait Collections: Debug + Send + Sync {
    /// The documents of a collection, or of a view, that match a filter; none when it does not exist.
    ///
    /// # Errors
    /// What is wrong with the filter, and [`crate::Error::Storage`].
    fn scan(&self, collection: &str, filter: &Document) -> Result<Documents<'_>>;

    /// Whether finding documents by this field is quick, so that a `$lookup` had better ask for each than read all.
    fn has_index(&self, collection: &str, field: &str) -> bool {
        let _ = collection;
        field == "_id"
    }
}
