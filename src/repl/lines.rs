//! From key strokes to inputs: line after line until one is finished, or given up.

use std::io::{self, IsTerminal as _};
use std::path::PathBuf;

use rustyline::config::Configurer;
use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::{Behavior, CompletionType, Config, EditMode, Editor, Helper};

use super::history;
use crate::dialect::{self, Entry, Verdict};

/// What stands before every further line of an input.
const CONTINUATION: &str = "... ";

/// What came from the terminal.
#[derive(Debug)]
pub(super) enum Typed {
    /// A finished submission: the text as it was typed or pasted, and the inputs in it.
    Inputs(String, Vec<Entry>),
    /// Nothing to run: an empty line, or an input that was given up with two of them.
    Nothing,
    /// Ctrl-C: what was being typed, if anything, is gone.
    Interrupted {
        /// Nothing was being typed.
        idle: bool,
    },
    /// Ctrl-D on an empty line, or the terminal is gone.
    End,
}

/// A helper that knows where in an input the line stands that is being edited.
pub(super) trait Continues {
    /// A new line begins; `text` is all lines before it in the same input, each with its line end.
    fn continue_from(&mut self, text: &str);

    /// Whether nothing has been typed in this line.
    fn is_idle(&self) -> bool;
}

/// The terminal's side of the prompt.
pub(super) struct Lines<H: Helper + Continues> {
    editor: Editor<H, FileHistory>,
    file: Option<PathBuf>,
    mode: EditMode,
}

impl<H: Helper + Continues> Lines<H> {
    /// An editor with the user's history.
    ///
    /// # Errors
    /// When there is no terminal to talk to.
    pub(super) fn open(helper: H, file: Option<PathBuf>) -> rustyline::Result<Self> {
        let config = Config::builder()
            .max_history_size(history::LENGTH)?
            .completion_type(CompletionType::List)
            .auto_add_history(false)
            .bracketed_paste(true)
            // Results that go into a pipe must not be mixed with what is typed.
            .behavior(if io::stdout().is_terminal() {
                Behavior::Stdio
            } else {
                Behavior::PreferTerm
            })
            .build();
        let mut remembered = history::empty(&config);
        if let Some(file) = &file {
            history::load(&mut remembered, file);
        }
        let mut editor = Editor::with_history(config, remembered)?;
        editor.set_helper(Some(helper));
        Ok(Self { editor, file, mode: EditMode::Emacs })
    }

    /// What helps while a line is typed.
    pub(super) fn helper(&self) -> &H {
        self.editor.helper().expect("the editor was opened with one")
    }

    /// How many columns and rows the terminal has.
    pub(super) fn size(&mut self) -> Option<(usize, usize)> {
        self.editor.dimensions().map(|(columns, rows)| (usize::from(columns), usize::from(rows)))
    }

    /// What was typed in earlier sessions, oldest first.
    pub(super) fn remembered(&self) -> Vec<String> {
        self.editor.history().iter().cloned().collect()
    }

    /// Makes the keys those of vi, or of emacs.
    pub(super) fn edit_as_vi(&mut self, vi: bool) {
        let mode = if vi { EditMode::Vi } else { EditMode::Emacs };
        if self.mode != mode {
            self.editor.set_edit_mode(mode);
            self.mode = mode;
        }
    }

    /// Reads one submission. A paste is one, however many inputs are in it.
    ///
    /// # Errors
    /// When the terminal fails.
    pub(super) fn read(&mut self, prompt: &str) -> rustyline::Result<Typed> {
        let mut text = String::new();
        let mut empty = 0;
        loop {
            if let Some(helper) = self.editor.helper_mut() {
                helper.continue_from(&text);
            }
            let shown = if text.is_empty() { prompt } else { CONTINUATION };
            let line = match self.editor.readline(shown) {
                Ok(line) => line,
                Err(ReadlineError::Interrupted) => {
                    let idle = text.is_empty() && self.helper().is_idle();
                    return Ok(Typed::Interrupted { idle });
                }
                // Ctrl-D in the middle of an input gives it up; the next one leaves.
                Err(ReadlineError::Eof) if !text.is_empty() => {
                    return Ok(Typed::Interrupted { idle: false });
                }
                Err(ReadlineError::Eof) => return Ok(Typed::End),
                Err(error) => return Err(error),
            };
            let blank = line.trim().is_empty();
            if blank && text.is_empty() {
                return Ok(Typed::Nothing);
            }
            text.push_str(&line);
            let entries = dialect::inputs(&text);
            if !is_unfinished(&entries) {
                history::remember(self.editor.history_mut(), &text, self.file.as_deref());
                return Ok(Typed::Inputs(text, entries));
            }
            empty = if blank { empty + 1 } else { 0 };
            if empty == 2 {
                return Ok(Typed::Nothing);
            }
            text.push('\n');
        }
    }
}

/// Whether the last input wants another line.
fn is_unfinished(entries: &[Entry]) -> bool {
    entries.last().is_some_and(|entry| matches!(entry.input.verdict, Verdict::Incomplete { .. }))
}
