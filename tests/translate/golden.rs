//! Golden text for each language: how its drivers document that a call and a value are written.
//!
//! Python's is besides run by the driver (`drivers`). Of all other languages only the grammar is tried (`tools`): what a
//! driver makes of the names of its methods and options was read, not run.
//!
//! `--- NAME` begins a call: its code follows, and where the first line is a comment, the comment is compared too.
//! `=== NAME: CODE` is a value.

use tally::translate::LANGUAGES;

use super::calls::{calls, values};
use super::{code, insert};

/// A language by name with its golden text, in the order of the languages.
const GOLDEN: &[(&str, &str)] = &[
    ("clojure", include_str!("golden/clojure.txt")),
    ("csharp", include_str!("golden/csharp.txt")),
    ("go", include_str!("golden/go.txt")),
    ("java", include_str!("golden/java.txt")),
    ("node", include_str!("golden/node.txt")),
    ("php", include_str!("golden/php.txt")),
    ("python", include_str!("golden/python.txt")),
    ("ruby", include_str!("golden/ruby.txt")),
    ("rust", include_str!("golden/rust.txt")),
];

/// Whether a line is a comment in one of the languages.
fn is_comment(line: &str) -> bool {
    ["//", "# ", ";;"].iter().any(|mark| line.starts_with(mark))
}

/// The pieces of code in a text, without the comment of each that has none in `like`.
fn pieces(text: &str, like: Option<&[String]>) -> Vec<String> {
    let piece = |(at, piece): (usize, &str)| {
        let bare = like.is_some_and(|like| like.get(at).is_some_and(|like| !is_comment(like)));
        let lines = piece.lines().skip_while(|line| bare && is_comment(line));
        lines.collect::<Vec<_>>().join("\n")
    };
    text.split("\n\n").enumerate().map(piece).collect()
}

#[test]
fn calls_are_written_as_the_drivers_document_them() {
    let names: Vec<_> = LANGUAGES.iter().map(|language| language.name).collect();
    assert_eq!(GOLDEN.iter().map(|(name, _)| *name).collect::<Vec<_>>(), names);
    let mut wrong = Vec::new();
    for (language, (_, golden)) in LANGUAGES.iter().zip(GOLDEN) {
        let golden = golden.split("\n===").next().unwrap();
        let mut seen = 0;
        for section in golden.split("--- ").skip(1) {
            let (name, expected) = section.split_once('\n').unwrap();
            let calls = calls();
            let (_, command) = calls.iter().find(|(call, _)| *call == name).expect(name);
            let expected = pieces(expected.trim_end(), None);
            let mut found = pieces(&code(command, language), Some(&expected));
            found.truncate(expected.len());
            if found != expected {
                let (found, expected) = (found.join("\n\n"), expected.join("\n\n"));
                wrong.push(format!("{} {name}:\n{found}\nexpected:\n{expected}", language.name));
            }
            seen += 1;
        }
        assert!(seen >= 8, "{} has golden text", language.name);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn values_are_written_as_the_drivers_document_them() {
    let mut wrong = Vec::new();
    for (language, (_, golden)) in LANGUAGES.iter().zip(GOLDEN) {
        for line in golden.lines().filter_map(|line| line.strip_prefix("=== ")) {
            let (name, expected) = line.split_once(": ").unwrap();
            let values = values();
            let (_, value) = values.iter().find(|(value, _)| *value == name).expect(name);
            let found = code(&insert(value.clone()), language);
            if !found.contains(expected) {
                wrong.push(format!("{} {name}:\n{found}\nexpected: {expected}", language.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
