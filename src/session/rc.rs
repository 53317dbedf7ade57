//! The files that run before anything else of the user's: the machine's, and the user's own.

use std::path::{Path, PathBuf};

use super::{Outcome, Session};
use crate::error::Error;
use crate::script::Answer;
use crate::shell::Emulate;

/// What every classic shell on a machine reads first.
const MACHINE: &str = "/etc/mongorc.js";
/// tally's own.
const OWN: &str = ".tallyrc.js";
/// The classic shell's.
const CLASSIC: &str = ".mongorc.js";
/// mongosh's.
const MODERN: &str = ".mongoshrc.js";
/// How the classic shell ends when the user's file throws.
const RC_FAILED: i32 = -5;

impl Session {
    /// Runs the machine's file, which only the classic shell has. When it fails the user is told, and all goes on.
    pub fn machine_rc(&mut self) -> Outcome {
        self.machine_file(Path::new(MACHINE))
    }

    fn machine_file(&mut self, file: &Path) -> Outcome {
        if self.emulate == Emulate::Mongosh || !file.is_file() {
            return Outcome::Done;
        }
        let outcome = self.load(file);
        if outcome == Outcome::Failed {
            self.notice(&format!("The \"{}\" file could not be executed", file.display()));
        }
        outcome
    }

    /// Runs the user's file, before the first prompt. When the classic shell's fails the program ends, as the classic
    /// shell does; with tally's own or mongosh's, or without a database, the prompt comes nevertheless.
    pub fn user_rc(&mut self) -> Outcome {
        match etcetera::home_dir() {
            Ok(home) => self.user_file(&home),
            Err(_) => Outcome::Done,
        }
    }

    fn user_file(&mut self, home: &Path) -> Outcome {
        let Some(file) = find(home, self.emulate) else {
            if self.emulate == Emulate::Mongosh && home.join(CLASSIC).is_file() {
                self.notice(
                    "Warning: Found ~/.mongorc.js, but not ~/.mongoshrc.js. ~/.mongorc.js will not be loaded.\n  \
                     You may want to copy or rename ~/.mongorc.js to ~/.mongoshrc.js.",
                );
            }
            return Outcome::Done;
        };
        match self.script.run_file(&file).and_then(Answer::end) {
            Ok(()) => self.settle(Ok(())),
            Err(error) => self.rc_failed(&file, error),
        }
    }

    fn rc_failed(&mut self, file: &Path, error: Error) -> Outcome {
        let name = file.file_name().unwrap_or_default();
        if name == MODERN && !matches!(error, Error::Exit(_)) {
            self.notice("Error while running ~/.mongoshrc.js:");
        }
        let outcome = self.settle(Err(error));
        match outcome {
            Outcome::Failed if name == CLASSIC && !self.script.shell().db.is_empty() => {
                self.notice(&format!(
                    "The \".mongorc.js\" file located in your home folder could not be executed\n\
                     exiting with code {RC_FAILED}"
                ));
                Outcome::Exit(RC_FAILED)
            }
            Outcome::Failed => {
                let text =
                    format!("{} could not be run to its end; --norc skips it", file.display());
                self.notice(&text);
                Outcome::Done
            }
            Outcome::Done | Outcome::Exit(_) => outcome,
        }
    }
}

/// The first that there is: tally's own, then that of the emulated shell.
fn find(home: &Path, emulate: Emulate) -> Option<PathBuf> {
    let theirs = match emulate {
        Emulate::Mongo => CLASSIC,
        Emulate::Mongosh => MODERN,
    };
    [OWN, theirs].iter().map(|name| home.join(name)).find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io;
    use std::sync::Arc;

    use super::*;
    use crate::backend::Embedded;
    use crate::engine::Location;
    use crate::interrupt::Interrupt;
    use crate::print::Options;
    use crate::script::Limits;
    use crate::session::Settings;
    use crate::shell::{Output, Shell};

    #[test]
    fn tallys_own_file_comes_first_then_the_emulated_shells() {
        let home = tempfile::tempdir().expect("a folder");
        let found = |emulate| {
            find(home.path(), emulate).map(|file| file.file_name().expect("a name").to_owned())
        };
        assert_eq!(found(Emulate::Mongo), None);
        fs::write(home.path().join(".mongorc.js"), "").expect("written");
        assert_eq!(found(Emulate::Mongo).expect("found"), ".mongorc.js");
        assert_eq!(found(Emulate::Mongosh), None);
        fs::write(home.path().join(".tallyrc.js"), "").expect("written");
        assert_eq!(found(Emulate::Mongo).expect("found"), ".tallyrc.js");
        assert_eq!(found(Emulate::Mongosh).expect("found"), ".tallyrc.js");
    }

    #[test]
    fn only_the_classic_shell_reads_the_machines_file_and_goes_on_when_it_fails() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("mongorc.js");
        fs::write(&file, "var read = 1; throw new Error('no')").expect("written");
        let session = |emulate| {
            let backend = Arc::new(Embedded::new(Location::Ephemeral));
            let output = Output::new(io::sink(), io::sink());
            let shell = Shell::new(backend, Interrupt::new(), emulate, "test", output);
            let limits = Limits::default();
            let settings = Settings { limits, options: Options::PROMPT, json: None, prompt: false };
            let mut session = Session::new(shell, settings).expect("a session");
            let outcome = session.machine_file(&file);
            (outcome, session.script.defines("read"))
        };
        assert_eq!(session(Emulate::Mongo), (Outcome::Failed, true));
        assert_eq!(session(Emulate::Mongosh), (Outcome::Done, false));
    }
}
