//! `tally serve` beside a bare server that only echoes, in one run: `cargo bench --bench serve`.
//!
//! Sixteen connections with one request in flight each, written as raw OP_MSG. The peer reads a message and sends as many
//! bytes as the real answer has, a thread for each connection: what no server of one process can beat. SecantusDB runs
//! beside them where `scripts/check` has installed it. The exit code is 1 when a bar is missed.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use bson::{Document, RawDocumentBuf, doc};

/// Names the work to a copy of this program: to be the echo.
const ECHO: &str = "TALLY_BENCH_ECHO";

/// Connections.
const CLIENTS: usize = 16;

/// How long each turn takes.
const TURN: Duration = Duration::from_secs(2);

/// The best of so many turns counts: what else the machine does only ever makes a turn slower.
const TURNS: usize = 3;

/// What an idle connection may take.
const IDLE: u64 = 64 * 1024;

fn main() -> ExitCode {
    if std::env::var_os(ECHO).is_some() {
        echo();
    }
    let echo = Peer::start(Command::new(std::env::current_exe().unwrap()).env(ECHO, "1"));
    let tally = Peer::start(Command::new(env!("CARGO_BIN_EXE_tally")).args([
        "serve",
        "--ephemeral",
        "--port",
        "0",
    ]));
    let secantus = secantus();
    let mut well = true;
    for (what, bar, requests) in work() {
        // The first answer tells how many bytes the echo sends.
        let fill = doc! {
            "insert": "users", "documents": (0..100).map(person).collect::<Vec<_>>(), "$db": "bench",
        };
        tally.ask(&message(&fill));
        let size = tally.ask(&requests(0, 0)).len();
        let (mut bare, mut ours) = (0.0_f64, 0.0_f64);
        for _ in 0..TURNS {
            bare = bare.max(echo.rate(&|client, at| prefixed(requests(client, at), size)));
            ours = ours.max(tally.rate(&|client, at| requests(client, at)));
        }
        let ratio = ours / bare;
        let held = bar.is_none_or(|bar| ratio >= bar);
        well &= held;
        let bar = bar.map(|bar| format!(" (bar: {bar:.2})")).unwrap_or_default();
        println!("{what:<40} {ours:>9.0} a second, echo {bare:>9.0}, ratio {ratio:.2}{bar}");
        if let Some(secantus) = &secantus {
            let rate = secantus.rate(&|client, at| requests(client, at));
            println!("{:<40} {rate:>9.0} a second", "    SecantusDB");
        }
    }
    well &= idle(&tally);
    if well { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// What idle connections take.
fn idle(tally: &Peer) -> bool {
    let ping = message(&doc! { "ping": 1, "$db": "admin" });
    let mut connections: Vec<_> = (0..100).map(|_| tally.connect()).collect();
    let mut open = |count: usize| {
        for _ in 0..count {
            let mut connection = tally.connect();
            exchange(&mut connection, &ping);
            connections.push(connection);
        }
        tally.memory()
    };
    let before = open(100);
    let each = open(500).saturating_sub(before) / 500;
    println!("{:<40} {each:>9} bytes (bar: {IDLE})", "an idle connection");
    each <= IDLE
}

/// A request of a client, by the client's number and its own.
type Requests = fn(usize, u32) -> Vec<u8>;

/// What is measured, with its bar.
fn work() -> [(&'static str, Option<f64>, Requests); 4] {
    let counter = |_: usize, _: u32| {
        message(&doc! {
            "findAndModify": "counters", "query": { "_id": "users" },
            "update": { "$inc": { "next": 1 } }, "new": true, "upsert": true, "$db": "bench",
        })
    };
    let ping = |_: usize, _: u32| message(&doc! { "ping": 1, "$db": "bench" });
    let find = |_: usize, _: u32| message(&doc! { "find": "users", "limit": 100, "$db": "bench" });
    let insert = |client: usize, at: u32| {
        let first = (i64::try_from(client).unwrap() << 40) + i64::from(at) * 100;
        let documents = (0..100).map(|n| {
            let mut person = person(n);
            person.insert("_id", first + i64::from(n));
            person
        });
        message(&doc! {
            "insert": "people", "documents": documents.collect::<Vec<_>>(), "$db": "bench",
        })
    };
    [
        ("ping", None, ping),
        ("findAndModify of one counter", Some(0.5), counter),
        ("find of 100 documents", None, find),
        ("insert of 100 documents", None, insert),
    ]
}

fn person(n: i32) -> Document {
    doc! { "_id": n, "name": "Sarah C.", "age": 30 + n % 50, "mail": "sarah@example.org" }
}

/// A command as an OP_MSG.
fn message(command: &Document) -> Vec<u8> {
    let body = RawDocumentBuf::try_from(command).unwrap();
    let length = i32::try_from(16 + 5 + body.as_bytes().len()).unwrap();
    let header = [length, 1, 0, 2013].into_iter().flat_map(i32::to_le_bytes);
    header.chain([0; 5]).chain(body.as_bytes().iter().copied()).collect()
}

/// The same request for the echo: the size of its answer stands in the place of the number it answers.
fn prefixed(mut request: Vec<u8>, size: usize) -> Vec<u8> {
    request[8..12].copy_from_slice(&u32::try_from(size).unwrap().to_le_bytes());
    request
}

/// A server in a process of its own.
struct Peer {
    child: Child,
    port: u16,
}

impl Peer {
    /// Starts one that names its port at the end of a line.
    fn start(command: &mut Command) -> Self {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let port = lines.map_while(Result::ok).find_map(|line| {
            let (_, port) = line.strip_suffix('/')?.rsplit_once(':')?;
            port.parse().ok()
        });
        Self { child, port: port.expect("it names its port") }
    }

    fn connect(&self) -> BufReader<TcpStream> {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_nodelay(true).unwrap();
        BufReader::with_capacity(64 * 1024, stream)
    }

    /// The answer to one request.
    fn ask(&self, request: &[u8]) -> Vec<u8> {
        exchange(&mut self.connect(), request)
    }

    /// Answers a second, over all clients.
    fn rate(&self, requests: &(dyn Fn(usize, u32) -> Vec<u8> + Sync)) -> f64 {
        static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let begun = Instant::now();
        let done: u32 = thread::scope(|scope| {
            let clients: Vec<_> = (0..CLIENTS)
                .map(|client| {
                    scope.spawn(move || {
                        let mut connection = self.connect();
                        // Most requests are the same each time, and made once.
                        let (first, second) = (requests(client, 0), requests(client, 1));
                        let same = first == second;
                        let mut done = 0;
                        while begun.elapsed() < TURN {
                            match same {
                                true => exchange(&mut connection, &first),
                                false => {
                                    let next =
                                        NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                                    exchange(&mut connection, &requests(client, next))
                                }
                            };
                            done += 1;
                        }
                        done
                    })
                })
                .collect();
            clients.into_iter().map(|client| client.join().unwrap()).sum()
        });
        f64::from(done) / begun.elapsed().as_secs_f64()
    }

    /// What it takes of the memory, in bytes.
    fn memory(&self) -> u64 {
        let path = format!("/proc/{}/status", self.child.id());
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or("0 kB");
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap_or(0) * 1024
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends a request and reads its answer.
fn exchange(connection: &mut BufReader<TcpStream>, request: &[u8]) -> Vec<u8> {
    connection.get_mut().write_all(request).unwrap();
    receive(connection).expect("an answer")
}

/// The next message.
fn receive(connection: &mut BufReader<TcpStream>) -> Option<Vec<u8>> {
    let mut length = [0; 4];
    connection.read_exact(&mut length).ok()?;
    let mut message = vec![0; u32::from_le_bytes(length) as usize];
    message[..4].copy_from_slice(&length);
    connection.read_exact(&mut message[4..]).ok()?;
    Some(message)
}

/// Answers every message with as many bytes as it asks for.
fn echo() -> ! {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    println!("mongodb://{}/", listener.local_addr().unwrap());
    for stream in listener.incoming().flatten() {
        thread::spawn(move || {
            stream.set_nodelay(true).unwrap();
            let mut connection = BufReader::with_capacity(64 * 1024, stream);
            let mut answer = Vec::new();
            while let Some(message) = receive(&mut connection) {
                let size = u32::from_le_bytes(message[8..12].try_into().unwrap());
                answer.resize(size as usize, 0);
                answer[..4].copy_from_slice(&size.to_le_bytes());
                if connection.get_mut().write_all(&answer).is_err() {
                    return;
                }
            }
        });
    }
    unreachable!("listening has no end")
}

/// The independent server, where it is installed.
fn secantus() -> Option<Peer> {
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/target/tools/secantus/bin/secantusd-py");
    if !std::path::Path::new(program).exists() {
        return None;
    }
    let port = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
    let child = Command::new(program)
        .args(["--standalone", "--host", "127.0.0.1", "--storage-path", ":memory:", "--port"])
        .arg(port.to_string())
        .current_dir(std::env::temp_dir())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let peer = Peer { child: child.ok()?, port };
    let begun = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        if begun.elapsed() > Duration::from_secs(60) {
            return None;
        }
        thread::sleep(Duration::from_millis(50));
    }
    Some(peer)
}
