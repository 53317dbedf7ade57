//! A result that is longer than the screen, shown by the user's pager where they want that.

use std::env;
use std::io::{IsTerminal, Write, stdout};
use std::process::{Command, Stdio};

use unicode_width::UnicodeWidthStr;

use super::Session;
use crate::error::Result;

/// The pager of a user who has named none, and how it must behave: what fits is printed, colours are shown, and the
/// screen is left as it is.
const PAGER: (&str, &str) = ("less", "FRX");

impl Session {
    /// Prints a result, by the pager if it is too long and that is wanted.
    pub(super) fn result(&mut self, text: &str) -> Result<()> {
        let output = self.script.shell().output.clone();
        if self.prompt
            && self.script.shell().preferences.pager
            && stdout().is_terminal()
            && rows(text, self.columns) >= self.rows
        {
            output.flush()?;
            let paged = paged(text);
            // Ctrl-C was the pager's.
            self.interrupt.clear();
            if paged {
                return Ok(());
            }
        }
        output.line(text)
    }
}

/// The lines of a terminal that a text takes.
fn rows(text: &str, columns: usize) -> usize {
    text.lines().map(|line| line.width().div_ceil(columns.max(1)).max(1)).sum()
}

/// Shows a text by the pager; answers whether there is one.
fn paged(text: &str) -> bool {
    let pager = env::var("PAGER").ok().filter(|pager| !pager.trim().is_empty());
    let mut command = Command::new("sh");
    command.args(["-c", pager.as_deref().unwrap_or(PAGER.0)]).stdin(Stdio::piped());
    if env::var_os("LESS").is_none() {
        command.env("LESS", PAGER.1);
    }
    let Ok(mut child) = command.spawn() else { return false };
    if let Some(mut input) = child.stdin.take() {
        // Who leaves the pager has seen enough.
        let _ = input.write_all(text.as_bytes()).and_then(|()| input.write_all(b"\n"));
    }
    // 127: the shell knows no such program.
    child.wait().is_ok_and(|status| status.code() != Some(127))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_takes_several_rows_and_an_empty_one_takes_one() {
        assert_eq!(rows("", 80), 0);
        assert_eq!(rows("a\n\nb", 80), 3);
        assert_eq!(rows(&"x".repeat(81), 80), 2);
        assert_eq!(rows(&"日".repeat(41), 80), 2);
    }
}
