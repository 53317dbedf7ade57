//! Reaching a server: logging in, passwords at the terminal, TLS, and how long to wait for one that is not there.

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use tempfile::TempDir;

use super::secantus::Secantus;
use super::wire::{Conduct, Misbehaving};
use crate::program::{Outcome, root, tally};

/// Says who is logged in.
const WHO: &str = "db.runCommand({connectionStatus: 1}).authInfo.authenticatedUsers[0].user";

/// A server that knows `ann` of the database `shop`, and the folder of its data.
fn with_users() -> (Secantus, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let storage = folder.path().join("data");
    let storage = storage.to_str().expect("scratch folders have plain names");
    let open = Secantus::start_over(storage, &[]);
    let create = "db.runCommand({createUser: 'ann', pwd: 'p@ss:w/rd', roles: ['readWrite']}).ok";
    tally([&*open.address("shop"), "--quiet", "--eval", create]).run().prints("1\n");
    open.stop();
    (Secantus::start_over(storage, &["--auth"]), folder)
}

/// Runs `tally` at a terminal of its own, types `typed` when it asks for the password, and answers with what was shown.
fn at_a_terminal(arguments: &[&str], typed: &str) -> (String, i32) {
    let mut driver = Command::new("python3")
        .arg(root().join("tests/terminal/drive.py"))
        .arg(env!("CARGO_BIN_EXE_tally"))
        .args(arguments)
        .env("HOME", "/nonexistent")
        .env("TERM", "xterm")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("python3 drives the terminal");
    let steps = format!("{{\"expect\": \"Enter password: \"}}\n{{\"send\": \"{typed}\"}}\n");
    std::io::Write::write_all(&mut driver.stdin.take().unwrap(), steps.as_bytes()).unwrap();
    let output = driver.wait_with_output().unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr);
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(complaint.is_empty(), "{complaint}\nshown:\n{shown}");
    (shown, output.status.code().unwrap_or(-1))
}

#[test]
fn a_user_logs_in_by_address_by_flags_and_at_the_terminal() {
    let (server, _folder) = with_users();
    let host = format!("127.0.0.1:{}", server.port());
    let whole = format!("mongodb://ann:p%40ss%3Aw%2Frd@{host}/shop");
    tally([&*whole, "--quiet", "--eval", WHO]).run().prints("ann\n");
    let scram = format!("{whole}?authMechanism=SCRAM-SHA-256");
    tally([&*scram, "--quiet", "--eval", WHO]).run().prints("ann\n");
    let short = format!("{host}/shop");
    let flags = ["-u", "ann", "-p", "p@ss:w/rd", "--quiet", "--eval", WHO];
    tally([&*short].into_iter().chain(flags)).run().prints("ann\n");
    let elsewhere = format!("{host}/other");
    let known = ["--authenticationDatabase", "shop"];
    tally([&*elsewhere].into_iter().chain(known).chain(flags)).run().prints("ann\n");

    // Not logged in, and with a wrong password.
    let find = "db.t.find().toArray()";
    let refused = tally([&*short, "--quiet", "--eval", find]).run().exits(252);
    assert!(refused.err.contains("requires authentication"), "{}", refused.err);
    let wrong = ["-u", "ann", "--password=wr0ng", "--quiet", "--eval", "1"];
    let refused = tally([&*short].into_iter().chain(wrong)).run().exits(1);
    assert!(refused.err.contains("exception: connect failed"), "{}", refused.err);
    assert!(!refused.err.contains("wr0ng"), "{}", refused.err);

    let asked = [&*short, "-u", "ann", "--quiet", "--eval", WHO];
    let (shown, code) = at_a_terminal(&asked, "p@ss:w/rd\\r");
    assert_eq!(code, 0, "{shown}");
    assert!(shown.trim_end().ends_with("ann") && !shown.contains("p@ss"), "{shown}");
    let half = format!("mongodb://ann@{host}/shop");
    let (shown, code) = at_a_terminal(&[&*half, "-p", "--quiet", "--eval", WHO], "p@ss:w/rd\\r");
    assert_eq!(code, 0, "{shown}");
}

#[test]
fn ctrl_c_at_the_password_ends_the_program() {
    let (shown, code) = at_a_terminal(&["mongodb://127.0.0.1:1/shop", "-u", "ann"], "sec\\u0003");
    assert_eq!(code, 130, "{shown}");
    assert!(!shown.contains("sec"), "{shown}");
}

/// A process without a terminal cannot ask.
#[test]
fn without_a_terminal_a_missing_password_is_wrong_usage() {
    let detached = "import os, sys; os.setsid(); os.execv(sys.argv[1], sys.argv[1:])";
    let output = Command::new("python3")
        .args(["-c", detached, env!("CARGO_BIN_EXE_tally"), "mongodb://127.0.0.1:1", "-u", "ann"])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{complaint}");
    assert!(complaint.contains("there is no terminal to ask at"), "{complaint}");
}

/// What openssl makes of a certificate for this machine.
const CERTIFICATE: &str = "[req]\ndistinguished_name = name\nx509_extensions = more\nprompt = no\n\
                           [name]\nCN = server\n\
                           [more]\nsubjectAltName = IP:127.0.0.1\nbasicConstraints = critical,CA:FALSE\n";

/// Makes a certificate for this machine and its key. Answers with their paths.
pub fn certificate(folder: &Path) -> (String, String) {
    fs::write(folder.join("server.cnf"), CERTIFICATE).unwrap();
    let request = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"];
    let files = ["-config", "server.cnf", "-keyout", "server.key", "-out", "server.pem"];
    let made = Command::new("openssl").args(request).args(files).current_dir(folder).output();
    let made = made.unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let at = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    (at("server.pem"), at("server.key"))
}

#[test]
fn tls_trusts_whom_it_is_told_to_trust() {
    let folder = tempfile::tempdir().unwrap();
    let (certificate, private) = certificate(folder.path());
    let server = Secantus::start(&["--tls-cert-file", &certificate, "--tls-key-file", &private]);
    let address = server.address("shop");
    let run = |flags: &[&str]| -> Outcome {
        let rest = ["--quiet", "--timeout", "4s", "--eval", "db.t.insertOne({}).acknowledged"];
        tally([&*address].into_iter().chain(flags.iter().copied()).chain(rest)).run()
    };
    run(&["--tls", "--tlsCAFile", &certificate]).prints("true\n");
    run(&["--tls", "--tlsAllowInvalidCertificates"]).prints("true\n");
    let whole = server.address(&format!("shop?tls=true&tlsCAFile={certificate}"));
    tally([&*whole, "--quiet", "--eval", "db.t.count()"]).run().prints("2\n");
    // Mozilla's authorities do not know this one; and without TLS the server does not understand.
    assert!(run(&["--tls"]).exits(1).err.contains("exception: connect failed"));
    assert!(run(&[]).exits(1).err.contains("exception: connect failed"));
}

/// Nobody accepts the connection that the system has taken.
#[test]
fn a_server_that_never_answers_is_given_up_in_time() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = format!("mongodb://127.0.0.1:{}", listener.local_addr().unwrap().port());
    let outcome = tally([&*address, "--timeout", "500ms", "--eval", "1"]).run().exits(1);
    assert!(outcome.err.contains("couldn't connect to server"), "{}", outcome.err);
}

/// Nothing listens there, and nothing will.
#[test]
fn a_wait_for_a_server_ends() {
    let free = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap();
    let address = format!("mongodb://{free}");
    let outcome = tally([&*address, "--quiet", "--wait=1s", "--eval", "1"]).run().exits(1);
    assert!(outcome.err.contains("couldn't connect to server"), "{}", outcome.err);
}

#[test]
fn a_server_that_is_starting_can_be_waited_for() {
    let starting = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = starting.local_addr().unwrap().port();
    let address = format!("mongodb://127.0.0.1:{port}/shop");
    let waiting = thread::spawn({
        let code = "print(Number(counter('users')))";
        move || tally([&*address, "--quiet", "--wait=60s", "--eval", code]).run()
    });
    // What hangs up on the first who ask is not yet a server.
    for stream in starting.incoming().take(5) {
        drop(stream.unwrap());
    }
    drop(starting);
    let _server = Misbehaving::at(port, Conduct::Count);
    waiting.join().unwrap().prints("1\n");
}
