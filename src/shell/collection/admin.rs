//! What a collection knows about itself, and dropping or renaming it.

use bson::raw::{CStr, cstr};
use bson::{RawArrayBuf, RawBson, RawDocumentBuf, rawdoc};

use crate::error::{Code, Error, Result};
use crate::shell::command::{Command, field, owned, truthy};
use crate::shell::cursor::open_stream;
use crate::shell::database::{answer, command_of};
use crate::shell::refusal::usage;
use crate::shell::{Call, Reply, Shell};

pub(super) fn get_name(call: &mut Call<'_>) -> Result<Reply> {
    Ok(Reply::Value(RawBson::String(call.collection()?.1)))
}

pub(super) fn full_name(call: &mut Call<'_>) -> Result<Reply> {
    let (db, name) = call.collection()?;
    Ok(Reply::Value(RawBson::String(format!("{db}.{name}"))))
}

pub(super) fn get_db(call: &mut Call<'_>) -> Result<Reply> {
    Ok(Reply::Database(call.collection()?.0))
}

pub(super) fn get_mongo(_: &mut Call<'_>) -> Result<Reply> {
    Ok(Reply::Connection)
}

/// `db.a.getCollection("b")` is the collection `a.b`.
pub(super) fn get_collection(call: &mut Call<'_>) -> Result<Reply> {
    let (db, name) = call.collection()?;
    let Some(sub) = call.text(0, "name")? else { return Err(usage("getCollection needs a name")) };
    let name = format!("{name}.{sub}");
    Ok(Reply::Collection(db, name))
}

/// `drop()`: `true`, also for a collection that is not there, as servers answer since 7.0.
pub(super) fn drop(call: &mut Call<'_>) -> Result<Reply> {
    let (db, name) = call.collection()?;
    let mut body = Command::new(cstr!("drop"), name);
    if let Some(options) = call.options(0) {
        body = body.options(&options, &["drop"]);
    }
    let dropped = match call.shell.run(&db, body.body()) {
        Ok(_) => true,
        // What servers before 7.0 answer when the collection is not there.
        Err(Error::Command(error)) if error.code == Code::NAMESPACE_NOT_FOUND => false,
        Err(error) => return Err(call.shell.failed(error, "drop")),
    };
    Ok(Reply::Value(RawBson::Boolean(dropped)))
}

/// `renameCollection(name, dropTarget)`.
pub(super) fn rename(call: &mut Call<'_>) -> Result<Reply> {
    let (db, name) = call.collection()?;
    let Some(target) = call.text(0, "newName")? else {
        return Err(usage("renameCollection needs a new name"));
    };
    let target = format!("{db}.{target}");
    let body = Command::new(cstr!("renameCollection"), format!("{db}.{name}"))
        .with(cstr!("to"), target)
        .with(cstr!("dropTarget"), call.truthy(1))
        .body();
    answer(call.shell, "admin", body)
}

/// `runCommand("name", {options})` puts the collection's name behind the command's; a document goes as it is.
pub(super) fn run_command(call: &mut Call<'_>) -> Result<Reply> {
    let (db, name) = call.collection()?;
    let body = match call.value(0) {
        Some(RawBson::String(command)) => {
            let mut body = RawDocumentBuf::new();
            body.append(crate::shell::command::key_of(command), name);
            for (key, value) in call.options(1).iter().flat_map(|options| options.iter().flatten())
            {
                body.append(key, value);
            }
            body
        }
        _ => command_of(call)?,
    };
    answer(call.shell, &db, body)
}

/// The catalog's entry of the collection, or nothing.
fn entry(shell: &Shell, db: &str, name: &str) -> Result<Option<RawDocumentBuf>> {
    let body = Command::new(cstr!("listCollections"), 1)
        .with(cstr!("filter"), rawdoc! { "name": name })
        .body();
    open_stream(shell, db, body).and_then(|mut stream| stream.next())
}

pub(super) fn exists(call: &mut Call<'_>) -> Result<Reply> {
    let (db, name) = call.collection()?;
    Ok(match entry(call.shell, &db, &name)? {
        Some(entry) => Reply::Served(RawBson::Document(entry)),
        None => Reply::Value(RawBson::Null),
    })
}

pub(super) fn is_capped(call: &mut Call<'_>) -> Result<Reply> {
    let (db, name) = call.collection()?;
    let entry = entry(call.shell, &db, &name)?;
    let options = entry.as_ref().and_then(|entry| entry.get_document("options").ok());
    let capped = options.and_then(|options| field(options, "capped")).is_some_and(truthy);
    Ok(Reply::Value(RawBson::Boolean(capped)))
}

/// `stats(scale)` or `stats({scale, ...})`.
pub(super) fn stats(call: &mut Call<'_>) -> Result<Reply> {
    let (db, name) = call.collection()?;
    let scale = match call.value(0) {
        Some(RawBson::Document(options)) => owned(options, "scale"),
        other => other.cloned(),
    };
    let body = Command::new(cstr!("collStats"), name).maybe(cstr!("scale"), scale).body();
    answer(call.shell, &db, body)
}

/// One field of the collection's stats.
fn stat(call: &Call<'_>, key: &str) -> Result<Option<RawBson>> {
    let (db, name) = call.collection()?;
    let reply = call.shell.run(&db, Command::new(cstr!("collStats"), name).body());
    let reply = reply.map_err(|error| call.shell.failed(error, "collStats"))?;
    Ok(owned(&reply, key))
}

fn size(call: &Call<'_>, key: &str) -> Result<Reply> {
    Ok(stat(call, key)?.map_or(Reply::Nothing, Reply::Served))
}

pub(super) fn data_size(call: &mut Call<'_>) -> Result<Reply> {
    size(call, "size")
}

pub(super) fn storage_size(call: &mut Call<'_>) -> Result<Reply> {
    size(call, "storageSize")
}

pub(super) fn total_index_size(call: &mut Call<'_>) -> Result<Reply> {
    size(call, "totalIndexSize")
}

pub(super) fn total_size(call: &mut Call<'_>) -> Result<Reply> {
    size(call, "totalSize")
}

/// `validate(full)` or `validate({full, ...})`.
pub(super) fn validate(call: &mut Call<'_>) -> Result<Reply> {
    let (db, name) = call.collection()?;
    let mut body = Command::new(cstr!("validate"), name);
    body = match call.value(0) {
        Some(RawBson::Document(options)) => body.options(options, &[]),
        _ => body.with(cstr!("full"), call.truthy(0)),
    };
    answer(call.shell, &db, body.body())
}

pub(super) fn convert_to_capped(call: &mut Call<'_>) -> Result<Reply> {
    let (db, name) = call.collection()?;
    let Some(size) = call.value(0).cloned() else {
        return Err(usage("convertToCapped needs a size in bytes"));
    };
    answer(
        call.shell,
        &db,
        Command::new(cstr!("convertToCapped"), name).with(cstr!("size"), size).body(),
    )
}

/// What a stage tells of the collection.
fn told_by(call: &mut Call<'_>, stage: RawDocumentBuf) -> Result<Reply> {
    let (db, name) = call.collection()?;
    let body = Command::new(cstr!("aggregate"), name)
        .with(cstr!("pipeline"), [stage].iter().collect::<RawArrayBuf>())
        .with(cstr!("cursor"), rawdoc! {})
        .body();
    let listed = open_stream(call.shell, &db, body).and_then(|mut stream| stream.rest());
    listed
        .map(Reply::Documents)
        .map_err(|error| call.shell.refused(error, "command failed: ", " : aggregate failed"))
}

/// `latencyStats(options)`: counters of reads, writes and commands.
pub(super) fn latency_stats(call: &mut Call<'_>) -> Result<Reply> {
    let stage = rawdoc! { "$collStats": { "latencyStats": call.options(0).unwrap_or_default() } };
    told_by(call, stage)
}

pub(super) fn shard_distribution(call: &mut Call<'_>) -> Result<Reply> {
    let (db, name) = call.collection()?;
    let text = format!("Collection {db}.{name} is not sharded.");
    if !call.shell.classic() {
        return Err(crate::shell::refusal::raised(
            "MongoshInvalidInputError",
            format!("[SHAPI-10001] {text}"),
        ));
    }
    call.shell.output.line(&text)?;
    Ok(Reply::Nothing)
}

/// `explain(verbosity)`: the same methods, explained instead of run.
pub(super) fn explain(call: &mut Call<'_>) -> Result<Reply> {
    crate::shell::explain::start(call)
}

/// Sends a command for the collection to a database, with one more field where there is a value for it.
fn send(
    call: &Call<'_>,
    to: &str,
    command: Command,
    fields: &[(&CStr, Option<RawBson>)],
) -> Result<Reply> {
    let mut command = command;
    for (key, value) in fields {
        command = command.maybe(key, value.clone());
    }
    answer(call.shell, to, command.body())
}

pub(super) fn analyze_shard_key(call: &mut Call<'_>) -> Result<Reply> {
    let (db, name) = call.collection()?;
    let mut body = Command::new(cstr!("analyzeShardKey"), format!("{db}.{name}"))
        .maybe(cstr!("key"), call.value(0).cloned());
    if let Some(options) = call.options(1) {
        body = body.options(&options, &["key"]);
    }
    send(call, "admin", body, &[])
}

pub(super) fn configure_query_analyzer(call: &mut Call<'_>) -> Result<Reply> {
    let (db, name) = call.collection()?;
    let mut body = Command::new(cstr!("configureQueryAnalyzer"), format!("{db}.{name}"));
    if let Some(options) = call.options(0) {
        body = body.options(&options, &[]);
    }
    send(call, "admin", body, &[])
}

/// `createSearchIndex(name, definition)` or `createSearchIndex({name, definition})`.
pub(super) fn create_search_index(call: &mut Call<'_>) -> Result<Reply> {
    let index = match call.value(0) {
        Some(RawBson::Document(index)) if field(index, "definition").is_some() => index.clone(),
        Some(RawBson::Document(definition)) => rawdoc! { "definition": definition.clone() },
        Some(RawBson::String(name)) => {
            let definition = call.options(1).unwrap_or_default();
            rawdoc! { "name": name.as_str(), "definition": definition }
        }
        _ => return Err(usage("createSearchIndex needs a definition")),
    };
    search_indexes_of(call, [RawBson::Document(index)].into_iter().collect())
}

pub(super) fn create_search_indexes(call: &mut Call<'_>) -> Result<Reply> {
    match call.value(0) {
        Some(RawBson::Array(indexes)) => search_indexes_of(call, indexes.clone()),
        _ => Err(usage("createSearchIndexes needs an array of {name, definition}")),
    }
}

fn search_indexes_of(call: &Call<'_>, indexes: RawArrayBuf) -> Result<Reply> {
    let (db, name) = call.collection()?;
    let body = Command::new(cstr!("createSearchIndexes"), name).with(cstr!("indexes"), indexes);
    send(call, &db, body, &[])
}

pub(super) fn drop_search_index(call: &mut Call<'_>) -> Result<Reply> {
    let (db, name) = call.collection()?;
    let body = Command::new(cstr!("dropSearchIndex"), name);
    send(call, &db, body, &[(cstr!("name"), call.value(0).cloned())])
}

pub(super) fn update_search_index(call: &mut Call<'_>) -> Result<Reply> {
    let (db, name) = call.collection()?;
    let (index, definition) = (call.value(0).cloned(), call.value(1).cloned());
    let body = Command::new(cstr!("updateSearchIndex"), name);
    send(call, &db, body, &[(cstr!("name"), index), (cstr!("definition"), definition)])
}

/// The search indexes, or the one of a name.
pub(super) fn search_indexes(call: &mut Call<'_>) -> Result<Reply> {
    let chosen = match call.value(0) {
        Some(RawBson::Document(options)) => options.clone(),
        Some(index) => rawdoc! { "name": index.clone() },
        None => rawdoc! {},
    };
    let stage = rawdoc! { "$listSearchIndexes": chosen };
    told_by(call, stage)
}

pub(super) fn shard_version(call: &mut Call<'_>) -> Result<Reply> {
    let (db, name) = call.collection()?;
    let body = Command::new(cstr!("getShardVersion"), format!("{db}.{name}"));
    send(call, "admin", body, &[])
}

pub(super) fn split_keys(call: &mut Call<'_>) -> Result<Reply> {
    let (db, name) = call.collection()?;
    let most = call.value(0).cloned().unwrap_or(RawBson::Int32(64 << 20));
    let body = Command::new(cstr!("splitVector"), format!("{db}.{name}"));
    send(call, "admin", body, &[(cstr!("maxChunkSizeBytes"), Some(most))])
}

/// The collection's digest out of the database's.
pub(super) fn hash(call: &mut Call<'_>) -> Result<Reply> {
    let (db, name) = call.collection()?;
    let names: RawArrayBuf = [RawBson::String(name.clone())].into_iter().collect();
    let body = Command::new(cstr!("dbHash"), 1).with(cstr!("collections"), names).body();
    let reply = call.shell.run(&db, body).map_err(|error| call.shell.failed(error, "dbHash"))?;
    let digests = reply.get_document("collections").ok();
    let digest = digests.and_then(|digests| owned(digests, &name));
    Ok(digest.map_or(Reply::Nothing, Reply::Served))
}
