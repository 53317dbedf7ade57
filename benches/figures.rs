//! The figures that tally promises, each measured in one run beside its named peer: `cargo bench --bench figures`.
//!
//! Arguments pick rows by a part of their name (`cargo bench --bench figures -- counter`). The exit code is 1 when a bar
//! is missed. Peak memory is read from `/proc`, so those rows are measured on Linux only.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

/// Calls in a measured loop.
const CALLS: u32 = 200_000;

/// Documents in the collection that is read as a whole.
const DOCUMENTS: u32 = 1_000_000;

/// A row of the table: what was measured, and whether it holds.
struct Figure {
    what: &'static str,
    bar: String,
    result: String,
    holds: bool,
}

impl Figure {
    fn at_least(what: &'static str, bar: f64, result: f64, unit: &str) -> Self {
        let text = |number: f64| format!("{}{unit}", grouped(number));
        Self { what, bar: format!(">= {}", text(bar)), result: text(result), holds: result >= bar }
    }

    fn at_most(what: &'static str, bar: f64, result: f64, unit: &str) -> Self {
        let text = |number: f64| format!("{}{unit}", grouped(number));
        Self { what, bar: format!("<= {}", text(bar)), result: text(result), holds: result <= bar }
    }
}

/// A number with thousands apart, or two decimals when it is small.
fn grouped(number: f64) -> String {
    if number < 100.0 {
        return format!("{number:.2}");
    }
    let digits = format!("{number:.0}");
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// One group of measurements: its name and what it finds.
type Group = (&'static str, fn() -> Vec<Figure>);

/// Every group, in the order of the table.
const GROUPS: &[Group] = &[
    ("binary", binary),
    ("start", start),
    ("counter", counter),
    ("pasted", pasted),
    ("insert", insert_pairs),
    ("documents", documents),
    ("loops", loops),
];

fn main() -> ExitCode {
    let picked: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let mut missed = 0;
    println!("{:<62} {:>16} {:>16}", "what", "bar", "result");
    for (name, measure) in GROUPS {
        if !picked.is_empty() && !picked.iter().any(|part| name.contains(part.as_str())) {
            continue;
        }
        for figure in measure() {
            let mark = if figure.holds { "" } else { "  missed" };
            println!("{:<62} {:>16} {:>16}{mark}", figure.what, figure.bar, figure.result);
            missed += u32::from(!figure.holds);
        }
    }
    if missed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// `tally` with these arguments, quiet and without anything of the user's.
fn tally(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tally"));
    command
        .args(["--quiet", "--norc"])
        .args(arguments)
        .env_remove("TALLY_DATA")
        .stdin(Stdio::null());
    command
}

/// Runs code over scratch data; answers with the number on its last line.
fn number(code: &str) -> f64 {
    let output = tally(&["--ephemeral", "--eval", code]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let last = text.lines().last().unwrap_or_default();
    last.parse()
        .unwrap_or_else(|_| panic!("{code}\n{text}{}", String::from_utf8_lossy(&output.stderr)))
}

/// Code that prints how many times a second `body` runs; `calls` times, after a few to warm up.
fn rate(setup: &str, body: &str, calls: u32) -> f64 {
    number(&format!(
        "{setup}; (function () {{ for (var i = 0; i < 2000; i++) {{ {body} }} var t = Date.now(); \
         for (var i = 0; i < {calls}; i++) {{ {body} }} print({calls} * 1000 / (Date.now() - t)) }})()"
    ))
}

/// The shortest of some runs, in milliseconds.
fn shortest(runs: u32, mut run: impl FnMut()) -> f64 {
    let one = |_| {
        let started = Instant::now();
        run();
        started.elapsed()
    };
    (0..runs).map(one).min().unwrap_or(Duration::ZERO).as_secs_f64() * 1000.0
}

/// The size of the program.
fn binary() -> Vec<Figure> {
    let bytes = fs::metadata(env!("CARGO_BIN_EXE_tally")).unwrap().len();
    vec![Figure::at_most("size of the program", 20.0, bytes as f64 / 1e6, " MB")]
}

/// From the start of the process to the first result, and to the first document of existing data.
fn start() -> Vec<Figure> {
    let eval = |arguments: &[&str]| {
        let output = tally(arguments).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    };
    let sum = shortest(30, || assert_eq!(eval(&["--ephemeral", "--eval", "1+1"]), b"2\n"));
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let data = data.to_str().unwrap();
    let fill = "for (var i = 0; i < 1000; i++) db.t.insert({_id: i, name: 'name ' + i}); print(db.t.count())";
    eval(&["--data", data, "--eval", fill]);
    let document = shortest(30, || {
        assert_eq!(eval(&["--data", data, "--eval", "db.t.findOne()._id"]), b"0\n");
    });
    let mut figures = vec![
        Figure::at_most("start to first result, --eval '1+1'", 10.0, sum, " ms"),
        Figure::at_most("start to first document of an existing directory", 20.0, document, " ms"),
    ];
    let mut session = Session::open(&["--ephemeral"]);
    session.ask("1+1");
    if let Some(peak) = session.memory("VmHWM") {
        figures.push(Figure::at_most("peak memory of a first result", 20.0, peak, " MB"));
    }
    figures
}

/// The built-in counter in a loop, beside the bare storage crate doing the same reads and writes.
fn counter() -> Vec<Figure> {
    let own = rate("", "counter('users')", CALLS);
    let bare = bare_counter(CALLS);
    vec![
        Figure::at_least("counter(\"users\") in a loop, a second", 100_000.0, own, ""),
        Figure::at_least(
            "the same, as a part of the bare storage crate's rate",
            0.25,
            own / bare,
            "",
        ),
    ]
}

/// How many times a second the bare storage crate finds a record by its key, reads it, and writes it back in a batch.
fn bare_counter(calls: u32) -> f64 {
    let folder = tempfile::tempdir().unwrap();
    let database = fjall::Database::builder(folder.path()).open().unwrap();
    let index = database.keyspace("index", fjall::KeyspaceCreateOptions::default).unwrap();
    let records = database.keyspace("records", fjall::KeyspaceCreateOptions::default).unwrap();
    index.insert("users", 1_u64.to_be_bytes()).unwrap();
    records.insert(1_u64.to_be_bytes(), vec![0; 40]).unwrap();
    let once = || {
        let number = index.get("users").unwrap().unwrap();
        let mut record = records.get(&number).unwrap().unwrap().to_vec();
        record[39] = record[39].wrapping_add(1);
        let mut batch = database.batch();
        batch.insert(&records, number, record);
        batch.commit().unwrap();
    };
    (0..2000).for_each(|_| once());
    let started = Instant::now();
    (0..calls).for_each(|_| once());
    f64::from(calls) / started.elapsed().as_secs_f64()
}

/// The counter function as people paste it.
fn pasted() -> Vec<Figure> {
    let function = "function counter(name) { var ret = db.counters.findAndModify({query:{_id:name}, \
                    update:{$inc : {next:1}}, \"new\":true, upsert:true}); return ret.next; }";
    let own = rate(function, "counter('users')", CALLS);
    vec![Figure::at_least("the pasted function counter(name), a second", 60_000.0, own, "")]
}

/// A document with a number of its own, inserted by itself.
fn insert_pairs() -> Vec<Figure> {
    let own = rate("", "db.users.insertOne({_id: counter('users'), name: 'Sarah C.'})", CALLS);
    vec![Figure::at_least(
        "insertOne({_id: counter(\"users\"), name}), pairs a second",
        50_000.0,
        own,
        "",
    )]
}

/// Writing a million documents, and reading them one by one in JavaScript.
fn documents() -> Vec<Figure> {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let data = data.to_str().unwrap();
    let mut session = Session::open(&["--data", data]);
    session.ask(
        "function fill(from, to) { var t = Date.now(); for (var i = from; i < to; i += 1000) { var many = []; \
         for (var j = i; j < i + 1000; j++) many.push({_id: ObjectId(), name: 'user ' + j, n: j, at: new Date(j)}); \
         db.b.insertMany(many) } return (to - from) * 1000 / (Date.now() - t) } 0",
    );
    session.ask("fill(0, 100000)");
    let small = session.memory("VmHWM");
    let written: f64 = session.ask(&format!("fill(100000, {DOCUMENTS})")).parse().unwrap();
    let large = session.memory("VmHWM");
    drop(session);
    let mut figures = vec![Figure::at_least(
        "insertMany by the thousand, documents a second",
        200_000.0,
        written,
        "",
    )];
    if let (Some(small), Some(large)) = (small, large) {
        figures.push(Figure::at_most(
            "peak memory after 1,000,000 against 100,000",
            1.2,
            large / small,
            "",
        ));
    }

    let mut session = Session::open(&["--data", data]);
    session.ask(
        "function read(limit) { var n = 0, t = Date.now(); db.b.find().limit(limit).forEach(function (d) { n += 1 }); \
         return n === limit ? n * 1000 / (Date.now() - t) : -1 } 0",
    );
    session.ask("read(100000)");
    let small = session.memory("VmHWM");
    let read: f64 = session.ask(&format!("read({DOCUMENTS})")).parse().unwrap();
    let large = session.memory("VmHWM");
    figures.push(Figure::at_least(
        "find().forEach over 1,000,000, documents a second",
        500_000.0,
        read,
        "",
    ));
    if let (Some(small), Some(large)) = (small, large) {
        figures.push(Figure::at_most(
            "peak memory of that against 100,000",
            1.2,
            large / small,
            "",
        ));
    }
    figures
}

/// Plain JavaScript, in tally and in the bare engine.
fn loops() -> Vec<Figure> {
    let loops: [(&'static str, &str); 4] = [
        (
            "sums, time against bare QuickJS",
            "var s = 0; for (var i = 0; i < 20000000; i++) s = (s + i) % 1000003; return s",
        ),
        (
            "calls, time against bare QuickJS",
            "function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2) } return fib(29)",
        ),
        (
            "objects, time against bare QuickJS",
            "var s = 0; for (var i = 0; i < 2000000; i++) { var o = {a: i, b: {c: i}}; s += o.b.c - o.a } return s",
        ),
        (
            "texts, time against bare QuickJS",
            "var s = 0; for (var i = 0; i < 1000000; i++) s += ('user ' + i).split(' ')[1].length; return s",
        ),
    ];
    let runtime = rquickjs::Runtime::new().unwrap();
    let context = rquickjs::Context::full(&runtime).unwrap();
    let mut session = Session::open(&["--ephemeral"]);
    let figure = |(what, body): (&'static str, &str)| {
        let code = format!(
            "(function () {{ var t = Date.now(); (function () {{ {body} }})(); return Date.now() - t }})()"
        );
        // The two take turns, so that a slow moment of the machine hits both.
        let (mut own, mut bare) = (f64::MAX, f64::MAX);
        for _ in 0..5 {
            own = own.min(session.ask(&code).parse().unwrap());
            bare = bare.min(context.with(|context| context.eval::<f64, _>(code.as_str()).unwrap()));
        }
        Figure::at_most(what, 1.1, own / bare, "")
    };
    loops.map(figure).into()
}

/// A `tally` that is asked line by line.
struct Session {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Session {
    fn open(arguments: &[&str]) -> Self {
        let mut child =
            tally(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, input, output }
    }

    /// The one line that an input prints.
    fn ask(&mut self, input: &str) -> String {
        let pipe = self.input.as_mut().unwrap();
        writeln!(pipe, "{input}").unwrap();
        pipe.flush().unwrap();
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// A line of the process's status in megabytes: `VmHWM` is the peak, `VmRSS` what it has now.
    fn memory(&self, name: &str) -> Option<f64> {
        let status =
            fs::read_to_string(Path::new("/proc").join(self.child.id().to_string()).join("status"))
                .ok()?;
        let line = status.lines().find(|line| line.starts_with(name))?;
        let kilobytes: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
        Some(kilobytes / 1024.0)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // The end of its input ends it.
        drop(self.input.take());
        drop(self.child.wait());
    }
}
