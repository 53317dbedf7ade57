//! Ordinary JavaScript passes: well-known npm packages that nobody here wrote, with acorn as the independent oracle.
//!
//! Every `.js`, `.mjs` and `.cjs` file of the packages below goes through the dialect: identical bytes, complete, no
//! document, no typographic string, no shell word; the same strings, regular expressions and comments as acorn sees.
//! Prefixes are drawn with a fixed seed, half of them anywhere inside brackets, templates, block comments and after
//! dangling operators, half just behind what opens those: each must want another line. Each prefix that ends where a
//! statement of the top level ends must be complete.
//!
//! An optimised build takes up to 300 prefixes a file. A debug build, which parses forty times more slowly, takes as many of
//! the 300 as fit into [`SHARE`] bytes a file, and at least one, so that the whole test stays within a minute or two.
//!
//! The packages are fetched with the ordinary npm client into Cargo's folder for temporary files and kept there.

use std::collections::HashSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;

use tally::dialect::{Kind, Lines, Part, Reading, Source, Verdict, parse};

/// What is fetched: well known, of every style from hand-written to minified, at fixed versions.
const PACKAGES: &[&str] = &[
    "acorn@8.14.0",
    "backbone@1.6.0",
    "esprima@4.0.1",
    "express@4.21.2",
    "jquery@3.7.1",
    "lodash@4.17.21",
    "moment@2.30.1",
    "mongodb@6.12.0",
    "preact@10.25.4",
    "react-dom@18.3.1",
    "rxjs@7.8.1",
    "uglify-js@3.19.3",
    "underscore@1.13.7",
];

/// Prefixes drawn in each file.
const PREFIXES: usize = 300;

/// Bytes of prefixes a file in a debug build.
const SHARE: usize = 1536;

/// Where a package lies; it is fetched if it does not yet.
fn package(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("npm").join(name.replace('@', "-"));
    let done = folder.join("package");
    if !done.is_dir() {
        let fetched = fetch(name, &folder).or_else(|_| fetch(name, &folder));
        if let Err(error) = fetched {
            panic!("could not fetch {name} from the npm registry, twice: {error}");
        }
    }
    done
}

fn fetch(name: &str, folder: &Path) -> Result<(), String> {
    // Unpacked beside its place and then moved there, so that what is there is whole.
    let scratch = folder.with_extension("part");
    let _ = fs::remove_dir_all(&scratch);
    fs::create_dir_all(&scratch).map_err(|error| error.to_string())?;
    let pack = run(Command::new("npm").args(["pack", "--silent", name]).current_dir(&scratch))?;
    let archive = pack.lines().last().unwrap_or_default().trim().to_owned();
    run(Command::new("tar").args(["-xzf", &archive]).current_dir(&scratch))?;
    // Some archives name their folder after the package.
    let unpacked = fs::read_dir(&scratch).map_err(|error| error.to_string())?;
    let unpacked =
        unpacked.flatten().find(|entry| entry.path().is_dir()).ok_or("an empty archive")?;
    fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    fs::rename(unpacked.path(), folder.join("package")).map_err(|error| error.to_string())?;
    fs::remove_dir_all(&scratch).map_err(|error| error.to_string())
}

fn run(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if !output.status.success() {
        return Err(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The JavaScript files below a folder, in order.
fn scripts(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            scripts(&path, found);
        } else if path
            .extension()
            .is_some_and(|extension| ["js", "mjs", "cjs"].iter().any(|known| extension == *known))
        {
            found.push(path);
        }
    }
}

/// What acorn says of a file.
#[derive(Default)]
struct Record {
    path: PathBuf,
    strings: Vec<Range<usize>>,
    regexes: Vec<Range<usize>>,
    comments: Vec<Range<usize>>,
    unfinished: Vec<Range<usize>>,
    uncut: Vec<Range<usize>>,
    openings: Vec<usize>,
    ends: Vec<usize>,
}

impl Record {
    fn take(&mut self, line: &str) {
        let mut words = line.split(' ');
        let kind = words.next().unwrap();
        if kind == "F" {
            self.path = PathBuf::from(&line[2..]);
            return;
        }
        let numbers: Vec<usize> = words.map(|word| word.parse().unwrap()).collect();
        let span = numbers[0]..numbers.last().copied().unwrap();
        match kind {
            "s" => self.strings.push(span),
            "r" => self.regexes.push(span),
            "c" => self.comments.push(span),
            "i" => self.unfinished.push(span),
            "x" => self.uncut.push(span),
            "o" => self.openings.push(span.start),
            "e" => self.ends.push(span.start),
            _ => panic!("the oracle says {line:?}"),
        }
    }
}

/// Offsets drawn with a fixed seed (a linear congruence; its high bits).
struct Draw(u64);

impl Draw {
    fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % end.max(1)
    }
}

/// What is wrong with a file, and how many prefixes were tried.
fn examine(record: &Record) -> (Vec<String>, usize) {
    let text = fs::read_to_string(&record.path).unwrap();
    let mut wrong = Vec::new();
    let name = record
        .path
        .strip_prefix(env!("CARGO_TARGET_TMPDIR"))
        .unwrap_or(&record.path)
        .display()
        .to_string();
    let lines = Lines::new(&text);
    let mut fault = |offset: usize, what: String| {
        let (line, column) = lines.position(offset);
        wrong.push(format!("{name}:{line}:{column}: {what}"));
    };

    let reading = Reading::new(&text);
    let input = reading.input(Source::Script);
    if input.verdict != Verdict::Complete {
        fault(0, format!("{:?}", input.verdict));
    }
    match &input.parts[..] {
        [Part::Script(code)] => {
            if let Some(edit) = code.edits.first() {
                fault(edit.source.start, format!("rewritten: {:?}", &text[edit.source.clone()]));
            } else if code.text != text {
                fault(0, "other bytes without an edit".into());
            }
        }
        parts => fault(0, format!("{} parts", parts.len())),
    }

    let mut seen = [Vec::new(), Vec::new(), Vec::new()];
    for token in reading.tokens() {
        match token.kind {
            Kind::String => seen[0].push(token.span),
            Kind::Regex => seen[1].push(token.span),
            Kind::Comment if !text[token.span.clone()].starts_with("#!") => {
                seen[2].push(token.span)
            }
            _ => {}
        }
    }
    let known = [&record.strings, &record.regexes, &record.comments];
    for (kind, (seen, known)) in
        ["string", "regular expression", "comment"].iter().zip(seen.iter().zip(known))
    {
        let (ours, theirs): (HashSet<_>, HashSet<_>) =
            (seen.iter().collect(), known.iter().collect());
        for span in ours.symmetric_difference(&theirs).take(3) {
            let who = if ours.contains(*span) { "only the dialect" } else { "only acorn" };
            fault(span.start, format!("{who} sees the {kind} {:?}", &text[(*span).clone()]));
        }
    }

    let mut draw = Draw(text.len() as u64);
    let mut left = if cfg!(debug_assertions) { SHARE } else { usize::MAX };
    let mut tried = 0;
    for _ in 0..PREFIXES {
        let (end, unfinished) = match draw.below(5) {
            0 if !record.ends.is_empty() => (record.ends[draw.below(record.ends.len())], false),
            1 | 2 if !record.openings.is_empty() => {
                (record.openings[draw.below(record.openings.len())], true)
            }
            _ => (draw.below(text.len()), true),
        };
        if tried > 0 && end > left {
            continue;
        }
        let inside =
            |spans: &[Range<usize>]| spans.iter().any(|span| span.start <= end && end <= span.end);
        let sure = !unfinished || (inside(&record.unfinished) && !inside(&record.uncut));
        if !sure || !text.is_char_boundary(end) {
            continue;
        }
        left = left.saturating_sub(end);
        tried += 1;
        let verdict = parse(&text[..end], Source::Script).verdict;
        let right = if unfinished {
            matches!(verdict, Verdict::Incomplete { .. })
        } else {
            verdict == Verdict::Complete
        };
        if !right {
            let from = text[..end].char_indices().rev().nth(30).map_or(0, |(at, _)| at);
            fault(end, format!("cut after {:?}: {verdict:?}", &text[from..end]));
        }
    }
    (wrong, tried)
}

/// Sends the files to acorn and hands its records on.
fn ask(acorn: &Path, files: Vec<PathBuf>) -> Receiver<Record> {
    let (send, receive) = sync_channel(64);
    let oracle = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/npm/oracle.mjs");
    let acorn = acorn.join("dist/acorn.mjs");
    let mut node = Command::new("node")
        .arg(oracle)
        .arg(acorn)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("node runs the oracle");
    let mut input = node.stdin.take().unwrap();
    thread::spawn(move || {
        for file in files {
            writeln!(input, "{}", file.display()).unwrap();
        }
    });
    let output = BufReader::new(node.stdout.take().unwrap());
    thread::spawn(move || {
        let mut record = Record::default();
        for line in output.lines() {
            match line.unwrap().as_str() {
                "." => send.send(std::mem::take(&mut record)).unwrap(),
                line => record.take(line),
            }
        }
        assert!(node.wait().unwrap().success(), "the oracle failed");
    });
    receive
}

#[test]
fn npm_packages_pass_byte_for_byte() {
    let folders: Vec<PathBuf> = thread::scope(|scope| {
        let fetches: Vec<_> =
            PACKAGES.iter().map(|name| scope.spawn(move || package(name))).collect();
        fetches.into_iter().map(|fetch| fetch.join().expect("the package was fetched")).collect()
    });
    let mut files = Vec::new();
    for folder in &folders {
        scripts(folder, &mut files);
    }
    let count = files.len();
    assert!(count > 3000, "only {count} files");

    let records = Arc::new(Mutex::new(ask(&folders[0], files)));
    let workers: Vec<_> = (0..thread::available_parallelism().map_or(2, usize::from))
        .map(|_| {
            let records = Arc::clone(&records);
            // A debug build needs more stack for deep nesting than a test's thread has.
            let work = move || {
                let (mut wrong, mut files, mut prefixes) = (Vec::new(), 0, 0);
                loop {
                    let record = records.lock().unwrap().recv();
                    let Ok(record) = record else { break };
                    let (faults, tried) = examine(&record);
                    wrong.extend(faults);
                    files += 1;
                    prefixes += tried;
                }
                (wrong, files, prefixes)
            };
            thread::Builder::new().stack_size(64 << 20).spawn(work).unwrap()
        })
        .collect();
    let (mut wrong, mut examined, mut prefixes) = (Vec::new(), 0, 0);
    for worker in workers {
        let (faults, files, tried) = worker.join().unwrap();
        wrong.extend(faults);
        examined += files;
        prefixes += tried;
    }
    assert!(wrong.is_empty(), "{} faults:\n{}", wrong.len(), wrong.join("\n"));
    // acorn itself cannot read a handful of files.
    assert!(examined + 20 > count, "acorn read only {examined} of {count} files");
    assert!(prefixes > count, "only {prefixes} prefixes were tried");
}
