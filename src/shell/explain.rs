//! `db.c.explain()`: the methods of a collection, explained by the server instead of run.

use bson::raw::cstr;
use bson::{RawArrayBuf, RawBson, RawDocumentBuf, rawdoc};

use super::collection::{deletion, filter, statement};
use super::command::{Command, field, truthy};
use super::cursor::Query;
use super::held::Held;
use super::refusal::usage;
use super::rows::native;
use super::{Call, Class, Reply, help};
use crate::error::Result;

/// A collection and how much to tell.
#[derive(Clone)]
pub(super) struct Explained {
    db: String,
    collection: String,
    verbosity: String,
}

/// `db.c.explain(verbosity)`.
pub(super) const EXPLAINABLE: Class = Class::instances(
    "Explainable",
    "Explainable",
    "what db.c.explain() answers",
    &[
        native("aggregate", "(pipeline, options)", "explains an aggregation", aggregate),
        native("count", "(query)", "explains a count", count),
        native("distinct", "(key, query)", "explains a distinct", distinct),
        native("find", "(query, projection)", "explains a query", find),
        native(
            "findAndModify",
            "({query, update, ...})",
            "explains a findAndModify",
            find_and_modify,
        ),
        native("getCollection", "()", "the collection", collection),
        native("getVerbosity", "()", "how much it tells", verbosity),
        native("help", "()", "this list", |call| help::object(call, "Explainable")),
        native("remove", "(query, justOne)", "explains a remove", remove),
        native("toString", "()", "whose methods are explained", text),
        native("update", "(query, update, options)", "explains an update", update),
    ],
);

/// Starts explaining.
pub(super) fn start(call: &mut Call<'_>) -> Result<Reply> {
    let (db, collection) = call.collection()?;
    let verbosity = super::cursor::verbosity(call.value(0))?;
    let held = Held::Explained(Explained { db, collection, verbosity });
    Ok(Reply::Handle("Explainable", call.shell.held.insert(held)))
}

fn text(call: &mut Call<'_>) -> Result<Reply> {
    let Explained { db, collection, .. } = explained(call)?;
    Ok(Reply::Value(RawBson::String(format!("Explainable({db}.{collection})"))))
}

fn explained(call: &mut Call<'_>) -> Result<Explained> {
    let handle = call.handle()?;
    match call.shell.held.get_mut(handle) {
        Some(Held::Explained(explained)) => Ok(explained.clone()),
        _ => Err(usage("this is no explain()")),
    }
}

fn send(call: &Call<'_>, explained: &Explained, body: RawDocumentBuf) -> Result<Reply> {
    let body = Command::new(cstr!("explain"), body)
        .with(cstr!("verbosity"), explained.verbosity.as_str())
        .body();
    let reply = call.shell.run(&explained.db, body);
    let reply = reply.map_err(|error| call.shell.failed(error, "explain"))?;
    Ok(Reply::Served(RawBson::Document(reply)))
}

fn find(call: &mut Call<'_>) -> Result<Reply> {
    let explained = explained(call)?;
    let filter = filter(call.shell, call.value(0))?;
    let mut query = Query::new(explained.db.clone(), explained.collection.clone(), filter);
    if let Some(projection) = call.value(1) {
        query.set(cstr!("projection"), projection.clone());
    }
    query.explained = Some(explained.verbosity);
    let handle = call.shell.held.insert(Held::Query(Box::new(query)));
    Ok(Reply::Handle("Cursor", handle))
}

fn count(call: &mut Call<'_>) -> Result<Reply> {
    let explained = explained(call)?;
    let query = filter(call.shell, call.value(0))?;
    let body = Command::new(cstr!("count"), explained.collection.as_str())
        .with(cstr!("query"), query)
        .body();
    send(call, &explained, body)
}

fn distinct(call: &mut Call<'_>) -> Result<Reply> {
    let explained = explained(call)?;
    let query = filter(call.shell, call.value(1))?;
    let body = Command::new(cstr!("distinct"), explained.collection.as_str())
        .maybe(cstr!("key"), call.value(0).cloned())
        .with(cstr!("query"), query)
        .body();
    send(call, &explained, body)
}

fn aggregate(call: &mut Call<'_>) -> Result<Reply> {
    let explained = explained(call)?;
    let (pipeline, options) = match call.value(0) {
        Some(RawBson::Array(pipeline)) => (pipeline.clone(), call.options(1)),
        _ => (call.arguments.iter().map(RawBson::as_raw_bson_ref).collect(), None),
    };
    let mut body = Command::new(cstr!("aggregate"), explained.collection.as_str())
        .with(cstr!("pipeline"), pipeline);
    if let Some(options) = options {
        body = body.options(&options, &["cursor", "explain"]);
    }
    send(call, &explained, body.with(cstr!("cursor"), rawdoc! {}).body())
}

fn find_and_modify(call: &mut Call<'_>) -> Result<Reply> {
    let explained = explained(call)?;
    let options = call.options(0).unwrap_or_default();
    let body = Command::new(cstr!("findAndModify"), explained.collection.as_str())
        .options(&options, &[])
        .body();
    send(call, &explained, body)
}

fn update(call: &mut Call<'_>) -> Result<Reply> {
    let explained = explained(call)?;
    let query = filter(call.shell, call.value(0))?;
    let Some(update) = call.value(1).cloned() else {
        return Err(usage("need an update object or pipeline"));
    };
    let options = call.options(2);
    let flag = |name: &str, at| match &options {
        Some(options) => field(options, name).is_some_and(truthy),
        None => call.truthy(at),
    };
    let statement =
        statement(query, update, flag("multi", 3), flag("upsert", 2), options.as_deref());
    let updates: RawArrayBuf = [statement].iter().collect();
    let body = Command::new(cstr!("update"), explained.collection.as_str())
        .with(cstr!("updates"), updates)
        .body();
    send(call, &explained, body)
}

fn remove(call: &mut Call<'_>) -> Result<Reply> {
    let explained = explained(call)?;
    let query = filter(call.shell, call.value(0))?;
    let just_one = match call.options(1) {
        Some(options) => field(&options, "justOne").is_some_and(truthy),
        None => call.truthy(1),
    };
    let deletes: RawArrayBuf = [deletion(query, i32::from(just_one), None)].iter().collect();
    let body = Command::new(cstr!("delete"), explained.collection.as_str())
        .with(cstr!("deletes"), deletes)
        .body();
    send(call, &explained, body)
}

fn collection(call: &mut Call<'_>) -> Result<Reply> {
    let explained = explained(call)?;
    Ok(Reply::Collection(explained.db, explained.collection))
}

fn verbosity(call: &mut Call<'_>) -> Result<Reply> {
    Ok(Reply::Value(RawBson::String(explained(call)?.verbosity)))
}
