//! The words of a lesson: each a row.

use super::tutor::Tutor;
use crate::error::Result;
use crate::session::Session;

/// A word of a lesson: `hint`, or `learn hint`.
pub(super) struct Word {
    /// The word.
    pub(super) name: &'static str,
    /// Whether it may stand alone in a lesson.
    pub(super) alone: bool,
    /// Whether there has to be a lesson.
    pub(super) inside: bool,
    /// What it does.
    pub(super) run: fn(&mut Tutor, &mut Session) -> Result<()>,
}

/// The words, sorted.
const WORDS: &[Word] = &[
    Word { name: "back", alone: true, inside: true, run: Tutor::back },
    Word { name: "bye", alone: true, inside: true, run: Tutor::bye },
    Word { name: "challenge", alone: true, inside: false, run: Tutor::challenge },
    Word { name: "check", alone: true, inside: true, run: Tutor::check },
    Word { name: "help", alone: false, inside: false, run: Tutor::help },
    Word { name: "hint", alone: true, inside: true, run: Tutor::hint },
    Word { name: "next", alone: true, inside: false, run: Tutor::go_on },
    Word { name: "play", alone: true, inside: true, run: Tutor::play },
    Word { name: "reset", alone: true, inside: true, run: Tutor::reset },
    Word { name: "skip", alone: true, inside: true, run: Tutor::skip },
    Word { name: "task", alone: false, inside: true, run: Tutor::task },
];

/// What `learn help` lists: what to type, and the key of what it does; in the order of their use.
pub(super) const LISTED: &[(&str, &str)] = &[
    ("learn", "help-learn"),
    ("learn 4", "help-lesson"),
    ("learn 4.2", "help-step"),
    ("show task", "help-task"),
    ("hint", "help-hint"),
    ("check", "help-check"),
    ("next", "help-next"),
    ("skip", "help-skip"),
    ("back", "help-back"),
    ("play", "help-play"),
    ("reset", "help-reset"),
    ("learn challenge", "help-challenge"),
    ("learn reset", "help-forget"),
    ("learn reset all", "help-forget-all"),
    ("bye", "help-bye"),
];

/// The words that may stand alone.
pub(super) fn alone() -> impl Iterator<Item = &'static str> {
    WORDS.iter().filter(|word| word.alone).map(|word| word.name)
}

/// What may stand behind `learn` and is no lesson.
pub(super) fn after_learn() -> impl Iterator<Item = &'static str> {
    let listed = LISTED.iter().filter_map(|(typed, _)| typed.strip_prefix("learn "));
    let phrases = listed.filter(|typed| !typed.starts_with(|first: char| first.is_ascii_digit()));
    WORDS.iter().map(|word| word.name).chain(phrases)
}

/// The word of that name.
pub(super) fn word(name: &str) -> Option<&'static Word> {
    WORDS.binary_search_by_key(&name, |word| word.name).ok().map(|at| &WORDS[at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_sorted_and_those_that_stand_alone_are_listed() {
        assert!(WORDS.is_sorted_by_key(|word| word.name));
        for word in WORDS.iter().filter(|word| word.alone) {
            let listed = |(typed, _): &(&str, _)| typed.trim_start_matches("learn ") == word.name;
            assert!(LISTED.iter().any(listed), "{}", word.name);
            assert!(crate::dialect::VERBS.contains(&word.name), "{}", word.name);
        }
    }
}
