//! Bringing a sandbox to where a step begins: setups and solutions run unseen.

use super::page::{Page, Step};
use super::sandbox::Sandbox;
use crate::error::{Error, Result};
use crate::session::{Question, Session};

/// Does the steps before `step`: the setup and the solution of each.
///
/// # Errors
/// What a setup throws; [`Error::Interrupted`].
pub(super) fn before(
    session: &mut Session,
    sandbox: &Sandbox,
    page: &Page,
    step: usize,
) -> Result<()> {
    for step in &page.steps[..step] {
        set_up(session, sandbox, step)?;
        if let Some(exercise) = &step.exercise {
            // A solution may end in an error that is the point of the step.
            unless_stopped(session.type_in_unseen(&exercise.solution))?;
        }
    }
    Ok(())
}

/// Brings an emptied sandbox to where a step begins.
///
/// # Errors
/// As [`before`].
pub(super) fn begin(
    session: &mut Session,
    sandbox: &Sandbox,
    page: &Page,
    step: usize,
) -> Result<()> {
    sandbox.clear(session.interrupt())?;
    before(session, sandbox, page, step)?;
    set_up(session, sandbox, &page.steps[step])
}

/// Runs the setup of a step.
///
/// # Errors
/// What it throws; [`Error::Interrupted`].
pub(super) fn set_up(session: &mut Session, sandbox: &Sandbox, step: &Step) -> Result<()> {
    if step.setup.is_empty() {
        return Ok(());
    }
    let (code, db, seed) = (&step.setup, sandbox.db(), sandbox.seed());
    let question = Question { code, db, commands: Vec::new(), error: None, seed };
    session.ask(&question, &sandbox.unseen().backend).map(drop)
}

/// Runs a solution for everybody to see.
///
/// # Errors
/// [`Error::Interrupted`], [`Error::Exit`].
pub(super) fn aloud(session: &mut Session, solution: &str) -> Result<()> {
    if let Some(error) = unless_stopped(session.type_in(solution))? {
        session.tell_of(&error);
    }
    Ok(())
}

/// The error that an input may end with; what stops everything is passed on.
///
/// # Errors
/// [`Error::Interrupted`], [`Error::Exit`].
pub(super) fn unless_stopped(outcome: Result<()>) -> Result<Option<Error>> {
    match outcome {
        Ok(()) => Ok(None),
        Err(error) if error.stops() => Err(error),
        Err(error) => Ok(Some(error)),
    }
}
