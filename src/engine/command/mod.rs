//! The database commands: one row each, compiled from a document and then run.
//!
//! A command reads its fields with `fields::Fields`, strict as the server; whatever is wrong with it is refused before
//! anything is done.

mod administration;
mod aggregate;
mod capped;
mod context;
mod cursor;
mod definition;
mod expiry;
mod explain;
mod fields;
mod find_and_modify;
mod information;
mod map_reduce;
mod modify;
mod name;
mod output;
mod read;
mod reply;
mod retry;
mod scan;
mod search;
mod spool;
mod storable;
mod target;
mod write;

pub(crate) use context::Tally;
pub(crate) use cursor::Cursors;
pub(super) use expiry::start as start_expiry;
pub(crate) use find_and_modify::Plans;
pub use retry::Retry;

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use bson::RawDocumentBuf;

use super::{Request, Shared};
use crate::error::{Error, Result};
use crate::refuse;

use context::Context;
use retry::Retried;

/// One command.
pub struct Command {
    /// Its name, as it is typed.
    pub name: &'static str,
    /// Other names of it.
    pub aliases: &'static [&'static str],
    /// One line of help.
    pub help: &'static str,
    /// Whether it runs on the database `admin` only.
    pub admin_only: bool,
    /// Runs it.
    run: fn(&Context<'_>) -> Result<RawDocumentBuf>,
}

/// The commands, family by family; sorted within each.
const FAMILIES: &[&[Command]] = &[
    administration::COMMANDS,
    aggregate::COMMANDS,
    capped::COMMANDS,
    definition::COMMANDS,
    explain::COMMANDS,
    find_and_modify::COMMANDS,
    information::COMMANDS,
    map_reduce::COMMANDS,
    modify::COMMANDS,
    read::COMMANDS,
    write::COMMANDS,
];

/// All commands.
pub fn commands() -> impl Iterator<Item = &'static Command> {
    FAMILIES.iter().copied().flatten()
}

/// The command of this name, or of this other name.
fn command(name: &str) -> Option<&'static Command> {
    static BY_NAME: LazyLock<HashMap<&str, &Command>> = LazyLock::new(|| {
        let names = |row: &'static Command| row.aliases.iter().copied().chain([row.name]);
        commands().flat_map(|row| names(row).map(move |name| (name, row))).collect()
    });
    BY_NAME.get(name).copied()
}

/// Runs one command.
pub(super) fn run(shared: &Arc<Shared>, request: &Request) -> Result<RawDocumentBuf> {
    run_once(shared, request, None)
}

/// Runs one command, which may have come before.
pub(super) fn run_once(
    shared: &Arc<Shared>,
    request: &Request,
    retry: Option<Retry>,
) -> Result<RawDocumentBuf> {
    let Some(first) = request.body.iter().next() else {
        return Err(refuse!(FAILED_TO_PARSE, "the command is empty"));
    };
    let (name, _) = first.map_err(|error| refuse!(INVALID_BSON, "{error}"))?;
    let row = command(name.as_str())
        .ok_or_else(|| refuse!(COMMAND_NOT_FOUND, "no such command: '{}'", name.as_str()))?;
    if row.admin_only && request.db != "admin" {
        return Err(refuse!(
            UNAUTHORIZED,
            "{} may only be run against the admin database.",
            row.name
        ));
    }
    name::check_database(&request.db)?;
    let mut context = Context::new(shared, request)?;
    if let Some(retry) = retry {
        let retried = Retried::look_up(context.storage(), retry)?;
        if let Some(reply) = retried.reply() {
            return Ok(reply);
        }
        context.retried = Some(retried);
    }
    (row.run)(&context)
}

/// The error of a command that needs what is not there.
fn unsupported(what: &str) -> Error {
    refuse!(COMMAND_NOT_SUPPORTED, "{what} is not supported by the embedded engine")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_family_is_sorted_and_no_name_is_taken_twice() {
        for family in FAMILIES {
            assert!(family.is_sorted_by_key(|row| row.name));
        }
        let mut names: Vec<_> =
            commands().flat_map(|row| row.aliases.iter().copied().chain([row.name])).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
    }
}
