//! Commands that define: collections, databases and indexes, made, listed and dropped.

use std::collections::VecDeque;
use std::sync::Arc;

use bson::spec::BinarySubtype;
use bson::{Binary, Bson, Document, RawBsonRef, RawDocumentBuf, doc, rawdoc};

use super::Command;
use super::context::Context;
use super::cursor::Cursor;
use super::fields::{Fields, decode, type_name};
use super::read::encode;
use super::search::same_key;
use super::write::existing_or_new;
use super::{name, unsupported};
use crate::engine::aggregate::{Pipeline, asks_javascript};
use crate::engine::expr::Scope;
use crate::engine::index::{Definition, check_collation};
use crate::engine::query::Filter;
use crate::engine::storage::{Kind, Shape};
use crate::error::{Code, Error, Result};
use crate::value::text;
use crate::{bad_value, refuse};

/// How many indexes a collection may have (MongoDB manual, limits).
const MOST_INDEXES: usize = 64;

pub(super) const COMMANDS: &[Command] = &[
    Command {
        name: "create",
        aliases: &[],
        help: "makes a collection",
        admin_only: false,
        run: create,
    },
    Command {
        name: "createIndexes",
        aliases: &[],
        help: "makes indexes",
        admin_only: false,
        run: create_indexes,
    },
    Command {
        name: "drop",
        aliases: &[],
        help: "removes a collection",
        admin_only: false,
        run: drop_collection,
    },
    Command {
        name: "dropDatabase",
        aliases: &[],
        help: "removes a database",
        admin_only: false,
        run: drop_database,
    },
    Command {
        name: "dropIndexes",
        aliases: &["deleteIndexes"],
        help: "removes indexes",
        admin_only: false,
        run: drop_indexes,
    },
    Command {
        name: "listCollections",
        aliases: &[],
        help: "the collections of a database",
        admin_only: false,
        run: list_collections,
    },
    Command {
        name: "listDatabases",
        aliases: &[],
        help: "all databases",
        admin_only: true,
        run: list_databases,
    },
    Command {
        name: "listIndexes",
        aliases: &[],
        help: "the indexes of a collection",
        admin_only: false,
        run: list_indexes,
    },
    Command {
        name: "renameCollection",
        aliases: &[],
        help: "gives a collection another name",
        admin_only: true,
        run: rename_collection,
    },
];

/// The options of `create` that are kept, in the order in which they are listed.
const OPTIONS: &[&str] = &[
    "capped",
    "size",
    "max",
    "changeStreamPreAndPostImages",
    "storageEngine",
    "validator",
    "validationLevel",
    "validationAction",
    "indexOptionDefaults",
    "viewOn",
    "pipeline",
    "collation",
    "timeseries",
    "clusteredIndex",
    "expireAfterSeconds",
    "idIndex",
];

fn create(context: &Context<'_>) -> Result<RawDocumentBuf> {
    let name = context.collection_name()?;
    let fields = Fields::command("create", context.body)?;
    fields.ignore(&["autoIndexId", "temp", "flags"]);
    let mut options = Document::new();
    for option in OPTIONS {
        if let Some(value) = fields.value(option) {
            options.insert(*option, super::fields::decode_value(value)?);
        }
    }
    fields.finish()?;
    name::check_creatable(context.database, name)?;
    options.remove("idIndex");
    check_options(context, &mut options)?;
    let kind = if options.contains_key("viewOn") { Kind::View } else { Kind::Collection };
    let created = context.storage().create(context.database, name, options.clone())?;
    if created.is_none() {
        let existing = context.collection(name).map(|collection| collection.shape());
        let same = existing.is_some_and(|shape| shape.options == options && shape.kind() == kind);
        if !same {
            return Err(refuse!(
                NAMESPACE_EXISTS,
                "Collection {}.{name} already exists.",
                context.database
            ));
        }
    }
    Ok(super::reply::ok())
}

/// Refuses options that contradict each other, and those that the embedded engine has no use for.
fn check_options(context: &Context<'_>, options: &mut Document) -> Result<()> {
    if let Some(collation) = options.remove("collation") {
        check_collation(&collation)?;
    }
    match options.get("capped").map(flag) {
        Some(Some(true)) if !options.contains_key("size") => {
            let message = "the 'size' field is required when 'capped' is true";
            return Err(refuse!(INVALID_OPTIONS, "{message}"));
        }
        Some(Some(true)) => {}
        Some(Some(false)) => drop(options.remove("capped")),
        Some(None) => {
            return Err(refuse!(
                TYPE_MISMATCH,
                "BSON field 'create.capped' is the wrong type '{}', expected types '[bool, long, int, decimal, double']",
                text::type_name(&options["capped"])
            ));
        }
        None if options.contains_key("size") || options.contains_key("max") => {
            return Err(refuse!(
                INVALID_OPTIONS,
                "the 'capped' field needs to be true when either the 'size' or 'max' fields are present"
            ));
        }
        None => {}
    }
    for (option, least) in [("size", 1.0), ("max", f64::MIN)] {
        let Some(value) = options.get(option) else { continue };
        let Some(number) = crate::value::number::Number::of(value) else {
            return Err(refuse!(
                TYPE_MISMATCH,
                "BSON field 'create.{option}' is the wrong type '{}', expected types '[long, int, decimal, double']",
                text::type_name(value)
            ));
        };
        // Neither NaN nor anything below.
        let given = number.to_f64();
        if given.is_nan() || given < least {
            return Err(Error::command(
                Code(51024),
                format!(
                    "BSON field '{option}' value must be >= {least}, actual value '{}'",
                    text::value(value)
                ),
            ));
        }
    }
    let choices: [(&str, &[&str]); 2] = [
        ("validationLevel", &["off", "strict", "moderate"]),
        ("validationAction", &["error", "warn", "errorAndLog"]),
    ];
    for (option, known) in choices {
        match options.get(option) {
            Some(Bson::String(choice)) if !known.contains(&choice.as_str()) => {
                return Err(refuse!(
                    BAD_VALUE,
                    "Enumeration value '{choice}' for field 'create.{option}' is not a valid value."
                ));
            }
            _ => {}
        }
    }
    for unusable in ["timeseries", "clusteredIndex"] {
        if options.contains_key(unusable) {
            return Err(unsupported(&format!("the option `{unusable}`")));
        }
    }
    if options.contains_key("expireAfterSeconds") {
        return Err(refuse!(
            INVALID_OPTIONS,
            "'expireAfterSeconds' is only supported on time-series collections or when the 'clusteredIndex' option is specified"
        ));
    }
    if let Some(validator) = options.get("validator") {
        let Bson::Document(validator) = validator else {
            return Err(refuse!(
                TYPE_MISMATCH,
                "BSON field 'create.validator' is the wrong type '{}', expected type 'object'",
                text::type_name(validator)
            ));
        };
        if asks_javascript(validator) {
            return Err(bad_value!("$where is not allowed in this context"));
        }
        Filter::parse(validator, &context.scope(None)?)?;
    }
    if let Some(view_on) = options.get("viewOn") {
        if !matches!(view_on, Bson::String(name) if !name.is_empty()) {
            return Err(refuse!(
                TYPE_MISMATCH,
                "BSON field 'create.viewOn' is the wrong type '{}', expected type 'string'",
                text::type_name(view_on)
            ));
        }
        let pipeline =
            options.entry("pipeline".to_owned()).or_insert_with(|| Bson::Array(Vec::new()));
        check_view(pipeline, &context.scope(None)?)?;
    } else if options.contains_key("pipeline") {
        return Err(refuse!(INVALID_OPTIONS, "'pipeline' requires 'viewOn' to also be specified"));
    }
    Ok(())
}

/// Refuses a view's pipeline that could not be run, or that writes.
fn check_view(pipeline: &Bson, scope: &Scope) -> Result<()> {
    let Bson::Array(stages) = pipeline else {
        return Err(refuse!(TYPE_MISMATCH, "'pipeline' option must be specified as an array"));
    };
    for (at, stage) in stages.iter().enumerate() {
        let name = stage.as_document().and_then(|stage| stage.keys().next());
        match name.map(String::as_str) {
            Some(stage @ ("$out" | "$merge")) => {
                return Err(refuse!(
                    OPTION_NOT_SUPPORTED_ON_VIEW,
                    "The aggregation stage {stage} in location {at} of the pipeline cannot be used in the view definition"
                ));
            }
            // Stages that make their documents are compiled by whoever reads the view.
            Some("$collStats" | "$documents" | "$indexStats" | "$planCacheStats") if at == 0 => {
                return Ok(());
            }
            _ => {}
        }
    }
    Pipeline::parse(stages, scope).map(drop)
}

fn flag(value: &Bson) -> Option<bool> {
    match value {
        Bson::Boolean(flag) => Some(*flag),
        Bson::Int32(number) => Some(*number != 0),
        Bson::Int64(number) => Some(*number != 0),
        Bson::Double(number) => Some(*number != 0.0),
        _ => None,
    }
}

fn drop_collection(context: &Context<'_>) -> Result<RawDocumentBuf> {
    let name = context.collection_name()?;
    let fields = Fields::command("drop", context.body)?;
    fields.finish()?;
    match context.storage().drop_collection(context.database, name)? {
        None => Ok(super::reply::ok()),
        Some(indexes) => Ok(rawdoc! {
            "nIndexesWas": i32::try_from(indexes).unwrap_or(i32::MAX),
            "ns": context.namespace(name),
            "ok": 1.0,
        }),
    }
}

fn drop_database(context: &Context<'_>) -> Result<RawDocumentBuf> {
    Fields::command("dropDatabase", context.body)?.finish()?;
    let names: Vec<_> = context
        .storage()
        .catalog()
        .collections(context.database)
        .map(|(name, _)| name.to_owned())
        .collect();
    if names.is_empty() {
        return Ok(super::reply::ok());
    }
    for name in names {
        context.storage().drop_collection(context.database, &name)?;
    }
    Ok(rawdoc! { "dropped": context.database, "ok": 1.0 })
}

fn rename_collection(context: &Context<'_>) -> Result<RawDocumentBuf> {
    let fields = Fields::command("renameCollection", context.body)?;
    let from = match fields.present("renameCollection") {
        Some(RawBsonRef::String(from)) => from,
        Some(other) => {
            return Err(refuse!(
                INVALID_NAMESPACE,
                "collection name has invalid type {}",
                type_name(other)
            ));
        }
        None => "",
    };
    let to = fields.text("to")?;
    let to = fields.required("to", to)?;
    let replace = fields.loose_flag("dropTarget")?;
    fields.ignore(&["stayTemp"]);
    fields.finish()?;
    let (from, to) = (split(from)?, split(to)?);
    name::check_database(to.0)?;
    name::check_creatable(to.0, to.1)?;
    if from == to {
        return Err(refuse!(ILLEGAL_OPERATION, "Can't rename a collection to itself"));
    }
    if let Some(collection) = context.storage().collection(from.0, from.1)
        && collection.shape().kind() == Kind::View
    {
        return Err(refuse!(
            COMMAND_NOT_SUPPORTED_ON_VIEW,
            "Cannot rename a view: {}.{}",
            from.0,
            from.1
        ));
    }
    context.storage().rename(from, to, replace)?;
    Ok(super::reply::ok())
}

fn split(namespace: &str) -> Result<(&str, &str)> {
    namespace
        .split_once('.')
        .filter(|(database, name)| !database.is_empty() && !name.is_empty())
        .ok_or_else(|| refuse!(INVALID_NAMESPACE, "Invalid namespace specified '{namespace}'"))
}

fn list_databases(context: &Context<'_>) -> Result<RawDocumentBuf> {
    let fields = Fields::command("listDatabases", context.body)?;
    let filter = fields.document("filter")?.unwrap_or_default();
    let names_only = fields.loose_flag("nameOnly")?;
    fields.ignore(&["authorizedDatabases"]);
    fields.finish()?;
    let filter = Filter::parse(&filter, &context.scope(None)?)?;
    let (mut databases, mut total) = (Vec::new(), 0);
    let catalog = context.storage().catalog();
    for name in catalog.databases() {
        let size: u64 =
            catalog.collections(name).map(|(_, collection)| size_on_disk(collection.bytes())).sum();
        let size = size.cast_signed();
        let entry = doc! { "name": name, "sizeOnDisk": size, "empty": false };
        if filter.matches(&entry)? {
            total += size;
            databases.push(if names_only {
                doc! { "name": name }
            } else {
                entry
            });
        }
    }
    let mut reply = doc! { "databases": databases };
    if !names_only {
        reply.extend(doc! { "totalSize": total, "totalSizeMb": total / (1024 * 1024) });
    }
    reply.insert("ok", 1.0);
    encode(&reply)
}

/// Sizes are told in whole pages, of which even an empty collection has one.
pub(super) fn size_on_disk(bytes: u64) -> u64 {
    (bytes / 4096 + 1) * 4096
}

fn list_collections(context: &Context<'_>) -> Result<RawDocumentBuf> {
    let fields = Fields::command("listCollections", context.body)?;
    let filter = fields.document("filter")?.unwrap_or_default();
    let names_only = fields.loose_flag("nameOnly")?;
    let size = batch_size(&fields)?;
    fields.ignore(&["authorizedCollections"]);
    fields.finish()?;
    let filter = Filter::parse(&filter, &context.scope(None)?)?;
    let mut entries = VecDeque::new();
    for (name, collection) in context.storage().catalog().collections(context.database) {
        let shape = collection.shape();
        let entry = listed(name, &shape, collection.uuid(), names_only);
        if filter.matches(&entry)? {
            entries.push_back(encode(&entry)?);
        }
    }
    let namespace = context.namespace("$cmd.listCollections");
    Cursor::listing(namespace, entries).open(context, Some(size.unwrap_or(u64::MAX)), false)
}

fn listed(name: &str, shape: &Shape, uuid: uuid::Uuid, names_only: bool) -> Document {
    let view = shape.kind() == Kind::View;
    let mut entry = doc! { "name": name, "type": if view { "view" } else { "collection" } };
    if names_only {
        return entry;
    }
    entry.insert("options", shape.options.clone());
    if view {
        entry.insert("info", doc! { "readOnly": true });
        return entry;
    }
    let uuid = Binary { subtype: BinarySubtype::Uuid, bytes: uuid.as_bytes().to_vec() };
    entry.insert("info", doc! { "readOnly": false, "uuid": uuid });
    entry.insert("idIndex", Definition::id().spec);
    entry
}

/// The `batchSize` within `cursor`.
pub(super) fn batch_size(fields: &Fields<'_>) -> Result<Option<u64>> {
    let Some(cursor) = fields.raw_document("cursor")? else { return Ok(None) };
    let cursor = Fields::part("cursor", cursor)?;
    let size = cursor.count("batchSize")?;
    cursor.finish()?;
    Ok(size)
}

fn list_indexes(context: &Context<'_>) -> Result<RawDocumentBuf> {
    let name = context.collection_name()?;
    let fields = Fields::command("listIndexes", context.body)?;
    let size = batch_size(&fields)?;
    fields.ignore(&["includeBuildUUIDs", "includeIndexBuildInfo"]);
    fields.finish()?;
    let namespace = context.namespace(name);
    let Some(collection) = context.collection(name) else {
        return Err(refuse!(NAMESPACE_NOT_FOUND, "ns does not exist: {namespace}"));
    };
    let shape = collection.shape();
    if shape.kind() == Kind::View {
        return Err(refuse!(
            COMMAND_NOT_SUPPORTED_ON_VIEW,
            "Namespace {namespace} is a view, not a collection"
        ));
    }
    let entries: VecDeque<_> =
        shape.indexes.iter().map(|index| encode(&index.definition.spec)).collect::<Result<_>>()?;
    Cursor::listing(namespace, entries).open(context, Some(size.unwrap_or(u64::MAX)), false)
}

fn create_indexes(context: &Context<'_>) -> Result<RawDocumentBuf> {
    let name = context.collection_name()?;
    let fields = Fields::command("createIndexes", context.body)?;
    let specs = fields.documents("indexes")?;
    let specs = fields.required("indexes", specs)?;
    fields.ignore(&["commitQuorum", "ignoreUnknownIndexOptions"]);
    fields.finish()?;
    if specs.is_empty() {
        return Err(refuse!(BAD_VALUE, "Must specify at least one index to create"));
    }
    let mut definitions: Vec<Definition> = Vec::with_capacity(specs.len());
    for spec in specs {
        let spec = decode(spec)?;
        let definition = Definition::parse(&spec)?;
        if spec.get("name").is_none() {
            return Err(refuse!(
                FAILED_TO_PARSE,
                "Error in specification {} :: caused by :: The 'name' field is a required property of an index specification",
                text::document(&spec)
            ));
        }
        if definitions
            .iter()
            .any(|other| other.name == definition.name && same_key(&other.key(), &definition.key()))
        {
            return Err(refuse!(
                INDEX_ALREADY_EXISTS,
                "Identical index already exists: {}",
                definition.name
            ));
        }
        definitions.push(definition);
    }
    let created = context.collection(name).is_none();
    let namespace = context.namespace(name);
    loop {
        let collection = existing_or_new(context, name)?;
        let Some(mut writing) = context.storage().writing(&collection)? else { continue };
        let before = writing.shape().indexes.len();
        let shape = Arc::clone(writing.shape());
        let mut all: Vec<&Definition> =
            shape.indexes.iter().map(|index| &index.definition).collect();
        for definition in &definitions {
            if exists(&all, definition)? {
                continue;
            }
            if all.len() == MOST_INDEXES {
                return Err(refuse!(
                    CANNOT_CREATE_INDEX,
                    "add index fails, too many indexes for {namespace} key:{}",
                    text::document(&definition.key())
                ));
            }
            all.push(definition);
        }
        let wanted = &all[before..];
        let tick = || context.interrupt.check();
        for (at, definition) in wanted.iter().enumerate() {
            let Err(error) = writing.build_index(&namespace, definition, &tick) else { continue };
            // All or nothing: those that were built already go again.
            drop(writing);
            let built: Vec<_> = wanted[..at].iter().map(|other| other.name.clone()).collect();
            context.storage().drop_indexes(context.database, name, &built)?;
            let build = uuid::Uuid::new_v4();
            return Err(error.prefixed(&format!(
                "Index build failed: {build}: Collection {namespace} ( {} ) :: caused by :: ",
                collection.uuid()
            )));
        }
        let after = writing.shape().indexes.len();
        writing.commit(context.durable)?;
        super::expiry::start(context.shared);
        let count = |number: usize| i32::try_from(number).unwrap_or(i32::MAX);
        let mut reply = doc! {
            "numIndexesBefore": count(before),
            "numIndexesAfter": count(after),
            "createdCollectionAutomatically": created,
        };
        if wanted.is_empty() {
            reply.insert("note", "all indexes already exist");
        }
        reply.insert("ok", 1.0);
        return encode(&reply);
    }
}

/// Whether there is such an index already.
///
/// # Errors
/// 85 and 86 when there is one that is nearly the same.
fn exists(all: &[&Definition], wanted: &Definition) -> Result<bool> {
    for existing in all {
        let (same_name, same_key) =
            (existing.name == wanted.name, same_key(&existing.key(), &wanted.key()));
        let same_options = options(existing) == options(wanted);
        let both = || {
            format!(
                "Requested index: {}, existing index: {}",
                text::document(&wanted.spec),
                text::document(&existing.spec)
            )
        };
        match (same_name, same_key) {
            (_, true) if existing.is_id() => return Ok(true),
            (true, true) if same_options => return Ok(true),
            (true, true) => {
                return Err(refuse!(
                    INDEX_OPTIONS_CONFLICT,
                    "An equivalent index already exists with the same name but different options. {}",
                    both()
                ));
            }
            (false, true)
                if existing.spec.get("partialFilterExpression")
                    == wanted.spec.get("partialFilterExpression") =>
            {
                return Err(refuse!(
                    INDEX_OPTIONS_CONFLICT,
                    "Index already exists with a different name: {}",
                    existing.name
                ));
            }
            (true, false) => {
                return Err(refuse!(
                    INDEX_KEY_SPECS_CONFLICT,
                    "An existing index has the same name as the requested index. When index names are not specified, they \
                     are auto generated and can cause conflicts. Please refer to our documentation. {}",
                    both()
                ));
            }
            (false, _) => {}
        }
    }
    Ok(false)
}

/// The options that make an index another one.
fn options(definition: &Definition) -> (bool, bool, Option<&Bson>, Option<&Bson>) {
    let spec = &definition.spec;
    (
        definition.unique,
        definition.sparse,
        spec.get("partialFilterExpression"),
        spec.get("expireAfterSeconds"),
    )
}

fn drop_indexes(context: &Context<'_>) -> Result<RawDocumentBuf> {
    let name = context.collection_name()?;
    let fields = Fields::command("dropIndexes", context.body)?;
    let wanted = fields.value("index");
    let wanted = fields.required("index", wanted)?;
    fields.finish()?;
    let namespace = context.namespace(name);
    let Some(collection) = context.collection(name) else {
        return Err(refuse!(NAMESPACE_NOT_FOUND, "ns not found {namespace}"));
    };
    let shape = collection.shape();
    let not_id = |definition: &Definition| {
        if definition.is_id() {
            Err(refuse!(INVALID_OPTIONS, "cannot drop _id index"))
        } else {
            Ok(definition.name.clone())
        }
    };
    let by_name = |name: &str| {
        let index = shape.indexes.iter().find(|index| index.definition.name == name);
        index.ok_or_else(|| refuse!(INDEX_NOT_FOUND, "index not found with name [{name}]"))
    };
    let (mut names, mut all) = (Vec::new(), false);
    match wanted {
        RawBsonRef::String("*") => {
            all = true;
            names.extend(
                shape
                    .indexes
                    .iter()
                    .filter(|index| !index.definition.is_id())
                    .map(|index| index.definition.name.clone()),
            );
        }
        RawBsonRef::String(name) => names.push(not_id(&by_name(name)?.definition)?),
        RawBsonRef::Document(key) => {
            let key = decode(key)?;
            let index = shape.indexes.iter().find(|index| same_key(&index.definition.key(), &key));
            let index = index.ok_or_else(|| {
                refuse!(INDEX_NOT_FOUND, "can't find index with key: {}", text::document(&key))
            })?;
            names.push(not_id(&index.definition)?);
        }
        RawBsonRef::Array(list) => {
            for element in list {
                match element.map_err(|error| refuse!(INVALID_BSON, "{error}"))? {
                    RawBsonRef::String(name) => names.push(not_id(&by_name(name)?.definition)?),
                    other => {
                        return Err(refuse!(
                            TYPE_MISMATCH,
                            "BSON field 'dropIndexes.index' is the wrong type '{}', expected types '[string, object]'",
                            type_name(other)
                        ));
                    }
                }
            }
        }
        other => {
            return Err(Error::command(
                Code::TYPE_MISMATCH,
                format!(
                    "BSON field 'dropIndexes.index' is the wrong type '{}', expected types '[string, object']",
                    type_name(other)
                ),
            ));
        }
    }
    context.storage().drop_indexes(context.database, name, &names)?;
    let was = i32::try_from(shape.indexes.len()).unwrap_or(i32::MAX);
    Ok(if all {
        rawdoc! { "nIndexesWas": was, "msg": "non-_id indexes dropped for collection", "ok": 1.0 }
    } else {
        rawdoc! { "nIndexesWas": was, "ok": 1.0 }
    })
}
