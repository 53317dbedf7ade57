//! The engine beside the bare storage crate, in one run: `cargo bench --bench engine`.
//!
//! Everything goes through `Engine::run`, as from the shell. The peer does the least that could give the same: for a
//! counter an `_id` lookup, a read, and a batch; for an insert the same keys and bytes in the same batches.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::time::Instant;

use bson::{RawBsonRef, RawDocumentBuf, rawdoc};
use fjall::{Database, Keyspace, KeyspaceCreateOptions};
use tally::Interrupt;
use tally::engine::{Engine, Location, Request};

/// Increments of one counter.
const CALLS: u32 = 300_000;

/// Documents inserted and read.
const DOCUMENTS: u32 = 1_000_000;

/// Documents of one insert.
const BATCH: u32 = 1000;

fn main() {
    // `cargo bench` passes flags of its own.
    let wanted: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let groups: &[(&str, fn())] =
        &[("open", open), ("counter", counter), ("insert", insert), ("lookup", lookup)];
    for (name, run) in groups {
        if wanted.is_empty() || wanted.iter().any(|wanted| name.contains(wanted.as_str())) {
            run();
        }
    }
}

fn tell(what: &str, count: u32, begin: Instant) -> f64 {
    let rate = f64::from(count) / begin.elapsed().as_secs_f64();
    println!("{what:<50} {rate:>12.0} a second");
    rate
}

fn run(engine: &Engine, body: RawDocumentBuf) -> RawDocumentBuf {
    engine.run(&Request { db: "test".into(), body, interrupt: Interrupt::new() }).unwrap()
}

fn memory() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or("0 kB");
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap_or(0) / 1024
}

fn open() {
    let begin = Instant::now();
    let engine = Engine::open(&Location::Ephemeral).unwrap();
    println!("{:<50} {:>12.2?}", "open a scratch engine", begin.elapsed());
    let begin = Instant::now();
    run(&engine, rawdoc! { "insert": "t", "documents": [{ "_id": 1 }] });
    println!("{:<50} {:>12.2?}", "first insert", begin.elapsed());
    let begin = Instant::now();
    for at in 0..200 {
        run(&engine, rawdoc! { "create": format!("c{at}") });
    }
    println!("{:<50} {:>12.2?}", "200 collections", begin.elapsed());
    drop(engine);
    let directory = tempfile::tempdir().unwrap();
    let location = Location::Directory(directory.path().join("data"));
    let begin = Instant::now();
    let engine = Engine::open(&location).unwrap();
    println!("{:<50} {:>12.2?}", "open a new directory", begin.elapsed());
    for at in 0..20 {
        run(&engine, rawdoc! { "insert": format!("c{at}"), "documents": [{ "_id": 1 }] });
    }
    drop(engine);
    let begin = Instant::now();
    let engine = Engine::open(&location).unwrap();
    run(&engine, rawdoc! { "find": "c3" });
    println!("{:<50} {:>12.2?}", "open an existing directory, first document", begin.elapsed());
}

/// What the peer's two keyspaces are like.
fn bare() -> (tempfile::TempDir, Database, Keyspace, Keyspace) {
    let directory = tempfile::tempdir().unwrap();
    let database = Database::builder(directory.path()).open().unwrap();
    let records = database.keyspace("records", KeyspaceCreateOptions::default).unwrap();
    let entries = database.keyspace("entries", KeyspaceCreateOptions::default).unwrap();
    (directory, database, records, entries)
}

fn counter() {
    let engine = Engine::open(&Location::Ephemeral).unwrap();
    let next = rawdoc! {
        "findAndModify": "counters",
        "query": { "_id": "users" },
        "update": { "$inc": { "next": 1 } },
        "new": true,
        "upsert": true,
    };
    let begin = Instant::now();
    for _ in 0..CALLS {
        run(&engine, next.clone());
    }
    let ours = tell("findAndModify $inc by _id", CALLS, begin);

    let (_directory, database, records, entries) = bare();
    entries.insert(b"users", 1_u64.to_be_bytes()).unwrap();
    records.insert(1_u64.to_be_bytes(), rawdoc! { "_id": "users", "next": 0 }.as_bytes()).unwrap();
    let begin = Instant::now();
    for _ in 0..CALLS {
        let record = entries.get(b"users").unwrap().unwrap();
        let mut document = records.get(&record).unwrap().unwrap().to_vec();
        let at = document.len() - 5;
        let value = i32::from_le_bytes(document[at..at + 4].try_into().unwrap()) + 1;
        document[at..at + 4].copy_from_slice(&value.to_le_bytes());
        let mut batch = database.batch();
        batch.insert(&records, record, document);
        batch.commit().unwrap();
    }
    let theirs = tell("  bare: lookup, read, batch", CALLS, begin);
    println!("{:<50} {:>12.2}", "  share", ours / theirs);
}

fn insert() {
    let engine = Engine::open(&Location::Ephemeral).unwrap();
    let commands: Vec<RawDocumentBuf> = (0..DOCUMENTS / BATCH)
        .map(|at| {
            let mut documents = bson::RawArrayBuf::new();
            for n in at * BATCH..(at + 1) * BATCH {
                documents.push(rawdoc! {
                    "_id": bson::oid::ObjectId::new(),
                    "name": format!("user {n}"),
                    "n": i64::from(n),
                    "at": bson::DateTime::from_millis(i64::from(n)),
                });
            }
            rawdoc! { "insert": "t", "documents": documents }
        })
        .collect();
    let begin = Instant::now();
    for (at, command) in commands.iter().enumerate() {
        run(&engine, command.clone());
        if at == 99 || at + 1 == commands.len() {
            println!(
                "{:<50} {:>12} MB",
                format!("  memory after {} documents", (at as u32 + 1) * BATCH),
                memory()
            );
        }
    }
    let ours = tell("insert in batches of 1,000", DOCUMENTS, begin);

    for _ in 0..2 {
        let begin = Instant::now();
        let mut reply = run(&engine, rawdoc! { "find": "t" });
        let mut count = 0_u32;
        loop {
            let cursor = reply.get_document("cursor").unwrap();
            let batch =
                cursor.get_array("firstBatch").or_else(|_| cursor.get_array("nextBatch")).unwrap();
            count += batch.into_iter().filter(|document| document.is_ok()).count() as u32;
            let Ok(Some(RawBsonRef::Int64(id))) = cursor.get("id") else { panic!("no id") };
            if id == 0 {
                break;
            }
            reply = run(&engine, rawdoc! { "getMore": id, "collection": "t" });
        }
        assert_eq!(count, DOCUMENTS);
        tell("find without a filter", DOCUMENTS, begin);
        println!("{:<50} {:>12} MB", "  memory", memory());
    }
    let begin = Instant::now();
    run(&engine, rawdoc! { "count": "t", "query": { "n": { "$gt": 17_i64 } } });
    tell("count with a filter", DOCUMENTS, begin);
    drop(engine);

    let (_directory, database, records, entries) = bare();
    let begin = Instant::now();
    let mut number = 0_u64;
    for command in &commands {
        let mut batch = database.batch();
        for document in command.get_array("documents").unwrap() {
            let RawBsonRef::Document(document) = document.unwrap() else { panic!("no document") };
            number += 1;
            let id = document.get_object_id("_id").unwrap().bytes();
            if entries.get([&[0, 0, 0, 2, 35], id.as_slice()].concat()).unwrap().is_none() {
                batch.insert(
                    &entries,
                    [&[0, 0, 0, 2, 35], id.as_slice()].concat(),
                    number.to_be_bytes().to_vec(),
                );
                batch.insert(
                    &records,
                    [[0, 0, 0, 1].as_slice(), &number.to_be_bytes()].concat(),
                    document.as_bytes(),
                );
            }
        }
        batch.commit().unwrap();
    }
    let theirs = tell("  bare: the same keys and bytes", DOCUMENTS, begin);
    println!("{:<50} {:>12.2}", "  share", ours / theirs);
}

fn lookup() {
    let engine = Engine::open(&Location::Ephemeral).unwrap();
    run(
        &engine,
        rawdoc! { "createIndexes": "t", "indexes": [{ "key": { "n": 1 }, "name": "n_1" }] },
    );
    let mut size = 0;
    for wanted in [1000, DOCUMENTS] {
        while size < wanted {
            let mut documents = bson::RawArrayBuf::new();
            for n in size..size + BATCH {
                documents.push(
                    rawdoc! { "_id": i64::from(n), "n": i64::from(n), "name": format!("user {n}") },
                );
            }
            run(&engine, rawdoc! { "insert": "t", "documents": documents });
            size += BATCH;
        }
        let calls = 100_000_u32;
        let begin = Instant::now();
        for at in 0..calls {
            let n = i64::from(at.wrapping_mul(7919) % wanted);
            let reply = run(&engine, rawdoc! { "find": "t", "filter": { "n": n } });
            assert!(
                reply
                    .get_document("cursor")
                    .unwrap()
                    .get_array("firstBatch")
                    .unwrap()
                    .into_iter()
                    .count()
                    == 1
            );
        }
        tell(&format!("indexed equality at {wanted}"), calls, begin);
        let begin = Instant::now();
        for at in 0..calls {
            run(
                &engine,
                rawdoc! { "find": "t", "filter": { "_id": i64::from(at.wrapping_mul(7919) % wanted) } },
            );
        }
        tell(&format!("find by _id at {wanted}"), calls, begin);
    }
}
