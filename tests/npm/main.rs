//! Ordinary JavaScript passes: well-known npm packages that nobody here wrote, with acorn as the independent oracle.
//!
//! Every `.js`, `.mjs` and `.cjs` file of the packages goes through the dialect: identical bytes, complete, no document,
//! no typographic string, no shell word; the same strings, regular expressions and comments as acorn sees. And it is
//! cut in [`PREFIXES`] places, see [`Cuts`]: a prefix that ends inside a bracket, a template or a block comment or
//! after a dangling operator must want another line, one that ends where a statement of the top level ends must not.
//!
//! It is a program and no test of the test binary because it wants an optimised build, and as an example it
//! shares that of the release profile: `cargo run --release --locked --example npm`, a step of `scripts/check`. The
//! packages are kept in Cargo's folder for temporary files.
#![allow(clippy::unwrap_used)]

mod cuts;
mod oracle;
mod packages;

use std::collections::HashSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Instant;

use tally::dialect::{Kind, Lines, Part, Reading, Source, Verdict};

use cuts::{Cut, Cuts};
use oracle::Record;

/// What is wrong with a file, and how many prefixes were tried.
fn examine(record: &Record, place: &Path) -> (Vec<String>, usize) {
    let text = fs::read_to_string(&record.path).unwrap();
    let mut wrong = Vec::new();
    let name = record.path.strip_prefix(place).unwrap_or(&record.path).display();
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

    let cuts = Cuts::new(record, &text);
    for Cut { at, unfinished } in cuts.chosen() {
        let verdict = Reading::new(&text[..at]).verdict();
        let right = match unfinished {
            true => matches!(verdict, Verdict::Incomplete { .. }),
            false => verdict == Verdict::Complete,
        };
        if !right {
            let from = text[..at].char_indices().rev().nth(30).map_or(0, |(from, _)| from);
            fault(at, format!("cut after {:?}: {verdict:?}", &text[from..at]));
        }
    }
    (wrong, cuts.chosen().count())
}

/// What the workers found.
#[derive(Default)]
struct Found {
    wrong: Vec<String>,
    files: usize,
    prefixes: usize,
}

fn main() -> ExitCode {
    let started = Instant::now();
    let program = std::env::current_exe().expect("a program knows where it is");
    // Cargo puts it at TARGET/PROFILE/examples/npm.
    let place = program.ancestors().nth(3).expect("three folders deep").join("tmp/npm");
    let folders = packages::packages(&place);
    let mut files: Vec<PathBuf> = Vec::new();
    for folder in &folders {
        packages::scripts(folder, &mut files);
    }
    let count = files.len();
    let records = Arc::new(Mutex::new(oracle::ask(&folders[0], files)));
    let workers: Vec<_> = (0..thread::available_parallelism().map_or(2, usize::from))
        .map(|_| {
            let (records, place) = (Arc::clone(&records), place.clone());
            thread::spawn(move || {
                let mut found = Found::default();
                loop {
                    let record = records.lock().unwrap().recv();
                    let Ok(record) = record else { break found };
                    let (wrong, prefixes) = examine(&record, &place);
                    found.wrong.extend(wrong);
                    found.files += 1;
                    found.prefixes += prefixes;
                }
            })
        })
        .collect();
    let mut all = Found::default();
    for worker in workers {
        let found = worker.join().unwrap();
        all.wrong.extend(found.wrong);
        all.files += found.files;
        all.prefixes += found.prefixes;
    }
    // acorn itself cannot read a handful of files.
    if count < 3000 || all.files + 20 < count {
        all.wrong.push(format!("acorn read only {} of {count} files", all.files));
    }
    let mut out = std::io::stdout().lock();
    for wrong in &all.wrong {
        writeln!(out, "{wrong}").unwrap();
    }
    let Found { wrong, files, prefixes } = all;
    let (faults, seconds) = (wrong.len(), started.elapsed().as_secs());
    writeln!(out, "{files} npm files, {prefixes} prefixes, {faults} faults, {seconds} s").unwrap();
    if wrong.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
