//! Tailable cursors that wait at the end (`awaitData`).

use std::thread;

use bson::{Document, doc};

use super::protocol::running;
use super::server::{Serving, Wire};

/// A capped collection with one document, and a cursor that has read it.
fn tail(client: &mut Wire) -> i64 {
    client.run("test", doc! { "create": "log", "capped": true, "size": 100_000 });
    client.run("test", doc! { "insert": "log", "documents": [{ "_id": 1 }] });
    let find = client.run("test", doc! { "find": "log", "tailable": true, "awaitData": true });
    let cursor = find.get_document("cursor").unwrap();
    assert_eq!(cursor.get_array("firstBatch").unwrap().len(), 1);
    cursor.get_i64("id").unwrap()
}

fn more(id: i64, patience: i64) -> Document {
    doc! { "getMore": id, "collection": "log", "maxTimeMS": patience }
}

fn batch(reply: &Document) -> (i64, Vec<Document>) {
    let cursor = reply.get_document("cursor").expect("a cursor");
    let batch = cursor.get_array("nextBatch").unwrap();
    let documents = batch.iter().map(|one| one.as_document().unwrap().clone()).collect();
    (cursor.get_i64("id").unwrap(), documents)
}

#[test]
fn the_next_batch_comes_when_something_is_added() {
    let server = Serving::start();
    let (mut reader, mut writer) = (server.connect(), server.connect());
    let id = tail(&mut reader);
    let waiting = thread::spawn(move || reader.run("test", more(id, 3_600_000)));
    running(&mut writer, "getMore");
    writer.run("test", doc! { "insert": "log", "documents": [{ "_id": 2 }] });
    assert_eq!(batch(&waiting.join().unwrap()), (id, vec![doc! { "_id": 2 }]));
}

#[test]
fn a_wait_in_vain_ends_with_an_empty_batch_and_the_cursor_stays() {
    let server = Serving::start();
    let mut client = server.connect();
    let id = tail(&mut client);
    assert_eq!(batch(&client.run("test", more(id, 1))), (id, vec![]));
    client.run("test", doc! { "insert": "log", "documents": [{ "_id": 2 }] });
    assert_eq!(batch(&client.run("test", more(id, 1))), (id, vec![doc! { "_id": 2 }]));
}

#[test]
fn who_waits_can_be_stopped_and_does_not_hold_up_the_end() {
    let server = Serving::start();
    let (mut reader, mut other, mut last) = (server.connect(), server.connect(), server.connect());
    let id = tail(&mut reader);
    let waiting = thread::spawn(move || reader.run("test", more(id, 3_600_000)));
    let number = running(&mut other, "getMore");
    other.run("admin", doc! { "killOp": 1, "op": number });
    assert_eq!(waiting.join().unwrap().get_i32("code").ok(), Some(11601));
    let find = last.run("test", doc! { "find": "log", "tailable": true, "awaitData": true });
    let id = find.get_document("cursor").unwrap().get_i64("id").unwrap();
    let waiting = thread::spawn(move || last.run("test", more(id, 3_600_000)));
    running(&mut other, "getMore");
    server.signal("-TERM");
    assert_eq!(batch(&waiting.join().unwrap()), (id, vec![]));
    assert_eq!(server.ended().0.code(), Some(0));
}
