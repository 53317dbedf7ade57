//! findAndModify and its three descendants: one document, changed and returned in one step.

use bson::raw::cstr;
use bson::{RawBson, RawDocument, RawDocumentBuf};

use super::write::{filter, must_be_replacement, must_have_operators};
use crate::error::Result;
use crate::shell::command::{Command, field, key_of, owned, truthy};
use crate::shell::refusal::{invalid_input, missing_argument, usage};
use crate::shell::{Call, Reply};

/// `findAndModify({query, sort, update, remove, new, fields, upsert, ...})`.
///
/// Keys nobody knows go to the server, which refuses them by name.
pub(super) fn find_and_modify(call: &mut Call<'_>) -> Result<Reply> {
    let (db, name) = call.collection()?;
    let options = match call.value(0) {
        Some(RawBson::Document(options)) => options,
        None if !call.shell.classic() => {
            return Err(missing_argument(0, "Collection.findAndModify"));
        }
        _ => {
            return Err(usage("findAndModify needs one object: {query, update, new, upsert, ...}"));
        }
    };
    let command = Command::new(cstr!("findAndModify"), name.as_str());
    let body = if call.shell.classic() {
        command.options(options, &["findAndModify", "findandmodify"]).body()
    } else {
        let changes = ["update", "remove"].iter().any(|key| field(options, key).is_some());
        if !changes {
            return Err(invalid_input("Must specify options.update or options.remove"));
        }
        // mongosh knows both names of the projection.
        let command = command.options(options, &["findAndModify", "findandmodify", "projection"]);
        command.maybe(cstr!("fields"), owned(options, "projection")).body()
    };
    modify(call, &db, &name, body)
}

/// Sends the command and answers with the document.
fn modify(call: &Call<'_>, db: &str, name: &str, mut body: RawDocumentBuf) -> Result<Reply> {
    if let Some(concern) = call.shell.concern(db, name)
        && field(&body, "writeConcern").is_none()
    {
        body.append(cstr!("writeConcern"), concern);
    }
    let reply = call
        .shell
        .run(db, body)
        .map_err(|error| call.shell.failed(error, "findAndModifyFailed"))?;
    Ok(match field(&reply, "value") {
        Some(value) => Reply::Served(value.into()),
        None => Reply::Value(RawBson::Null),
    })
}

/// Which document the options ask for. All three spellings are honoured, whichever shell is emulated.
fn wants_new(options: &RawDocument) -> Result<bool> {
    let spelled = match field(options, "returnDocument") {
        None => false,
        Some(value) => match value.as_str() {
            Some("after") => true,
            Some("before") => false,
            _ => return Err(usage("returnDocument must be \"after\" or \"before\"")),
        },
    };
    let old = field(options, "returnOriginal").map(truthy);
    Ok(spelled || field(options, "returnNewDocument").is_some_and(truthy) || old == Some(false))
}

/// Which of the three is called.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Change {
    Update,
    Replace,
    Delete,
}

pub(super) fn find_one_and_update(call: &mut Call<'_>) -> Result<Reply> {
    find_one_and(call, Change::Update, "Collection.findOneAndUpdate")
}

pub(super) fn find_one_and_replace(call: &mut Call<'_>) -> Result<Reply> {
    find_one_and(call, Change::Replace, "Collection.findOneAndReplace")
}

pub(super) fn find_one_and_delete(call: &mut Call<'_>) -> Result<Reply> {
    find_one_and(call, Change::Delete, "Collection.findOneAndDelete")
}

/// Options that go to the server under their own name.
const PASSED: &[&str] = &[
    "sort",
    "maxTimeMS",
    "collation",
    "arrayFilters",
    "hint",
    "let",
    "comment",
    "bypassDocumentValidation",
    "writeConcern",
];

fn find_one_and(call: &mut Call<'_>, change: Change, method: &str) -> Result<Reply> {
    let (db, name) = call.collection()?;
    if call.value(0).is_none() && !call.shell.classic() {
        return Err(missing_argument(0, method));
    }
    let query = filter(call.shell, call.value(0))?;
    let mut command =
        Command::new(cstr!("findAndModify"), name.as_str()).with(cstr!("query"), query);
    let at = if change == Change::Delete {
        command = command.with(cstr!("remove"), true);
        1
    } else {
        let Some(update) = call.value(1) else {
            let missing = missing_argument(1, method);
            return Err(call.shell.wrong("need an update object or pipeline", missing));
        };
        match change {
            Change::Replace => must_be_replacement(call.shell, update)?,
            Change::Update | Change::Delete => must_have_operators(call.shell, update)?,
        }
        command = command.with(cstr!("update"), update.clone());
        2
    };
    if let Some(options) = call.options(at) {
        let fields = owned(&options, "projection").or_else(|| owned(&options, "fields"));
        command = command.maybe(cstr!("fields"), fields);
        if change != Change::Delete {
            command = command.with(cstr!("new"), wants_new(&options)?);
            command = command.maybe(cstr!("upsert"), field(&options, "upsert").map(truthy));
        }
        for key in PASSED {
            command = command.maybe(&key_of(key), owned(&options, key));
        }
    }
    modify(call, &db, &name, command.body())
}
