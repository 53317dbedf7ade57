//! What the interactive prompt asks of a session beside running inputs.

use std::sync::Arc;

use bson::Bson;

use super::Session;
use crate::backend::{Backend, Topology};
use crate::dialect::Code;
use crate::error::Result;
use crate::print::Shown;
use crate::shell::Preferences;

/// The text of the user's own `prompt`: a string, or what a function of that name answers.
const OWN_PROMPT: &str =
    "typeof prompt === 'function' ? String(prompt()) : typeof prompt === 'string' ? prompt : null";

impl Session {
    /// Where commands go.
    pub fn backend(&mut self) -> Arc<dyn Backend> {
        Arc::clone(self.script.shell().server())
    }

    /// The name of the current database.
    pub fn db(&mut self) -> String {
        self.script.shell().db.clone()
    }

    /// Tells the width and height of the terminal, for texts that are cut to them.
    pub fn set_size(&mut self, size: Option<(usize, usize)>) {
        (self.columns, self.rows) = size.unwrap_or((super::COLUMNS, super::ROWS));
        self.script.shell().set_width(size.map(|(columns, _)| columns));
    }

    /// What the user has set.
    pub fn preferences(&mut self) -> Preferences {
        self.script.shell().preferences
    }

    /// Tells what was typed, for `history()`.
    pub fn remember_typed(&mut self, texts: impl IntoIterator<Item = String>) {
        let typed = &mut self.script.shell().typed;
        for text in texts {
            if typed.last() != Some(&text) {
                typed.push(text);
            }
        }
    }

    /// What stands behind the session.
    pub fn topology(&mut self) -> Topology {
        self.backend().describe()
    }

    /// The prompt that the user made: the global `prompt`, a string or a function. `None` where there is none, or it
    /// throws.
    pub fn own_prompt(&mut self) -> Option<String> {
        // A Ctrl-C that came when nothing ran is nobody's any more.
        self.interrupt.clear();
        if !self.script.defines("prompt") {
            return None;
        }
        let text = self.evaluated(OWN_PROMPT);
        self.interrupt.clear();
        match text {
            Ok(Shown::Value(Bson::String(text))) => Some(text),
            Ok(_) | Err(_) => None,
        }
    }

    /// Says something among the results.
    ///
    /// # Errors
    /// When the reader is gone.
    pub fn say(&mut self, text: &str) -> Result<()> {
        let output = self.script.shell().output.clone();
        output.line(text).and_then(|()| output.flush())
    }

    fn evaluated(&mut self, code: &str) -> Result<Shown> {
        let answer = self.script.eval(&Code::plain(code, 0..code.len()), "(prompt)", code)?;
        self.script.show(&answer)
    }
}
