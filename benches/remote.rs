//! `counter()` over a connection, beside what else could send it, in one run: `cargo bench --bench remote`.
//!
//! The server is `tally serve` with scratch data. A bare Rust program makes the same `findAndModify` with the same driver,
//! one after another; tally does it in a JavaScript loop, by `counter()` and by a pasted function; mongosh runs that
//! function where `scripts/check` has installed it. The exit code is 1 when a bar is missed.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Instant;

use mongodb::bson::{Document, doc};
use mongodb::options::ReturnDocument;

/// Increments in one turn.
const TIMES: u32 = 10_000;

/// The best of so many turns counts: what else the machine does only ever makes a turn slower.
const TURNS: usize = 3;

/// tally against the bare program.
const BARE: f64 = 0.75;

/// tally against mongosh: several times its rate.
const MONGOSH: f64 = 3.0;

/// The pattern as the manual has it.
const PASTED: &str = "function own(name) { return db.counters.findOneAndUpdate({_id: name}, {$inc: {next: 1}}, \
                      {upsert: true, returnDocument: 'after', returnNewDocument: true}).next; }";

fn main() -> ExitCode {
    let server = Server::start();
    let address = format!("mongodb://127.0.0.1:{}/bench", server.port);
    let tally = |call: &str| shell(Command::new(env!("CARGO_BIN_EXE_tally")), &address, call);
    let best = |rate: &dyn Fn() -> f64| (0..TURNS).map(|_| rate()).fold(0.0, f64::max);
    let bare = best(&|| bare(&address));
    println!("{:<40} {bare:>9.0} a second", "the driver, in Rust");
    let ours = best(&|| tally("counter('users')"));
    let mut well = told("tally, counter() in a loop", ours, bare, "the driver's", Some(BARE));
    let pasted = best(&|| tally("own('users')"));
    told("tally, a pasted function in a loop", pasted, bare, "the driver's", None);
    let mongosh =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("target/tools/node/node_modules/.bin/mongosh");
    if mongosh.exists() {
        let theirs = best(&|| shell(Command::new(&mongosh), &address, "own('users')"));
        println!("{:<40} {theirs:>9.0} a second", "mongosh, the same function");
        well &= told("tally beside mongosh", pasted, theirs, "mongosh's", Some(MONGOSH));
    }
    if well { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Prints a rate beside a peer's. Answers whether its bar holds.
fn told(what: &str, rate: f64, peer: f64, whose: &str, bar: Option<f64>) -> bool {
    let ratio = rate / peer;
    let shown = bar.map(|bar| format!(" (bar: {bar:.2})")).unwrap_or_default();
    println!("{what:<40} {rate:>9.0} a second, {ratio:.2} of {whose}{shown}");
    bar.is_none_or(|bar| ratio >= bar)
}

/// Increments a second by the driver alone.
fn bare(address: &str) -> f64 {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let client = mongodb::Client::with_uri_str(address).await.unwrap();
        let counters = client.database("bench").collection::<Document>("counters");
        let next = || async {
            let next = counters
                .find_one_and_update(doc! { "_id": "users" }, doc! { "$inc": { "next": 1 } });
            let next = next.upsert(true).return_document(ReturnDocument::After).await.unwrap();
            next.unwrap()
        };
        next().await;
        let begun = Instant::now();
        for _ in 0..TIMES {
            next().await;
        }
        f64::from(TIMES) / begun.elapsed().as_secs_f64()
    })
}

/// Increments a second by a shell, by its own clock.
fn shell(mut program: Command, address: &str, call: &str) -> f64 {
    let code = format!(
        "{PASTED} {call}; const begun = Date.now(); for (let i = 0; i < {TIMES}; i++) {call}; \
         print(1000 * {TIMES} / (Date.now() - begun));"
    );
    let home = tempfile::tempdir().unwrap();
    let program = program.args([address, "--quiet", "--eval", &code]);
    let output = program.env("HOME", home.path()).stdin(Stdio::null()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let rate = text.lines().find_map(|line| line.trim().parse().ok());
    rate.unwrap_or_else(|| panic!("{text}{}", String::from_utf8_lossy(&output.stderr)))
}

/// `tally serve` over scratch data.
struct Server {
    child: Child,
    port: u16,
}

impl Server {
    fn start() -> Self {
        let mut program = Command::new(env!("CARGO_BIN_EXE_tally"));
        let program = program.args(["serve", "--ephemeral", "--port", "0"]).stdin(Stdio::null());
        let mut child = program.stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let port = lines.map_while(Result::ok).find_map(|line| {
            let (_, port) = line.strip_suffix('/')?.rsplit_once(':')?;
            port.parse().ok()
        });
        Self { child, port: port.expect("it names its port") }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
