//! The end of a server: asked to, in the middle of things, or killed.

use std::collections::BTreeSet;
use std::thread;
use std::time::{Duration, Instant};

use bson::{Document, doc};

use super::protocol::run_for_ever;
use super::server::{Serving, Wire, op_msg};
use crate::program::tally;

/// Takes a number.
fn counter() -> Document {
    doc! {
        "findAndModify": "counters", "query": { "_id": "users" }, "update": { "$inc": { "next": 1 } },
        "new": true, "upsert": true, "$db": "test",
    }
}

/// Takes numbers until the server has gone. Answers with those it got.
fn take_numbers(mut client: Wire) -> Vec<i32> {
    let command = op_msg(0, &counter());
    let mut taken = Vec::new();
    while let Some(reply) = client.send(&command).reply() {
        match reply.get_document("value") {
            Ok(value) => taken.push(value.get_i32("next").unwrap()),
            // Interrupted at the end.
            Err(_) => assert_eq!(reply.get_i32("code").ok(), Some(11600), "{reply}"),
        }
    }
    taken
}

#[test]
fn asked_to_end_it_closes_everything_and_has_written_what_it_acknowledged() {
    for signal in ["-TERM", "-INT"] {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let data = data.to_str().unwrap();
        let server = Serving::with(&["--data", data]);
        let mut idle = server.connect();
        idle.run("admin", doc! { "ping": 1 });
        let clients: Vec<_> = (0..4)
            .map(|_| {
                let client = server.connect();
                thread::spawn(move || take_numbers(client))
            })
            .collect();
        while idle.run("test", doc! { "count": "counters" }).get_i32("n").ok() != Some(1) {}
        server.signal(signal);
        let (status, out, err) = server.ended();
        assert_eq!(
            (status.code(), out.as_str()),
            (Some(0), "Stopped; everything is on the disk.\n"),
            "{err}"
        );
        assert!(idle.is_closed());
        let taken: Vec<i32> =
            clients.into_iter().flat_map(|client| client.join().unwrap()).collect();
        let distinct: BTreeSet<i32> = taken.iter().copied().collect();
        assert_eq!(distinct.len(), taken.len(), "a number was handed out twice");
        let last = distinct.last().unwrap();
        let code = "db.counters.findOne().next";
        let stored = tally(["--data", data, "--quiet", "--eval", code]).run();
        assert!(stored.out.trim().parse::<i32>().unwrap() >= *last, "{} of {last}", stored.out);
    }
}

#[test]
fn the_command_shutdown_ends_it() {
    let server = Serving::start();
    let mut client = server.connect();
    assert_eq!(client.run("test", doc! { "shutdown": 1 }).get_i32("code").ok(), Some(13));
    client.run("admin", doc! { "shutdown": 1 });
    let (status, _, _) = server.ended();
    assert_eq!(status.code(), Some(0));
}

#[test]
fn a_second_signal_does_not_wait_for_what_runs() {
    let server = Serving::start();
    let mut client = server.connect();
    let (mut other, _) = run_for_ever(&server, &mut client);
    server.signal("-TERM");
    assert!(client.is_closed(), "the first one was heard");
    server.signal("-TERM");
    let refusal = other.reply().unwrap();
    assert_eq!(refusal.get_str("codeName").ok(), Some("InterruptedAtShutdown"));
    assert_eq!(server.ended().0.code(), Some(0));
}

/// Killed under load: nothing acknowledged is lost, and no number is handed out twice.
#[test]
fn killed_under_load_it_has_what_it_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let data = data.to_str().unwrap();
    let mut all = BTreeSet::new();
    for round in 0..10 {
        let server = Serving::with(&["--data", data]);
        let clients: Vec<_> = (0..4)
            .map(|_| {
                let client = server.connect();
                thread::spawn(move || take_numbers(client))
            })
            .collect();
        let mut watcher = server.connect();
        let begun = Instant::now();
        // Another moment each time.
        while begun.elapsed() < Duration::from_millis(30 + round * 17) {
            watcher.run("admin", doc! { "ping": 1 });
        }
        server.signal("-KILL");
        server.ended();
        for client in clients {
            for number in client.join().unwrap() {
                assert!(all.insert(number), "{number} was handed out twice");
            }
        }
        let code = "Number(db.counters.findOne().next)";
        let stored = tally(["--data", data, "--quiet", "--eval", code]).run();
        let stored: i32 = stored.out.trim().parse().unwrap();
        let highest = all.last().copied().unwrap_or(0);
        // Each client may have one number that it never heard of.
        assert!(stored >= highest, "{stored} is stored, {highest} was acknowledged");
        let unheard = i64::from(stored) - i64::try_from(all.len()).unwrap();
        assert!(
            unheard <= 4 * (i64::try_from(round).unwrap() + 1),
            "{unheard} numbers are missing"
        );
    }
    assert!(all.len() > 100, "only {} numbers", all.len());
}
