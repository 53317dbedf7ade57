//! mongosh and `tally --emulate mongosh` side by side: the same inputs on a pipe, each over a `tally serve` of its own.
//!
//! What differs stands in `differences.rs`, each with its reason; what is listed there and does not differ is a mistake,
//! too. mongosh is installed by `scripts/check`; where it could not be, the test says so and passes.

mod differences;

use std::io::{Read, Write};
use std::process::{Command, Stdio};

use crate::program::root;
use crate::serve::clients::tool;
use crate::serve::server::Serving;
use differences::DIFFERENCES;

/// The inputs, one a line.
const INPUTS: &str = include_str!("inputs.txt");

fn inputs() -> Vec<&'static str> {
    INPUTS.lines().filter(|line| !line.is_empty() && !line.starts_with("# ")).collect()
}

/// What stands behind the output of an input.
fn mark(number: usize) -> String {
    format!("--- {number} ---")
}

/// What a shell says to all inputs, results and errors in the order in which it says them.
fn said(mut shell: Command) -> String {
    let (mut reader, writer) = std::io::pipe().unwrap();
    let home = tempfile::tempdir().unwrap();
    let mut child = shell
        .current_dir(root())
        .env("HOME", home.path())
        .env("NO_COLOR", "1")
        .env_remove("EDITOR")
        .stdin(Stdio::piped())
        .stdout(writer.try_clone().unwrap())
        .stderr(writer)
        .spawn()
        .unwrap();
    // Its ends of the pipe are the child's alone now.
    drop(shell);
    let mut text = String::new();
    for (number, input) in inputs().iter().enumerate() {
        text.push_str(&format!("{input}\nprint('{}')\n", mark(number)));
    }
    let mut stdin = child.stdin.take().unwrap();
    let writing = std::thread::spawn(move || drop(stdin.write_all(text.as_bytes())));
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes).unwrap();
    child.wait().unwrap();
    writing.join().unwrap();
    String::from_utf8_lossy(&bytes).replace('\r', "")
}

/// The output of each input, without mongosh's prompts and its `Uncaught`, without blank lines, and without the stack and
/// the place that tally tells below an error.
fn blocks(said: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut block = String::new();
    for line in said.lines() {
        let mut line = line;
        while let Some((db, rest)) = line.split_once("> ")
            && !db.is_empty()
            && db.chars().all(|character| character.is_ascii_lowercase())
        {
            line = rest;
        }
        while let Some(rest) = line.strip_prefix("... ") {
            line = rest;
        }
        let expected = mark(blocks.len());
        if let Some(last) = line.strip_suffix(expected.as_str()) {
            block.push_str(last);
            blocks.push(plain(&block));
            block.clear();
            continue;
        }
        block.push_str(line);
        block.push('\n');
    }
    blocks
}

fn plain(block: &str) -> String {
    let mut plain = String::new();
    for line in block.lines() {
        if line.starts_with("    at ") {
            break;
        }
        let line =
            line.strip_prefix("Uncaught").map_or(line, |rest| rest.trim_start_matches([':', ' ']));
        if !line.trim().is_empty() {
            plain.push_str(line.trim_end());
            plain.push('\n');
        }
    }
    plain
}

#[test]
fn mongosh_and_tally_say_the_same() {
    let Some(mongosh) = tool("node/node_modules/.bin/mongosh") else { return };
    let (one, other) = (Serving::start(), Serving::start());
    let mut real = Command::new(mongosh);
    real.args([one.address("test").as_str(), "--quiet"]);
    let mut tally = Command::new(env!("CARGO_BIN_EXE_tally"));
    let address = other.address("test");
    tally.args(["--quiet", "--norc", "--emulate", "mongosh", address.as_str()]);
    let real = std::thread::spawn(move || blocks(&said(real)));
    let (got, expected) = (blocks(&said(tally)), real.join().unwrap());
    let inputs = inputs();
    assert_eq!(expected.len(), inputs.len(), "mongosh stopped behind:\n{:?}", expected.last());
    assert_eq!(got.len(), inputs.len(), "tally stopped behind:\n{:?}", got.last());
    let mut complaints = Vec::new();
    for ((input, expected), got) in inputs.iter().zip(&expected).zip(&got) {
        let listed = DIFFERENCES.iter().any(|(listed, _)| listed == input);
        match (expected == got, listed) {
            (true, false) | (false, true) => {}
            (false, false) => {
                complaints.push(format!("> {input}\n- mongosh:\n{expected}- tally:\n{got}"));
            }
            (true, true) => complaints.push(format!("> {input}\nis listed and the same\n")),
        }
    }
    let unknown = DIFFERENCES.iter().filter(|(input, _)| !inputs.contains(input));
    complaints.extend(unknown.map(|(input, _)| format!("{input} is listed and no input\n")));
    assert!(complaints.is_empty(), "{} differences\n{}", complaints.len(), complaints.join("\n"));
}
