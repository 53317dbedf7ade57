//! Commands that administer: sizes and health of collections, their options, and what a server would be told.

use std::ops::Bound;

use bson::{Bson, DateTime, Document, RawBsonRef, RawDocumentBuf, doc, rawdoc};

use super::aggregate::{number, storage_stats};
use super::context::Context;
use super::definition::size_on_disk;
use super::fields::{Fields, decode, decode_value, integer};
use super::read::encode;
use super::reply::ok;
use super::search::same_key;
use super::{Command, commands};
use crate::engine::index::Definition;
use crate::engine::query::Filter;
use crate::engine::storage::{self, Collection, Kind};
use crate::error::{Error, Result};
use crate::value::text;
use crate::{bad_value, refuse};

pub(super) const COMMANDS: &[Command] = &[
    Command {
        name: "collMod",
        aliases: &[],
        help: "changes a collection's options",
        admin_only: false,
        run: modify,
    },
    Command {
        name: "collStats",
        aliases: &["collstats"],
        help: "the size of a collection",
        admin_only: false,
        run: collection_stats,
    },
    Command {
        name: "compact",
        aliases: &[],
        help: "gives back unused space",
        admin_only: false,
        run: nothing_to_do,
    },
    Command {
        name: "currentOp",
        aliases: &[],
        help: "what is running",
        admin_only: true,
        run: current_operations,
    },
    Command {
        name: "dataSize",
        aliases: &["datasize"],
        help: "the size of documents",
        admin_only: false,
        run: data_size,
    },
    Command {
        name: "dbStats",
        aliases: &["dbstats"],
        help: "the size of a database",
        admin_only: false,
        run: database_stats,
    },
    Command {
        name: "fsync",
        aliases: &[],
        help: "hands everything to the disk",
        admin_only: true,
        run: sync,
    },
    Command {
        name: "killOp",
        aliases: &[],
        help: "stops an operation",
        admin_only: true,
        run: kill_operation,
    },
    Command {
        name: "listCommands",
        aliases: &[],
        help: "all commands",
        admin_only: false,
        run: list_commands,
    },
    Command {
        name: "planCacheClear",
        aliases: &[],
        help: "forgets plans; none are kept",
        admin_only: false,
        run: clear_plans,
    },
    Command {
        name: "profile",
        aliases: &[],
        help: "the profiler's level",
        admin_only: false,
        run: profile,
    },
    Command {
        name: "reIndex",
        aliases: &[],
        help: "builds indexes anew",
        admin_only: false,
        run: nothing_to_do,
    },
    Command {
        name: "replSetFreeze",
        aliases: &[],
        help: "keeps a member from becoming primary",
        admin_only: true,
        run: no_replica_set,
    },
    Command {
        name: "replSetGetConfig",
        aliases: &[],
        help: "the configuration of a replica set",
        admin_only: true,
        run: no_replica_set,
    },
    Command {
        name: "replSetGetStatus",
        aliases: &[],
        help: "the state of a replica set",
        admin_only: true,
        run: no_replica_set,
    },
    Command {
        name: "replSetInitiate",
        aliases: &[],
        help: "starts a replica set",
        admin_only: true,
        run: not_replicated,
    },
    Command {
        name: "replSetReconfig",
        aliases: &[],
        help: "changes the configuration of a replica set",
        admin_only: true,
        run: no_replica_set,
    },
    Command {
        name: "replSetStepDown",
        aliases: &[],
        help: "makes a primary step down",
        admin_only: true,
        run: no_replica_set,
    },
    Command {
        name: "replSetSyncFrom",
        aliases: &[],
        help: "makes a member copy from another",
        admin_only: true,
        run: no_replica_set,
    },
    Command {
        name: "rolesInfo",
        aliases: &[],
        help: "roles; there are none",
        admin_only: false,
        run: roles,
    },
    Command {
        name: "top",
        aliases: &[],
        help: "how much each collection is used",
        admin_only: true,
        run: top,
    },
    Command {
        name: "usersInfo",
        aliases: &[],
        help: "users; there are none",
        admin_only: false,
        run: users,
    },
    Command {
        name: "validate",
        aliases: &[],
        help: "checks a collection",
        admin_only: false,
        run: validate,
    },
];

/// What `validate` finds wrong is told so often at most.
const MOST_ERRORS: usize = 20;

/// The named collection, which has to be there and no view.
pub(super) fn present(context: &Context<'_>, name: &str) -> Result<std::sync::Arc<Collection>> {
    let collection = context.collection(name).ok_or_else(|| {
        refuse!(NAMESPACE_NOT_FOUND, "ns does not exist: {}", context.namespace(name))
    })?;
    if collection.shape().kind() == Kind::View {
        return Err(refuse!(
            COMMAND_NOT_SUPPORTED_ON_VIEW,
            "Namespace {} is a view, not a collection",
            context.namespace(name)
        ));
    }
    Ok(collection)
}

/// The server answers so for a collection that is not there, too.
fn clear_plans(context: &Context<'_>) -> Result<RawDocumentBuf> {
    context.collection_name()?;
    let fields = Fields::command("planCacheClear", context.body)?;
    let query = fields.document("query")?;
    let others = ["projection", "sort", "collation"];
    if query.is_none() && others.into_iter().any(|field| fields.value(field).is_some()) {
        return Err(bad_value!("sort, projection or collation provided without query"));
    }
    fields.ignore(&others);
    fields.finish()?;
    Ok(ok())
}

/// Storage keeps itself in order.
fn nothing_to_do(context: &Context<'_>) -> Result<RawDocumentBuf> {
    let name = context.collection_name()?;
    present(context, name)?;
    Ok(ok())
}

fn modify(context: &Context<'_>) -> Result<RawDocumentBuf> {
    let name = context.collection_name()?;
    let fields = Fields::command("collMod", context.body)?;
    let index = fields.document("index")?;
    let view_on = fields.text("viewOn")?.map(str::to_owned);
    let pipeline = fields.value("pipeline").map(decode_value).transpose()?;
    let validator = fields.document("validator")?;
    let mut plain = Document::new();
    for option in [
        "validationLevel",
        "validationAction",
        "expireAfterSeconds",
        "changeStreamPreAndPostImages",
    ] {
        if let Some(value) = fields.value(option) {
            plain.insert(option, decode_value(value)?);
        }
    }
    let capped = (
        fields.value("cappedSize").map(decode_value).transpose()?,
        fields.value("cappedMax").map(decode_value).transpose()?,
    );
    fields.ignore(&["dryRun"]);
    fields.finish()?;
    let collection = context.collection(name).ok_or_else(|| {
        refuse!(NAMESPACE_NOT_FOUND, "ns does not exist: {}", context.namespace(name))
    })?;
    let shape = collection.shape();
    let mut reply = Document::new();
    let mut options = shape.options.clone();
    if let Some(validator) = validator {
        Filter::parse(&validator, &context.scope(None)?)?;
        if validator.is_empty() {
            drop(options.remove("validator"))
        } else {
            drop(options.insert("validator", validator))
        }
    }
    if shape.kind() == Kind::View {
        options.extend(view_on.map(|name| ("viewOn".to_owned(), Bson::String(name))));
        options.extend(pipeline.map(|pipeline| ("pipeline".to_owned(), pipeline)));
    } else if view_on.is_some() || pipeline.is_some() {
        return Err(refuse!(INVALID_OPTIONS, "option not supported on a collection: viewOn"));
    }
    if capped.0.is_some() || capped.1.is_some() {
        if !options.contains_key("capped") {
            return Err(refuse!(INVALID_OPTIONS, "Collection must be capped."));
        }
        options.extend(capped.0.map(|size| ("size".to_owned(), size)));
        options.extend(capped.1.map(|max| ("max".to_owned(), max)));
    }
    options.extend(plain);
    if let Some(wanted) = index {
        let found = shape.indexes.iter().find(|index| {
            let definition = &index.definition;
            match (wanted.get("name"), wanted.get("keyPattern")) {
                (Some(Bson::String(name)), _) => definition.name == *name,
                (_, Some(Bson::Document(key))) => same_key(&definition.key(), key),
                _ => false,
            }
        });
        let Some(found) = found else {
            let wanted =
                wanted.get("name").or(wanted.get("keyPattern")).cloned().unwrap_or(Bson::Null);
            return Err(refuse!(
                INDEX_NOT_FOUND,
                "cannot find index {} for ns {}",
                text::value(&wanted),
                context.namespace(name)
            ));
        };
        let mut spec = found.definition.spec.clone();
        if let Some(hidden) = wanted.get("hidden") {
            if found.definition.is_id() {
                return Err(bad_value!("can't hide _id index"));
            }
            let hidden = matches!(hidden, Bson::Boolean(true) | Bson::Int32(1) | Bson::Int64(1))
                || *hidden == Bson::Double(1.0);
            if hidden != found.definition.hidden {
                reply.insert("hidden_old", found.definition.hidden);
                reply.insert("hidden_new", hidden);
            }
            spec.insert("hidden", hidden);
        }
        if let Some(seconds) = wanted.get("expireAfterSeconds") {
            if let Some(old) = spec.insert("expireAfterSeconds", seconds.clone()) {
                reply.insert("expireAfterSeconds_old", as_long(&old));
            }
            reply.insert("expireAfterSeconds_new", as_long(seconds));
        }
        if !found.definition.is_id() {
            context.storage().redefine_index(context.database, name, &Definition::parse(&spec)?)?;
        }
    }
    if options != shape.options {
        context.storage().set_options(context.database, name, options)?;
    }
    reply.insert("ok", 1.0);
    encode(&reply)
}

fn as_long(value: &Bson) -> i64 {
    match value {
        Bson::Int32(number) => i64::from(*number),
        Bson::Int64(number) => *number,
        Bson::Double(number) => *number as i64,
        _ => 0,
    }
}

fn collection_stats(context: &Context<'_>) -> Result<RawDocumentBuf> {
    let name = context.collection_name()?;
    let fields = Fields::command("collStats", context.body)?;
    let scale = scale(&fields)?;
    fields.ignore(&["verbose"]);
    fields.finish()?;
    let mut reply = doc! { "ns": context.namespace(name) };
    match context.collection(name) {
        None => reply.extend(doc! {
            "size": 0, "count": 0, "numOrphanDocs": 0, "storageSize": 0, "totalSize": 0, "nindexes": 0,
            "totalIndexSize": 0, "indexDetails": {}, "indexSizes": {},
        }),
        Some(_) => {
            let mut stats = storage_stats(&*present(context, name)?);
            for field in ["size", "storageSize", "totalIndexSize", "totalSize"] {
                let scaled = stats.get(field).map_or(0, as_long) / scale;
                stats.insert(field, number(scaled.cast_unsigned()));
            }
            reply.extend(stats);
        }
    }
    reply.extend(doc! { "scaleFactor": number(scale.cast_unsigned()), "ok": 1.0 });
    encode(&reply)
}

fn scale(fields: &Fields<'_>) -> Result<i64> {
    match fields.long("scale")? {
        None => Ok(1),
        Some(scale) if scale >= 1 => Ok(scale),
        Some(scale) => Err(Error::command(
            crate::error::Code(51024),
            format!("BSON field 'scale' value must be >= 1, actual value '{scale}'"),
        )),
    }
}

fn database_stats(context: &Context<'_>) -> Result<RawDocumentBuf> {
    let fields = Fields::command("dbStats", context.body)?;
    let scale = scale(&fields)?;
    fields.ignore(&["freeStorage"]);
    fields.finish()?;
    let (mut collections, mut views, mut objects, mut bytes, mut indexes) = (0, 0, 0, 0, 0);
    for (_, collection) in context.storage().catalog().collections(context.database) {
        let shape = collection.shape();
        if shape.kind() == Kind::View {
            views += 1;
            continue;
        }
        collections += 1;
        objects += collection.documents();
        bytes += collection.bytes();
        indexes += shape.indexes.len() as u64;
    }
    let scaled = |size: u64| Bson::Double((size / scale.cast_unsigned()) as f64);
    let (stored, indexed) =
        (if collections == 0 { 0 } else { size_on_disk(bytes) }, indexes * size_on_disk(0));
    let mean = if objects == 0 { 0.0 } else { bytes as f64 / objects as f64 };
    encode(&doc! {
        "db": context.database,
        "collections": number(collections),
        "views": number(views),
        "objects": number(objects),
        "avgObjSize": mean,
        "dataSize": scaled(bytes),
        "storageSize": scaled(stored),
        "indexes": number(indexes),
        "indexSize": scaled(indexed),
        "totalSize": scaled(stored + indexed),
        "scaleFactor": number(scale.cast_unsigned()),
        "fsUsedSize": scaled(context.storage().disk_space()),
        "ok": 1.0,
    })
}

fn data_size(context: &Context<'_>) -> Result<RawDocumentBuf> {
    let fields = Fields::command("dataSize", context.body)?;
    let namespace = match fields.present("dataSize").or_else(|| fields.present("datasize")) {
        Some(RawBsonRef::String(namespace)) => namespace,
        Some(other) => return Err(fields.wrong("dataSize", other, "string")),
        None => "",
    };
    fields.ignore(&["keyPattern", "min", "max", "estimate"]);
    fields.finish()?;
    let Some((database, name)) = namespace.split_once('.') else {
        return Err(refuse!(INVALID_NAMESPACE, "Invalid namespace specified '{namespace}'"));
    };
    let (bytes, documents) = match context.storage().collection(database, name) {
        Some(collection) => (collection.bytes(), collection.documents()),
        None => (0, 0),
    };
    encode(
        &doc! { "size": bytes.cast_signed(), "numObjects": documents.cast_signed(), "millis": 0, "estimate": false, "ok": 1.0 },
    )
}

fn sync(context: &Context<'_>) -> Result<RawDocumentBuf> {
    context.storage().sync()?;
    Ok(rawdoc! { "numFiles": 1, "ok": 1.0 })
}

/// Commands here run one after the other in the caller's thread, so there is only this one.
fn current_operations(context: &Context<'_>) -> Result<RawDocumentBuf> {
    encode(&doc! { "inprog": [this_operation(context)?], "ok": 1.0 })
}

/// The command itself, as `currentOp` and `$currentOp` list it.
pub(super) fn this_operation(context: &Context<'_>) -> Result<Document> {
    Ok(doc! {
        "type": "op",
        "host": super::information::host(),
        "desc": "conn1",
        "active": true,
        "currentOpTime": DateTime::now().try_to_rfc3339_string().unwrap_or_default(),
        "opid": 1,
        "op": "command",
        "ns": "admin.$cmd",
        "command": decode(context.body)?,
    })
}

fn kill_operation(context: &Context<'_>) -> Result<RawDocumentBuf> {
    let fields = Fields::command("killOp", context.body)?;
    let operation = fields.long("op")?;
    fields.required("op", operation)?;
    fields.finish()?;
    Ok(rawdoc! { "info": "attempting to kill op", "ok": 1.0 })
}

fn list_commands(_: &Context<'_>) -> Result<RawDocumentBuf> {
    let mut rows: Vec<_> = commands().collect();
    rows.sort_by_key(|row| row.name);
    let list: Document = rows
        .into_iter()
        .map(|row| {
            let entry = doc! { "help": row.help, "requiresAuth": false, "secondaryOk": true, "adminOnly": row.admin_only };
            (row.name.to_owned(), Bson::Document(entry))
        })
        .collect();
    encode(&doc! { "commands": list, "ok": 1.0 })
}

/// There is no profiler; its level is 0.
fn profile(context: &Context<'_>) -> Result<RawDocumentBuf> {
    let level = context.body.get("profile").ok().flatten().and_then(integer);
    if matches!(level, Some(1 | 2)) {
        return Err(super::unsupported("the profiler"));
    }
    Ok(rawdoc! { "was": 0, "slowms": 100, "sampleRate": 1.0, "ok": 1.0 })
}

fn not_replicated(_: &Context<'_>) -> Result<RawDocumentBuf> {
    let text = "This node was not started with replication enabled.";
    Err(refuse!(NO_REPLICATION_ENABLED, "{text}"))
}

fn no_replica_set(_: &Context<'_>) -> Result<RawDocumentBuf> {
    Err(refuse!(NO_REPLICATION_ENABLED, "not running with --replSet"))
}

fn roles(_: &Context<'_>) -> Result<RawDocumentBuf> {
    encode(&doc! { "roles": [], "ok": 1.0 })
}

fn users(_: &Context<'_>) -> Result<RawDocumentBuf> {
    encode(&doc! { "users": [], "ok": 1.0 })
}

fn top(_: &Context<'_>) -> Result<RawDocumentBuf> {
    encode(&doc! { "totals": { "note": "all times in microseconds" }, "ok": 1.0 })
}

/// Reads every record and every index entry, and compares them.
fn validate(context: &Context<'_>) -> Result<RawDocumentBuf> {
    let name = context.collection_name()?;
    let fields = Fields::command("validate", context.body)?;
    fields.ignore(&[
        "full",
        "repair",
        "metadata",
        "background",
        "checkBSONConformance",
        "fixMultikey",
    ]);
    fields.finish()?;
    let collection = present(context, name)?;
    let shape = collection.shape();
    let reading = context.storage().reading()?;
    let (mut records, mut errors) = (0_u64, Vec::new());
    let mut expected = vec![0_u64; shape.indexes.len()];
    for record in reading.records(&collection, (Bound::Unbounded, Bound::Unbounded), false) {
        let (record, bytes) = record?;
        records += 1;
        if records % 256 == 0 {
            context.interrupt.check()?;
        }
        let document = match storage::document(&bytes).and_then(decode) {
            Ok(document) => document,
            Err(error) => {
                errors.push(format!("record {record}: {error}"));
                continue;
            }
        };
        for (index, expected) in shape.indexes.iter().zip(&mut expected) {
            *expected += index.definition.keys(&document)?.encoded.len() as u64;
        }
    }
    let (mut keys, mut details) = (Document::new(), Document::new());
    for (index, expected) in shape.indexes.iter().zip(expected) {
        let mut found = 0_u64;
        for entry in reading.entries(index, (Bound::Unbounded, Bound::Unbounded), false) {
            entry?;
            found += 1;
            if found.is_multiple_of(256) {
                context.interrupt.check()?;
            }
        }
        let valid = found == expected;
        if !valid {
            errors.push(format!(
                "index {} has {found} entries where {expected} belong",
                index.definition.name
            ));
        }
        keys.insert(index.definition.name.clone(), number(found));
        details.insert(index.definition.name.clone(), doc! { "valid": valid });
    }
    errors.truncate(MOST_ERRORS);
    encode(&doc! {
        "ns": context.namespace(name),
        "uuid": bson::Binary {
            subtype: bson::spec::BinarySubtype::Uuid,
            bytes: collection.uuid().as_bytes().to_vec(),
        },
        "nInvalidDocuments": 0,
        "nNonCompliantDocuments": 0,
        "nrecords": number(records),
        "nIndexes": number(shape.indexes.len() as u64),
        "keysPerIndex": keys,
        "indexDetails": details,
        "valid": errors.is_empty(),
        "repaired": false,
        "warnings": [],
        "errors": errors,
        "extraIndexEntries": [],
        "missingIndexEntries": [],
        "corruptRecords": [],
        "ok": 1.0,
    })
}
