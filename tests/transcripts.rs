//! Every transcript under `tests/golden`, run twice: in one process, and re-opening the data between blocks.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::program::{difference, root, tally};
use crate::transcript::{Block, Step, Transcript, matches};

/// All transcripts, in the order of their names.
///
/// `TRANSCRIPTS=query/` in the environment picks those whose path holds that text.
pub fn transcripts() -> Vec<PathBuf> {
    fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, found);
            } else {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    walk(&root().join("tests/golden"), &mut found);
    if let Some(wanted) = std::env::var_os("TRANSCRIPTS") {
        let wanted = wanted.to_string_lossy().into_owned();
        found.retain(|path| path.to_string_lossy().contains(&wanted));
    }
    found.sort();
    found
}

/// Runs some blocks in one process, with the arguments that say where the data is, and answers with complaints. Steps
/// that `skipped` names run, and may print what they like; answers with the inputs of those that printed otherwise.
pub fn run(
    transcript: &Transcript,
    blocks: &[Block],
    place: &[&str],
    skipped: impl Fn(&Step) -> bool,
    complaints: &mut Vec<String>,
) -> Vec<String> {
    let mut otherwise = Vec::new();
    let mark = |number: usize| format!("--- {number} inputs done ---");
    let mut input = String::new();
    let steps: Vec<_> = blocks.iter().flat_map(|block| &block.steps).collect();
    for (at, step) in steps.iter().enumerate() {
        input.push_str(&step.input);
        input.push_str(&format!("\nprint({:?})\n", mark(at + 1)));
    }
    let arguments = ["--quiet", "--norc", "--emulate", &transcript.emulate];
    let outcome = tally(arguments.iter().chain(place)).input(input).run();
    let mut lines = outcome.out.lines();
    for (at, step) in steps.iter().enumerate() {
        let mark = mark(at + 1);
        let got: Vec<&str> = lines.by_ref().take_while(|line| *line != mark).collect();
        let same = got.len() == step.output.len()
            && step.output.iter().zip(&got).all(|(expected, line)| matches(expected, line));
        if !same && skipped(step) {
            otherwise.push(step.input.clone());
        } else if !same {
            let what = format!("{}:{}: > {}", transcript.name, step.line, step.input);
            complaints.push(difference(&what, &text(&step.output), &text(&got), &outcome.err));
        }
    }
    let certain = steps.iter().filter(|step| !skipped(step));
    let expected: Vec<&String> = certain.flat_map(|step| &step.errors).collect();
    let mut found = outcome.err.lines();
    let missing = expected.iter().find(|error| !found.by_ref().any(|line| matches(error, line)));
    let silent = expected.is_empty() && !steps.iter().any(|step| skipped(step));
    if missing.is_some() || (silent && !outcome.err.is_empty()) {
        let what = format!("{}:{}: standard error", transcript.name, blocks[0].line);
        complaints.push(difference(&what, &text(&expected), &outcome.err, ""));
    }
    otherwise
}

/// Lines as a text.
fn text<S: AsRef<str>>(lines: &[S]) -> String {
    lines.iter().flat_map(|line| [line.as_ref(), "\n"]).collect()
}

/// Runs the parts that `split` makes of each transcript, each part in a process of its own over the same data.
#[track_caller]
fn hold(split: fn(&Transcript) -> Vec<&[Block]>) {
    hold_each(|transcript, complaints| {
        let data = tempfile::tempdir().unwrap();
        let folder = data.path().join("data");
        let folder = folder.to_str().expect("scratch folders have plain names");
        for blocks in split(transcript) {
            run(transcript, blocks, &["--data", folder], |_| false, complaints);
        }
    });
}

/// Runs each transcript as `try_out` does, which complains about what does not hold.
#[track_caller]
pub fn hold_each(try_out: impl Fn(&Transcript, &mut Vec<String>) + Sync) {
    let paths = transcripts();
    let next = AtomicUsize::new(0);
    let complaints = Mutex::new(Vec::new());
    let worker = || {
        while let Some(path) = paths.get(next.fetch_add(1, Ordering::Relaxed)) {
            let name = path.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
            let mut own = Vec::new();
            match Transcript::parse(&name, &fs::read_to_string(path).unwrap(), 1) {
                Ok(transcript) => try_out(&transcript, &mut own),
                Err(complaint) => own.push(complaint),
            }
            complaints.lock().unwrap().extend(own);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(worker);
        }
    });
    let mut complaints = complaints.into_inner().unwrap();
    complaints.sort();
    assert!(complaints.is_empty(), "{} complaints\n{}", complaints.len(), complaints.join("\n"));
}

#[test]
fn transcripts_hold() {
    hold(|transcript| vec![&transcript.blocks]);
}

#[test]
fn transcripts_hold_when_the_data_is_opened_again_between_blocks() {
    hold(|transcript| transcript.blocks.chunks(1).collect());
}

#[test]
fn the_session_in_the_readme_holds() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let start = readme.find("```\n> ").expect("the README shows a session") + 4;
    let session = readme[start..].split("```").next().unwrap_or_default();
    let first = readme[..start].lines().count();
    let text = format!("# The README.\n{session}");
    let transcript = Transcript::parse("README.md", &text, first).unwrap();
    let mut complaints = Vec::new();
    run(&transcript, &transcript.blocks, &["--ephemeral"], |_| false, &mut complaints);
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}
