//! Auto-increment snippets as tutorials have them: scripts to run as files, and pastes with prompts, numbers and quotes.
//!
//! `snippets/NAME.js` is the snippet. `snippets/NAME.out` begins with `# ` lines that say how it runs and where the
//! expectation comes from, and goes on with what standard output must be:
//!
//! ```text
//! # run: file                   or: pipe; or: pipe, fails
//! # from: how the expected lines were found
//! # then: an input that is piped in afterwards, over the same data
//! ```

use std::fs;

use crate::program::{difference, root, tally};

/// How a snippet runs, and what must come of it.
struct Expectation {
    run: String,
    then: Vec<String>,
    out: String,
}

impl Expectation {
    fn parse(text: &str) -> Self {
        let mut expectation = Self { run: String::new(), then: Vec::new(), out: String::new() };
        let mut derived = false;
        for line in text.split_inclusive('\n') {
            let header = line.strip_prefix("# ").filter(|_| expectation.out.is_empty());
            match header.and_then(|header| header.trim_end().split_once(": ")) {
                Some(("run", how)) => how.clone_into(&mut expectation.run),
                Some(("from", _)) => derived = true,
                Some(("then", input)) => expectation.then.push(input.to_owned()),
                Some((other, _)) => panic!("no such header: {other}"),
                None => expectation.out.push_str(line),
            }
        }
        assert!(derived, "it says where the expectation comes from");
        expectation
    }
}

/// Runs one snippet; answers with a complaint.
fn complaint(name: &str) -> Option<String> {
    let folder = root().join("tests/snippets");
    let script = folder.join(format!("{name}.js"));
    let expectation = fs::read_to_string(folder.join(format!("{name}.out")));
    let expectation = Expectation::parse(&expectation.expect("every snippet has its expectation"));
    let data = tempfile::tempdir().unwrap();
    let data = data.path().join("data");
    let data = data.to_str().unwrap();
    let piped = ["--quiet", "--norc", "--data", data];
    let outcome = match expectation.run.as_str() {
        "file" => tally(["--quiet", "--norc", "--data", data, script.to_str().unwrap()]).run(),
        "pipe" | "pipe, fails" => tally(piped).input(fs::read(&script).unwrap()).run(),
        other => panic!("{name}: no such way to run: {other}"),
    };
    let code = i32::from(expectation.run.ends_with("fails"));
    let (mut out, mut err) = (outcome.out, outcome.err);
    if outcome.code != code {
        return Some(format!("{name}: exit code {} instead of {code}\n{out}{err}", outcome.code));
    }
    if code != 0 && !err.contains("SyntaxError") {
        return Some(format!("{name}: it says what is wrong:\n{err}"));
    }
    if !expectation.then.is_empty() {
        let asked = tally(piped).input(expectation.then.join("\n")).run();
        out.push_str(&asked.out);
        err.push_str(&asked.err);
    }
    (out != expectation.out).then(|| difference(name, &expectation.out, &out, &err))
}

#[test]
fn snippets_do_what_their_pages_promise() {
    let mut names: Vec<String> = fs::read_dir(root().join("tests/snippets"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "js"))
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    names.sort();
    assert!(names.len() >= 45, "the snippets are gone");
    let complaints: Vec<String> = names.iter().filter_map(|name| complaint(name)).collect();
    assert!(complaints.is_empty(), "{} complaints\n{}", complaints.len(), complaints.join("\n"));
}
