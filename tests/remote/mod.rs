//! The remote backend: the same sessions as on the embedded engine, against a server that nobody here wrote; and what
//! becomes of a session whose server is not there, hangs, or goes away.

mod deviations;
mod login;
mod once;
mod secantus;
mod sessions;
mod wire;

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

pub use login::certificate;

use deviations::{DEVIATIONS, EXAMPLES};
pub(crate) use secantus::Secantus;
use wire::{Conduct, Misbehaving};

use crate::program::{Outcome, root, same, tally};
use crate::seeds;
use crate::transcript::Transcript;
use crate::transcripts;

/// Without it the server calls itself a replica set, whose replies tell the time of the cluster.
const STANDALONE: &[&str] = &["--standalone"];

/// The transcripts that run on the server: those of the shell. Those of the engine's rooms ask for the words of 7.0, which
/// this server, an 8.2 by its own account, has in part only.
const TRANSCRIPTS: &[&str] = &[
    "dialect/angle_brackets",
    "dialect/numbered",
    "dialect/quotes",
    "dialect/repairs",
    "print/layout",
    "print/mongosh",
    "print/types",
    "query/comparison",
    "shell/bulk",
    "shell/commands",
    "shell/counters",
    "shell/cursor_arrays",
    "shell/cursor_errors",
    "shell/echo",
    "shell/errors",
    "shell/find",
    "shell/find_and_modify",
    "shell/globals",
    "shell/indexes",
    "shell/insert",
    "shell/mongosh",
    "shell/mongosh_config",
    "shell/mongosh_stacks",
    "shell/recursion",
    "shell/sessions",
    "shell/show_counters",
    "shell/stacks",
    "shell/update",
    "shell/view_counts",
    "shell/views_and_rules",
    "shell/words",
    "shell/words_alone",
    "update/fields",
];

/// Drops every database of the user's.
const EMPTY: &str = "db.getMongo().getDBNames().filter(name => !/^(admin|config|local)$/.test(name))\
                     .forEach(name => db.getSiblingDB(name).dropDatabase())";

#[test]
fn the_examples_print_on_a_server_what_they_print_on_the_engine() {
    let server = Secantus::start(STANDALONE);
    let deviates = |name: &str| EXAMPLES.iter().any(|(example, _)| *example == name);
    let mut compared = 0;
    for (name, text) in seeds::cases() {
        if deviates(&name) {
            continue;
        }
        for emulate in ["mongo", "mongosh"] {
            let Some(expected) = seeds::expected(&name, emulate) else { continue };
            let address = server.address("test");
            tally([&*address, "--quiet", "--eval", "db.dropDatabase().ok"]).run().prints("1\n");
            let outcome =
                tally(["--quiet", "--emulate", emulate, &address]).input(text.clone()).run();
            same(&format!("{name}, {emulate}"), &expected, &outcome.out, &outcome.err);
            compared += 1;
        }
    }
    assert!(compared >= 11);
}

#[test]
fn transcripts_hold_on_a_server() {
    let server = Secantus::start(STANDALONE);
    let address = server.address("test");
    let mut complaints = Vec::new();
    for name in TRANSCRIPTS {
        let text = fs::read_to_string(root().join(format!("tests/golden/{name}.txt"))).unwrap();
        let transcript = Transcript::parse(name, &text, 1).unwrap();
        tally([&*address, "--quiet", "--eval", EMPTY]).run().exits(0);
        let rows: Vec<_> = DEVIATIONS.iter().filter(|(file, _, _)| file == name).collect();
        let deviates = |input: &str| rows.iter().any(|(_, row, _)| *row == input);
        let place = [&*address];
        let found = transcripts::run(
            &transcript,
            &transcript.blocks,
            &place,
            |step| deviates(&step.input),
            &mut complaints,
        );
        for (_, input, how) in rows {
            if !found.iter().any(|one| one == input) {
                complaints.push(format!("{name}: > {input}\nholds, though the server {how}"));
            }
        }
    }
    assert!(complaints.is_empty(), "{} complaints\n{}", complaints.len(), complaints.join("\n"));
}

#[test]
fn a_server_is_named_by_address_or_by_flags_and_so_is_the_database() {
    let server = Secantus::start(STANDALONE);
    let port = server.port().to_string();
    let host = format!("127.0.0.1:{port}");
    let whole = server.address("shop?readConcernLevel=local&w=1");
    tally([&*whole, "--quiet", "--eval", "db.t.insert({_id: 1}); db.getName()"])
        .run()
        .prints("shop\n");
    let short = format!("{host}/shop");
    tally([&*short, "--quiet", "--eval", "db.t.count()"]).run().prints("1\n");
    tally(["--port", &*port, "shop", "--quiet", "--eval", "db.t.count()"]).run().prints("1\n");
    let flags = ["--host", "localhost", "--port", &*port, "--quiet", "--eval"];
    let own = format!("connect('localhost:{port}/shop').t.count()");
    tally(flags.iter().copied().chain([&*own])).run().prints("1\n");
    tally(flags.iter().copied().chain(["connect('db.invalid/shop?serverSelectionTimeoutMS=300')"]))
        .run()
        .exits(252)
        .warns("couldn't connect to server db.invalid:27017, connection attempt failed");
}

#[test]
fn a_long_result_arrives_in_batches_and_a_cursor_left_early_is_closed() {
    let server = Secantus::start(STANDALONE);
    let address = server.address("test");
    let script = "
        for (let i = 0; i < 1000; i++) db.t.insert({_id: i});
        let sum = 0;
        db.t.find().batchSize(7).forEach(d => { sum += d._id; });
        print(sum);
        const left = db.t.find().batchSize(2);
        print(left.next()._id, left.next()._id, left.next()._id);
        left.close();
        print(db.t.aggregate([{$match: {_id: {$gte: 990}}}], {cursor: {batchSize: 3}}).toArray().length);
    ";
    tally([&*address, "--quiet", "--eval", script]).run().prints("499500\n0 1 2\n10\n");
    let fill = "db.t.find().batchSize(5)";
    let outcome = tally([&*address, "--quiet"]).input(format!("{fill}\nit\n")).run();
    assert_eq!(outcome.out.lines().count(), 42, "{}", outcome.out);
}

/// Its address is the one it gives itself.
#[test]
fn a_member_of_a_replica_set_says_so() {
    let server = Secantus::start(&[]);
    let address = server.address("shop");
    let code = "print(db.hello().setName, db.getMongo())";
    let expected = format!("secantus connection to 127.0.0.1:{}\n", server.port());
    tally([&*address, "--quiet", "--eval", code]).run().prints(&expected);
}

/// The same words from a server as from the engine.
#[test]
fn a_refusal_reads_as_the_engine_words_it() {
    let server = Secantus::start(STANDALONE);
    let address = server.address("test");
    let code = "db.t.insert({_id: 1}); var r = db.t.insert({_id: 1}); print(r.nInserted, r.getWriteError().code);\
                try { db.runCommand({noSuchCommand: 1}) } catch (e) { print(e.code) };\
                print(db.runCommand({noSuchCommand: 1}).codeName)";
    let there = tally([&*address, "--quiet", "--eval", code]).run();
    let here = tally(["--ephemeral", "--quiet", "--eval", code]).run();
    same("standard output", &here.out, &there.out, &there.err);
    assert!(here.out.starts_with("0 11000\n"), "{}", here.out);
}

/// Everything there is on a server, apart from what a lesson may make there: names of databases, collections, documents.
fn everything(address: &str) -> String {
    let code = "db.getMongo().getDBNames().filter(n => !/^(admin|config|local)$/.test(n)).sort().forEach(n => { \
                var d = db.getSiblingDB(n); print(n); \
                d.getCollectionNames().sort().forEach(c => printjson([c, d[c].find().sort({_id: 1}).toArray()])) })";
    tally([address, "--quiet", "--eval", code]).run().exits(0).out
}

#[test]
fn lessons_on_a_server_ask_first_and_leave_everything_else_alone() {
    let server = Secantus::start(STANDALONE);
    let address = server.address("shop");
    let fill = "db.counters.insert({_id: 'userid', seq: 'mine'}); db.getSiblingDB('other').t.insert({_id: 1})";
    tally([&*address, "--quiet", "--eval", fill]).run().exits(0);
    let before = everything(&address);
    assert!(before.contains("mine") && before.contains("other"), "{before}");
    // Whoever does not agree has no lesson, and none is begun.
    let refused = tally([&*address, "--quiet", "--norc"]).input("learn 1\ndb\nlearn 2\ndb\n").run();
    assert_eq!(refused.out.matches("learn_*").count(), 2, "{}", refused.out);
    assert_eq!(refused.out.matches("\nshop\n").count(), 2, "{}", refused.out);
    assert_eq!(everything(&address), before);
    // A whole lesson, some of another, a race, and playing.
    let typed = [
        "learn 1",
        "learn 1",
        "skip",
        "next",
        "skip",
        "next",
        "skip",
        "next",
        "skip",
        "learn 4.1",
        "db",
        "skip",
        "next",
        "skip",
        "play",
        "db",
        "db.junk.insert({_id: 1})",
        "back",
        "learn 2.3",
        "skip",
        "next",
        "skip",
        "bye",
        "db",
        "db.counters.findOne().seq",
    ];
    let taught = tally([&*address, "--quiet", "--norc", "--emulate", "mongo"])
        .env("LANG", "C")
        .input(typed.join("\n") + "\n")
        .run();
    for said in [
        "\nlearn_4\n",
        "\nlearn_4_play\n",
        "Lesson 1 is done.",
        "Lesson 2 is done.",
        "\nshop\nmine\n",
    ] {
        assert!(taught.out.contains(said), "{said}: {}{}", taught.out, taught.err);
    }
    assert_eq!(everything(&address), before);
}

/// Nothing listens there.
#[test]
fn without_a_server_both_shells_end_at_once() {
    let port = {
        let taken = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
        taken.local_addr().unwrap().port()
    };
    let address = format!("mongodb://ann:s3cret@127.0.0.1:{port}/shop");
    let outcome = tally([&*address, "--eval", "print('ran')"]).run().exits(1).warns(&format!(
        "Error: couldn't connect to server 127.0.0.1:{port}, connection attempt failed: \
         SocketException: Error connecting to 127.0.0.1:{port} :: caused by :: Connection refused"
    ));
    assert!(outcome.err.ends_with(" :\nexception: connect failed\nexiting with code 1\n"));
    assert!(!outcome.err.contains("s3cret") && outcome.out.is_empty(), "{outcome:?}");
    let outcome = tally(["--emulate", "mongosh", &*address, "--eval", "1"]).run().exits(1);
    assert!(outcome.err.starts_with("MongoNetworkError: "), "{}", outcome.err);
}

#[test]
fn a_wrong_address_is_wrong_usage() {
    tally(["mongodb://ann:s3cret@db.example:port/shop"])
        .run()
        .exits(2)
        .warns("the address mongodb://ann:***@db.example:port/shop cannot be used");
    tally(["--nodb", "--port", "1"]).run().exits(2);
}

/// Runs `code` against a server that misbehaves.
fn against(conduct: Conduct, code: &str) -> (Outcome, Vec<bson::Document>) {
    let server = Misbehaving::start(conduct);
    let address = format!("mongodb://127.0.0.1:{}/shop?retryWrites=true&w=majority", server.port);
    let outcome = tally([&*address, "--quiet", "--eval", code]).run();
    (outcome, server.commands())
}

#[test]
fn a_write_whose_connection_is_lost_is_sent_once_and_said_to_be_lost() {
    let (outcome, commands) = against(Conduct::Close, "db.t.insertOne({_id: 1})");
    let outcome = outcome.exits(252);
    let port_of_error =
        "network error while attempting to run command 'insert' on host '127.0.0.1:";
    let outcome = outcome.warns(port_of_error);
    assert!(outcome.out.is_empty());
    assert_eq!(commands.len(), 1, "{commands:?}");
    let concern = commands[0].get_document("writeConcern").unwrap();
    assert_eq!(*concern, bson::doc! { "w": "majority" });
}

#[test]
fn a_refusal_keeps_the_servers_code_name_label_and_fields() {
    let code = "try { db.t.find().toArray() } catch (e) { print(e.code, e.codeName, e.errorLabels, /tomorrow/.test(e.message)) }";
    let (outcome, commands) = against(Conduct::Refuse, code);
    outcome.prints("8000 AtlasError RetryableWriteError true\n");
    assert_eq!(commands.len(), 1, "{commands:?}");
}

/// The server has taken the command and does not answer; Ctrl-C ends the wait.
#[test]
fn ctrl_c_ends_the_wait_for_a_server_that_hangs() {
    let server = Misbehaving::start(Conduct::Hang);
    let address = format!("mongodb://127.0.0.1:{}/shop", server.port);
    let child = Command::new(env!("CARGO_BIN_EXE_tally"))
        .args([&*address, "--quiet", "--eval", "db.t.find().toArray()"])
        .env("HOME", "/nonexistent")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let started = Instant::now();
    while server.commands().is_empty() {
        assert!(started.elapsed() < Duration::from_secs(60), "the command does not arrive");
        std::thread::sleep(Duration::from_millis(10));
    }
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{output:?}");
}
