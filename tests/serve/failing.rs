//! Failures on request: `configureFailPoint`, by which drivers test themselves.

use bson::{Document, doc};

use super::server::{Serving, Wire};

fn serving() -> Serving {
    Serving::with(&["--ephemeral", "--enable-test-commands"])
}

/// Arms the point `failCommand`.
fn arm(client: &mut Wire, mode: impl Into<bson::Bson>, data: Document) -> Document {
    let command = doc! { "configureFailPoint": "failCommand", "mode": mode.into(), "data": data };
    client.run("admin", command)
}

fn code(reply: &Document) -> Option<i32> {
    reply.get_i32("code").ok()
}

#[test]
fn without_the_flag_there_is_no_such_command() {
    let server = Serving::start();
    let reply = arm(&mut server.connect(), "alwaysOn", doc! { "failCommands": ["ping"] });
    assert_eq!(code(&reply), Some(59), "{reply}");
}

#[test]
fn a_command_fails_so_many_times_with_the_code_and_the_labels_asked_for() {
    let server = serving();
    let mut client = server.connect();
    let data = doc! {
        "failCommands": ["insert"], "errorCode": 10107, "errorLabels": ["RetryableWriteError"],
    };
    assert_eq!(arm(&mut client, doc! { "times": 2 }, data).get_f64("ok").ok(), Some(1.0));
    let insert = || doc! { "insert": "t", "documents": [{}] };
    for _ in 0..2 {
        let reply = client.run("test", insert());
        assert_eq!((reply.get_f64("ok").ok(), code(&reply)), (Some(0.0), Some(10107)), "{reply}");
        assert_eq!(reply.get_str("codeName").ok(), Some("NotWritablePrimary"));
        assert_eq!(reply.get_array("errorLabels").unwrap(), &["RetryableWriteError".into()]);
        assert_eq!(client.run("admin", doc! { "ping": 1 }), doc! { "ok": 1.0 });
    }
    assert_eq!(client.run("test", insert()), doc! { "n": 1, "ok": 1.0 });
    assert_eq!(client.run("test", doc! { "count": "t" }).get_i32("n").ok(), Some(1));
}

#[test]
fn it_spares_the_first_ones_and_stops_when_it_is_turned_off() {
    let server = serving();
    let mut client = server.connect();
    let data = || doc! { "failCommands": ["ping"], "errorCode": 2 };
    let ping = |client: &mut Wire| code(&client.run("admin", doc! { "ping": 1 }));
    arm(&mut client, doc! { "skip": 1 }, data());
    assert_eq!([ping(&mut client), ping(&mut client), ping(&mut client)], [None, Some(2), Some(2)]);
    arm(&mut client, "off", doc! {});
    assert_eq!(ping(&mut client), None);
}

#[test]
fn a_connection_is_closed_before_the_command_runs() {
    let server = serving();
    let mut client = server.connect();
    let data = doc! { "failCommands": ["insert"], "closeConnection": true };
    arm(&mut client, doc! { "times": 1 }, data);
    let insert =
        super::server::op_msg(0, &doc! { "insert": "t", "documents": [{}], "$db": "test" });
    assert!(client.send(&insert).is_closed());
    let mut other = server.connect();
    assert_eq!(other.run("test", doc! { "count": "t" }).get_i32("n").ok(), Some(0));
    assert_eq!(other.send(&insert).reply().unwrap(), doc! { "n": 1, "ok": 1.0 });
}

#[test]
fn a_write_concern_error_stands_beside_what_was_written() {
    let server = serving();
    let mut client = server.connect();
    let concern = doc! { "code": 91, "errmsg": "Replication is being shut down" };
    let data = doc! { "failCommands": ["insert"], "writeConcernError": concern.clone() };
    arm(&mut client, doc! { "times": 1 }, data);
    let reply = client.run("test", doc! { "insert": "t", "documents": [{}] });
    assert_eq!(reply, doc! { "n": 1, "writeConcernError": concern, "ok": 1.0 });
    assert_eq!(client.run("test", doc! { "count": "t" }).get_i32("n").ok(), Some(1));
}

#[test]
fn it_strikes_the_program_that_is_named_only() {
    let server = serving();
    let (mut one, mut other) = (server.connect(), server.connect());
    let greeting = |name: &str| doc! { "hello": 1, "client": { "application": { "name": name } } };
    one.run("admin", greeting("victim"));
    other.run("admin", greeting("other"));
    let data = doc! { "failCommands": ["ping"], "errorCode": 2, "appName": "victim" };
    arm(&mut other, "alwaysOn", data);
    assert_eq!(code(&other.run("admin", doc! { "ping": 1 })), None);
    assert_eq!(code(&one.run("admin", doc! { "ping": 1 })), Some(2));
}

#[test]
fn a_blocked_command_can_be_killed() {
    let server = serving();
    let (mut one, mut other) = (server.connect(), server.connect());
    let data = doc! { "failCommands": ["ping"], "blockConnection": true, "blockTimeMS": 3_600_000 };
    arm(&mut other, doc! { "times": 1 }, data);
    one.send(&super::server::op_msg(0, &doc! { "ping": 1, "$db": "admin" }));
    let number = super::protocol::running(&mut other, "ping");
    other.run("admin", doc! { "killOp": 1, "op": number });
    assert_eq!(code(&one.reply().unwrap()), Some(11601));
}

#[test]
fn what_makes_no_sense_is_refused() {
    let server = serving();
    let mut client = server.connect();
    for (mode, expected) in [
        ("sometimes".into(), 2),
        (doc! { "times": -1 }.into(), 2),
        (doc! { "times": 1, "skip": 1 }.into(), 2),
        (bson::Bson::Null, 2),
    ] {
        let reply = arm(&mut client, mode, doc! { "failCommands": ["ping"], "errorCode": 2 });
        assert_eq!(code(&reply), Some(expected), "{reply}");
    }
    let unknown = doc! { "configureFailPoint": "noSuchPoint", "mode": "off" };
    // FailPointSetFailed.
    assert_eq!(code(&client.run("admin", unknown)), Some(249));
    let elsewhere = doc! { "configureFailPoint": "failCommand", "mode": "off" };
    assert_eq!(code(&client.run("test", elsewhere)), Some(13));
    assert_eq!(client.run("admin", doc! { "ping": 1 }), doc! { "ok": 1.0 });
}
