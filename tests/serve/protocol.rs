//! The protocol, byte by byte: greetings, commands, errors, what wants no answer, and what the server says of itself.

use std::io::Read;

use bson::{Bson, Document, doc};

use super::server::{Serving, Wire, message, op_msg};
use crate::program::tally;

#[test]
fn a_greeting_says_what_the_server_is() {
    let server = Serving::start();
    let mut client = server.connect();
    let hello = client.run("admin", doc! { "hello": 1, "compression": ["zstd", "lz4", "zlib"] });
    let expected = doc! {
        "isWritablePrimary": true, "maxBsonObjectSize": 16_777_216, "maxMessageSizeBytes": 48_000_000,
        "maxWriteBatchSize": 100_000, "logicalSessionTimeoutMinutes": 30, "minWireVersion": 0,
        "maxWireVersion": 21, "readOnly": false, "ok": 1.0,
    };
    for (field, value) in &expected {
        assert_eq!(hello.get(field), Some(value), "{field}");
    }
    assert_eq!(hello.get_array("compression").unwrap(), &["zstd".into(), Bson::from("zlib")]);
    // A client that got it would ask again and again.
    assert_eq!(hello.get("topologyVersion"), None);
    assert_eq!(hello.get("setName"), None);
    let again = server.connect().run("admin", doc! { "isMaster": 1, "helloOk": true });
    assert_eq!(
        (again.get("ismaster"), again.get("helloOk")),
        (Some(&true.into()), Some(&true.into()))
    );
    assert_eq!(again.get("compression"), None);
    assert_ne!(again.get_i32("connectionId").unwrap(), hello.get_i32("connectionId").unwrap());
    let info = client.run("admin", doc! { "buildInfo": 1 });
    let version = info.get_str("version").unwrap();
    let status = client.run("admin", doc! { "serverStatus": 1 });
    assert_eq!(status.get_str("version").unwrap(), version);
    assert!(version.starts_with("7.0."), "wire version 21 is that of {version}");
}

/// As the Node driver and drivers of the 3.x line begin.
#[test]
fn an_old_greeting_is_answered_in_its_own_way_and_old_commands_are_refused() {
    let server = Serving::start();
    let mut client = server.connect();
    let query = |command: Document| {
        let body = bson::RawDocumentBuf::try_from(&command).unwrap();
        let numbers = [0_i32, -1].iter().flat_map(|number| number.to_le_bytes()).collect();
        message(2004, &[vec![0; 4], b"admin.$cmd\0".to_vec(), numbers, body.into_bytes()].concat())
    };
    let (code, content) = client.send(&query(doc! { "isMaster": 1 })).receive().unwrap();
    assert_eq!((code, &content[16..20]), (1, &[1, 0, 0, 0][..]), "one document");
    let hello = Document::from_reader(&content[20..]).unwrap();
    assert_eq!(hello.get_bool("ismaster").ok(), Some(true));
    let (_, content) = client.send(&query(doc! { "find": "t" })).receive().unwrap();
    let refusal = Document::from_reader(&content[20..]).unwrap();
    assert_eq!(refusal.get_i32("code").ok(), Some(352));
    let text = refusal.get_str("errmsg").unwrap();
    assert!(
        text.starts_with("Unsupported OP_QUERY command: find. The client driver may"),
        "{text}"
    );
    // The connection goes on.
    assert_eq!(client.run("admin", doc! { "ping": 1 }), doc! { "ok": 1.0 });
}

#[test]
fn a_refused_command_is_an_answer_with_code_and_name() {
    let server = Serving::start();
    let mut client = server.connect();
    let refusal = client.run("test", doc! { "frobnicate": 1 });
    let expected = doc! {
        "ok": 0.0, "errmsg": "no such command: 'frobnicate'", "code": 59, "codeName": "CommandNotFound",
    };
    assert_eq!(refusal, expected);
    let homeless = client.send(&op_msg(0, &doc! { "ping": 1 })).reply().unwrap();
    assert_eq!(homeless.get_i32("code").ok(), Some(40571));
    let twice = doc! { "insert": "t", "documents": [{ "_id": 1 }, { "_id": 1 }, { "_id": 2 }] };
    let reply = client.run("test", twice);
    assert_eq!((reply.get_i32("n").ok(), reply.get_f64("ok").ok()), (Some(1), Some(1.0)));
    let error = reply.get_array("writeErrors").unwrap()[0].as_document().unwrap();
    assert_eq!((error.get_i32("index").ok(), error.get_i32("code").ok()), (Some(1), Some(11000)));
    let transaction = doc! { "find": "t", "txnNumber": 1_i64, "autocommit": false };
    assert_eq!(client.run("test", transaction).get_i32("code").ok(), Some(20));
}

#[test]
fn what_wants_no_answer_is_done_and_gets_none() {
    let server = Serving::start();
    let mut client = server.connect();
    for number in 0..10 {
        let insert = doc! {
            "insert": "t", "documents": [{ "_id": number }], "writeConcern": { "w": 0 }, "$db": "test",
        };
        client.send(&op_msg(2, &insert));
    }
    // The next answer is that of the next command.
    assert_eq!(client.run("test", doc! { "count": "t" }), doc! { "n": 10, "ok": 1.0 });
    // It is done even if the client goes at once.
    let last = doc! { "insert": "t", "documents": [{ "_id": "last" }], "$db": "test" };
    server.connect().send(&op_msg(2, &last));
    let find = doc! { "find": "t", "filter": { "_id": "last" } };
    while client
        .run("test", find.clone())
        .get_document("cursor")
        .unwrap()
        .get_array("firstBatch")
        .unwrap()
        .is_empty()
    {
        std::thread::yield_now();
    }
}

#[test]
fn messages_may_come_in_pieces_and_together() {
    let server = Serving::start();
    let mut client = server.connect();
    let ping = op_msg(0, &doc! { "ping": 1, "$db": "admin" });
    for byte in &ping {
        client.send(&[*byte]);
    }
    assert_eq!(client.reply().unwrap(), doc! { "ok": 1.0 });
    client.send(&ping.repeat(50)).send(&ping[..20]);
    for _ in 0..50 {
        assert_eq!(client.reply().unwrap(), doc! { "ok": 1.0 });
    }
    assert_eq!(client.send(&ping[20..]).reply().unwrap(), doc! { "ok": 1.0 });
}

#[test]
fn forty_megabytes_of_documents_are_one_message() {
    let server = Serving::start();
    let mut client = server.connect();
    let text = "x".repeat(400_000);
    let document = |number: i32| {
        bson::RawDocumentBuf::try_from(&doc! { "_id": number, "text": &text }).unwrap().into_bytes()
    };
    let documents: Vec<u8> = (0..100).flat_map(document).collect();
    let body = bson::RawDocumentBuf::try_from(&doc! { "insert": "t", "$db": "test" }).unwrap();
    let size = i32::try_from(4 + 10 + documents.len()).unwrap();
    let sequence =
        [vec![1], size.to_le_bytes().to_vec(), b"documents\0".to_vec(), documents].concat();
    let sections = [&[0; 4][..], &sequence, &[0], body.as_bytes()].concat();
    let reply = client.send(&message(2013, &sections)).reply().unwrap();
    assert_eq!(reply, doc! { "n": 100, "ok": 1.0 });
    // Sixteen megabytes a batch; the id of a cursor is a long.
    let find = client.run("test", doc! { "find": "t", "batchSize": 100 });
    let cursor = find.get_document("cursor").unwrap();
    assert_eq!(cursor.get_array("firstBatch").unwrap().len(), 41);
    let more = doc! { "getMore": cursor.get_i64("id").unwrap(), "collection": "t" };
    let more = server.connect().run("test", more);
    assert_eq!(more.get_document("cursor").unwrap().get_array("nextBatch").unwrap().len(), 41);
}

#[test]
fn the_server_knows_its_clients_and_what_they_run() {
    let server = Serving::start();
    let mut client = server.connect();
    let local = client.stream.local_addr().unwrap().to_string();
    let own = client.run("admin", doc! { "whatsmyuri": 1 });
    assert_eq!(own, doc! { "you": &local, "ok": 1.0 });
    let status = client.run("admin", doc! { "serverStatus": 1 });
    let connections = status.get_document("connections").unwrap();
    assert_eq!(
        (connections.get_i32("current").ok(), connections.get_i32("active").ok()),
        (Some(1), Some(1))
    );
    let options = client.run("admin", doc! { "getCmdLineOpts": 1 });
    let net = options.get_document("parsed").unwrap().get_document("net").unwrap();
    assert_eq!(net.get_i32("port").ok(), Some(i32::from(server.port)));

    // Something long runs, is seen, and is stopped.
    let (mut other, operation) = run_for_ever(&server, &mut client);
    let address = other.stream.local_addr().unwrap().to_string();
    assert_eq!(operation.get_str("client").unwrap(), address);
    assert_eq!(operation.get_str("ns").unwrap(), "test.t");
    let kill = doc! { "killOp": 1, "op": operation.get_i32("opid").unwrap() };
    client.run("admin", kill);
    let refusal = other.reply().unwrap();
    assert_eq!(
        (refusal.get_i32("code").ok(), refusal.get_str("codeName").ok()),
        (Some(11601), Some("Interrupted"))
    );
}

/// Starts a command that takes as good as for ever on a connection of its own, and waits until `client` sees it run.
pub fn run_for_ever(server: &Serving, client: &mut Wire) -> (Wire, Document) {
    let numbers: Vec<Document> = (0..1000).map(|number| doc! { "_id": number }).collect();
    client.run("test", doc! { "insert": "t", "documents": numbers });
    let (join, flat) =
        (doc! { "$lookup": { "from": "t", "pipeline": [], "as": "a" } }, doc! { "$unwind": "$a" });
    let three = std::iter::repeat_n([Bson::Document(join), Bson::Document(flat)], 3);
    let mut pipeline: Vec<Bson> = three.flatten().collect();
    pipeline.push(doc! { "$count": "n" }.into());
    let command = doc! { "aggregate": "t", "pipeline": pipeline, "cursor": {}, "$db": "test" };
    let mut other = server.connect();
    other.send(&op_msg(0, &command));
    (other, wait_for(client, &|operation| operation.get_str("ns").ok() == Some("test.t")))
}

/// Waits until `client` sees a command run that is the one.
fn wait_for(client: &mut Wire, is_it: &dyn Fn(&Document) -> bool) -> Document {
    loop {
        let reply = client.run("admin", doc! { "currentOp": 1 });
        let mut running = reply.get_array("inprog").unwrap().iter().filter_map(Bson::as_document);
        if let Some(found) = running.find(|operation| is_it(operation)) {
            return found.clone();
        }
    }
}

/// Waits until `client` sees a command of this name run. Answers with the operation's number.
pub fn running(client: &mut Wire, name: &str) -> i32 {
    let is_it = |operation: &Document| {
        operation.get_document("command").is_ok_and(|command| command.contains_key(name))
    };
    wait_for(client, &is_it).get_i32("opid").unwrap()
}

/// Nobody is left to hear of the end of a command whose client has gone.
#[test]
fn a_client_that_goes_leaves_nothing_running() {
    let server = Serving::start();
    let mut client = server.connect();
    let (other, _) = run_for_ever(&server, &mut client);
    drop(other);
    loop {
        let running = client.run("admin", doc! { "currentOp": 1 });
        if running.get_array("inprog").unwrap().len() == 1 {
            break;
        }
    }
}

#[test]
fn a_unix_socket_is_a_way_in_for_this_user_only() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tally.sock");
    let text = path.to_str().unwrap();
    let server = Serving::with(&["--ephemeral", "--socket", text]);
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let mut stream = std::os::unix::net::UnixStream::connect(&path).unwrap();
    let ping = op_msg(0, &doc! { "ping": 1, "$db": "admin" });
    std::io::Write::write_all(&mut stream, &ping).unwrap();
    let mut header = [0; 16];
    stream.read_exact(&mut header).unwrap();
    let address = format!("mongodb://{}/test", text.replace('/', "%2F"));
    tally([&*address, "--quiet", "--eval", "db.runCommand({whatsmyuri: 1}).you"])
        .run()
        .prints("anonymous unix socket\n");
    // A second server cannot have it; after a kill the next one can.
    let second = tally(["serve", "--port", "0", "--ephemeral", "--socket", text]).run().exits(1);
    assert!(second.err.contains("another program listens there"), "{}", second.err);
    server.signal("-KILL");
    server.ended();
    assert!(path.exists());
    let third = Serving::with(&["--ephemeral", "--socket", text]);
    third.signal("-TERM");
    third.ended();
    assert!(!path.exists());
}

#[test]
fn a_wrong_way_to_start_is_told() {
    let server = Serving::start();
    let port = server.port.to_string();
    let taken = tally(["serve", "--ephemeral", "--port", &*port]).run().exits(1);
    let words = format!("port {port} of 127.0.0.1 is in use by another program");
    assert!(taken.err.contains(&words), "{}", taken.err);
    for wrong in [
        &["--port", "65536"][..],
        &["--port", "x"],
        &["--frobnicate"],
        &["--bind", "0.0.0.0"],
        &["--bind", "127.0.0.1,0.0.0.0"],
        &["--bind", "::"],
        &["--data", "d", "--ephemeral"],
        &["extra"],
    ] {
        tally(["serve", "--port", "0"].iter().chain(wrong)).run().exits(2);
    }
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let data = data.to_str().unwrap();
    let holder = Serving::with(&["--data", data]);
    let refused = tally(["serve", "--port", "0", "--data", data]).run().exits(1);
    let words = format!("is in use by process {}", holder.child.id());
    assert!(refused.err.contains(&words), "{}", refused.err);
}
