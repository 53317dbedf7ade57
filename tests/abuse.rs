//! What a careless or a hostile hand does to the program: it must answer, and never hang, abort or lose anything untold.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::program::{Outcome, tally};

/// A run with this text on standard input.
fn piped(input: impl Into<Vec<u8>>) -> Outcome {
    tally(["--quiet", "--norc", "--ephemeral"]).input(input).run()
}

/// A program that runs, its standard input and output open.
fn started(arguments: &[&str], temporary: &std::path::Path) -> Child {
    Command::new(env!("CARGO_BIN_EXE_tally"))
        .args(["--quiet", "--norc", "--ephemeral"])
        .args(arguments)
        .env("TMPDIR", temporary)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program was built by cargo")
}

/// How a program ends, at the latest in ten seconds.
fn ends(child: &mut Child) -> Option<i32> {
    let deadline = Instant::now() + Duration::from_secs(10);
    while Instant::now() < deadline {
        if let Some(status) = child.try_wait().expect("a child can be asked") {
            return status.code();
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().expect("a child can be killed");
    panic!("the program did not end");
}

#[cfg(unix)]
fn interrupt(child: &Child) {
    let status = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(status.expect("there is a kill").success());
}

#[cfg(unix)]
#[test]
fn one_ctrl_c_ends_a_wait_for_input_that_never_comes() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = started(&[], folder.path());
    let mut out = BufReader::new(child.stdout.take().unwrap());
    child.stdin.as_mut().unwrap().write_all(b"db.c.insert({a: 1})\n").unwrap();
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    assert_eq!(line, "WriteResult({ \"nInserted\" : 1 })\n");
    interrupt(&child);
    assert_eq!(ends(&mut child), Some(130));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "scratch data was left behind");
}

#[test]
fn the_scratch_data_of_a_killed_process_is_removed_by_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let mut killed = started(&["--eval", "db.c.insert({}); print(1); for (;;) {}"], folder.path());
    let mut out = BufReader::new(killed.stdout.take().unwrap());
    out.read_line(&mut String::new()).unwrap();
    // Data that somebody keeps under such a name, and a directory of something else.
    let kept = folder.path().join("tally-scratch-kept");
    let kept_name = kept.to_str().unwrap();
    tally(["--quiet", "--data", kept_name, "--eval", "db.c.insert({})"]).run().exits(0);
    fs::create_dir(folder.path().join("tally-scratch-other")).unwrap();
    let count = || fs::read_dir(folder.path()).unwrap().count();
    // One that is alive is left alone.
    let run = || ends(&mut started(&["--eval", "db.c.insert({})"], folder.path()));
    assert_eq!(run(), Some(0));
    assert_eq!(count(), 3);
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert_eq!(run(), Some(0));
    assert_eq!(count(), 2);
    assert!(kept.join("FORMAT").exists());
}

#[test]
fn what_is_printed_before_a_long_job_is_seen_before_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = started(&["--eval", "print('starting'); for (;;) {}"], folder.path());
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(line, "starting\n");
}

#[test]
fn an_array_longer_than_any_document_is_an_error() {
    let outcome = piped(
        "var a = []; a.length = 4e9; void 0\ndb.c.insert({a: a})\nprint(a)\na\ntojson(a)\ndb.c.count()\n",
    );
    assert!(
        outcome.err.contains("an array of 4000000000 elements does not fit into a document"),
        "{outcome:?}"
    );
    outcome.prints("[Array]\n[Array]\n[Array]\n0\n");
}

#[test]
fn a_line_too_long_does_not_take_the_rest_of_the_pipe_along() {
    let mut input = b"print(1)\nprint(\"".to_vec();
    input.resize(input.len() + 70_000_000, b'x');
    input.extend_from_slice(b"\")\nprint(2)\n");
    let outcome = piped(input);
    assert!(outcome.err.contains("an input longer than 64 MB"), "{}", outcome.err);
    outcome.prints("1\n2\n");
}

#[test]
fn an_async_function_that_fails_is_never_unheard() {
    let main = "async function main() { throw new Error(\"lost\") }\nmain()\n";
    assert!(piped(main).exits(1).err.contains("Error: lost"));
    for emulate in ["mongo", "mongosh"] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("main.js");
        fs::write(&file, main).unwrap();
        let outcome = tally(["--ephemeral", "--emulate", emulate, file.to_str().unwrap()]).run();
        assert!(outcome.err.contains("Error: lost"), "{outcome:?}");
        outcome.exits(if emulate == "mongo" { 253 } else { 1 });
    }
}

#[test]
fn a_promise_that_fails_later_does_not_hide_the_answer() {
    let code = "async function f() { await 1; throw new Error(\"later\") }; f(); 3";
    let outcome = tally(["--quiet", "--ephemeral", "--eval", code]).run();
    assert_eq!(outcome.out, "3\n");
    assert!(outcome.err.contains("Error: later"), "{outcome:?}");
    assert_ne!(outcome.code, 0);
}

#[test]
fn an_input_of_several_parts_is_refused_before_any_of_it_runs() {
    let data = tempfile::tempdir().unwrap();
    let run = |code: &str| {
        let directory = data.path().join("data");
        tally(["--quiet", "--data", directory.to_str().unwrap(), "--eval", code]).run()
    };
    let outcome = run("db.x.insert({_id: 1})\nuse other\n{ let a; let a }");
    assert!(outcome.err.contains("SyntaxError"), "{outcome:?}");
    assert!(outcome.err.contains("(shell eval):3:"), "{outcome:?}");
    run("db.x.count()").prints("0\n");
    run("db.x.insert({_id: 1})\nuse other\nlet a = 1; a").prints("switched to db other\n1\n");
}

#[test]
fn use_makes_db_a_database_again() {
    piped("db = 5\nuse shop\ndb\n").prints("5\nswitched to db shop\nshop\n");
}

#[test]
fn a_cursor_over_what_was_dropped_says_so() {
    let rows = "for (var i = 0; i < 300; i++) db.c.insert({_id: i, k: i})\n";
    let outcome = piped(format!(
        "void 0;{rows}var c = db.c.find().batchSize(10); c.next()._id\ndb.c.drop()\nc.itcount()\n"
    ));
    assert!(outcome.err.contains("collection dropped"), "{outcome:?}");
    let outcome = piped(format!(
        "{rows}db.c.createIndex({{k: 1}}).ok\nvar c = db.c.find({{k: {{$gte: 0}}}}).batchSize(10); c.next()._id\n\
         db.c.dropIndex(\"k_1\").ok\nc.itcount()\n"
    ));
    assert!(outcome.err.contains("index 'k_1' dropped"), "{outcome:?}");
}

#[test]
fn a_directory_of_something_else_is_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("notes.txt"), "mine").unwrap();
    let run = |path: &std::path::Path| {
        tally(["--quiet", "--data", path.to_str().unwrap(), "--eval", "db.c.insert({})"]).run()
    };
    let outcome = run(folder.path()).exits(252);
    assert!(outcome.err.contains("no data of tally"), "{}", outcome.err);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    let outcome = run(&folder.path().join("notes.txt")).exits(252);
    assert!(outcome.err.contains("it is a file"), "{}", outcome.err);
}

#[test]
fn globals_with_another_meaning_do_not_break_the_shell() {
    let globals = [
        "JSON", "Math", "Object", "Array", "Error", "Promise", "Map", "Reflect", "String",
        "Number", "Date",
    ];
    for global in globals {
        let outcome = piped(format!(
            "void ({global} = 5)\ndb.c.insert({{_id: 1}})\n\
             try {{ db.c.insertOne({{_id: 1}}) }} catch (e) {{ print(e.code, tojson(e).length > 0) }}\n\
             db.c.find().forEach(printjson)\ncounter(\"a\")\ndb.c.find().map(d => d._id)\n"
        ));
        assert_eq!(outcome.err, "", "{global}");
        outcome
            .prints("WriteResult({ \"nInserted\" : 1 })\n11000 true\n{ \"_id\" : 1 }\n1\n[ 1 ]\n");
    }
}

#[test]
fn a_collection_has_64_indexes_at_most() {
    piped(
        "for (var i = 1; i <= 70; i++) var reply = db.c.createIndex({[\"f\" + i]: 1})\nreply.errmsg\nreply.codeName\n\
         db.c.getIndexes().length\ndb.c.createIndex({f1: 1}).ok\n",
    )
    .prints(
        "add index fails, too many indexes for test.c key:{ f70: 1.0 }\nCannotCreateIndex\n64\n1\n",
    );
}
