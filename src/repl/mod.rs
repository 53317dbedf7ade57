//! The interactive prompt: reading lines, completing, highlighting, remembering.
//!
//! The terminal belongs to this room while somebody types, and to the session while something runs. What is typed is cut
//! into inputs by `dialect`, run by `session`; only this room names `rustyline`.

mod assistant;
mod banner;
mod complete;
mod history;
mod lines;
mod names;
mod operators;
mod password;
mod secret;

pub use password::ask as ask_password;

use std::cell::RefCell;

use assistant::Assistant;
use lines::{Lines, Typed};

use crate::error::Error;
use crate::session::{Outcome, Session};
use crate::shell::{Emulate, words};

/// How the prompt behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// No banner and no `bye`.
    pub quiet: bool,
}

/// Talks with the user until they leave. Answers with the exit they asked for, or how the last input ended. `words`, if
/// there are any, are for the tutor, who then greets the user.
pub fn run(session: &mut Session, settings: &Settings, words: &[String]) -> Outcome {
    let shared = RefCell::new(session);
    let outcome = Lines::open(Assistant::new(&shared), history::place()).and_then(|mut lines| {
        shared.borrow_mut().set_size(lines.size());
        shared.borrow_mut().remember_typed(lines.remembered());
        match shared.borrow_mut().tell_tutor(words) {
            exit @ Outcome::Exit(_) => return Ok((exit, Leave::Silent)),
            Outcome::Done | Outcome::Failed => {}
        }
        converse(&mut lines, &shared)
    });
    let session = shared.into_inner();
    match outcome {
        Ok((outcome, Leave::Taken)) => goodbye(session, settings, outcome),
        Ok((outcome, Leave::Silent)) => outcome,
        Err(error) => {
            session.fail(&Error::Usage(format!("cannot read from the terminal: {error}")))
        }
    }
}

/// The banner, before anything runs.
pub fn greet(session: &mut Session) -> Outcome {
    let home = etcetera::home_dir().ok();
    let lessons = words::word("learn").is_some();
    let banner = banner::banner(session.emulate(), &session.topology(), home.as_deref(), lessons);
    match session.say(&banner) {
        Ok(()) => Outcome::Done,
        Err(error) => session.fail(&error),
    }
}

/// The classic shell takes leave when the user has.
fn goodbye(session: &mut Session, settings: &Settings, outcome: Outcome) -> Outcome {
    if settings.quiet || session.emulate() == Emulate::Mongosh {
        return outcome;
    }
    match session.say("bye") {
        Ok(()) => outcome,
        Err(error) => session.fail(&error),
    }
}

/// Whether the user took leave of the classic shell: by Ctrl-D or the bare word `exit`, but not by `quit()`.
enum Leave {
    Taken,
    Silent,
}

/// Input after input, until the user leaves.
fn converse(
    lines: &mut Lines<Assistant<'_, '_>>,
    shared: &RefCell<&mut Session>,
) -> rustyline::Result<(Outcome, Leave)> {
    let mut last = Outcome::Done;
    loop {
        let prompt = prompt(&mut shared.borrow_mut());
        let preferences = shared.borrow_mut().preferences();
        lines.edit_as_vi(preferences.vi);
        let typed = lines.read(&prompt)?;
        shared.borrow_mut().set_size(lines.size());
        match typed {
            Typed::Inputs(text, entries) => {
                if !secret::is_secret(&text) {
                    shared.borrow_mut().remember_typed([text]);
                }
                for entry in &entries {
                    last = shared.borrow_mut().submit(entry);
                    if let Outcome::Exit(_) = last {
                        let word = entry.text.trim() == "exit";
                        return Ok((last, if word { Leave::Taken } else { Leave::Silent }));
                    }
                    if shared.borrow().interrupted() {
                        break;
                    }
                }
                lines.helper().forget();
            }
            Typed::Nothing => {
                if let exit @ Outcome::Exit(_) = shared.borrow_mut().nothing_typed() {
                    return Ok((exit, Leave::Silent));
                }
                lines.helper().forget();
            }
            Typed::Interrupted { idle: false } => {}
            Typed::Interrupted { idle: true } => {
                if shared.borrow_mut().say("(Ctrl-D or exit leaves)").is_err() {
                    return Ok((last, Leave::Silent));
                }
            }
            Typed::End => return Ok((last, Leave::Taken)),
        }
    }
}

/// What stands before the cursor: the user's own prompt, or the database's name; before that, where in a lesson they are.
fn prompt(session: &mut Session) -> String {
    let own = session.own_prompt();
    let prompt = own.unwrap_or_else(|| banner::prompt(&session.db(), &session.topology()));
    session.standing() + &prompt
}
