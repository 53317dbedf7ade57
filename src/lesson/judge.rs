//! Whether a step is solved: by the state of things, never by the text that was typed.

use bson::Bson;

use super::page::Exercise;
use super::sandbox::Sandbox;
use crate::error::{Error, Result};
use crate::print::{Shown, mongo};
use crate::session::{Question, Session};

/// What was found.
#[derive(Debug, PartialEq)]
pub(super) enum Found {
    /// The check has passed.
    Solved,
    /// A mistake was recognised: its place, and the fields that its check answered with.
    Mistake(usize, Vec<(String, String)>),
    /// Neither.
    NotYet,
}

/// Asks the check, then each mistake. What they throw counts as no.
///
/// # Errors
/// [`Error::Interrupted`], [`Error::Exit`].
pub(super) fn judge(
    session: &mut Session,
    sandbox: &Sandbox,
    exercise: &Exercise,
    failed: Option<&Error>,
) -> Result<Found> {
    if truthy(&ask(session, sandbox, &exercise.check, failed)?) {
        return Ok(Found::Solved);
    }
    for (at, mistake) in exercise.mistakes.iter().enumerate() {
        let answer = ask(session, sandbox, &mistake.check, failed)?;
        if truthy(&answer) {
            return Ok(Found::Mistake(at, fields(&answer)));
        }
    }
    Ok(Found::NotYet)
}

/// The answer of a check; `undefined` when it throws.
fn ask(
    session: &mut Session,
    sandbox: &Sandbox,
    code: &str,
    failed: Option<&Error>,
) -> Result<Shown> {
    let commands = sandbox.witness().commands();
    let (db, seed) = (sandbox.db(), sandbox.seed());
    let question = Question { code, db, commands, error: failed, seed };
    match session.ask(&question, &sandbox.unseen().backend) {
        Ok(shown) => Ok(shown),
        Err(error) if error.stops() => Err(error),
        Err(_) => Ok(Shown::Undefined),
    }
}

/// Whether JavaScript counts a value as true.
fn truthy(shown: &Shown) -> bool {
    match shown {
        Shown::Undefined => false,
        Shown::Number(number) => *number != 0.0 && !number.is_nan(),
        Shown::Value(value) => match value {
            Bson::Null | Bson::Undefined | Bson::Boolean(false) => false,
            Bson::String(text) => !text.is_empty(),
            _ => true,
        },
        Shown::Text(text) => !text.is_empty(),
        _ => true,
    }
}

/// The fields of a document, as text.
fn fields(shown: &Shown) -> Vec<(String, String)> {
    let Shown::Object(object) = shown else { return Vec::new() };
    let text = |value: &Shown| match value {
        Shown::Value(Bson::String(text)) => text.clone(),
        value => mongo::tojson(value, "", Some(true)),
    };
    object.fields.iter().map(|(name, value)| (name.clone(), text(value))).collect()
}
