//! The house rules, held by a test: who may call whom, how files open and how long they get, what is not written.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::program::root;

/// The rooms by height. A room may call lower ones, and beside it only what [`NEIGHBOURS`] lists.
const ROOMS: &[&[&str]] = &[
    &["error", "interrupt", "value"],
    &["engine"],
    &["backend", "serve", "translate"],
    &["shell"],
    &["dialect", "print", "script"],
    &["session"],
    &["cli", "lesson", "pipe", "repl", "transfer"],
    &["lib", "main"],
];

/// Who may call a room of its own height.
const NEIGHBOURS: &[(&str, &str)] = &[
    ("backend", "serve"),
    ("interrupt", "error"),
    ("value", "error"),
    ("script", "dialect"),
    ("script", "print"),
    ("cli", "lesson"),
    ("cli", "transfer"),
    ("transfer", "pipe"),
];

/// Crates that only some places may name, so that each stays replaceable.
const CRATES: &[(&str, &[&str])] = &[
    ("clap", &["src/cli", "src/main.rs"]),
    ("csv", &["src/transfer"]),
    ("fjall", &["src/engine/storage"]),
    ("futures_util", &["src/backend/remote"]),
    ("mongodb", &["src/backend/remote"]),
    ("pest", &["src/dialect"]),
    ("pest_derive", &["src/dialect"]),
    ("rquickjs", &["src/script"]),
    ("rustyline", &["src/repl"]),
    ("tokio", &["src/backend/remote", "src/serve"]),
    ("tokio_rustls", &["src/serve"]),
];

/// The longest a file may get; most have 100 to 400 lines.
const CEILING: usize = 800;

/// A Rust file of the project.
struct Source {
    /// Its path from the project's folder.
    path: String,
    /// Its text.
    text: String,
    /// It is compiled for tests only.
    test: bool,
}

impl Source {
    /// Its lines without the tests at its foot, without comments, numbered from 1.
    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let tests = self.text.find("#[cfg(test)]\nmod tests {").unwrap_or(self.text.len());
        let code = if self.test { "" } else { &self.text[..tests] };
        let numbered = code.lines().enumerate().map(|(at, line)| (at + 1, line));
        numbered.filter(|(_, line)| !line.trim_start().starts_with("//"))
    }

    /// The room it belongs to; `None` outside `src`.
    fn room(&self) -> Option<&str> {
        let inside = self.path.strip_prefix("src/")?;
        Some(inside.split(['/', '.']).next().unwrap_or(inside))
    }
}

/// Every Rust file under `folders`.
fn sources(folders: &[&str]) -> Vec<Source> {
    files(folders, &["rs"])
}

/// Every file under `folders` whose name ends like this.
fn files(folders: &[&str], endings: &[&str]) -> Vec<Source> {
    fn walk(folder: &Path, endings: &[&str], found: &mut Vec<Source>) {
        let Ok(entries) = fs::read_dir(folder) else { return };
        for entry in entries {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, endings, found);
            } else if path
                .extension()
                .is_some_and(|ending| endings.iter().any(|one| ending == *one))
            {
                let text = fs::read_to_string(&path).unwrap();
                let path = path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
                found.push(Source { path, text, test: false });
            }
        }
    }
    let mut found = Vec::new();
    for folder in folders {
        walk(&root().join(folder), endings, &mut found);
    }
    found.sort_by(|one, other| one.path.cmp(&other.path));
    assert!(!found.is_empty(), "no source file found");
    let tests: Vec<String> = found.iter().flat_map(test_modules).collect();
    for source in &mut found {
        source.test = tests.contains(&source.path);
    }
    found
}

/// The files of the modules that a file declares for tests only.
fn test_modules(source: &Source) -> Vec<String> {
    let folder = source
        .path
        .strip_suffix("/mod.rs")
        .or_else(|| source.path.strip_suffix(".rs"))
        .unwrap_or_default();
    let declared =
        source.text.split("#[cfg(test)]\nmod ").skip(1).filter_map(|rest| rest.split_once(';'));
    declared.map(|(name, _)| format!("{folder}/{name}.rs")).collect()
}

/// Every file that is code: Rust, the JavaScript of the prelude, the grammar.
fn written() -> Vec<Source> {
    let mut all = sources(&["src", "tests", "benches"]);
    all.extend(files(&["src"], &["js"]));
    all.extend(files(&["grammar"], &["pest"]));
    all
}

/// Fails with all complaints at once.
#[track_caller]
fn holds(rule: &str, complaints: &[String]) {
    assert!(complaints.is_empty(), "{rule}:\n  {}", complaints.join("\n  "));
}

/// Where `word` stands in `line` as a whole word.
fn words<'a>(line: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    let part = |character: char| character.is_alphanumeric() || character == '_';
    line.match_indices(word).map(|(at, _)| at).filter(move |&at| {
        !line[..at].chars().next_back().is_some_and(part)
            && !line[at + word.len()..].chars().next().is_some_and(part)
    })
}

#[test]
fn every_file_opens_with_a_sentence() {
    let complaints: Vec<String> = written()
        .into_iter()
        .filter(|source| {
            let first = source.text.lines().next().unwrap_or_default();
            !first.starts_with("//! ") || first.len() < 10
        })
        .map(|source| source.path)
        .collect();
    holds("a file opens with a `//! ` sentence that says what it is", &complaints);
}

#[test]
fn no_file_is_longer_than_the_ceiling() {
    let complaints: Vec<String> = written()
        .into_iter()
        .filter(|source| source.text.lines().count() > CEILING)
        .map(|source| format!("{}: {} lines", source.path, source.text.lines().count()))
        .collect();
    holds("a file has at most 800 lines: look for the second noun", &complaints);
}

#[test]
fn rooms_call_only_lower_rooms() {
    let height = |room: &str| ROOMS.iter().position(|rooms| rooms.contains(&room));
    let mut complaints = Vec::new();
    for source in sources(&["src"]) {
        let room = source.room().expect("it is under src");
        let Some(own) = height(room) else {
            complaints
                .push(format!("{}: the room `{room}` stands in no row of ROOMS", source.path));
            continue;
        };
        for (number, line) in source.code() {
            for callee in rooms_named(line) {
                let allowed = callee == room
                    || height(callee).is_none_or(|other| other < own)
                    || NEIGHBOURS.contains(&(room, callee));
                if !allowed {
                    complaints.push(format!("{}:{number}: `{room}` calls `{callee}`", source.path));
                }
            }
        }
    }
    holds("a room calls only rooms below it", &complaints);
}

/// The rooms that a line names by a path from the crate's root.
fn rooms_named(line: &str) -> Vec<&str> {
    let mut named = Vec::new();
    for start in ["crate::", "tally::"] {
        for (at, _) in line.match_indices(start) {
            let rest = &line[at + start.len()..];
            let end =
                rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
            if let Some(list) = rest.strip_prefix('{') {
                let inside = list.split('}').next().unwrap_or(list);
                named.extend(
                    inside
                        .split(',')
                        .map(|item| item.trim().split("::").next().unwrap_or_default()),
                );
            } else {
                named.push(&rest[..end]);
            }
        }
    }
    let known = |name: &&str| ROOMS.iter().any(|rooms| rooms.contains(name));
    named.retain(known);
    named
}

#[test]
fn a_crate_is_named_only_where_it_lives() {
    let mut complaints = Vec::new();
    for source in sources(&["src"]) {
        for (number, line) in source.code() {
            for (name, homes) in CRATES {
                let named = words(line, name).any(|at| line[at + name.len()..].starts_with("::"));
                if named && !homes.iter().any(|home| source.path.starts_with(home)) {
                    complaints.push(format!("{}:{number}: names `{name}`", source.path));
                }
            }
        }
    }
    holds("a crate is named only by its own room", &complaints);
}

#[test]
fn the_dialect_looks_at_characters_in_one_file() {
    let looks = [
        ".chars()",
        ".char_indices()",
        ".bytes()",
        ".as_bytes()",
        ".is_ascii",
        ".is_alphabetic",
        ".is_whitespace",
    ];
    let files: BTreeSet<String> = sources(&["src/dialect"])
        .into_iter()
        .filter(|source| {
            source.code().any(|(_, line)| looks.iter().any(|look| line.contains(look)))
        })
        .map(|source| source.path)
        .collect();
    assert!(files.len() <= 1, "only the file that maps positions looks at characters: {files:?}");
}

#[test]
fn nothing_is_left_to_do_later() {
    let banned = ["TODO", "FIXME", "XXX", "HACK", "dbg", "todo", "unimplemented"];
    let mut complaints = Vec::new();
    for source in sources(&["src", "benches"]) {
        for (at, line) in source.text.lines().enumerate() {
            if let Some(word) = banned.iter().find(|word| words(line, word).next().is_some()) {
                complaints.push(format!("{}:{}: {word}", source.path, at + 1));
            }
        }
        for (number, line) in source.code() {
            if source.path.starts_with("src/") && line.contains(".unwrap()") {
                complaints.push(format!(
                    "{}:{number}: unwrap(); say what holds with expect()",
                    source.path
                ));
            }
        }
    }
    holds("what is written is finished", &complaints);
}

#[test]
fn tables_of_names_are_sorted() {
    let mut complaints = Vec::new();
    for source in sources(&["src"]) {
        for (number, names) in tables(&source) {
            for pair in names.windows(2) {
                if pair[0] > pair[1] {
                    complaints.push(format!(
                        "{}:{number}: {:?} stands before {:?}",
                        source.path, pair[0], pair[1]
                    ));
                }
            }
        }
    }
    holds(
        "the rows of a table are sorted by name (or its doc says `in the order of`)",
        &complaints,
    );
}

/// The tables of a file - constants whose rows have a `name: "..."` - with the line they start at and their names.
fn tables(source: &Source) -> Vec<(usize, Vec<String>)> {
    let lines: Vec<&str> = source.text.lines().collect();
    let mut tables = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let line = lines[at].trim_start();
        let opens = (line.contains("const ") || line.contains("static ")) && line.ends_with("&[");
        let documented = |mut above: usize| {
            let mut text = String::new();
            while above > 0 && lines[above - 1].trim_start().starts_with("///") {
                above -= 1;
                text.push_str(lines[above]);
            }
            text
        };
        if opens && !documented(at).contains("in the order of") {
            let start = at + 1;
            let mut names = Vec::new();
            while at < lines.len() && lines[at] != "];" {
                let row = lines[at].trim_start();
                // A row has its name first, on the line that opens it or on the next one.
                let name = row
                    .split_once(" { name: \"")
                    .map(|(_, rest)| rest)
                    .or_else(|| row.strip_prefix("name: \""));
                if let Some(name) = name.and_then(|rest| rest.split('"').next()) {
                    names.push(name.to_owned());
                }
                at += 1;
            }
            tables.push((start, names));
        }
        at += 1;
    }
    tables
}

#[test]
fn what_the_readme_names_exists() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let mut complaints = Vec::new();
    let ends = |c: char| c.is_whitespace() || "`()<>\"',;".contains(c);
    for word in readme.split(ends) {
        let word = word.trim_end_matches(['.', ':']);
        let folders = ["scripts/", "src/", "tests/", "benches/", "grammar/"];
        if folders.iter().any(|folder| word.starts_with(folder)) && !root().join(word).exists() {
            complaints.push(format!("there is no {word}"));
        }
    }
    for bench in readme.split("cargo bench --bench ").skip(1) {
        let name = bench.split(ends).next().unwrap_or_default();
        if !manifest.contains(&format!("[[bench]]\nname = \"{name}\"")) {
            complaints.push(format!("there is no bench {name}"));
        }
    }
    let ci = fs::read_to_string(root().join(".ci/run")).unwrap();
    if !readme.contains("\nscripts/check\n") || !ci.contains("\nexec scripts/check\n") {
        complaints.push("the README's test command, scripts/check, is what CI runs".to_owned());
    }
    for license in ["LICENSE-MIT", "LICENSE-APACHE"] {
        if !readme.contains(license) || !root().join(license).exists() {
            complaints.push(format!("the README names {license}, and it is there"));
        }
    }
    holds("the README tells the truth", &complaints);
}

#[test]
fn every_program_in_scripts_can_be_run() {
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for entry in fs::read_dir(root().join("scripts/seeds")).unwrap() {
        let path = entry.unwrap().path();
        let extension = path.extension().unwrap_or_default().to_string_lossy().into_owned();
        *kinds.entry(extension).or_default() += 1;
    }
    assert_eq!(
        kinds.keys().collect::<Vec<_>>(),
        ["js", "mjs"],
        "scripts/seeds holds scripts and modules only"
    );
    assert!(kinds["js"] >= 9 && kinds["mjs"] >= 2);
}
