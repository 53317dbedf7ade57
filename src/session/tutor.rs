//! Somebody who looks over the user's shoulder: what a tutor is told, and what it may ask of a session.
//!
//! The session knows no lessons. It tells its tutor of words that are the tutor's and of inputs that ran, and lends it
//! the JavaScript world and the database in between.

use std::io;
use std::sync::Arc;

use bson::{RawBson, RawDocumentBuf, rawdoc};

use super::{Echo, Session, TYPED, report};
use crate::backend::Backend;
use crate::dialect::{self, Part, Source};
use crate::error::{Error, Result};
use crate::interrupt::Interrupt;
use crate::print::{Paint, Shown};
use crate::script::Answer;
use crate::shell::Output;

/// Somebody who looks over the user's shoulder.
pub trait Tutor {
    /// What stands before the prompt, e.g. `learn 4.2 `; may be empty.
    fn standing(&self) -> String;

    /// Whether a word that stands alone, such as `hint`, is the tutor's now.
    fn knows(&self, word: &str) -> bool;

    /// The words that stand alone and are the tutor's now, for completion.
    fn words(&self) -> Vec<String>;

    /// What can follow `learn`, for completion: words of its own, lessons, steps.
    fn following(&mut self) -> Vec<String>;

    /// Does what the words say, as they were typed: `["learn", "4"]`, `["hint"]`.
    ///
    /// # Errors
    /// What the session or the database refuses.
    fn obey(&mut self, session: &mut Session, words: &[&str]) -> Result<()>;

    /// An input ran: its text, and the error that ended it.
    ///
    /// # Errors
    /// As [`Tutor::obey`].
    fn look(&mut self, session: &mut Session, text: &str, failed: Option<&Error>) -> Result<()>;

    /// The user pressed Enter on an empty line.
    ///
    /// # Errors
    /// As [`Tutor::obey`].
    fn nothing_typed(&mut self, session: &mut Session) -> Result<()>;
}

/// Where a session is: the backend and the current database.
#[derive(Clone)]
pub struct Whereabouts {
    /// Where commands go.
    pub backend: Arc<dyn Backend>,
    /// The current database.
    pub db: String,
}

/// What a tutor's question is asked about.
pub struct Question<'a> {
    /// JavaScript whose last expression is the answer.
    pub code: &'a str,
    /// What it sees as `db`.
    pub db: &'a str,
    /// What it sees as `commands`.
    pub commands: Vec<RawDocumentBuf>,
    /// What it sees as `error`.
    pub error: Option<&'a Error>,
    /// What it sees as `seed`.
    pub seed: u32,
}

impl Session {
    /// Gives the session a tutor.
    pub fn accompany(&mut self, tutor: Box<dyn Tutor>) {
        self.tutor = Some(tutor);
        self.keep_answers();
    }

    /// What the tutor has to say before the prompt.
    pub fn standing(&self) -> String {
        self.tutor.as_ref().map(|tutor| tutor.standing()).unwrap_or_default()
    }

    /// Tells the tutor of words that are for it, as if they had been typed; nothing where there are none.
    pub fn tell_tutor(&mut self, words: &[String]) -> super::Outcome {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let outcome = if words.is_empty() { Ok(()) } else { self.tutor_obeys(&words) };
        self.settle(outcome)
    }

    /// The user pressed Enter on an empty line.
    pub fn nothing_typed(&mut self) -> super::Outcome {
        let outcome =
            self.with_tutor(|tutor, session| tutor.nothing_typed(session)).unwrap_or(Ok(()));
        self.settle(outcome)
    }

    /// How many columns the terminal has.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Whether and how results are coloured.
    pub fn paint(&self) -> Paint {
        self.options.paint
    }

    /// The words that the tutor listens to now.
    pub fn words_of_tutor(&self) -> Vec<String> {
        self.tutor.as_ref().map(|tutor| tutor.words()).unwrap_or_default()
    }

    /// What can follow `learn`.
    pub fn follow_learn(&mut self) -> Vec<String> {
        self.tutor.as_mut().map(|tutor| tutor.following()).unwrap_or_default()
    }

    /// Whether a word that stands alone is the tutor's.
    pub(super) fn is_tutors(&self, word: &str) -> bool {
        self.tutor.as_ref().is_some_and(|tutor| tutor.knows(word))
    }

    pub(super) fn tutor_obeys(&mut self, words: &[&str]) -> Result<()> {
        self.addressed = true;
        self.with_tutor(|tutor, session| tutor.obey(session, words))
            .unwrap_or_else(|| Err(Error::Usage("there are no lessons in this session".to_owned())))
    }

    /// Tells the tutor that an input ran, unless it was for the tutor.
    pub(super) fn tutor_looks(&mut self, text: &str, failed: Option<&Error>) -> Result<()> {
        if self.tutor.is_none() || std::mem::take(&mut self.addressed) {
            return Ok(());
        }
        self.with_tutor(|tutor, session| tutor.look(session, text, failed)).unwrap_or(Ok(()))
    }

    /// Keeps what the latest input answered, for a question about it.
    pub fn keep_answers(&mut self) {
        self.keeps = true;
    }

    /// Forgets what the latest input answered.
    pub fn forget_answer(&mut self) {
        self.last = None;
    }

    /// Remembers what an input answered, where somebody may ask for it.
    pub(super) fn remember(&mut self, answer: &Answer) {
        if self.keeps {
            self.last = Some(answer.clone());
        }
    }

    /// What stops whatever runs.
    pub fn interrupt(&self) -> &Interrupt {
        &self.interrupt
    }

    /// Shows an error as one that ended an input.
    pub fn tell_of(&mut self, error: &Error) {
        let text = report::uncaught(error, self.emulate, false);
        // A reader that is gone is met again by the next line.
        let _ = self.tell(&text);
    }

    /// The tutor is out of the session's hands while it works with it.
    fn with_tutor<T>(&mut self, work: impl FnOnce(&mut dyn Tutor, &mut Self) -> T) -> Option<T> {
        let mut tutor = self.tutor.take()?;
        let done = work(&mut *tutor, self);
        self.tutor = Some(tutor);
        Some(done)
    }

    /// Where the session is.
    pub fn whereabouts(&mut self) -> Whereabouts {
        let shell = self.script.shell();
        Whereabouts { backend: Arc::clone(shell.server()), db: shell.db.clone() }
    }

    /// Takes the session somewhere else, as `use` does, and to another backend. Answers where it was.
    pub fn go(&mut self, there: Whereabouts) -> Whereabouts {
        let here = self.whereabouts();
        self.script.leave_connection();
        {
            let mut shell = self.script.shell();
            shell.backend = there.backend;
            shell.db = there.db;
        }
        self.script.reclaim_db();
        here
    }

    /// Asks something of the user's own world: its globals, the last answer, the database behind `backend`. What the
    /// question declares is gone afterwards, and what it prints is not seen.
    ///
    /// # Errors
    /// What it throws; [`Error::Interrupted`].
    pub fn ask(&mut self, question: &Question<'_>, backend: &Arc<dyn Backend>) -> Result<Shown> {
        let mut text = String::new();
        for part in dialect::parse(question.code, Source::Script).parts {
            if let Part::Script(code) = part {
                text.push_str(&code.text);
            }
        }
        let error = question.error.map_or(RawBson::Null, |error| {
            let code = server_code(error).map_or(RawBson::Null, RawBson::Int32);
            RawBson::Document(rawdoc! { "message": error.to_string(), "code": code })
        });
        let commands = question.commands.iter().cloned().map(RawBson::Document);
        let commands = RawBson::Array(commands.collect());
        let (theirs, seen, aside) = {
            let mut shell = self.script.shell();
            let nowhere = Output::new(io::sink(), io::sink());
            (
                std::mem::replace(&mut shell.backend, Arc::clone(backend)),
                std::mem::replace(&mut shell.output, nowhere),
                shell.set_aside(true),
            )
        };
        let seed = RawBson::Double(question.seed.into());
        let values = [&error, &commands, &seed];
        let answer = self.script.ask(&text, question.db, self.last.as_ref(), values);
        let mut shell = self.script.shell();
        (shell.backend, shell.output) = (theirs, seen);
        shell.set_aside(aside);
        answer
    }

    /// Runs a text as if it had been typed, results and all. The first input that fails ends it.
    ///
    /// # Errors
    /// As an input that is typed.
    pub fn type_in(&mut self, text: &str) -> Result<()> {
        for entry in &dialect::inputs(text) {
            self.input(&entry.input, &entry.text, TYPED, Echo::Each)?;
        }
        Ok(())
    }

    /// Runs a text as if it had been typed, but shows nothing.
    ///
    /// # Errors
    /// As [`Session::type_in`].
    pub fn type_in_unseen(&mut self, text: &str) -> Result<()> {
        let nowhere = Output::new(io::sink(), io::sink());
        let seen = std::mem::replace(&mut self.script.shell().output, nowhere);
        let outcome = self.type_in(text);
        self.script.shell().output = seen;
        outcome
    }
}

/// The server's code behind an error.
fn server_code(error: &Error) -> Option<i32> {
    match error {
        Error::Thrown(thrown) => thrown.cause.as_ref().map(|cause| cause.code.0),
        error => error.code().map(|code| code.0),
    }
}
