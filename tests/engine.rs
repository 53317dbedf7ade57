//! The engine, asked commands as a driver would ask them.

use bson::{Document, RawDocumentBuf, doc};
use tally::engine::{Engine, Location, Request};
use tally::{Error, Interrupt};

/// A scratch engine and a way to send it commands.
pub struct Database {
    /// The engine.
    pub engine: Engine,
}

impl Database {
    /// An empty one.
    pub fn new() -> Self {
        Self { engine: Engine::open(&Location::Ephemeral).unwrap() }
    }

    /// Runs a command on the database `test`.
    pub fn try_run(&self, command: Document) -> Result<Document, Error> {
        self.try_run_on("test", command)
    }

    /// Runs a command on another database.
    pub fn try_run_on(&self, db: &str, command: Document) -> Result<Document, Error> {
        let body = RawDocumentBuf::try_from(&command).unwrap();
        let reply =
            self.engine.run(&Request { db: db.into(), body, interrupt: Interrupt::new() })?;
        Ok(Document::try_from(&*reply).unwrap())
    }

    /// Runs a command that has to succeed.
    pub fn run(&self, command: Document) -> Document {
        let reply = self.try_run(command.clone());
        reply.unwrap_or_else(|error| panic!("{command}: {error}"))
    }

    /// Code and message of a command that has to be refused.
    pub fn refused(&self, command: Document) -> (i32, String) {
        match self.try_run(command.clone()) {
            Err(Error::Command(error)) => (error.code.0, error.message),
            other => panic!("{command}: {other:?}"),
        }
    }

    /// All documents of a `find`.
    pub fn find(&self, command: Document) -> Vec<Document> {
        let mut reply = self.run(command.clone());
        let mut found = Vec::new();
        loop {
            let cursor = reply.get_document("cursor").unwrap();
            let batch =
                cursor.get_array("firstBatch").or_else(|_| cursor.get_array("nextBatch")).unwrap();
            found.extend(batch.iter().map(|document| document.as_document().unwrap().clone()));
            let id = cursor.get_i64("id").unwrap();
            if id == 0 {
                return found;
            }
            let namespace = cursor.get_str("ns").unwrap();
            reply = self
                .run(doc! { "getMore": id, "collection": namespace.split_once('.').unwrap().1 });
        }
    }

    /// Inserts documents that have to go in.
    pub fn insert(&self, name: &str, documents: Vec<Document>) {
        let count = i32::try_from(documents.len()).unwrap();
        assert_eq!(
            self.run(doc! { "insert": name, "documents": documents }),
            doc! { "n": count, "ok": 1.0 }
        );
    }
}

#[test]
fn documents_come_back_in_the_order_they_went_in() {
    let db = Database::new();
    db.insert("pets", vec![doc! { "_id": 2, "name": "Rex" }, doc! { "_id": 1, "name": "Tom" }]);
    assert_eq!(
        db.find(doc! { "find": "pets" }),
        [doc! { "_id": 2, "name": "Rex" }, doc! { "_id": 1, "name": "Tom" }]
    );
    assert_eq!(
        db.find(doc! { "find": "pets", "filter": { "_id": 1.0 } }),
        [doc! { "_id": 1, "name": "Tom" }]
    );
    assert_eq!(
        db.find(doc! { "find": "pets", "sort": { "name": -1 }, "limit": 1 }),
        [doc! { "_id": 1, "name": "Tom" }]
    );
    assert_eq!(db.run(doc! { "count": "pets" }), doc! { "n": 2, "ok": 1.0 });
}

#[test]
fn an_id_is_put_in_front_and_taken_once() {
    let db = Database::new();
    db.insert("t", vec![doc! { "a": 1 }, doc! { "a": 1, "_id": 7 }]);
    let found = db.find(doc! { "find": "t" });
    assert!(found[0].get_object_id("_id").is_ok());
    assert_eq!(found[1], doc! { "_id": 7, "a": 1 });
    let reply = db.run(doc! { "insert": "t", "documents": [{ "_id": 7.0 }, { "_id": 8 }] });
    assert_eq!(
        reply,
        doc! {
            "n": 0,
            "writeErrors": [{
                "index": 0,
                "code": 11000,
                "keyPattern": { "_id": 1 },
                "keyValue": { "_id": 7.0 },
                "errmsg": "E11000 duplicate key error collection: test.t index: _id_ dup key: { _id: 7.0 }",
            }],
            "ok": 1.0,
        }
    );
    let reply = db
        .run(doc! { "insert": "t", "documents": [{ "_id": 7.0 }, { "_id": 8 }], "ordered": false });
    assert_eq!(reply.get_i32("n").unwrap(), 1);
}

#[test]
fn a_cursor_gives_101_documents_first_and_then_the_rest() {
    let db = Database::new();
    db.insert("t", (0..250).map(|n| doc! { "_id": n }).collect());
    let reply = db.run(doc! { "find": "t" });
    let cursor = reply.get_document("cursor").unwrap();
    assert_eq!(cursor.get_array("firstBatch").unwrap().len(), 101);
    let more = db.run(
        doc! { "getMore": cursor.get_i64("id").unwrap(), "collection": "t", "batchSize": 149 },
    );
    assert_eq!(more.get_document("cursor").unwrap().get_array("nextBatch").unwrap().len(), 149);
    assert_eq!(db.find(doc! { "find": "t", "batchSize": 7 }).len(), 250);
    assert_eq!(db.find(doc! { "find": "t", "batchSize": 7, "skip": 240, "limit": 5 }).len(), 5);
}

#[test]
fn unknown_commands_and_fields_are_refused() {
    let db = Database::new();
    assert_eq!(db.refused(doc! { "foo": 1 }), (59, "no such command: 'foo'".into()));
    assert_eq!(
        db.refused(doc! { "find": "t", "bogus": 1 }),
        (40415, "BSON field 'FindCommandRequest.bogus' is an unknown field.".into())
    );
    assert_eq!(
        db.refused(doc! { "find": "t", "limit": {} }).1,
        "BSON field 'FindCommandRequest.limit' is the wrong type 'object', expected types '[long, int, decimal, double']"
    );
    assert_eq!(db.refused(doc! { "find": "" }), (73, "Invalid namespace specified 'test.'".into()));
    assert_eq!(
        db.refused(doc! { "listDatabases": 1 }),
        (13, "listDatabases may only be run against the admin database.".into())
    );
}

#[test]
fn data_outlive_the_engine_and_a_second_holder_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let location = Location::Directory(directory.path().join("data"));
    let db = Database { engine: Engine::open(&location).unwrap() };
    db.insert("t", vec![doc! { "_id": 1, "a": "x" }]);
    db.run(doc! { "createIndexes": "t", "indexes": [{ "key": { "a": 1 }, "name": "a_1", "unique": true }] });
    let held = Engine::open(&location).map(|_| ()).unwrap_err().to_string();
    let process = std::process::id();
    assert!(
        held.contains(&format!("is in use by process {process}. Wait for it with --wait")),
        "{held}"
    );
    drop(db);
    let db = Database { engine: Engine::open(&location).unwrap() };
    assert_eq!(db.find(doc! { "find": "t" }), [doc! { "_id": 1, "a": "x" }]);
    assert_eq!(db.run(doc! { "count": "t" }).get_i32("n").unwrap(), 1);
    let reply = db.run(doc! { "insert": "t", "documents": [{ "_id": 2, "a": "x" }] });
    assert!(reply.to_string().contains(r#"index: a_1 dup key: { a: "x" }"#), "{reply}");
}
