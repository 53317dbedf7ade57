//! Writes that come twice and are done once.

use bson::{Document, RawDocumentBuf, doc};
use tally::Interrupt;
use tally::engine::{Engine, Location, Request, Retry};

const SESSION: [u8; 16] = [7; 16];

fn run(engine: &Engine, command: &Document, number: i64) -> Document {
    let body = RawDocumentBuf::try_from(command).unwrap();
    let request = Request { db: "test".to_owned(), body, interrupt: Interrupt::new() };
    let reply = match number {
        0 => engine.run(&request),
        number => engine.run_once(&request, Retry { session: SESSION, number }),
    };
    Document::try_from(&*reply.unwrap()).unwrap()
}

/// The same write twice, in between another opening of the data: the same answer, and as if it had come once.
#[test]
fn a_write_that_comes_again_is_answered_and_not_done() {
    let folder = tempfile::tempdir().unwrap();
    let location = Location::Directory(folder.path().join("data"));
    let many = |n: i32| doc! { "_id": n, "n": 0 };
    let commands = [
        doc! { "insert": "t", "documents": [many(1), many(2), many(3)] },
        doc! { "insert": "t", "documents": [many(3), many(4)], "ordered": false },
        doc! { "update": "t", "updates": [{ "q": {}, "u": { "$inc": { "n": 1 } }, "multi": true }] },
        doc! { "update": "t", "updates": [
            { "q": { "_id": 1 }, "u": { "$inc": { "n": 1 } } },
            { "q": { "_id": 9 }, "u": { "$inc": { "n": 1 } }, "upsert": true },
            { "q": { "_id": 2 }, "u": { "$inc": { "n": 1 } } },
        ] },
        doc! { "findAndModify": "t", "query": { "_id": 1 }, "update": { "$inc": { "n": 1 } }, "new": true },
        doc! { "findAndModify": "u", "query": { "_id": 1 }, "update": { "$inc": { "n": 1 } }, "upsert": true },
        doc! { "findAndModify": "t", "query": { "_id": 4 }, "remove": true },
        doc! { "delete": "t", "deletes": [{ "q": { "_id": 3 }, "limit": 1 }, { "q": { "n": 2 }, "limit": 0 }] },
    ];
    let expected = [
        doc! { "n": 3, "ok": 1.0 },
        doc! { "n": 1 },
        doc! { "n": 4, "nModified": 4, "ok": 1.0 },
        doc! { "n": 3, "nModified": 2, "upserted": [{ "index": 1, "_id": 9 }], "ok": 1.0 },
        doc! { "lastErrorObject": { "n": 1, "updatedExisting": true }, "value": { "_id": 1, "n": 3 }, "ok": 1.0 },
        doc! { "lastErrorObject": { "n": 1, "updatedExisting": false, "upserted": 1 }, "value": null, "ok": 1.0 },
        doc! { "lastErrorObject": { "n": 1 }, "value": { "_id": 4, "n": 1 }, "ok": 1.0 },
        doc! { "n": 2, "ok": 1.0 },
    ];
    for (number, (command, expected)) in (1..).zip(commands.iter().zip(&expected)) {
        for attempt in 0..3 {
            let engine = Engine::open(&location).unwrap();
            let mut reply = run(&engine, command, number);
            if let Some(failures) = reply.remove("writeErrors") {
                assert_eq!(failures.as_array().unwrap().len(), 1);
                reply.remove("ok");
            }
            assert_eq!(&reply, expected, "{command}, attempt {attempt}");
        }
    }
    let engine = Engine::open(&location).unwrap();
    let all = run(&engine, &doc! { "find": "t", "sort": { "_id": 1 } }, 0);
    let left = all.get_document("cursor").unwrap().get_array("firstBatch").unwrap();
    // 2 had two increments and went with the delete; 9 was upserted with one.
    assert_eq!(left, &[doc! { "_id": 1, "n": 3 }.into(), doc! { "_id": 9, "n": 1 }.into()]);
}

#[test]
fn another_number_is_another_write() {
    let engine = Engine::open(&Location::Ephemeral).unwrap();
    let take = doc! {
        "findAndModify": "c", "query": { "_id": 1 }, "update": { "$inc": { "n": 1 } }, "new": true, "upsert": true,
    };
    let number = |reply: Document| reply.get_document("value").unwrap().get_i32("n").unwrap();
    let taken = [1, 1, 2, 2, 3, 0, 3].map(|retry| number(run(&engine, &take, retry)));
    assert_eq!(taken, [1, 1, 2, 2, 3, 4, 3]);
}
