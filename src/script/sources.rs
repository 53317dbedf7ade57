//! The texts that were evaluated, by the name QuickJS reports, so that positions can be told in the user's own text.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use crate::dialect::Code;

/// How the names of the shell's own scripts begin; their frames are not shown.
pub(super) const INTERNAL: &str = "\u{1}";

/// What stands before the name of a file in a stack whose positions are the user's already.
pub(super) const SETTLED: &str = "\u{3}";

/// What stands between the name of a text and the number that tells it from others of that name.
const NUMBERED: char = '\u{2}';

/// How many texts of one name (inputs of a prompt) are remembered.
const MANY: usize = 256;

/// A text as the user wrote it.
#[derive(Clone, Copy)]
pub(super) struct Written<'a> {
    /// What the user calls it, in stacks.
    pub(super) name: &'a str,
    /// The text: a file, an input of the prompt, or one input of a file.
    pub(super) text: &'a str,
    /// The number of its first line in what has that name, from 1.
    pub(super) line: u32,
}

/// A text and the code it became.
pub(super) struct Source {
    /// What the user calls it.
    pub(super) name: String,
    /// What the user wrote.
    pub(super) text: String,
    /// The number of its first line.
    pub(super) line: u32,
    /// What runs.
    pub(super) code: Code,
    /// It is a module: what it declares is its own.
    pub(super) module: bool,
    /// How many texts came before it.
    order: usize,
}

/// Every text that a stack may name.
#[derive(Default)]
pub(super) struct Sources {
    by_name: HashMap<String, Arc<Source>>,
    /// How many texts there were.
    count: usize,
    /// How often each name was given, and the names still remembered, oldest first.
    given: HashMap<String, (u64, VecDeque<String>)>,
}

impl Sources {
    /// Remembers a text and answers with the name to evaluate it under. The inputs of a prompt share one name: a number
    /// after it tells them apart.
    pub(super) fn add(&mut self, written: Written<'_>, code: &Code) -> String {
        let name = written.name;
        let (count, names) = self.given.entry(name.to_owned()).or_default();
        *count += 1;
        let unique = match *count {
            1 => name.to_owned(),
            number => format!("{name}{NUMBERED}{number}"),
        };
        names.push_back(unique.clone());
        if names.len() > MANY
            && let Some(oldest) = names.pop_front()
        {
            self.by_name.remove(&oldest);
        }
        self.insert(unique.clone(), written, code, false);
        unique
    }

    /// Remembers the text of a module, which has one name only.
    pub(super) fn set(&mut self, unique: String, written: Written<'_>, code: &Code) {
        self.insert(unique, written, code, true);
    }

    fn insert(&mut self, unique: String, written: Written<'_>, code: &Code, module: bool) {
        let Written { name, text, line } = written;
        let (name, text) = (name.to_owned(), text.to_owned());
        let source = Source { name, text, line, code: code.clone(), module, order: self.count };
        self.count += 1;
        self.by_name.insert(unique, Arc::new(source));
    }

    /// The latest text whose code holds this piece: the name it was evaluated under, the text, and the byte of its code.
    pub(super) fn find(&self, piece: &str) -> Option<(String, Arc<Source>, usize)> {
        let holding = self.by_name.iter().filter_map(|(name, source)| {
            source.code.text.rfind(piece).map(|at| (name, source, at))
        });
        let (name, source, at) = holding.max_by_key(|(_, source, _)| source.order)?;
        Some((name.clone(), Arc::clone(source), at))
    }

    /// Remembers a text of another world under the name that it had there.
    pub(super) fn adopt(&mut self, unique: String, source: Arc<Source>) {
        self.by_name.insert(unique, source);
    }

    /// The text evaluated under a name.
    pub(super) fn get(&self, name: &str) -> Option<&Source> {
        self.by_name.get(name).map(Arc::as_ref)
    }

    /// The name as the user knows it.
    pub(super) fn shown<'a>(&'a self, name: &'a str) -> &'a str {
        match self.get(name) {
            Some(source) => &source.name,
            None => {
                let name = name.strip_prefix(SETTLED).unwrap_or(name);
                name.split_once(NUMBERED).map_or(name, |(name, _)| name)
            }
        }
    }
}
