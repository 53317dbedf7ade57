//! Killed at any moment, the engine has everything that it acknowledged, and hands out no number twice.
//!
//! The test starts itself again as a writer that says what was acknowledged, kills it without warning, and looks.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use bson::doc;
use tally::engine::{Engine, Location};

use crate::engine::Database;

/// Names the data directory to the writer.
const WRITER: &str = "TALLY_TEST_CRASH_WRITER";

/// How often the writer is killed.
const ROUNDS: usize = 50;

fn open(directory: &Path) -> Database {
    Database { engine: Engine::open(&Location::Directory(directory.to_owned())).unwrap() }
}

/// Writes for ever: takes a number, inserts a document under it, and says so once both are acknowledged.
///
/// It is no test of its own: without the variable it does nothing.
#[test]
fn writer() {
    let Some(directory) = std::env::var_os(WRITER) else { return };
    let db = open(Path::new(&directory));
    let mut out = std::io::stderr();
    for round in 0.. {
        let reply = db.run(doc! {
            "findAndModify": "counters",
            "query": { "_id": "orders" },
            "update": { "$inc": { "next": 1 } },
            "new": true,
            "upsert": true,
        });
        let number = reply.get_document("value").unwrap().get_i32("next").unwrap();
        out.write_all(format!("taken {number}\n").as_bytes()).unwrap();
        db.insert(
            "orders",
            vec![doc! { "_id": number, "tag": number % 10, "text": "x".repeat(round % 300) }],
        );
        out.write_all(format!("stored {number}\n").as_bytes()).unwrap();
        if round % 7 == 0 {
            db.run(
                doc! { "delete": "orders", "deletes": [{ "q": { "_id": number }, "limit": 1 }] },
            );
            out.write_all(format!("removed {number}\n").as_bytes()).unwrap();
        }
    }
}

#[test]
fn what_was_acknowledged_survives_a_kill() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    {
        let db = open(&data);
        db.run(doc! { "createIndexes": "orders", "indexes": [{ "key": { "tag": 1 }, "name": "tag_1" }] });
    }
    let (mut highest, mut alive) = (0, std::collections::BTreeSet::new());
    let begin = Instant::now();
    for round in 0..ROUNDS {
        let mut writer = Command::new(std::env::current_exe().unwrap())
            .args(["crash::writer", "--exact", "--nocapture", "--test-threads=1"])
            .env(WRITER, &data)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let said = BufReader::new(writer.stderr.take().unwrap());
        // Another moment each time, from before the first write to some hundred writes.
        let patience = round * 37 % 200;
        let mut lines = said.lines().map_while(Result::ok);
        let mut heard: Vec<String> = lines.by_ref().take(patience).collect();
        std::thread::sleep(Duration::from_micros((round * 331 % 1500) as u64));
        writer.kill().unwrap();
        writer.wait().unwrap();
        heard.extend(lines);
        let mut doubtful = None;
        for line in &heard {
            let Some((what, number)) = line.split_once(' ') else { continue };
            let Ok(number) = number.parse::<i32>() else { continue };
            doubtful = None;
            match what {
                "taken" => {
                    assert!(
                        number > highest,
                        "{number} was handed out twice, {highest} was the last"
                    );
                    highest = number;
                    doubtful = Some(number);
                }
                "stored" => {
                    alive.insert(number);
                    doubtful = Some(number);
                }
                "removed" => {
                    alive.remove(&number);
                }
                _ => {}
            }
        }
        let db = open(&data);
        let found: std::collections::BTreeSet<i32> = db
            .find(doc! { "find": "orders" })
            .iter()
            .map(|order| order.get_i32("_id").unwrap())
            .collect();
        // What was begun and not acknowledged may be there or not.
        for number in found.symmetric_difference(&alive) {
            assert!(
                Some(*number) == doubtful || *number == highest + 1,
                "order {number}: found {}, acknowledged {}",
                found.contains(number),
                alive.contains(number)
            );
        }
        alive = found;
        let counted = db.run(doc! { "count": "orders" }).get_i32("n").unwrap();
        assert_eq!(counted, i32::try_from(alive.len()).unwrap());
        let check = db.run(doc! { "validate": "orders" });
        assert!(check.get_bool("valid").unwrap(), "{check}");
        let counter = db.find(doc! { "find": "counters" });
        let next = counter.first().map_or(0, |counter| counter.get_i32("next").unwrap());
        assert!(
            next == highest || next == highest + 1,
            "the counter is at {next}, {highest} was acknowledged"
        );
        highest = next;
    }
    assert!(highest > 50, "only {highest} numbers in {:?}", begin.elapsed());
}
