//! The peers: what the storage crate and the JavaScript engine do by themselves, with nothing of tally around them.

use bson::{DateTime, RawDocumentBuf, oid::ObjectId, rawdoc};
use fjall::{Database, Keyspace, KeyspaceCreateOptions};

use crate::clock::Clock;

/// The storage crate with two keyspaces, as tally has them.
pub(crate) struct Storage {
    database: Database,
    entries: Keyspace,
    records: Keyspace,
    _folder: tempfile::TempDir,
}

impl Storage {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let database = Database::builder(folder.path()).open().unwrap();
        let entries = database.keyspace("entries", KeyspaceCreateOptions::default).unwrap();
        let records = database.keyspace("records", KeyspaceCreateOptions::default).unwrap();
        Self { database, entries, records, _folder: folder }
    }

    /// How many times a second a record is found by its `_id`, read, and written back in a batch.
    pub(crate) fn counter(&self, calls: u32) -> f64 {
        self.entries.insert("users", 1_u64.to_be_bytes()).unwrap();
        let document = rawdoc! { "_id": "users", "next": 0 };
        self.records.insert(1_u64.to_be_bytes(), document.as_bytes()).unwrap();
        let clock = Clock::here();
        for _ in 0..calls {
            let number = self.entries.get("users").unwrap().unwrap();
            let mut document = self.records.get(&number).unwrap().unwrap().to_vec();
            let at = document.len() - 5;
            let next = i32::from_le_bytes(document[at..at + 4].try_into().unwrap()) + 1;
            document[at..at + 4].copy_from_slice(&next.to_le_bytes());
            let mut batch = self.database.batch();
            batch.insert(&self.records, number, document);
            batch.commit().unwrap();
        }
        f64::from(calls) / clock.seconds()
    }

    /// How many documents a second are written, each with its entry in the index on `_id`, in batches of `many`. Making
    /// the documents is not counted.
    pub(crate) fn insert(&self, documents: u32, many: u32) -> f64 {
        let mut spent = 0.0;
        for start in (0..documents).step_by(many as usize) {
            let made: Vec<_> = (start..start + many).map(document).collect();
            let clock = Clock::here();
            let mut batch = self.database.batch();
            for (number, (id, document)) in (u64::from(start)..).zip(&made) {
                // A tree's number in front, as tally has it; 35 is the type of an ObjectId.
                let mut entry = [0; 17];
                (entry[3], entry[4]) = (2, 35);
                entry[5..].copy_from_slice(&id.bytes());
                let mut record = [0; 12];
                record[3] = 1;
                record[4..].copy_from_slice(&number.to_be_bytes());
                batch.insert(&self.entries, entry, number.to_be_bytes());
                batch.insert(&self.records, record, document.as_bytes());
            }
            batch.commit().unwrap();
            spent += clock.seconds();
        }
        f64::from(documents) / spent
    }
}

/// The document that the shell's `{name: "user " + n, n: n, at: new Date(n)}` is stored as.
fn document(n: u32) -> (ObjectId, RawDocumentBuf) {
    let id = ObjectId::new();
    let at = DateTime::from_millis(n.into());
    (id, rawdoc! { "_id": id, "name": format!("user {n}"), "n": f64::from(n), "at": at })
}

/// The JavaScript engine.
pub(crate) struct QuickJs(rquickjs::Context);

impl QuickJs {
    pub(crate) fn new() -> Self {
        let runtime = rquickjs::Runtime::new().unwrap();
        Self(rquickjs::Context::full(&runtime).unwrap())
    }

    /// How many seconds a script takes.
    pub(crate) fn seconds(&self, code: &str) -> f64 {
        let clock = Clock::here();
        self.0.with(|context| context.eval::<rquickjs::Undefined, _>(code).unwrap());
        clock.seconds()
    }
}
