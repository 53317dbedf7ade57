//! The sequence examples that people share, piped in as they stand, run as files, typed at a prompt, and as modules.

use std::collections::BTreeMap;
use std::fs;

use crate::program::{root, same, tally};

/// Every example by name, with its text.
pub fn cases() -> BTreeMap<String, String> {
    let mut cases = BTreeMap::new();
    for entry in fs::read_dir(root().join("tests/cases/seeds")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "in") {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            cases.insert(name, fs::read_to_string(&path).unwrap());
        }
    }
    assert!(cases.len() >= 9, "the examples are gone");
    cases
}

/// What an example must print when it is piped to the shell that `emulate` names, if that is known.
pub fn expected(name: &str, emulate: &str) -> Option<String> {
    fs::read_to_string(root().join(format!("tests/cases/seeds/{name}.{emulate}.out"))).ok()
}

#[test]
fn the_examples_that_users_see_are_the_ones_tested() {
    for (name, text) in cases() {
        let shown =
            fs::read_to_string(root().join(format!("scripts/seeds/{name}.js"))).unwrap_or_default();
        same(&format!("scripts/seeds/{name}.js"), &text, &shown, "");
    }
}

#[test]
fn a_piped_example_prints_each_result() {
    for (name, text) in cases() {
        let expected = expected(&name, "mongo").expect("every example has a classic output");
        let outcome = tally(["--quiet", "--ephemeral"]).input(text).run();
        same(&name, &expected, &outcome.out, &outcome.err);
    }
}

#[test]
fn a_piped_example_prints_as_mongosh() {
    let mut compared = 0;
    for (name, text) in cases() {
        let Some(expected) = expected(&name, "mongosh") else { continue };
        let outcome = tally(["--quiet", "--ephemeral", "--emulate", "mongosh"]).input(text).run();
        same(&name, &expected, &outcome.out, &outcome.err);
        compared += 1;
    }
    assert!(compared >= 3);
}

/// What the examples leave behind: an input that is asked afterwards, and its answer.
const LEFT_BEHIND: &[(&str, &str, &str)] = &[
    ("01-listing-with-numbers", "db.seq.find()", "{ \"_id\" : \"users\", \"seq\" : 2 }\n"),
    ("02-counter-function", "db.counters.find()", "{ \"_id\" : \"users\", \"next\" : 2 }\n"),
    ("03-angle-brackets-and-built-in", "db.users.find({\"nested.a.b\": 1}).count()", "1\n"),
    ("04-nextval-curly-quotes", "db.sequences.find()", "{ \"_id\" : \"posts\", \"seq\" : 2 }\n"),
    ("05-nextval-built-in", "db.sequences.find()", "{ \"_id\" : \"posts\", \"seq\" : 2 }\n"),
    (
        "06-findandmodify-command",
        "db.seq.find()",
        "{ \"_id\" : \"users\", \"seq\" : NumberLong(2) }\n",
    ),
    ("07-interleaved-servers", "db.counters.findOne({_id: \"orders\"}).next", "101\n"),
    (
        "08-max-plus-one",
        "db.orders.find({}, {who: 1, _id: 0})",
        "{ \"who\" : \"ann\" }\n{ \"who\" : \"cat\" }\n",
    ),
    ("09-one-word-that-is-code", "db", "test\n"),
];

#[test]
fn an_example_does_the_same_as_a_file() {
    let names: Vec<&str> = LEFT_BEHIND.iter().map(|(name, ..)| *name).collect();
    assert_eq!(
        names,
        cases().keys().collect::<Vec<_>>(),
        "every example is asked what it left behind"
    );
    for (name, question, answer) in LEFT_BEHIND {
        let data = tempfile::tempdir().unwrap();
        let data = data.path().join("data");
        let data = data.to_str().unwrap();
        let file = format!("scripts/seeds/{name}.js");
        let ran = tally(["--quiet", "--data", data, &file]).run().exits(0);
        // A file prints what it prints itself, and none of its results.
        let printed = match *name {
            "08-max-plus-one" => "11000\n",
            "09-one-word-that-is-code" => "switched to db shop\n",
            _ => "",
        };
        same(&file, printed, &ran.out, &ran.err);
        let asked = tally(["--quiet", "--data", data]).input(*question).run();
        same(&format!("{file}, then {question}"), answer, &asked.out, &asked.err);
    }
}

#[test]
fn modules_import_each_other() {
    tally(["--quiet", "--ephemeral", "scripts/seeds/users.mjs"]).run().prints(
        "1 Sarah C.\n\
         2 Bob D.\n\
         100 Hello\n\
         there is no sequence psots\n",
    );
}

#[test]
fn an_example_typed_at_the_prompt_prints_each_result() {
    for (name, _) in cases() {
        let expected = expected(&name, "mongo").expect("every example has a classic output");
        let screen = crate::program::typed(&root().join(format!("tests/cases/seeds/{name}.in")));
        let mut lines = screen.lines();
        for line in expected.lines() {
            assert!(
                lines.any(|shown| shown == line),
                "{name}: the terminal lacks {line:?} at its place:\n{screen}"
            );
        }
        assert!(!screen.contains("uncaught exception"), "{name}:\n{screen}");
    }
}
