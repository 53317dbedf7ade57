//! What acorn says of the files, asked of one Node process.

use std::io::{BufRead, BufReader, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

/// What acorn says of a file.
#[derive(Default)]
pub(crate) struct Record {
    pub(crate) path: PathBuf,
    pub(crate) strings: Vec<Range<usize>>,
    pub(crate) regexes: Vec<Range<usize>>,
    pub(crate) comments: Vec<Range<usize>>,
    pub(crate) unfinished: Vec<Range<usize>>,
    pub(crate) uncut: Vec<Range<usize>>,
    pub(crate) openings: Vec<usize>,
    pub(crate) ends: Vec<usize>,
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

/// Sends the files to acorn and hands its records on.
pub(crate) fn ask(acorn: &Path, files: Vec<PathBuf>) -> Receiver<Record> {
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
