//! `edit NAME`: a variable, or an unfinished thought, in the user's own editor.

use std::env;
use std::fs;
use std::process::Command;

use super::{Session, TYPED};
use crate::dialect::{self, Source};
use crate::error::{Error, Result};
use crate::print::{Shown, mongo};
use crate::shell::Emulate;

impl Session {
    /// Opens the editor on the value of `name` and assigns what comes back; with mongosh an empty name opens it on
    /// nothing. What is no name is edited as text and then run.
    pub(super) fn edit(&mut self, name: &str) -> Result<()> {
        if !self.prompt {
            return Err(Error::Usage("edit needs a terminal".to_owned()));
        }
        let editor = self.editor()?;
        let is_name =
            !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_.$".contains(c));
        let before = if is_name { self.text_of(name)? } else { name.to_owned() };
        let file = tempfile::Builder::new()
            .prefix("tally-edit-")
            .suffix(".js")
            .tempfile()
            .and_then(|file| fs::write(file.path(), &before).map(|()| file))
            .map_err(|error| Error::Usage(format!("cannot make a file to edit: {error}")))?;
        // The variable may hold arguments (`code --wait`), so a shell reads it, as it does for every program that obeys it.
        let status = Command::new("sh")
            .args(["-c", &format!("{editor} \"$1\""), "sh"])
            .arg(file.path())
            .status()
            .map_err(|error| Error::Usage(format!("cannot start {editor}: {error}")))?;
        if !status.success() {
            let code = status.code().unwrap_or(-1);
            let text = format!("editor exited with error ({code}), not applying changes");
            return Err(Error::Usage(text));
        }
        let after = fs::read_to_string(file.path())
            .map_err(|error| Error::Usage(format!("cannot read what was edited: {error}")))?;
        let after = after.trim_end();
        if after == before {
            return Ok(());
        }
        let text = if is_name { format!("{name} = {after}") } else { after.to_owned() };
        let input = dialect::parse(&text, Source::Prompt);
        let echo = if is_name { super::Echo::None } else { super::Echo::Each };
        self.input(&input, &text, TYPED, echo)
    }

    /// The editor: the global `EDITOR`, as the classic shell has it, or the environment's.
    fn editor(&mut self) -> Result<String> {
        if self.script.defines("EDITOR")
            && let Shown::Value(bson::Bson::String(editor)) = self.value_of("EDITOR")?
        {
            return Ok(editor);
        }
        env::var("EDITOR").ok().filter(|editor| !editor.is_empty()).ok_or_else(|| {
            Error::Usage(match self.emulate {
                Emulate::Mongo => {
                    "please define EDITOR as a JavaScript string or as an environment variable"
                        .to_owned()
                }
                Emulate::Mongosh => {
                    "Command failed with an error: please define an external editor".to_owned()
                }
            })
        })
    }

    fn value_of(&mut self, expression: &str) -> Result<Shown> {
        let code = dialect::Code::plain(expression, 0..expression.len());
        let answer = self.script.eval(&code, TYPED, expression)?;
        self.script.show(&answer)
    }

    /// The source of a value: of a function its text, of anything else what `tojson` writes, since that can be read
    /// back. A name that nothing has yet is empty.
    fn text_of(&mut self, name: &str) -> Result<String> {
        match self.value_of(name) {
            Ok(Shown::Function { source, .. }) => Ok(source),
            Ok(Shown::Undefined) => Ok(String::new()),
            Ok(shown) => Ok(mongo::tojson(&shown, "", None)),
            Err(Error::Thrown(thrown)) if thrown.name == "ReferenceError" => Ok(String::new()),
            Err(error) => Err(error),
        }
    }
}
