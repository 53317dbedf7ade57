//! What helps while a line is typed: colours and completions, both from the dialect's own tree.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};

use rustyline::completion::{Completer, Pair};
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::{Hinter, HistoryHinter};
use rustyline::validate::Validator;
use rustyline::{Context, Helper};

use super::complete::{self, Known};
use super::lines::Continues;
use super::names::{Names, Question};
use crate::dialect::{self, Kind};
use crate::print::{Ink, Paint};
use crate::session::Session;
use crate::shell::{Emulate, SETTINGS, words};
use crate::translate::LANGUAGES;

/// Longer inputs are not coloured: each key stroke reads the whole input again.
const LONGEST: usize = 20_000;

/// The session's names and the dialect's colours, for the terminal.
pub(super) struct Assistant<'a, 's> {
    session: &'a RefCell<&'s mut Session>,
    names: Names,
    /// The lines of the input before the one that is typed.
    before: String,
    /// Whether the line that is typed is empty.
    idle: Cell<bool>,
    /// Earlier inputs are suggested.
    suggests: bool,
    history: HistoryHinter,
}

impl<'a, 's> Assistant<'a, 's> {
    /// An assistant over a session that nothing else borrows while a line is read.
    pub(super) fn new(session: &'a RefCell<&'s mut Session>) -> Self {
        let backend = session.borrow_mut().backend();
        Self {
            session,
            names: Names::new(backend),
            before: String::new(),
            idle: Cell::new(true),
            suggests: true,
            history: HistoryHinter::new(),
        }
    }

    /// Forgets what the database answered: an input ran.
    pub(super) fn forget(&self) {
        self.names.forget(self.session.borrow_mut().backend());
    }
}

impl Continues for Assistant<'_, '_> {
    fn continue_from(&mut self, text: &str) {
        self.before = text.to_owned();
        self.suggests = self.session.borrow_mut().preferences().hints;
        self.idle.set(true);
    }

    fn is_idle(&self) -> bool {
        self.idle.get()
    }
}

impl Known for Assistant<'_, '_> {
    fn emulate(&self) -> Emulate {
        self.session.borrow().emulate()
    }

    fn db(&self) -> String {
        self.session.borrow_mut().db()
    }

    fn databases(&self) -> Vec<String> {
        self.names.ask(Question::Databases)
    }

    fn collections(&self, db: &str) -> Vec<String> {
        self.names.ask(Question::Collections(db.to_owned()))
    }

    fn fields(&self, db: &str, collection: &str) -> Vec<String> {
        self.names.ask(Question::Fields(db.to_owned(), collection.to_owned()))
    }

    fn members(&self, chain: &[&str]) -> Vec<String> {
        self.session.borrow_mut().script().members(chain)
    }

    fn words(&self) -> Vec<String> {
        let emulate = self.emulate();
        let words = words::WORDS.iter().filter(|word| word.shells.include(emulate));
        let words = words.map(|word| word.name.to_owned());
        words.chain(self.session.borrow().words_of_tutor()).collect()
    }

    fn following(&self, verb: &str) -> Vec<String> {
        if verb == "learn" {
            return self.session.borrow_mut().follow_learn();
        }
        let following: Vec<&str> = match (verb, words::word(verb)) {
            ("show", _) => words::NOUNS.iter().map(|noun| noun.name).collect(),
            ("set", _) => return settings(),
            ("translate", _) => LANGUAGES.iter().map(|language| language.name).collect(),
            // A usage such as `on|off` lists all there is to say.
            (_, Some(word)) if word.usage.contains('|') => word.usage.split('|').collect(),
            _ => Vec::new(),
        };
        following.into_iter().map(ToOwned::to_owned).collect()
    }
}

impl Completer for Assistant<'_, '_> {
    type Candidate = Pair;

    fn complete(
        &self,
        line: &str,
        cursor: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<Pair>)> {
        let text = format!("{}{}", self.before, &line[..cursor]);
        let place = dialect::context(&text, text.len());
        let found = complete::candidates(&place.place, &place.prefix, self);
        // What began on an earlier line cannot be replaced any more.
        let Some(mut start) = place.start.checked_sub(self.before.len()) else {
            return Ok((cursor, Vec::new()));
        };
        let over_dot =
            found.iter().any(|candidate| candidate.over_dot) && line[..start].ends_with('.');
        if over_dot {
            start -= 1;
        }
        let pairs = found.into_iter().map(|candidate| {
            let dot = if over_dot && !candidate.over_dot { "." } else { "" };
            Pair { display: candidate.name, replacement: format!("{dot}{}", candidate.text) }
        });
        Ok((start, pairs.collect()))
    }
}

impl Hinter for Assistant<'_, '_> {
    type Hint = String;

    /// The rest of the latest input that began like this one. Without colour it could not be told from what was typed.
    fn hint(&self, line: &str, cursor: usize, context: &Context<'_>) -> Option<String> {
        self.idle.set(line.is_empty());
        let session = self.session.borrow();
        let wanted = self.suggests && session.paint() != Paint::Plain && self.before.is_empty();
        if !wanted || line.contains('\n') {
            return None;
        }
        self.history.hint(line, cursor, context).filter(|hint| !hint.contains('\n'))
    }
}

impl Validator for Assistant<'_, '_> {}

impl Highlighter for Assistant<'_, '_> {
    fn highlight<'l>(&self, line: &'l str, _: usize) -> Cow<'l, str> {
        if self.before.len() + line.len() > LONGEST {
            return Cow::Borrowed(line);
        }
        Cow::Owned(painted(&self.before, line, self.session.borrow().paint()))
    }

    fn highlight_hint<'h>(&self, hint: &'h str) -> Cow<'h, str> {
        Cow::Owned(self.session.borrow().paint().brush(hint, Ink::Comment))
    }

    fn highlight_char(&self, line: &str, _: usize, kind: CmdKind) -> bool {
        kind != CmdKind::MoveCursor && self.before.len() + line.len() <= LONGEST
    }
}

impl Helper for Assistant<'_, '_> {}

/// What can follow `set`: each name with each of its values.
fn settings() -> Vec<String> {
    let rows = SETTINGS.iter();
    let phrases =
        rows.flat_map(|row| row.usage.split('|').map(|value| format!("{} {value}", row.name)));
    phrases.collect()
}

/// A line in colours; `before` is the lines of the same input before it.
fn painted(before: &str, line: &str, paint: Paint) -> String {
    let text = format!("{before}{line}");
    let mut painted = String::with_capacity(line.len() * 2);
    let mut position = before.len();
    for token in dialect::tokens(&text) {
        // A token may have begun on an earlier line: a template, a comment.
        let start = token.span.start.max(position);
        let Some(ink) = ink(token.kind) else { continue };
        if start >= token.span.end {
            continue;
        }
        painted.push_str(&text[position..start]);
        painted.push_str(&paint.brush(&text[start..token.span.end], ink));
        position = token.span.end;
    }
    painted.push_str(&text[position..]);
    painted
}

/// The colour of a token; names and punctuation have none.
fn ink(kind: Kind) -> Option<Ink> {
    match kind {
        Kind::Keyword | Kind::Verb | Kind::Document => Some(Ink::Keyword),
        Kind::Constant | Kind::Number => Some(Ink::Number),
        Kind::String | Kind::Template => Some(Ink::Text),
        Kind::Regex | Kind::Broken => Some(Ink::Error),
        Kind::Comment => Some(Ink::Comment),
        Kind::Argument => Some(Ink::Function),
        Kind::Word | Kind::Member | Kind::Key | Kind::Punctuation => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without the colours the line is what it was.
    fn bare(painted: &str) -> String {
        let mut bare = String::new();
        let mut rest = painted;
        while let Some((before, after)) = rest.split_once('\x1b') {
            bare.push_str(before);
            rest = after.split_once('m').expect("a colour ends with m").1;
        }
        bare + rest
    }

    #[test]
    fn colours_follow_the_tokens_of_the_whole_input() {
        assert_eq!(
            painted("", "var a = 1", Paint::Terminal),
            "\x1b[34mvar\x1b[0m a = \x1b[33m1\x1b[0m"
        );
        assert_eq!(
            painted("s = `a\n", "var` + 1", Paint::Terminal),
            "\x1b[32mvar\x1b[0m\x1b[32m`\x1b[0m + \x1b[33m1\x1b[0m"
        );
        for line in
            ["db.users.find({name: “x”, $or: [<a: 1>]}) // 日本", "f(\"ab", "f(]) /a", "", "\t\n x"]
        {
            assert_eq!(bare(&painted("", line, Paint::Terminal)), line);
        }
    }
}
