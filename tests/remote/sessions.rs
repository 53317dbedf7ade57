//! Sessions, transactions, change streams, tailable cursors and further connections, as a replica set has them.

use std::fs;

use super::secantus::Secantus;
use super::wire::{Conduct, Misbehaving};
use crate::program::{root, tally};
use crate::transcript::Transcript;
use crate::transcripts;

/// Transcript, input, and where SecantusDB answers otherwise than a replica set of MongoDB. A row that is not needed any
/// more fails the test.
const DEVIATIONS: &[(&str, &str, &str)] = &[];

#[test]
fn transcripts_of_a_replica_set_hold() {
    let server = Secantus::start(&["--enable-test-commands"]);
    let address = server.address("test");
    let mut complaints = Vec::new();
    let folder = root().join("tests/remote/replica_set");
    let mut paths: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let text = fs::read_to_string(path).unwrap();
        let transcript = Transcript::parse(&name, &text, 1).unwrap();
        tally([&*address, "--quiet", "--eval", "db.dropDatabase().ok"]).run().prints("1\n");
        let rows: Vec<_> = DEVIATIONS.iter().filter(|(file, _, _)| *file == name).collect();
        let found = transcripts::run(
            &transcript,
            &transcript.blocks,
            &[&address],
            |step| rows.iter().any(|(_, row, _)| *row == step.input),
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

/// `new Mongo()` and `connect()` reach a server from the embedded engine, and another server from a server.
#[test]
fn a_script_may_talk_to_several_servers() {
    let (one, other) = (Secantus::start(&["--standalone"]), Secantus::start(&["--standalone"]));
    let code = format!(
        "const far = new Mongo('{}'); const shop = far.getDB('shop');\
         db.t.insert({{_id: 'here'}}); shop.t.insert([{{_id: 'far'}}, {{_id: 'farther'}}]);\
         print(db.t.count(), shop.t.count(), shop.getSiblingDB('shop').getCollection('t').find().batchSize(1).toArray().length);\
         print(far, shop.getMongo(), shop.t.getMongo() + '' == far + '', shop.t.getDB().t.findOne()._id, db.t.findOne()._id);\
         print(counter('x'), shop.counters.count());\
         db = connect('{}'); print(db, db.t.count(), counter('x'), db.counters.count(), db.getSiblingDB('other').getMongo());\
         db.getMongo().close(); try {{ db.t.count() }} catch (error) {{ print(error.message) }}\
         far.close(); try {{ shop.t.count() }} catch (error) {{ print(error.message) }}",
        other.address("shop"),
        other.address("shop"),
    );
    let there = format!("connection to 127.0.0.1:{}", other.port());
    let expected = |counters: &str| {
        format!(
            "1 2 2\n{there} {there} true far here\n1 0\nshop 2 1 {counters} {there}\n\
             this connection was closed\nthis connection was closed\n"
        )
    };
    tally([&*one.address("shop"), "--quiet", "--eval", &code]).run().prints(&expected("1"));
    tally([&*other.address("shop"), "--quiet", "--eval", "db.dropDatabase().ok"])
        .run()
        .prints("1\n");
    tally(["--ephemeral", "--quiet", "--localhost=server", "--eval", &code])
        .run()
        .prints(&expected("1"));
}

#[test]
fn a_connection_that_fails_says_why_and_shows_no_password() {
    let code = "for (const host of ['127.0.0.1:1', '127.0.0.1:x']) {\
                try { connect(`mongodb://ann:s3cret@${host}/?serverSelectionTimeoutMS=200`) } catch (e) { print(e.message) } }";
    let outcome =
        tally(["--ephemeral", "--quiet", "--localhost=server", "--eval", code]).run().exits(0);
    assert!(outcome.out.starts_with("couldn't connect to server 127.0.0.1:1, "), "{}", outcome.out);
    assert!(
        outcome.out.contains("\nthe address mongodb://ann:***@127.0.0.1:x/"),
        "{}",
        outcome.out
    );
    assert!(!outcome.out.contains("s3cret") && !outcome.err.contains("s3cret"));
}

/// The commands of a transaction carry its number, as the server sees them; writes outside carry others, in other
/// sessions, and no number is used twice.
#[test]
fn a_router_sees_which_commands_are_a_transaction() {
    let server = Misbehaving::start(Conduct::Obey);
    let address = format!("mongodb://127.0.0.1:{}/shop", server.port);
    let code = "const session = db.getMongo().startSession(), t = session.getDatabase('shop').t;\
                counter('a'); session.startTransaction({readConcern: {level: 'snapshot'}});\
                t.insertOne({_id: 1}); counter('a'); t.find().toArray(); session.commitTransaction();\
                session.startTransaction(); t.insertOne({_id: 2}); session.abortTransaction();\
                t.insertOne({_id: 3}); session.startTransaction(); session.commitTransaction()";
    tally([&*address, "--quiet", "--eval", code]).run().exits(0);
    let commands = server.commands();
    let told: Vec<String> = commands
        .iter()
        .map(|command| {
            let name = command.keys().next().unwrap();
            let number = command.get_i64("txnNumber").map_or(String::new(), |n| n.to_string());
            let begins = command.get_bool("startTransaction").unwrap_or(false);
            let inside = command.get_bool("autocommit").is_ok_and(|auto| !auto);
            let marks = [(begins, " begins"), (inside, " inside")];
            let marks = marks.iter().filter(|(set, _)| *set).map(|(_, mark)| *mark);
            format!("{name} {number}{}", marks.collect::<String>())
        })
        .collect();
    let expected = [
        "findAndModify 1",
        "insert 1 begins inside",
        "findAndModify 2",
        "find 1 inside",
        "commitTransaction 1 inside",
        "insert 2 begins inside",
        "abortTransaction 2 inside",
        "insert 3",
    ];
    assert_eq!(told, expected, "{commands:#?}");
    let session = |at: usize| commands[at].get_document("lsid").unwrap().clone();
    assert!([1, 3, 4, 5, 6].iter().all(|at| session(*at) == session(1)));
    assert!([0, 2, 7].iter().all(|at| session(*at) == session(0) && session(*at) != session(1)));
    let concern = commands[1].get_document("readConcern").unwrap();
    assert_eq!(concern.get_str("level").unwrap(), "snapshot");
    // A session that is not ended says so at the end of the program.
    assert!(commands.iter().all(|command| command.get_document("lsid").is_ok()));
}

/// A commit whose connection is lost is sent again by the driver, and nothing of the transaction is run twice.
#[test]
fn a_commit_whose_connection_is_lost_is_asked_for_again() {
    let server = Secantus::start(&["--enable-test-commands"]);
    let address = server.address("shop");
    let code = "db.createCollection('t'); const session = db.getMongo().startSession(), t = session.getDatabase('shop').t;\
                let runs = 0; db.adminCommand({configureFailPoint: 'failCommand', mode: {times: 1},\
                data: {failCommands: ['commitTransaction'], closeConnection: true}});\
                session.withTransaction(() => { runs++; t.insertOne({n: 1}) }); print(runs, db.t.count())";
    tally([&*address, "--quiet", "--eval", code]).run().prints("1 1\n");
}

/// A cursor that nobody reads any more is closed at the server, whether it was closed, dropped or left behind.
#[test]
fn the_server_is_told_to_close_cursors() {
    let server = Misbehaving::start(Conduct::Obey);
    let address = format!("mongodb://127.0.0.1:{}/shop", server.port);
    let code = "const one = db.t.find(); one.next(); one.close(); const two = db.t.find(); two.next();\
                const session = db.getMongo().startSession(); session.getDatabase('shop').t.find().next()";
    tally([&*address, "--quiet", "--eval", code]).run().exits(0);
    let commands = server.commands();
    let killed = commands.iter().filter(|command| command.contains_key("killCursors")).count();
    assert_eq!(killed, 3, "{commands:#?}");
    // Nothing was read ahead.
    assert!(!commands.iter().any(|command| command.contains_key("getMore")), "{commands:#?}");
}
