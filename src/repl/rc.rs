//! The file that runs before the first prompt.

use std::path::{Path, PathBuf};

use crate::session::{Outcome, Session};
use crate::shell::Emulate;

/// The files looked for in the home, best first: tally's own, then that of the emulated shell.
fn names(emulate: Emulate) -> [&'static str; 2] {
    match emulate {
        Emulate::Mongo => [".tallyrc.js", ".mongorc.js"],
        Emulate::Mongosh => [".tallyrc.js", ".mongoshrc.js"],
    }
}

/// Runs the user's file, if there is one. When it fails the user is told which file that was, and the prompt comes
/// nevertheless: a mistake in it must not lock anybody out.
pub(super) fn run(session: &mut Session) -> Outcome {
    let home = etcetera::home_dir().ok();
    let Some(file) = home.and_then(|home| find(&home, session.emulate())) else {
        return Outcome::Done;
    };
    let outcome = session.load(&file);
    if outcome == Outcome::Failed {
        session.notice(&format!("{} could not be run to its end; --norc skips it", file.display()));
    }
    outcome
}

fn find(home: &Path, emulate: Emulate) -> Option<PathBuf> {
    names(emulate).iter().map(|name| home.join(name)).find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

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
}
