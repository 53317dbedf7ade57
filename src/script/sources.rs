//! The texts that were evaluated, by the name QuickJS reports, so that positions can be told in the user's own text.

use std::collections::{HashMap, VecDeque};

use crate::dialect::Code;

/// How the names of the shell's own scripts begin; their frames are not shown.
pub(super) const INTERNAL: &str = "\u{1}";

/// What stands before the name of a file in a stack whose positions are the user's already.
pub(super) const SETTLED: &str = "\u{3}";

/// How many texts of one name (inputs of a prompt) are remembered.
const MANY: usize = 256;

/// A text and the code it became.
pub(super) struct Source {
    /// What the user calls it.
    pub(super) name: String,
    /// What the user wrote: the file or input.
    pub(super) text: String,
    /// What runs.
    pub(super) code: Code,
}

/// Every text that a stack may name.
#[derive(Default)]
pub(super) struct Sources {
    by_name: HashMap<String, Source>,
    /// How often each name was given, and the names still remembered, oldest first.
    given: HashMap<String, (u64, VecDeque<String>)>,
}

impl Sources {
    /// Remembers a text and answers with the name to evaluate it under. The inputs of a prompt share one name: a number
    /// after it tells them apart.
    pub(super) fn add(&mut self, name: &str, text: &str, code: &Code) -> String {
        let (count, names) = self.given.entry(name.to_owned()).or_default();
        *count += 1;
        let unique = match *count {
            1 => name.to_owned(),
            number => format!("{name}#{number}"),
        };
        names.push_back(unique.clone());
        if names.len() > MANY
            && let Some(oldest) = names.pop_front()
        {
            self.by_name.remove(&oldest);
        }
        self.set(unique.clone(), name, text, code);
        unique
    }

    /// Remembers the text of a module, which has one name only.
    pub(super) fn set(&mut self, unique: String, name: &str, text: &str, code: &Code) {
        let source = Source { name: name.to_owned(), text: text.to_owned(), code: code.clone() };
        self.by_name.insert(unique, source);
    }

    /// The text evaluated under a name.
    pub(super) fn get(&self, name: &str) -> Option<&Source> {
        self.by_name.get(name)
    }

    /// The name as the user knows it.
    pub(super) fn shown<'a>(&'a self, name: &'a str) -> &'a str {
        match self.get(name) {
            Some(source) => &source.name,
            None => name.strip_prefix(SETTLED).unwrap_or(name),
        }
    }
}
