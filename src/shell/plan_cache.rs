//! `db.c.getPlanCache()`: the plans that the server remembers for a collection.

use bson::raw::{CStr, cstr};
use bson::{RawArrayBuf, RawBson, rawdoc};

use super::command::Command;
use super::cursor::open_stream;
use super::held::Held;
use super::refusal::usage;
use super::rows::native;
use super::{Call, Class, Reply, Shells, help};
use crate::error::Result;

/// What `getPlanCache` answers.
pub(super) const PLAN_CACHE: Class = Class::instances(
    "PlanCache",
    "PlanCache",
    "the plans that the server remembers for a collection",
    &[
        native("clear", "()", "forgets all plans", clear),
        native(
            "clearPlansByQuery",
            "(query, projection, sort)",
            "forgets the plans of one query",
            clear_one,
        ),
        native("help", "()", "this list", |call| help::object(call, "PlanCache")),
        native("list", "(pipeline)", "the plans that are remembered", list),
        native("toString", "()", "whose plans they are", text),
        native("tojson", "()", "whose plans they are", text).only(Shells::Mongo),
    ],
);

/// Database and collection of a plan cache.
#[derive(Clone)]
pub(super) struct PlanCache {
    db: String,
    collection: String,
}

/// `db.c.getPlanCache()`.
pub(super) fn start(call: &mut Call<'_>) -> Result<Reply> {
    let (db, collection) = call.collection()?;
    let held = Held::PlanCache(PlanCache { db, collection });
    Ok(Reply::Handle("PlanCache", call.shell.held.insert(held)))
}

fn own(call: &mut Call<'_>) -> Result<PlanCache> {
    let handle = call.handle()?;
    match call.shell.held.get_mut(handle) {
        Some(Held::PlanCache(cache)) => Ok(cache.clone()),
        _ => Err(usage("this is no plan cache")),
    }
}

fn text(call: &mut Call<'_>) -> Result<Reply> {
    let name = own(call)?.collection;
    Ok(Reply::Value(RawBson::String(format!("PlanCache for collection {name}."))))
}

fn list(call: &mut Call<'_>) -> Result<Reply> {
    let own = own(call)?;
    let mut pipeline = RawArrayBuf::new();
    pipeline.push(rawdoc! { "$planCacheStats": {} });
    if let Some(RawBson::Array(more)) = call.value(0) {
        for stage in more.into_iter().flatten() {
            pipeline.push(stage);
        }
    }
    let body = Command::new(cstr!("aggregate"), own.collection.as_str())
        .with(cstr!("pipeline"), pipeline)
        .with(cstr!("cursor"), rawdoc! {});
    let plans = open_stream(call.shell, &own.db, body.body()).and_then(|mut stream| stream.rest());
    plans.map(Reply::Documents).map_err(|error| call.shell.failed(error, "PlanCache.list"))
}

fn clear(call: &mut Call<'_>) -> Result<Reply> {
    forget(call, &[])
}

fn clear_one(call: &mut Call<'_>) -> Result<Reply> {
    if call.value(0).is_none() {
        return Err(usage("clearPlansByQuery needs a query"));
    }
    forget(call, &[cstr!("query"), cstr!("projection"), cstr!("sort"), cstr!("collation")])
}

/// Sends `planCacheClear` with the arguments under these names.
fn forget(call: &mut Call<'_>, names: &[&CStr]) -> Result<Reply> {
    let own = own(call)?;
    let mut command = Command::new(cstr!("planCacheClear"), own.collection.as_str());
    for (at, name) in names.iter().enumerate() {
        command = command.maybe(name, call.value(at).cloned());
    }
    let reply = call.shell.run(&own.db, command.body());
    let reply = reply.map_err(|error| call.shell.failed(error, "planCacheClear"))?;
    // The old shell answers nothing.
    Ok(if call.shell.classic() { Reply::Nothing } else { Reply::Served(RawBson::Document(reply)) })
}
