//! At most once: a counter hands out every number exactly once, however often connections break, and what cannot be sent
//! again safely is not.

use std::collections::{BTreeMap, BTreeSet};
use std::thread;

use bson::Document;

use super::secantus::Secantus;
use super::wire::{Conduct, Misbehaving};
use crate::program::{Outcome, tally};

/// Makes the server close the connection on the next command of that name.
const ARM: &str = "const arm = (command, data) => db.adminCommand({configureFailPoint: 'failCommand',\
                   mode: {times: 1}, data: {failCommands: [command], ...(data || {closeConnection: true})}});";

/// Prints what increments of a counter give, all numbers separated by blanks.
fn increments(times: usize) -> String {
    format!(
        "const got = []; for (let i = 0; i < {times}; i++) got.push(Number(counter('users'))); print(got.join(' '))"
    )
}

fn numbers(outcome: &Outcome) -> Vec<u64> {
    outcome.out.split_whitespace().map(|number| number.parse().unwrap()).collect()
}

/// What the scripted server has heard, as session, number and the rest of the command.
fn heard(commands: &[Document]) -> Vec<(String, i64, String)> {
    let key = |command: &Document| {
        let session = command.get_document("lsid").unwrap().to_string();
        (session, command.get_i64("txnNumber").unwrap(), command.to_string())
    };
    commands.iter().map(key).collect()
}

/// The connection is lost before or after the increment, the primary steps down, the server shuts down after it.
#[test]
fn a_counter_gives_each_number_once_though_connections_break() {
    let server = Misbehaving::start(Conduct::Count);
    let address = format!("mongodb://127.0.0.1:{}/shop", server.port);
    let times = 2000;
    let outcome = tally([&*address, "--quiet", "--eval", &increments(times)]).run().exits(0);
    let expected: Vec<u64> = (1..=times as u64).collect();
    assert_eq!(numbers(&outcome), expected);
    let heard = heard(&server.commands());
    let mut sent: BTreeMap<i64, Vec<&(String, i64, String)>> = BTreeMap::new();
    for command in &heard {
        sent.entry(command.1).or_default().push(command);
    }
    // One number for each increment, and the same command to the byte where it was sent again.
    assert_eq!(sent.len(), times);
    let twice: Vec<_> = sent.values().filter(|all| all.len() > 1).collect();
    assert!(twice.iter().all(|all| all.len() == 2 && all[0] == all[1]), "{twice:?}");
    assert_eq!(twice.len(), heard.len() / 149);
    assert!(heard.len() > times + 10, "{}", heard.len());
}

#[test]
fn a_router_is_asked_again_with_the_same_number() {
    let server = Misbehaving::start(Conduct::Route);
    let address = format!("mongodb://127.0.0.1:{}/shop", server.port);
    tally([&*address, "--quiet", "--eval", &increments(3)]).run().prints("1 2 3\n");
    let heard = heard(&server.commands());
    assert_eq!(heard.len(), 6);
    assert!(heard.chunks(2).all(|pair| pair[0] == pair[1]), "{heard:?}");
}

#[test]
fn two_programs_share_a_counter_on_a_server_that_drops_connections() {
    let server = Secantus::start(&["--enable-test-commands"]);
    let address = server.address("shop");
    // SecantusDB answers null to one of two upserts that race for the first number; MongoDB does not.
    tally([&*address, "--quiet", "--eval", &increments(1)]).run().prints("1\n");
    let code = format!(
        "{ARM} const got = []; for (let i = 0; i < 1000; i++) {{\
         if (i % 100 === 50) arm('findAndModify'); got.push(Number(counter('users'))); }} print(got.join(' '))"
    );
    let workers: Vec<_> = (0..2)
        .map(|_| {
            let (address, code) = (address.clone(), code.clone());
            thread::spawn(move || {
                numbers(&tally([&*address, "--quiet", "--eval", &code]).run().exits(0))
            })
        })
        .collect();
    let all: Vec<u64> = workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect();
    assert_eq!(all.len(), 2000);
    let distinct: BTreeSet<u64> = all.into_iter().collect();
    assert_eq!(distinct, (2..=2001).collect::<BTreeSet<u64>>());
}

#[test]
fn what_is_safe_is_sent_again_and_the_rest_is_an_error() {
    let server = Secantus::start(&["--enable-test-commands"]);
    // Its primary that pretends to step down is found again with the next heartbeat.
    let address = server.address("shop?heartbeatFrequencyMS=500");
    let step_down = "{errorCode: 10107, errorLabels: ['RetryableWriteError']}";
    let safe = format!(
        "{ARM} arm('insert'); db.t.insert([{{_id: 1}}, {{_id: 2}}]);\
         arm('update'); db.t.updateOne({{_id: 1}}, {{$inc: {{n: 1}}}});\
         arm('update', {step_down}); db.t.updateOne({{_id: 1}}, {{$inc: {{n: 1}}}});\
         arm('delete'); db.t.deleteOne({{_id: 2}});\
         arm('find'); print(db.t.findOne().n);\
         arm('aggregate'); print(db.t.countDocuments());\
         arm('distinct'); print(db.t.distinct('n').length);\
         arm('listCollections'); print(db.getCollectionNames().length)"
    );
    tally([&*address, "--quiet", "--eval", &safe]).run().prints("2\n1\n1\n1\n");
    let lost = "network error while attempting to run command";
    for (options, command, code) in [
        ("", "update", "db.t.updateMany({}, {$inc: {n: 1}})"),
        ("", "delete", "db.t.deleteMany({n: 0})"),
        ("", "getMore", "db.u.insertMany([{}, {}, {}]); db.u.find().batchSize(2).toArray()"),
        ("", "aggregate", "db.t.aggregate([{$out: 'v'}])"),
        ("?retryWrites=false", "insert", "db.t.insertOne({_id: 3})"),
        ("?retryWrites=false", "findAndModify", "counter('users')"),
        ("?retryReads=false", "find", "db.t.findOne()"),
    ] {
        let address = server.address(&format!("shop{options}"));
        let code = format!("{ARM} arm('{command}'); {code}");
        let outcome = tally([&*address, "--quiet", "--eval", &code]).run().exits(252);
        assert!(outcome.err.contains(lost), "{code}: {}", outcome.err);
    }
    let code = "print(db.t.findOne().n, db.t.count(), db.counters.count())";
    tally([&*address, "--quiet", "--eval", code]).run().prints("2 1 0\n");
}

/// Twice is enough: a server that goes on failing is told of.
#[test]
fn a_second_failure_is_the_end() {
    let server = Secantus::start(&["--enable-test-commands"]);
    let address = server.address("shop");
    let code = "db.adminCommand({configureFailPoint: 'failCommand', mode: {times: 2},\
                data: {failCommands: ['insert'], closeConnection: true}});\
                try { db.t.insertOne({_id: 1}) } catch (e) { print(/network error/.test(e.message)) }\
                print(db.t.count())";
    tally([&*address, "--quiet", "--eval", code]).run().prints("true\n0\n");
}
