//! The chained methods: each sets one option of a query that was not sent yet.

use bson::raw::{CStr, cstr};
use bson::{RawBson, rawdoc};

use super::Query;
use crate::backend::PATIENCE;
use crate::error::Result;
use crate::shell::command::whole;
use crate::shell::concern::PREFERENCE;
use crate::shell::held::Held;
use crate::shell::mongo::preference;
use crate::shell::refusal::{raised, usage};
use crate::shell::{Call, Emulate, Reply, Shell};

/// The query behind the receiver, while it can still be changed.
fn open<'a>(call: &'a mut Call<'_>) -> Result<&'a mut Query> {
    let handle = call.handle()?;
    let emulate = call.shell.emulate;
    match query(call.shell, handle)? {
        query if query.stream.is_none() => Ok(query),
        _ => Err(match emulate {
            Emulate::Mongo => usage("query already executed"),
            Emulate::Mongosh => raised("MongoCursorInUseError", "Cursor is already initialized"),
        }),
    }
}

/// The query that `handle` stands for.
pub(super) fn query(shell: &mut Shell, handle: u32) -> Result<&mut Query> {
    match shell.held.get_mut(handle) {
        Some(Held::Query(query)) => Ok(query),
        _ => Err(usage("this cursor has no query")),
    }
}

/// Sets an option to the first argument, or leaves it out when that was left out.
fn option(call: &mut Call<'_>, key: &'static CStr) -> Result<Reply> {
    let value = call.value(0).cloned();
    let query = open(call)?;
    match value {
        Some(value) => query.set(key, value),
        None => query.options.retain(|(known, _)| *known != key),
    }
    Ok(Reply::This)
}

/// Sets a switch: on unless the first argument says off.
fn switch(call: &mut Call<'_>, key: &'static CStr) -> Result<Reply> {
    let on = call.arguments.is_empty() || call.truthy(0);
    open(call)?.set(key, on);
    Ok(Reply::This)
}

/// The first argument as a whole number, 0 when it was left out.
fn count(call: &Call<'_>) -> Result<i64> {
    match call.value(0) {
        None => Ok(0),
        Some(value) => whole(value.as_raw_bson_ref())
            .ok_or_else(|| usage(format!("{} needs a number", call.method))),
    }
}

pub(super) fn limit(call: &mut Call<'_>) -> Result<Reply> {
    let count = count(call)?;
    open(call)?.limit = count;
    Ok(Reply::This)
}

pub(super) fn skip(call: &mut Call<'_>) -> Result<Reply> {
    let count = count(call)?;
    open(call)?.skip = count;
    Ok(Reply::This)
}

pub(super) fn batch_size(call: &mut Call<'_>) -> Result<Reply> {
    let count = count(call)?;
    let size = i32::try_from(count).map_or(RawBson::Int64(count), RawBson::Int32);
    open(call)?.set(cstr!("batchSize"), size);
    Ok(Reply::This)
}

/// The batch size of an aggregation is settled by then; the call is allowed and has no effect.
pub(super) fn later_batch_size(call: &mut Call<'_>) -> Result<Reply> {
    count(call)?;
    Ok(Reply::This)
}

pub(super) fn sort(call: &mut Call<'_>) -> Result<Reply> {
    option(call, cstr!("sort"))
}

pub(super) fn hint(call: &mut Call<'_>) -> Result<Reply> {
    option(call, cstr!("hint"))
}

pub(super) fn projection(call: &mut Call<'_>) -> Result<Reply> {
    option(call, cstr!("projection"))
}

pub(super) fn collation(call: &mut Call<'_>) -> Result<Reply> {
    option(call, cstr!("collation"))
}

pub(super) fn comment(call: &mut Call<'_>) -> Result<Reply> {
    option(call, cstr!("comment"))
}

pub(super) fn max(call: &mut Call<'_>) -> Result<Reply> {
    option(call, cstr!("max"))
}

pub(super) fn min(call: &mut Call<'_>) -> Result<Reply> {
    option(call, cstr!("min"))
}

pub(super) fn max_time(call: &mut Call<'_>) -> Result<Reply> {
    option(call, cstr!("maxTimeMS"))
}

pub(super) fn max_await(call: &mut Call<'_>) -> Result<Reply> {
    // The backend hands it to the getMores.
    option(call, PATIENCE)
}

pub(super) fn allow_disk_use(call: &mut Call<'_>) -> Result<Reply> {
    switch(call, cstr!("allowDiskUse"))
}

pub(super) fn allow_partial(call: &mut Call<'_>) -> Result<Reply> {
    open(call)?.set(cstr!("allowPartialResults"), true);
    Ok(Reply::This)
}

pub(super) fn no_timeout(call: &mut Call<'_>) -> Result<Reply> {
    switch(call, cstr!("noCursorTimeout"))
}

pub(super) fn return_key(call: &mut Call<'_>) -> Result<Reply> {
    switch(call, cstr!("returnKey"))
}

pub(super) fn show_record_id(call: &mut Call<'_>) -> Result<Reply> {
    switch(call, cstr!("showRecordId"))
}

pub(super) fn tailable(call: &mut Call<'_>) -> Result<Reply> {
    let awaits = call.truthy(0);
    let query = open(call)?;
    query.set(cstr!("tailable"), true);
    if awaits {
        query.set(cstr!("awaitData"), true);
    }
    Ok(Reply::This)
}

pub(super) fn read_concern(call: &mut Call<'_>) -> Result<Reply> {
    let level = call.text(0, "level")?.map(ToOwned::to_owned);
    let query = open(call)?;
    if let Some(level) = level {
        query.set(cstr!("readConcern"), rawdoc! { "level": level });
    }
    Ok(Reply::This)
}

pub(super) fn read_pref(call: &mut Call<'_>) -> Result<Reply> {
    let preference = preference(call)?;
    let query = open(call)?;
    if let Some(preference) = preference {
        query.set(PREFERENCE, preference);
    }
    Ok(Reply::This)
}

/// Any cursor may be made pretty at any time; mongosh always is.
pub(super) fn pretty(call: &mut Call<'_>) -> Result<Reply> {
    let handle = call.handle()?;
    match call.shell.held.get_mut(handle) {
        Some(Held::Query(query)) => query.pretty = true,
        Some(Held::Command(cursor)) => cursor.pretty = true,
        _ => {}
    }
    Ok(Reply::This)
}

/// The flags of the old wire protocol and the options of `find` they stand for.
const FLAGS: &[(i64, &CStr)] = &[
    (2, cstr!("tailable")),
    (16, cstr!("noCursorTimeout")),
    (32, cstr!("awaitData")),
    (128, cstr!("allowPartialResults")),
];

pub(super) fn add_option(call: &mut Call<'_>) -> Result<Reply> {
    let flags = count(call)?;
    let query = open(call)?;
    for (flag, key) in FLAGS {
        if flags & flag != 0 {
            query.set(key, true);
        }
    }
    Ok(Reply::This)
}
