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

/// The increment that makes a sequence.
fn next(name: &str) -> Document {
    doc! {
        "findAndModify": "counters",
        "query": { "_id": name },
        "update": { "$inc": { "next": 1 } },
        "new": true,
        "upsert": true,
    }
}

#[test]
fn find_and_modify_makes_a_sequence() {
    let db = Database::new();
    assert_eq!(
        db.run(next("users")),
        doc! {
            "lastErrorObject": { "n": 1, "updatedExisting": false, "upserted": "users" },
            "value": { "_id": "users", "next": 1 },
            "ok": 1.0,
        }
    );
    assert_eq!(
        db.run(next("users")),
        doc! {
            "lastErrorObject": { "n": 1, "updatedExisting": true },
            "value": { "_id": "users", "next": 2 },
            "ok": 1.0,
        }
    );
    assert_eq!(
        db.run(doc! { "findAndModify": "counters", "query": { "_id": "users" }, "remove": true, "fields": { "_id": 0 } }),
        doc! { "lastErrorObject": { "n": 1 }, "value": { "next": 2 }, "ok": 1.0 }
    );
    assert_eq!(
        db.run(doc! { "findAndModify": "counters", "query": { "_id": "users" }, "remove": true }),
        doc! { "lastErrorObject": { "n": 0 }, "value": null, "ok": 1.0 }
    );
    assert_eq!(
        db.run(doc! { "findAndModify": "counters", "query": { "_id": 5 }, "update": { "$inc": { "n": 1 } } }),
        doc! { "lastErrorObject": { "n": 0, "updatedExisting": false }, "value": null, "ok": 1.0 }
    );
    assert_eq!(
        db.run(doc! { "findandmodify": "counters", "query": { "_id": 5 }, "update": { "n": 1 }, "upsert": true }),
        doc! {
            "lastErrorObject": { "n": 1, "updatedExisting": false, "upserted": 5 },
            "value": null,
            "ok": 1.0,
        }
    );
}

#[test]
fn find_and_modify_refuses_in_the_servers_words() {
    let db = Database::new();
    let refused = |options: Document| {
        let mut command = doc! { "findAndModify": "c" };
        command.extend(options);
        db.refused(command)
    };
    assert_eq!(refused(doc! {}), (9, "Either an update or remove=true must be specified".into()));
    assert_eq!(
        refused(doc! { "update": {}, "remove": true }),
        (9, "Cannot specify both an update and remove=true".into())
    );
    assert_eq!(
        refused(doc! { "remove": true, "upsert": true }),
        (9, "Cannot specify both upsert=true and remove=true ".into())
    );
    assert_eq!(
        refused(doc! { "remove": true, "new": true }),
        (9, "Cannot specify both new=true and remove=true; 'remove' always returns the deleted document".into())
    );
    db.insert("c", vec![doc! { "_id": 1, "a": "x" }, doc! { "_id": 2, "a": i64::MAX }]);
    assert_eq!(
        refused(doc! { "query": { "_id": 1 }, "update": { "$inc": { "a": 1 } } }),
        (
            14,
            "Plan executor error during findAndModify :: caused by :: Cannot apply $inc to a value of non-numeric type. \
             {_id: 1} has the field 'a' of non-numeric type string"
                .into()
        )
    );
    assert_eq!(refused(doc! { "query": { "_id": 2 }, "update": { "$inc": { "a": 1 } } }).0, 2);
    assert_eq!(
        db.find(doc! { "find": "c", "filter": { "_id": 2 } }),
        [doc! { "_id": 2, "a": i64::MAX }]
    );
}

#[test]
fn sort_decides_which_document_is_modified() {
    let db = Database::new();
    db.insert("jobs", (0..9).map(|n| doc! { "_id": n, "rank": (n * 4) % 9 }).collect());
    let reply = db.run(doc! {
        "findAndModify": "jobs",
        "query": { "rank": { "$gt": 2 } },
        "sort": { "rank": 1 },
        "update": { "$set": { "rank": 0 } },
    });
    assert_eq!(reply.get_document("value").unwrap().get_i32("rank").unwrap(), 3);
}

#[test]
fn updates_count_what_they_match_and_change() {
    let db = Database::new();
    db.insert(
        "t",
        vec![doc! { "_id": 1, "a": 1 }, doc! { "_id": 2, "a": 2 }, doc! { "_id": 3, "a": 2 }],
    );
    assert_eq!(
        db.run(doc! { "update": "t", "updates": [{ "q": { "a": 2 }, "u": { "$set": { "a": 2, "b": 1 } }, "multi": true }] }),
        doc! { "n": 2, "nModified": 2, "ok": 1.0 }
    );
    assert_eq!(
        db.run(doc! { "update": "t", "updates": [{ "q": { "a": 2 }, "u": { "$set": { "a": 2 } }, "multi": true }] }),
        doc! { "n": 2, "nModified": 0, "ok": 1.0 }
    );
    assert_eq!(
        db.run(doc! { "update": "t", "updates": [
            { "q": { "_id": 9 }, "u": { "$set": { "a": 7 } }, "upsert": true },
            { "q": { "_id": 1 }, "u": { "c": 1 } },
        ] }),
        doc! { "n": 2, "nModified": 1, "upserted": [{ "index": 0, "_id": 9 }], "ok": 1.0 }
    );
    assert_eq!(
        db.find(doc! { "find": "t" }),
        [
            doc! { "_id": 1, "c": 1 },
            doc! { "_id": 2, "a": 2, "b": 1 },
            doc! { "_id": 3, "a": 2, "b": 1 },
            doc! { "_id": 9, "a": 7 }
        ]
    );
    assert_eq!(
        db.run(doc! { "update": "t", "updates": [{ "q": {}, "u": { "$foo": 1 } }] })
            .get_array("writeErrors")
            .unwrap()
            .len(),
        1
    );
    assert_eq!(
        db.run(doc! { "delete": "t", "deletes": [{ "q": { "b": 1 }, "limit": 0 }, { "q": {}, "limit": 1 }] }),
        doc! { "n": 3, "ok": 1.0 }
    );
    assert_eq!(
        db.refused(doc! { "delete": "t", "deletes": [{ "q": {}, "limit": 100 }] }),
        (9, "The limit field in delete objects must be 0 or 1. Got 100".into())
    );
    assert_eq!(
        db.refused(doc! { "delete": "t", "deletes": [{ "q": {} }] }),
        (40414, "BSON field 'delete.deletes.limit' is missing but a required field".into())
    );
}

#[test]
fn an_update_of_many_meets_each_document_once() {
    let db = Database::new();
    db.run(doc! { "createIndexes": "t", "indexes": [{ "key": { "a": 1 }, "name": "a_1" }] });
    db.insert("t", (0..2500).map(|n| doc! { "_id": n, "a": n }).collect());
    let update =
        doc! { "q": { "a": { "$gte": 0 } }, "u": { "$inc": { "a": 1_000_000 } }, "multi": true };
    assert_eq!(
        db.run(doc! { "update": "t", "updates": [update] }),
        doc! { "n": 2500, "nModified": 2500, "ok": 1.0 }
    );
    assert_eq!(
        db.run(doc! { "count": "t", "query": { "a": { "$gte": 2_000_000 } } })
            .get_i32("n")
            .unwrap(),
        0
    );
    assert_eq!(
        db.run(doc! { "count": "t", "query": { "a": { "$gte": 1_000_000 } } })
            .get_i32("n")
            .unwrap(),
        2500
    );
}

#[test]
fn ten_threads_get_a_hundred_thousand_different_numbers() {
    let db = Database::new();
    let mut numbers: Vec<i32> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..10)
            .map(|_| {
                let db = Database { engine: db.engine.clone() };
                scope.spawn(move || {
                    let next = next("users");
                    (0..10_000)
                        .map(|_| {
                            db.run(next.clone())
                                .get_document("value")
                                .unwrap()
                                .get_i32("next")
                                .unwrap()
                        })
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    numbers.sort_unstable();
    assert!(numbers.iter().copied().eq(1..=100_000));
}

#[test]
fn a_loop_that_inserts_what_it_reads_ends() {
    let db = Database::new();
    db.insert("t", (0..10).map(|n| doc! { "_id": n }).collect());
    let mut seen = 0;
    let mut reply = db.run(doc! { "find": "t", "batchSize": 2 });
    loop {
        let cursor = reply.get_document("cursor").unwrap();
        let batch =
            cursor.get_array("firstBatch").or_else(|_| cursor.get_array("nextBatch")).unwrap();
        for document in batch {
            seen += 1;
            let id = document.as_document().unwrap().get_i32("_id").unwrap();
            db.insert("t", vec![doc! { "_id": id + 1000 }]);
        }
        let id = cursor.get_i64("id").unwrap();
        if id == 0 {
            break;
        }
        reply = db.run(doc! { "getMore": id, "collection": "t", "batchSize": 2 });
    }
    assert_eq!(seen, 10);
}

#[test]
fn an_index_answers_as_a_scan_does() {
    let db = Database::new();
    let documents: Vec<_> = (0..300)
        .map(|n: i32| match n % 6 {
            0 => doc! { "_id": n, "a": n, "b": { "c": n % 7 } },
            1 if n % 4 == 1 => doc! { "_id": n, "a": [n, n + 1, "x"], "b": { "c": n % 5 } },
            1 => doc! { "_id": n, "a": 2 * n, "b": [{ "c": 1 }, { "c": n % 5 }] },
            2 => doc! { "_id": n, "a": null, "b": [] },
            3 => doc! { "_id": n, "b": { "c": [n % 3, null] } },
            4 => doc! { "_id": n, "a": format!("s{}", n % 9), "b": n },
            _ => doc! { "_id": n, "a": f64::from(n) / 2.0, "b": [1, { "c": "y" }, [{ "c": 1 }]] },
        })
        .collect();
    db.insert("plain", documents.clone());
    db.run(doc! { "createIndexes": "indexed", "indexes": [
        { "key": { "a": 1 }, "name": "a_1" },
        { "key": { "b.c": -1, "a": 1 }, "name": "b.c_-1_a_1" },
        { "key": { "a": -1, "b.c": 1 }, "name": "sparse", "sparse": true },
        { "key": { "b.c": 1 }, "name": "partial", "partialFilterExpression": { "a": { "$gt": 10 } } },
    ] });
    db.insert("indexed", documents);
    let filters = [
        doc! { "a": 6 },
        doc! { "a": null },
        doc! { "a": { "$gt": 100 } },
        doc! { "a": { "$gt": 10, "$lt": 20 } },
        doc! { "a": { "$gte": "s1", "$lt": "s4" } },
        doc! { "a": { "$in": [1, 7, "x", null] } },
        doc! { "a": { "$exists": false } },
        doc! { "a": { "$exists": true }, "b.c": 1 },
        doc! { "b.c": 1 },
        doc! { "b.c": null },
        doc! { "b.c": { "$lt": 4 }, "a": { "$gt": 20 } },
        doc! { "b.c": { "$in": [2, 3] }, "a": { "$lte": 200 } },
        doc! { "a": [1, 2, "x"] },
        doc! { "a": { "$elemMatch": { "$gt": 3, "$lt": 5 } } },
        doc! { "b": { "$elemMatch": { "c": 1 } } },
        doc! { "a": { "$ne": 6 }, "b.c": { "$gte": 3 } },
        doc! { "a": { "$regex": "^s[12]" } },
        doc! { "a": { "$type": "string" } },
        doc! { "$or": [{ "a": 12 }, { "b.c": 4 }] },
        doc! { "a": { "$gt": 15 }, "b.c": 2 },
        doc! { "a": { "$gt": 15 }, "b.c": 1 },
    ];
    for filter in filters {
        let ids = |name: &str| {
            let mut ids: Vec<_> = db
                .find(doc! { "find": name, "filter": filter.clone(), "batchSize": 3 })
                .iter()
                .map(|document| document.get_i32("_id").unwrap())
                .collect();
            ids.sort_unstable();
            ids
        };
        assert_eq!(ids("indexed"), ids("plain"), "{filter}");
        for sort in [
            doc! { "a": 1, "_id": 1 },
            doc! { "b.c": -1, "_id": 1 },
            doc! { "a": -1, "b.c": 1, "_id": -1 },
        ] {
            let sorted = |name: &str| {
                db.find(doc! { "find": name, "filter": filter.clone(), "sort": sort.clone() })
            };
            assert_eq!(sorted("indexed"), sorted("plain"), "{filter} {sort}");
        }
    }
}
