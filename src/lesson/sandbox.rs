//! The place where lessons happen: an engine of their own that nothing of the user's is in, or, on a server, databases
//! named `learn_*`.

use std::sync::Arc;

use bson::{RawArrayBuf, RawDocument, RawDocumentBuf, rawdoc};

use super::witness::Witness;
use crate::backend::{Backend, Embedded, Request, Topology};
use crate::engine::Location;
use crate::error::Result;
use crate::interrupt::Interrupt;
use crate::session::Whereabouts;

/// The database of a lesson in an engine of its own: what a shell starts with.
const DATABASE: &str = "test";

/// Databases that belong to the server.
const SYSTEM: [&str; 3] = ["admin", "config", "local"];

/// How many documents are copied at once.
const BATCH: usize = 1000;

/// Where a lesson happens.
pub(super) struct Sandbox {
    witness: Arc<Witness>,
    db: String,
    /// Nothing but the lesson is in this backend.
    own: bool,
    /// What pages may make their data from.
    seed: u32,
}

impl Sandbox {
    /// A sandbox for the lesson of that number, for a user whose session is over `home`.
    pub(super) fn new(home: &Arc<dyn Backend>, number: usize, seed: u32) -> Self {
        match home.describe() {
            Topology::Embedded { .. } => Self::scratch(seed),
            Topology::Server { .. } => Self {
                witness: Arc::new(Witness::new(Arc::clone(home))),
                db: format!("learn_{number}"),
                own: false,
                seed,
            },
        }
    }

    /// A sandbox in an engine of its own.
    pub(super) fn scratch(seed: u32) -> Self {
        let backend: Arc<dyn Backend> = Arc::new(Embedded::new(Location::Ephemeral));
        Self { witness: Arc::new(Witness::new(backend)), db: DATABASE.to_owned(), own: true, seed }
    }

    /// What pages may make their data from: the same number, the same data.
    pub(super) fn seed(&self) -> u32 {
        self.seed
    }

    /// The lesson's database.
    pub(super) fn db(&self) -> &str {
        &self.db
    }

    /// Who remembers the commands.
    pub(super) fn witness(&self) -> &Witness {
        &self.witness
    }

    /// Where a session has to go to be in it.
    pub(super) fn whereabouts(&self) -> Whereabouts {
        Whereabouts { backend: Arc::clone(&self.witness) as Arc<dyn Backend>, db: self.db.clone() }
    }

    /// The same place for somebody whose commands are not the learner's.
    pub(super) fn unseen(&self) -> Whereabouts {
        Whereabouts { backend: self.witness.behind(), db: self.db.clone() }
    }

    /// Empties it.
    ///
    /// # Errors
    /// What the backend refuses.
    pub(super) fn clear(&self, interrupt: &Interrupt) -> Result<()> {
        for db in self.databases(interrupt)? {
            self.run(&db, rawdoc! { "dropDatabase": 1 }, interrupt)?;
        }
        Ok(())
    }

    /// Leaves nothing of it behind.
    ///
    /// # Errors
    /// What the backend refuses.
    pub(super) fn leave(&self, interrupt: &Interrupt) -> Result<()> {
        // An engine of its own goes with it.
        if self.own { Ok(()) } else { self.clear(interrupt) }
    }

    /// A sandbox with the same data in it, to play in.
    ///
    /// # Errors
    /// What the backend refuses.
    pub(super) fn copy(&self, interrupt: &Interrupt) -> Result<Self> {
        let copy = if self.own {
            Self::scratch(self.seed)
        } else {
            let witness = Arc::new(Witness::new(self.witness.behind()));
            Self { witness, db: format!("{}_play", self.db), own: false, seed: self.seed }
        };
        copy.clear(interrupt)?;
        for db in self.databases(interrupt)? {
            let to = if self.own { db.clone() } else { copy.db.clone() };
            for collection in self.all(&db, rawdoc! { "listCollections": 1 }, interrupt)? {
                self.copy_collection(&db, &collection, &copy, &to, interrupt)?;
            }
        }
        Ok(copy)
    }

    fn copy_collection(
        &self,
        db: &str,
        entry: &RawDocument,
        copy: &Self,
        to: &str,
        interrupt: &Interrupt,
    ) -> Result<()> {
        let name = entry.get_str("name").unwrap_or_default();
        if name.starts_with("system.") {
            return Ok(());
        }
        let mut create = rawdoc! { "create": name };
        for (key, value) in
            entry.get_document("options").into_iter().flat_map(|all| all.iter().flatten())
        {
            create.append(key, value);
        }
        copy.run(to, create, interrupt)?;
        if entry.get_str("type").is_ok_and(|kind| kind == "view") {
            return Ok(());
        }
        let documents = self.all(db, rawdoc! { "find": name }, interrupt)?;
        for batch in documents.chunks(BATCH) {
            let batch: RawArrayBuf = batch.iter().cloned().collect();
            copy.run(to, rawdoc! { "insert": name, "documents": batch }, interrupt)?;
        }
        let indexes = self.all(db, rawdoc! { "listIndexes": name }, interrupt)?;
        let made = |index: &RawDocumentBuf| index.get_str("name").is_ok_and(|name| name != "_id_");
        let indexes: RawArrayBuf = indexes.into_iter().filter(made).collect();
        if !indexes.is_empty() {
            copy.run(to, rawdoc! { "createIndexes": name, "indexes": indexes }, interrupt)?;
        }
        Ok(())
    }

    /// The databases of the lesson that there are.
    fn databases(&self, interrupt: &Interrupt) -> Result<Vec<String>> {
        if !self.own {
            return Ok(vec![self.db.clone()]);
        }
        let reply =
            self.run("admin", rawdoc! { "listDatabases": 1, "nameOnly": true }, interrupt)?;
        let entries = reply.get_array("databases").ok().into_iter().flatten().flatten();
        let names = entries
            .filter_map(|entry| entry.as_document()?.get_str("name").ok().map(str::to_owned));
        Ok(names.filter(|name| !SYSTEM.contains(&name.as_str())).collect())
    }

    /// All documents that a command answers with.
    fn all(
        &self,
        db: &str,
        body: RawDocumentBuf,
        interrupt: &Interrupt,
    ) -> Result<Vec<RawDocumentBuf>> {
        let request = Request { db: db.to_owned(), body, interrupt: interrupt.clone() };
        let mut cursor = self.witness.behind().stream(request)?;
        let mut all = Vec::new();
        while let Some(batch) = cursor.next_batch()? {
            all.extend(batch);
        }
        Ok(all)
    }

    /// All that is in it, as documents in a fixed order: two sandboxes with the same data answer the same.
    ///
    /// # Errors
    /// What the backend refuses.
    pub(super) fn contents(&self, interrupt: &Interrupt) -> Result<Vec<RawDocumentBuf>> {
        let mut contents = Vec::new();
        let mut databases = self.databases(interrupt)?;
        databases.sort();
        for db in databases {
            let mut collections = self.all(&db, rawdoc! { "listCollections": 1 }, interrupt)?;
            collections
                .sort_by_cached_key(|entry| entry.get_str("name").unwrap_or_default().to_owned());
            for entry in collections {
                let name = entry.get_str("name").unwrap_or_default();
                contents.push(rawdoc! { "database": db.as_str(), "collection": name });
                let find = rawdoc! { "find": name, "sort": { "_id": 1 } };
                contents.extend(self.all(&db, find, interrupt)?);
            }
        }
        Ok(contents)
    }

    fn run(&self, db: &str, body: RawDocumentBuf, interrupt: &Interrupt) -> Result<RawDocumentBuf> {
        let request = Request { db: db.to_owned(), body, interrupt: interrupt.clone() };
        self.witness.behind().run(request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled() -> Sandbox {
        let (sandbox, interrupt) = (Sandbox::scratch(0), Interrupt::new());
        let insert = rawdoc! { "insert": "a", "documents": [{ "_id": 1, "x": 2 }, { "_id": 2 }] };
        sandbox.run("test", insert, &interrupt).expect("inserted");
        let index =
            rawdoc! { "createIndexes": "a", "indexes": [{ "key": { "x": 1 }, "name": "x_1" }] };
        sandbox.run("test", index, &interrupt).expect("indexed");
        sandbox.run("other", rawdoc! { "create": "empty" }, &interrupt).expect("created");
        sandbox
    }

    #[test]
    fn a_copy_has_the_same_data_and_is_another_place() {
        let (sandbox, interrupt) = (filled(), Interrupt::new());
        let copy = sandbox.copy(&interrupt).expect("copied");
        let contents = sandbox.contents(&interrupt).expect("read");
        assert_eq!(contents.len(), 4);
        assert_eq!(copy.contents(&interrupt).expect("read"), contents);
        let indexes = copy.all("test", rawdoc! { "listIndexes": "a" }, &interrupt).expect("listed");
        assert_eq!(indexes.len(), 2);
        copy.clear(&interrupt).expect("cleared");
        assert!(copy.contents(&interrupt).expect("read").is_empty());
        assert_eq!(sandbox.contents(&interrupt).expect("read"), contents);
    }

    #[test]
    fn only_what_goes_through_the_witness_is_remembered() {
        let (sandbox, interrupt) = (filled(), Interrupt::new());
        assert!(sandbox.witness().commands().is_empty());
        let seen = sandbox.whereabouts();
        let body = rawdoc! { "count": "a" };
        seen.backend.run(Request { db: seen.db, body: body.clone(), interrupt }).expect("counted");
        assert_eq!(sandbox.witness().commands(), [body]);
        sandbox.witness().forget();
        assert!(sandbox.witness().commands().is_empty());
    }
}
