//! Reads of a collection: find and its relatives, counts, distinct, aggregate, mapReduce.

use bson::raw::cstr;
use bson::{RawArrayBuf, RawBson, RawBsonRef, RawDocument, RawDocumentBuf, rawdoc};

use super::write::filter;
use crate::error::{Code, Error, Result};
use crate::shell::command::{self, Command, field, key_of, number, owned, truthy, whole};
use crate::shell::cursor::{Query, open_stream};
use crate::shell::held::{CommandCursor, Held};
use crate::shell::refusal::{invalid_argument, missing_argument, usage};
use crate::shell::{Call, Reply, Shell};

/// `find(query, projection, limit, skip, batchSize, flags)`, or `find(filter, projection, options)`.
pub(super) fn find(call: &mut Call<'_>) -> Result<Reply> {
    let (db, name) = call.collection()?;
    let query = query(call, db, name)?;
    let handle = call.shell.held.insert(Held::Query(Box::new(query)));
    Ok(Reply::Handle("Cursor", handle))
}

/// The query of the arguments of `find` and `findOne`.
fn query(call: &Call<'_>, db: String, name: String) -> Result<Query> {
    let mut query = Query::new(db, name, filter(call.shell, call.value(0))?);
    if let Some(projection) = call.value(1) {
        query.set(cstr!("projection"), projection.clone());
    }
    match call.options(2) {
        Some(options) => with_options(&mut query, &options),
        None => {
            let number = |at| call.value(at).and_then(|value| whole(value.as_raw_bson_ref()));
            query.limit = number(2).unwrap_or(0);
            query.skip = number(3).unwrap_or(0);
            if let Some(size) = call.value(4) {
                query.set(cstr!("batchSize"), size.clone());
            }
        }
    }
    Ok(query)
}

/// Options of a read, given as an object instead of chained methods.
fn with_options(query: &mut Query, options: &RawDocument) {
    for (key, value) in options.iter().flatten() {
        match key.as_str() {
            "limit" => query.limit = whole(value).unwrap_or(0),
            "skip" => query.skip = whole(value).unwrap_or(0),
            name => {
                let known = [
                    cstr!("allowDiskUse"),
                    cstr!("allowPartialResults"),
                    cstr!("batchSize"),
                    cstr!("collation"),
                    cstr!("comment"),
                    cstr!("hint"),
                    cstr!("let"),
                    cstr!("max"),
                    cstr!("maxTimeMS"),
                    cstr!("min"),
                    cstr!("noCursorTimeout"),
                    cstr!("projection"),
                    cstr!("readConcern"),
                    cstr!("returnKey"),
                    cstr!("showRecordId"),
                    cstr!("sort"),
                    cstr!("tailable"),
                ];
                if let Some(key) = known.into_iter().find(|known| known.as_str() == name) {
                    query.set(key, RawBson::from(value));
                }
            }
        }
    }
}

pub(super) fn find_one(call: &mut Call<'_>) -> Result<Reply> {
    let (db, name) = call.collection()?;
    let mut query = query(call, db, name)?;
    query.limit = -1;
    let reply = call.shell.run(&query.db, query.command());
    let reply = reply.map_err(|error| call.shell.refused(error, "error: ", ""))?;
    let batch = reply.get_document("cursor").and_then(|cursor| cursor.get_array("firstBatch"));
    match batch.ok().and_then(|batch| batch.into_iter().next()) {
        Some(Ok(RawBsonRef::Document(document))) => {
            Ok(Reply::Served(RawBson::Document(document.to_owned())))
        }
        _ => Ok(Reply::Value(RawBson::Null)),
    }
}

/// `count(query, options)`: the server's own count command.
pub(super) fn count(call: &mut Call<'_>) -> Result<Reply> {
    let (db, name) = call.collection()?;
    if !call.shell.classic() {
        call.shell.notice(
            "DeprecationWarning: Collection.count() is deprecated. Use countDocuments or estimatedDocumentCount.",
        );
    }
    let query = filter(call.shell, call.value(0))?;
    let mut body = Command::new(cstr!("count"), name.as_str()).with(cstr!("query"), query);
    if let Some(options) = call.options(1) {
        body = body.options(&options, &["count", "query"]);
    }
    counted(call, &db, body.body())
}

fn counted(call: &Call<'_>, db: &str, body: RawDocumentBuf) -> Result<Reply> {
    let reply = call.shell.run(db, body).map_err(|error| call.shell.failed(error, "count"))?;
    Ok(Reply::Value(number(command::count(&reply, "n"))))
}

pub(super) fn estimated_document_count(call: &mut Call<'_>) -> Result<Reply> {
    let (db, name) = call.collection()?;
    let mut body = Command::new(cstr!("count"), name.as_str());
    if let Some(options) = call.options(0) {
        body = body.options(&options, &["count", "query"]);
    }
    counted(call, &db, body.body())
}

/// `countDocuments(filter, {skip, limit, hint, maxTimeMS, ...})`: an aggregation that really counts.
pub(super) fn count_documents(call: &mut Call<'_>) -> Result<Reply> {
    let (db, name) = call.collection()?;
    let query = filter(call.shell, call.value(0))?;
    let options = call.options(1).unwrap_or_default();
    let mut pipeline = RawArrayBuf::new();
    pipeline.push(rawdoc! { "$match": query });
    for (option, stage) in [("skip", "$skip"), ("limit", "$limit")] {
        if let Some(value) = owned(&options, option) {
            pipeline.push(command::document([(stage.to_owned(), value)]));
        }
    }
    pipeline.push(rawdoc! { "$group": { "_id": 1, "n": { "$sum": 1 } } });
    let body = Command::new(cstr!("aggregate"), name.as_str())
        .with(cstr!("pipeline"), pipeline)
        .options(&options, &["skip", "limit"])
        .with(cstr!("cursor"), rawdoc! {})
        .body();
    let opened = open_stream(call.shell, &db, body).and_then(|mut stream| stream.next());
    let counted = opened.map_err(|error| aggregation_failed(call.shell, error))?;
    let n = counted.map_or(0, |counted| command::count(&counted, "n"));
    Ok(Reply::Value(number(n)))
}

fn aggregation_failed(shell: &Shell, error: Error) -> Error {
    shell.refused(error, "command failed: ", " : aggregate failed")
}

/// `distinct(key, query, options)`.
pub(super) fn distinct(call: &mut Call<'_>) -> Result<Reply> {
    let (db, name) = call.collection()?;
    let key = match call.arguments.first() {
        Some(RawBson::String(key)) => key.clone(),
        None if !call.shell.classic() => {
            let text = "BSON field 'distinct.key' is missing but a required field";
            return Err(Error::command(Code(40414), text));
        }
        other => {
            let text = format!(
                "The first argument to the distinct command must be a string but was a {}",
                type_of(other)
            );
            return Err(call.shell.wrong(&text, invalid_argument(&text)));
        }
    };
    let query = match call.value(1) {
        Some(RawBson::Document(_)) | None => filter(call.shell, call.value(1))?,
        other => {
            let text = format!(
                "The query argument to the distinct command must be a document but was a {}",
                type_of(other)
            );
            return Err(call.shell.wrong(&text, invalid_argument(&text)));
        }
    };
    let mut body = Command::new(cstr!("distinct"), name.as_str())
        .with(cstr!("key"), key)
        .with(cstr!("query"), query);
    if let Some(options) = call.options(2) {
        body = body.options(&options, &[]);
    }
    let reply = call.shell.run(&db, body.body());
    let reply = reply.map_err(|error| call.shell.failed(error, "distinct"))?;
    Ok(Reply::Served(owned(&reply, "values").unwrap_or_else(|| RawBson::Array(RawArrayBuf::new()))))
}

/// What `typeof` says.
fn type_of(value: Option<&RawBson>) -> &'static str {
    match value {
        None | Some(RawBson::Undefined) => "undefined",
        Some(RawBson::String(_)) => "string",
        Some(RawBson::Boolean(_)) => "boolean",
        Some(RawBson::Int32(_) | RawBson::Double(_)) => "number",
        Some(RawBson::JavaScriptCode(_) | RawBson::JavaScriptCodeWithScope(_)) => "function",
        Some(_) => "object",
    }
}

/// `aggregate([stage, ...], options)` or `aggregate(stage, ...)`, on a collection or (target 1) a database.
pub(super) fn aggregate(call: &mut Call<'_>) -> Result<Reply> {
    let (db, name) = call.collection()?;
    aggregation(call, &db, RawBson::String(name))
}

pub(in crate::shell) fn aggregation(
    call: &mut Call<'_>,
    db: &str,
    target: RawBson,
) -> Result<Reply> {
    let (pipeline, options) = match call.value(0) {
        Some(RawBson::Array(pipeline)) => (pipeline.clone(), call.options(1)),
        _ => (call.arguments.iter().map(RawBson::as_raw_bson_ref).collect(), None),
    };
    let options = options.unwrap_or_default();
    let mut body = Command::new(cstr!("aggregate"), target).with(cstr!("pipeline"), pipeline);
    if field(&options, "explain")
        .is_some_and(|explain| explain.as_str().is_some() || truthy(explain))
    {
        return explained(call, db, body, &options);
    }
    let mut cursor = match field(&options, "cursor") {
        Some(RawBsonRef::Document(cursor)) => cursor.to_owned(),
        _ => rawdoc! {},
    };
    if let Some(size) = owned(&options, "batchSize") {
        cursor.append(cstr!("batchSize"), size);
    }
    body = body.options(&options, &["cursor", "batchSize", "explain", "useCursor"]);
    let body = body.with(cstr!("cursor"), cursor).body();
    let stream = open_stream(call.shell, db, body);
    let stream = stream.map_err(|error| aggregation_failed(call.shell, error))?;
    let held = Held::Command(CommandCursor { stream, pretty: false, on: String::new() });
    Ok(Reply::Handle("CommandCursor", call.shell.held.insert(held)))
}

fn explained(call: &Call<'_>, db: &str, body: Command, options: &RawDocument) -> Result<Reply> {
    let verbosity = owned(options, "explain").filter(|value| matches!(value, RawBson::String(_)));
    let body = body.options(options, &["cursor", "batchSize", "explain", "useCursor"]);
    let body = match verbosity {
        // Only the explain command knows verbosities.
        Some(verbosity) => {
            Command::new(cstr!("explain"), body.with(cstr!("cursor"), rawdoc! {}).body())
                .with(cstr!("verbosity"), verbosity)
                .body()
        }
        None => body.with(cstr!("explain"), true).body(),
    };
    let reply = call.shell.run(db, body);
    let reply = reply.map_err(|error| aggregation_failed(call.shell, error))?;
    Ok(Reply::Served(RawBson::Document(reply)))
}

/// `mapReduce(map, reduce, {out, query, ...})` or `mapReduce(map, reduce, "out")`.
pub(super) fn map_reduce(call: &mut Call<'_>) -> Result<Reply> {
    let (db, name) = call.collection()?;
    if !call.shell.classic() {
        call.shell.notice(
            "DeprecationWarning: Collection.mapReduce() is deprecated. Use an aggregation instead.\nSee https://mongodb.com/docs/manual/core/map-reduce for details.",
        );
    }
    let (Some(map), Some(reduce)) = (call.value(0), call.value(1)) else {
        return Err(missing_argument(call.arguments.len().min(1), "Collection.mapReduce"));
    };
    let mut body = Command::new(cstr!("mapReduce"), name)
        .with(cstr!("map"), map.clone())
        .with(cstr!("reduce"), reduce.clone());
    body = match call.value(2) {
        None => return Err(usage("need an options object or string")),
        Some(RawBson::Document(options)) => {
            if field(options, "out").is_none() {
                return Err(usage("need to supply an optionsOrOutString.out"));
            }
            body.options(options, &[])
        }
        Some(out) => body.with(cstr!("out"), out.clone()),
    };
    let reply = call.shell.run(&db, body.body());
    let reply = reply.map_err(|error| call.shell.refused(error, "map reduce failed:", ""))?;
    Ok(Reply::Served(RawBson::Document(reply)))
}

/// `watch(pipeline, options)`: a change stream, which only a replica set has.
pub(super) fn watch(call: &mut Call<'_>) -> Result<Reply> {
    let (db, name) = call.collection()?;
    change_stream(call, &db, RawBson::String(name), false)
}

/// The options of `watch` that are the stage's; the others are the command's.
const STAGE_OPTIONS: &[&str] = &[
    "fullDocument",
    "fullDocumentBeforeChange",
    "resumeAfter",
    "showExpandedEvents",
    "startAfter",
    "startAtOperationTime",
];

/// Follows the changes of a collection, of a database (target 1), or `all`.
pub(in crate::shell) fn change_stream(
    call: &mut Call<'_>,
    db: &str,
    target: RawBson,
    all: bool,
) -> Result<Reply> {
    // Options may come first, where there is no pipeline.
    let (stages, options) = match (call.value(0), call.options(0)) {
        (Some(RawBson::Array(stages)), _) => (Some(stages.clone()), call.options(1)),
        (_, Some(options)) => (None, call.options(1).or(Some(options))),
        _ => (None, call.options(1)),
    };
    let options = options.unwrap_or_default();
    let (mut own, mut cursor) = (RawDocumentBuf::new(), RawDocumentBuf::new());
    let mut body = Command::new(cstr!("aggregate"), target.clone());
    for (key, value) in options.iter().flatten() {
        match key.as_str() {
            name if STAGE_OPTIONS.contains(&name) => own.append(key, value),
            "batchSize" => cursor.append(key, value),
            _ => body = body.with(key, value),
        }
    }
    if all {
        own.append(cstr!("allChangesForCluster"), true);
    }
    let mut stage = RawDocumentBuf::new();
    stage.append(key_of("$changeStream"), own);
    let mut pipeline = RawArrayBuf::new();
    pipeline.push(stage);
    for stage in stages.iter().flat_map(|stages| stages.into_iter().flatten()) {
        pipeline.push(stage);
    }
    let body = body.with(cstr!("pipeline"), pipeline).with(cstr!("cursor"), cursor).body();
    let stream = open_stream(call.shell, db, body);
    let stream = stream.map_err(|error| aggregation_failed(call.shell, error))?;
    let on = match (&target, all) {
        (_, true) => "cluster".to_owned(),
        (RawBson::String(name), _) => format!("{db}.{name}"),
        _ => db.to_owned(),
    };
    let class = if call.shell.classic() { "CommandCursor" } else { "ChangeStream" };
    let held = Held::Command(CommandCursor { stream: stream.following(), pretty: false, on });
    Ok(Reply::Handle(class, call.shell.held.insert(held)))
}
