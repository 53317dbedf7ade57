//! The sequence examples that people share, piped in as they stand, run as files, and as modules.

use std::collections::BTreeMap;
use std::fs;

use crate::program::{root, same};

/// Every example by name, with its text.
fn cases() -> BTreeMap<String, String> {
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

#[test]
fn the_examples_that_users_see_are_the_ones_tested() {
    for (name, text) in cases() {
        let shown =
            fs::read_to_string(root().join(format!("scripts/seeds/{name}.js"))).unwrap_or_default();
        same(&format!("scripts/seeds/{name}.js"), &text, &shown, "");
    }
}
