//! Collections, indexes and cursors by command, in the server's words.

use bson::{Bson, Document, RawDocumentBuf, doc, rawdoc};
use tally::engine::Request;
use tally::{Error, Interrupt};

use crate::engine::Database;

fn refused_on(db: &Database, database: &str, command: Document) -> (i32, String) {
    match db.try_run_on(database, command.clone()) {
        Err(Error::Command(error)) => (error.code.0, error.message),
        other => panic!("{command}: {other:?}"),
    }
}

#[test]
fn collections_are_made_listed_renamed_and_dropped() {
    let db = Database::new();
    assert_eq!(db.run(doc! { "create": "b" }), doc! { "ok": 1.0 });
    assert_eq!(db.run(doc! { "create": "b" }), doc! { "ok": 1.0 });
    assert_eq!(
        db.refused(doc! { "create": "b", "capped": true, "size": 4096 }),
        (48, "Collection test.b already exists.".into())
    );
    assert_eq!(
        db.refused(doc! { "create": "c", "capped": true }),
        (72, "the 'size' field is required when 'capped' is true".into())
    );
    db.insert("a", vec![doc! { "_id": 1 }]);
    let listed = db.run(doc! { "listCollections": 1, "nameOnly": true });
    let cursor = listed.get_document("cursor").unwrap();
    assert_eq!(cursor.get_str("ns").unwrap(), "test.$cmd.listCollections");
    assert_eq!(
        cursor.get_array("firstBatch").unwrap(),
        &[
            Bson::Document(doc! { "name": "a", "type": "collection" }),
            Bson::Document(doc! { "name": "b", "type": "collection" })
        ]
    );
    let rename = |to: &str, replace: bool| doc! { "renameCollection": "test.a", "to": to, "dropTarget": replace };
    assert_eq!(
        refused_on(&db, "admin", rename("test.b", false)),
        (48, "target namespace exists".into())
    );
    db.try_run_on("admin", rename("test.b", true)).unwrap();
    assert_eq!(db.find(doc! { "find": "b" }), [doc! { "_id": 1 }]);
    assert_eq!(
        refused_on(&db, "admin", rename("test.z", false)),
        (26, "Source collection test.a does not exist".into())
    );
    assert_eq!(db.run(doc! { "drop": "b" }), doc! { "nIndexesWas": 1, "ns": "test.b", "ok": 1.0 });
    assert_eq!(db.run(doc! { "drop": "b" }), doc! { "ok": 1.0 });
    assert_eq!(db.run(doc! { "dropDatabase": 1 }), doc! { "ok": 1.0 });
    db.insert("x", vec![doc! {}]);
    let databases = db.try_run_on("admin", doc! { "listDatabases": 1, "nameOnly": true }).unwrap();
    assert_eq!(databases, doc! { "databases": [{ "name": "test" }], "ok": 1.0 });
    assert_eq!(db.run(doc! { "dropDatabase": 1 }), doc! { "dropped": "test", "ok": 1.0 });
}

#[test]
fn names_that_cannot_be_are_refused() {
    let db = Database::new();
    let insert = |name: &str| doc! { "insert": name, "documents": [{}] };
    assert_eq!(db.refused(insert("a$b")), (73, "Invalid collection name: a$b".into()));
    assert_eq!(
        db.refused(insert("system.foobar")),
        (73, "Invalid system namespace: test.system.foobar".into())
    );
    assert_eq!(db.refused(insert("")), (73, "Invalid namespace specified 'test.'".into()));
    assert_eq!(
        db.refused(doc! { "insert": 1, "documents": [{}] }),
        (73, "collection name has invalid type int".into())
    );
    assert_eq!(db.refused(insert(&"n".repeat(300))).0, 73);
    assert_eq!(
        refused_on(&db, &"d".repeat(64), insert("a")),
        (73, "db name must be at most 63 characters, found: 64".into())
    );
    db.insert("a", vec![doc! {}]);
    assert_eq!(refused_on(&db, "TEST", insert("a")).0, 13297);
}

#[test]
fn indexes_are_made_once_and_listed_in_order() {
    let db = Database::new();
    let index = |key: Document, name: &str| doc! { "key": key, "name": name };
    let make = |indexes: Vec<Document>| doc! { "createIndexes": "t", "indexes": indexes };
    assert_eq!(
        db.run(make(vec![index(doc! { "a": 1 }, "a_1")])),
        doc! { "numIndexesBefore": 1, "numIndexesAfter": 2, "createdCollectionAutomatically": true, "ok": 1.0 }
    );
    assert_eq!(
        db.run(make(vec![index(doc! { "a": 1.0 }, "a_1")])),
        doc! {
            "numIndexesBefore": 2,
            "numIndexesAfter": 2,
            "createdCollectionAutomatically": false,
            "note": "all indexes already exist",
            "ok": 1.0,
        }
    );
    assert_eq!(
        db.refused(make(vec![index(doc! { "a": 1 }, "foo")])),
        (85, "Index already exists with a different name: a_1".into())
    );
    assert_eq!(db.refused(make(vec![index(doc! { "b": 1 }, "a_1")])).0, 86);
    assert_eq!(db.refused(make(vec![])), (2, "Must specify at least one index to create".into()));
    assert_eq!(
        db.refused(make(vec![doc! {}])),
        (9, "Error in specification {} :: caused by :: The 'key' field is a required property of an index specification".into())
    );
    assert_eq!(
        db.refused(make(vec![doc! { "key": { "v": 1 }, "name": "" }]))
            .1
            .split(" :: caused by :: ")
            .nth(1)
            .unwrap(),
        "index name cannot be empty"
    );
    db.run(make(vec![doc! { "key": { "b": -1, "c": 1 }, "name": "b_-1_c_1", "sparse": true }]));
    assert_eq!(
        db.find(doc! { "listIndexes": "t" }),
        [
            doc! { "v": 2, "key": { "_id": 1 }, "name": "_id_" },
            doc! { "v": 2, "key": { "a": 1 }, "name": "a_1" },
            doc! { "v": 2, "key": { "b": -1, "c": 1 }, "name": "b_-1_c_1", "sparse": true },
        ]
    );
    assert_eq!(
        db.refused(doc! { "listIndexes": "none" }),
        (26, "ns does not exist: test.none".into())
    );
    let remove = |index: Bson| doc! { "dropIndexes": "t", "index": index };
    assert_eq!(db.refused(remove("_id_".into())), (72, "cannot drop _id index".into()));
    assert_eq!(db.refused(remove("c_1".into())), (27, "index not found with name [c_1]".into()));
    assert_eq!(
        db.refused(remove(doc! { "c": 1 }.into())),
        (27, "can't find index with key: { c: 1 }".into())
    );
    assert_eq!(db.run(remove(doc! { "a": 1 }.into())), doc! { "nIndexesWas": 3, "ok": 1.0 });
    assert_eq!(
        db.run(remove("*".into())),
        doc! { "nIndexesWas": 2, "msg": "non-_id indexes dropped for collection", "ok": 1.0 }
    );
}

#[test]
fn a_unique_index_goes_by_the_comparison_order_and_takes_missing_for_null() {
    let db = Database::new();
    db.run(doc! { "createIndexes": "t", "indexes": [{ "key": { "a": 1 }, "name": "a_1", "unique": true }] });
    let insert = |document: Document| {
        let reply = db.run(doc! { "insert": "t", "documents": [document] });
        reply
            .get_array("writeErrors")
            .ok()
            .map(|errors| errors[0].as_document().unwrap().get_str("errmsg").unwrap().to_owned())
    };
    assert_eq!(insert(doc! { "a": 1 }), None);
    let taken = "E11000 duplicate key error collection: test.t index: a_1 dup key: ";
    assert_eq!(insert(doc! { "a": 1.0 }), Some(format!("{taken}{{ a: 1.0 }}")));
    assert_eq!(insert(doc! { "a": "x" }), None);
    assert_eq!(insert(doc! { "a": "x" }), Some(format!("{taken}{{ a: \"x\" }}")));
    assert_eq!(insert(doc! {}), None);
    assert_eq!(insert(doc! { "a": null }), Some(format!("{taken}{{ a: null }}")));
    // One document may have a value twice; an empty array counts as undefined.
    assert_eq!(insert(doc! { "a": [7, 7] }), None);
    assert_eq!(insert(doc! { "a": [8, 7] }), Some(format!("{taken}{{ a: 7 }}")));
    assert_eq!(insert(doc! { "a": [] }), None);
    assert_eq!(insert(doc! { "a": [] }), Some(format!("{taken}{{ a: undefined }}")));
    let long = "x".repeat(70_000);
    assert_eq!(insert(doc! { "a": &long }), None);
    assert!(insert(doc! { "a": &long }).is_some());
    assert_eq!(db.find(doc! { "find": "t", "filter": { "a": &long } }).len(), 1);
    let longer = format!("{long}y");
    assert_eq!(insert(doc! { "a": &longer }), None);
    assert_eq!(db.find(doc! { "find": "t", "filter": { "a": &longer } }).len(), 1);
    assert_eq!(db.find(doc! { "find": "t", "filter": { "a": { "$gt": &long } } }).len(), 1);

    db.insert("u", vec![doc! { "_id": 1, "a": 3 }, doc! { "_id": 2, "a": 3 }]);
    let (code, message) =
        db.refused(doc! { "createIndexes": "u", "indexes": [{ "key": { "a": 1 }, "name": "a_1", "unique": true }] });
    assert_eq!(code, 11000);
    assert!(message.starts_with("Index build failed: "), "{message}");
    assert!(
        message.ends_with(" ) :: caused by :: E11000 duplicate key error collection: test.u index: a_1 dup key: { a: 3 }"),
        "{message}"
    );
    assert_eq!(db.find(doc! { "listIndexes": "u" }).len(), 1);
}

#[test]
fn two_arrays_cannot_be_indexed_together() {
    let db = Database::new();
    db.run(doc! { "createIndexes": "t", "indexes": [{ "key": { "size": 1, "quantity": 1 }, "name": "x" }] });
    let reply =
        db.run(doc! { "insert": "t", "documents": [{ "size": [1, 2], "quantity": [3, 4] }] });
    let error = reply.get_array("writeErrors").unwrap()[0].as_document().unwrap();
    assert_eq!(error.get_i32("code").unwrap(), 171);
    assert_eq!(error.get_str("errmsg").unwrap(), "cannot index parallel arrays [quantity] [size]");
}

#[test]
fn explain_tells_which_index_and_how_much_was_looked_at() {
    let db = Database::new();
    db.run(doc! { "createIndexes": "t", "indexes": [{ "key": { "a": 1 }, "name": "a_1" }] });
    db.insert("t", (0..100).map(|n| doc! { "_id": n, "a": n % 10, "b": n }).collect());
    let explain = |find: Document| {
        let reply = db.run(doc! { "explain": find, "verbosity": "executionStats" });
        let stats = reply.get_document("executionStats").unwrap().clone();
        let plan = reply
            .get_document("queryPlanner")
            .unwrap()
            .get_document("winningPlan")
            .unwrap()
            .clone();
        let number = |field: &str| stats.get_i32(field).unwrap();
        (plan, [number("nReturned"), number("totalKeysExamined"), number("totalDocsExamined")])
    };
    let (plan, numbers) = explain(doc! { "find": "t", "filter": { "a": 3 } });
    assert_eq!(numbers, [10, 10, 10]);
    assert_eq!(plan.get_str("stage").unwrap(), "FETCH");
    let scan = plan.get_document("inputStage").unwrap();
    assert_eq!(scan.get_str("indexName").unwrap(), "a_1");
    assert_eq!(scan.get_document("indexBounds").unwrap(), &doc! { "a": ["[3, 3]"] });
    let (plan, numbers) = explain(doc! { "find": "t", "filter": { "b": { "$lt": 5 } } });
    assert_eq!((plan.get_str("stage").unwrap(), numbers), ("COLLSCAN", [5, 0, 100]));
    let (plan, numbers) = explain(doc! { "find": "t", "filter": { "_id": 7 } });
    assert_eq!((plan.get_str("stage").unwrap(), numbers), ("IDHACK", [1, 1, 1]));
    let (plan, numbers) = explain(doc! { "find": "t", "sort": { "a": -1 }, "limit": 3 });
    assert_eq!((plan.get_str("stage").unwrap(), numbers), ("LIMIT", [3, 3, 3]));
    let (plan, _) = explain(doc! { "find": "t", "sort": { "b": 1 } });
    assert_eq!(plan.get_str("stage").unwrap(), "SORT");
    let (_, numbers) =
        explain(doc! { "find": "t", "filter": { "a": { "$gte": 8 } }, "hint": "a_1" });
    assert_eq!(numbers, [20, 20, 20]);
    assert_eq!(
        db.refused(doc! { "find": "t", "hint": "zz" }),
        (
            2,
            "error processing query: ns=test.tTree: $and\nSort: {}\nProj: {}\n planner returned error :: caused by :: hint provided does not correspond to \
             an existing index"
                .into()
        )
    );
}

#[test]
fn a_capped_collection_keeps_the_newest() {
    let db = Database::new();
    db.run(doc! { "create": "log", "capped": true, "size": 100_000, "max": 3 });
    db.insert("log", (0..5).map(|n| doc! { "_id": n }).collect());
    assert_eq!(
        db.find(doc! { "find": "log" }),
        [doc! { "_id": 2 }, doc! { "_id": 3 }, doc! { "_id": 4 }]
    );
    assert_eq!(
        db.find(doc! { "find": "log", "sort": { "$natural": -1 }, "limit": 2 }),
        [doc! { "_id": 4 }, doc! { "_id": 3 }]
    );
}

#[test]
fn views_are_read_through_their_pipeline_and_not_written() {
    let db = Database::new();
    db.insert("t", (0..6).map(|n| doc! { "_id": n, "a": n % 2 }).collect());
    db.run(doc! { "create": "odd", "viewOn": "t", "pipeline": [{ "$match": { "a": 1 } }] });
    db.run(doc! { "create": "two", "viewOn": "odd", "pipeline": [{ "$limit": 2 }] });
    assert_eq!(db.run(doc! { "count": "odd" }).get_i32("n").unwrap(), 3);
    assert_eq!(
        db.find(doc! { "find": "two", "projection": { "_id": 1 } }),
        [doc! { "_id": 1 }, doc! { "_id": 3 }]
    );
    assert_eq!(
        db.find(doc! { "aggregate": "odd", "pipeline": [{ "$group": { "_id": "$a", "n": { "$sum": 1 } } }], "cursor": {} }),
        [doc! { "_id": 1, "n": 3 }]
    );
    assert_eq!(
        db.refused(doc! { "insert": "odd", "documents": [{}] }),
        (166, "Namespace test.odd is a view, not a collection".into())
    );
}

#[test]
fn pipelines_end_in_collections() {
    let db = Database::new();
    db.insert("t", (0..6).map(|n| doc! { "_id": n, "a": n % 2 }).collect());
    let aggregate = |stages: Vec<Document>| {
        db.find(doc! { "aggregate": "t", "pipeline": stages, "cursor": {} })
    };
    assert!(aggregate(vec![doc! { "$match": { "a": 1 } }, doc! { "$out": "odd" }]).is_empty());
    assert_eq!(db.find(doc! { "find": "odd" }).len(), 3);
    aggregate(vec![
        doc! { "$project": { "b": { "$multiply": ["$_id", 10] } } },
        doc! { "$merge": { "into": "odd", "whenNotMatched": "discard" } },
    ]);
    assert_eq!(
        db.find(doc! { "find": "odd" }),
        [
            doc! { "_id": 1, "a": 1, "b": 10 },
            doc! { "_id": 3, "a": 1, "b": 30 },
            doc! { "_id": 5, "a": 1, "b": 50 }
        ]
    );
    assert_eq!(
        db.refused(
            doc! { "aggregate": "t", "pipeline": [{ "$out": "x" }, { "$limit": 1 }], "cursor": {} }
        ),
        (40601, "$out can only be the final stage in the pipeline".into())
    );
    assert_eq!(
        db.refused(doc! { "aggregate": "t", "pipeline": [] }),
        (
            9,
            "The 'cursor' option is required, except for aggregate with the explain argument"
                .into()
        )
    );
}

#[test]
fn what_a_write_may_not_hold_is_refused() {
    let db = Database::new();
    let refused = |document: Document| {
        let reply = db.run(doc! { "insert": "t", "documents": [document] });
        let error = reply.get_array("writeErrors").unwrap()[0].as_document().unwrap().clone();
        (error.get_i32("code").unwrap(), error.get_str("errmsg").unwrap().to_owned())
    };
    assert_eq!(
        refused(doc! { "_id": [1] }),
        (53, "The '_id' value cannot be of type array".into())
    );
    assert_eq!(refused(doc! { "_id": Bson::Undefined }).0, 53);
    assert_eq!(refused(doc! { "_id": { "$x": 1 } }).0, 52);
    let (code, message) = refused(doc! { "a": "x".repeat(17 * 1024 * 1024) });
    assert_eq!(code, 2);
    assert!(message.starts_with("object to insert too large. size in bytes: 17825"), "{message}");
    let mut deep = Bson::Int32(1);
    for _ in 0..185 {
        deep = Bson::Array(vec![deep]);
    }
    assert_eq!(refused(doc! { "a": deep }).0, 15);
    db.insert("t", vec![doc! { "$x": 1, "a.b": { "$y": 2 } }, doc! { "_id": null }]);
    assert_eq!(
        db.refused(doc! { "insert": "t", "documents": [] }),
        (16, "Write batch sizes must be between 1 and 100000. Got 0 operations.".into())
    );
    db.insert("t", vec![doc! { "_id": 5, "at": bson::Timestamp { time: 0, increment: 0 } }]);
    let found = db.find(doc! { "find": "t", "filter": { "_id": 5 } });
    assert!(found[0].get_timestamp("at").unwrap().time > 1_600_000_000);
}

#[test]
fn cursors_belong_to_a_collection_and_can_be_killed() {
    let db = Database::new();
    db.insert("t", (0..10).map(|n| doc! { "_id": n }).collect());
    let open = || {
        let reply = db.run(doc! { "find": "t", "batchSize": 2 });
        reply.get_document("cursor").unwrap().get_i64("id").unwrap()
    };
    let id = open();
    assert_eq!(
        db.refused(doc! { "getMore": id, "collection": "x" }),
        (13, "Requested getMore on namespace 'test.x', but cursor belongs to a different namespace test.t".into())
    );
    assert_eq!(
        db.run(doc! { "killCursors": "t", "cursors": [id, 99_i64] }),
        doc! {
            "cursorsKilled": [id],
            "cursorsNotFound": [99_i64],
            "cursorsAlive": [],
            "cursorsUnknown": [],
            "ok": 1.0,
        }
    );
    assert_eq!(
        db.refused(doc! { "getMore": id, "collection": "t" }),
        (43, format!("cursor id {id} not found"))
    );
    assert_eq!(
        db.refused(doc! { "find": "t", "batchSize": -1 }),
        (51024, "BSON field 'batchSize' value must be >= 0, actual value '-1'".into())
    );
    let reply = db.run(doc! { "find": "t", "batchSize": 0 });
    let cursor = reply.get_document("cursor").unwrap();
    assert!(
        cursor.get_array("firstBatch").unwrap().is_empty() && cursor.get_i64("id").unwrap() != 0
    );
    let reply = db.run(doc! { "find": "t", "limit": 3 });
    assert_eq!(reply.get_document("cursor").unwrap().get_i64("id").unwrap(), 0);
}

#[test]
fn distinct_takes_arrays_apart() {
    let db = Database::new();
    db.insert(
        "t",
        vec![
            doc! { "a": [1, 2] },
            doc! { "a": 2.0 },
            doc! { "a": null },
            doc! {},
            doc! { "a": [[3]] },
        ],
    );
    assert_eq!(
        db.run(doc! { "distinct": "t", "key": "a" }),
        doc! { "values": [1, 2, null, [3]], "ok": 1.0 }
    );
}

#[test]
fn validators_hold_for_every_way_in() {
    let db = Database::new();
    db.run(doc! { "create": "t", "validator": { "a": { "$gte": 0 } } });
    let insert = |a: i32| db.run(doc! { "insert": "t", "documents": [{ "_id": a, "a": a }] });
    assert_eq!(insert(1).get_i32("n").unwrap(), 1);
    let error = insert(-1).get_array("writeErrors").unwrap()[0].as_document().unwrap().clone();
    assert_eq!(
        (error.get_i32("code").unwrap(), error.get_str("errmsg").unwrap()),
        (121, "Document failed validation")
    );
    assert_eq!(error.get_document("errInfo").unwrap().get_i32("failingDocumentId").unwrap(), -1);
    let reply = db.run(
        doc! { "update": "t", "updates": [{ "q": { "_id": 1 }, "u": { "$set": { "a": -5 } } }] },
    );
    assert_eq!(reply.get_array("writeErrors").unwrap().len(), 1);
    assert_eq!(
        db.refused(
            doc! { "findAndModify": "t", "query": { "_id": 1 }, "update": { "$inc": { "a": -9 } } }
        )
        .0,
        121
    );
    db.run(doc! { "collMod": "t", "validator": {} });
    assert_eq!(insert(-1).get_i32("n").unwrap(), 1);
}

/// A document `{a: {a: {a: ...}}}`, made of bytes as somebody unfriendly would.
fn nested(depth: usize) -> RawDocumentBuf {
    let mut bytes = Vec::with_capacity(depth * 8 + 8);
    let length = |level: usize| i32::try_from(5 + level * 8).unwrap().to_le_bytes();
    for level in (1..=depth).rev() {
        bytes.extend(length(level));
        bytes.extend([3, b'a', 0]);
    }
    bytes.extend(length(0));
    bytes.extend(vec![0; depth + 1]);
    RawDocumentBuf::from_bytes(bytes).unwrap()
}

#[test]
fn a_command_that_is_nested_too_deep_is_refused_whatever_the_depth() {
    let db = Database::new();
    db.run(doc! { "insert": "t", "documents": [{ "_id": 1 }] });
    for depth in [300, 10_000, 1_000_000] {
        let deep = nested(depth);
        let bodies = [
            rawdoc! { "find": "t", "filter": deep.clone() },
            rawdoc! { "insert": "t", "documents": [deep.clone()] },
            rawdoc! { "update": "t", "updates": [{ "q": {}, "u": { "$set": deep.clone() } }] },
            rawdoc! { "aggregate": "t", "pipeline": [{ "$match": deep.clone() }], "cursor": {} },
            rawdoc! { "ping": 1, "comment": deep.clone() },
        ];
        for body in bodies {
            let request = Request { db: "test".into(), body, interrupt: Interrupt::new() };
            match db.engine.run(&request) {
                Err(Error::Command(error)) => assert_eq!(error.code.0, 15, "{}", error.message),
                Ok(reply) => {
                    let reply = Document::try_from(&*reply).unwrap();
                    let errors = reply.get_array("writeErrors").unwrap();
                    assert_eq!(errors[0].as_document().unwrap().get_i32("code").unwrap(), 15);
                }
                Err(other) => panic!("{other}"),
            }
        }
    }
    assert_eq!(db.find(doc! { "find": "t" }), [doc! { "_id": 1 }]);
}
