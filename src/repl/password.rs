//! Asking for a password at the terminal, without showing what is typed.
//!
//! It is asked on the terminal itself, wherever standard input and output lead, so that `tally … -p > out.txt` works.

use std::borrow::Cow;
use std::fs::OpenOptions;

use rustyline::completion::Completer;
use rustyline::config::{Behavior, Configurer as _};
use rustyline::error::ReadlineError;
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::Hinter;
use rustyline::history::MemHistory;
use rustyline::validate::Validator;
use rustyline::{ColorMode, Config, Editor, Helper};

use crate::error::{Error, Result};

/// Shows blanks for what is typed.
struct Blank;

impl Completer for Blank {
    type Candidate = String;
}

impl Hinter for Blank {
    type Hint = String;
}

impl Validator for Blank {}

impl Helper for Blank {}

impl Highlighter for Blank {
    fn highlight<'l>(&self, line: &'l str, _at: usize) -> Cow<'l, str> {
        Cow::Owned(" ".repeat(unicode_width::UnicodeWidthStr::width(line)))
    }

    fn highlight_char(&self, _line: &str, _at: usize, kind: CmdKind) -> bool {
        !matches!(kind, CmdKind::MoveCursor)
    }
}

/// The password of `user`, typed at the terminal.
///
/// # Errors
/// [`Error::Interrupted`] after Ctrl-C or Ctrl-D; [`Error::Usage`] when there is no terminal to ask at.
pub fn ask(user: &str) -> Result<String> {
    let nobody = || {
        Error::Usage(format!(
            "{user} needs a password, and there is no terminal to ask at: put it into the address, or behind --password"
        ))
    };
    if OpenOptions::new().read(true).write(true).open("/dev/tty").is_err() {
        return Err(nobody());
    }
    let config = Config::builder().behavior(Behavior::PreferTerm).auto_add_history(false).build();
    let mut editor = Editor::<Blank, MemHistory>::with_history(config, MemHistory::new())
        .map_err(|_| nobody())?;
    editor.set_helper(Some(Blank));
    editor.set_color_mode(ColorMode::Forced);
    match editor.readline("Enter password: ") {
        Ok(password) => Ok(password),
        Err(ReadlineError::Interrupted | ReadlineError::Eof) => Err(Error::Interrupted),
        Err(error) => Err(Error::Usage(format!("cannot read from the terminal: {error}"))),
    }
}
