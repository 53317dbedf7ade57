//! Sequences: the built-in counter, the function as people paste it, and documents that take their `_id` from it.

use crate::Figure;
use crate::bare::Storage;
use crate::session::Session;

/// Calls in a measured loop.
const CALLS: u32 = 100_000;

/// How often each loop is measured.
const TURNS: u32 = 5;

/// The built-in counter in a loop, beside the bare storage crate doing the same reads and writes.
pub(crate) fn counter() -> Vec<Figure> {
    let folder = tempfile::tempdir().unwrap();
    let mut session = Session::over(&folder.path().join("data"));
    session.rate("counter('users')", 2000);
    let storage = Storage::new();
    let (mut own, mut bare) = (0_f64, 0_f64);
    for _ in 0..TURNS {
        own = own.max(session.rate("counter('users')", CALLS));
        bare = bare.max(storage.counter(CALLS));
    }
    assert_eq!(session.number("counter('users')"), f64::from(2000 + CALLS * TURNS + 1));
    vec![
        Figure::at_least("counter(\"users\") in a loop, a second", 100_000.0, own, ""),
        Figure::at_least("  against the bare storage crate", 0.25, own / bare, ""),
    ]
}

/// The counter function as people paste it.
pub(crate) fn pasted() -> Vec<Figure> {
    let function = "function counter(name) { var ret = db.counters.findAndModify({query:{_id:name}, \
                    update:{$inc : {next:1}}, \"new\":true, upsert:true}); return ret.next; } 0";
    let own = best(function, "counter('users')");
    vec![Figure::at_least("the pasted function counter(name), a second", 60_000.0, own, "")]
}

/// A document with a number of its own, inserted by itself.
pub(crate) fn pairs() -> Vec<Figure> {
    let own = best("0", "db.users.insertOne({_id: counter('users'), name: 'Sarah C.'})");
    vec![Figure::at_least(
        "insertOne({_id: counter(\"users\"), name}), pairs a second",
        50_000.0,
        own,
        "",
    )]
}

/// How many times a second `body` runs over data of its own, after `setup`.
fn best(setup: &str, body: &str) -> f64 {
    let folder = tempfile::tempdir().unwrap();
    let mut session = Session::over(&folder.path().join("data"));
    session.ask(setup);
    session.rate(body, 2000);
    (0..TURNS).map(|_| session.rate(body, CALLS)).fold(0.0, f64::max)
}
