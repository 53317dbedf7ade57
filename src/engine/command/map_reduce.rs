//! `mapReduce`: JavaScript functions over the documents of a collection, as it was done before pipelines.

use std::collections::HashMap;

use bson::{Bson, Document, RawBsonRef, RawDocumentBuf, doc};

use super::aggregate;
use super::context::{Context, count as tick};
use super::fields::{Fields, decode_value};
use super::output::{self, Matched, Output, Unmatched};
use super::read::encode;
use super::{Command, name};
use crate::engine::expr::Scope;
use crate::engine::functions::Hook;
use crate::error::Result;
use crate::value::compare::compare;
use crate::value::{key, size};
use crate::{bad_value, refuse};

/// The commands of this family.
pub(super) const COMMANDS: &[Command] = &[Command {
    name: "mapReduce",
    aliases: &["mapreduce"],
    help: "keys and values that a function emits, reduced by another",
    admin_only: false,
    run: map_reduce,
}];

/// What the values of one run may take, as in a `$group`.
const HELD: usize = 100 * 1024 * 1024;

/// The largest document of an inline reply.
const LARGEST_REPLY: usize = 16 * 1024 * 1024;

/// Where results go.
enum Target {
    /// Into the reply.
    Inline,
    /// Into a collection: in the place of what is there, over it, or reduced with it.
    Collection { database: String, name: String, mode: Mode },
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Replace,
    Merge,
    Reduce,
}

/// The functions, ready to be called.
struct Job<'a> {
    hook: Hook,
    map: String,
    reduce: String,
    finalize: Option<String>,
    context: &'a Context<'a>,
}

impl Job<'_> {
    fn map(&self, document: &Document) -> Result<Vec<(Bson, Bson)>> {
        let interrupt = &self.context.interrupt;
        Ok(self.hook.call(&self.map, Some(document), &[], interrupt)?.emitted)
    }

    /// Values of one key become one. A single value is none that has to be reduced.
    fn reduce(&self, key: &Bson, mut values: Vec<Bson>) -> Result<Bson> {
        match (values.pop(), values.is_empty()) {
            (Some(only), true) => Ok(only),
            (last, _) => {
                values.extend(last);
                let arguments = [key.clone(), Bson::Array(values)];
                let interrupt = &self.context.interrupt;
                Ok(self.hook.call(&self.reduce, None, &arguments, interrupt)?.value)
            }
        }
    }

    fn finalize(&self, key: &Bson, value: Bson) -> Result<Bson> {
        let Some(text) = &self.finalize else { return Ok(value) };
        let arguments = [key.clone(), value];
        Ok(self.hook.call(text, None, &arguments, &self.context.interrupt)?.value)
    }
}

fn map_reduce(context: &Context<'_>) -> Result<RawDocumentBuf> {
    tick(&context.shared.tally.command);
    let source = context.collection_name()?;
    let fields = Fields::command("mapReduce", context.body)?;
    let map = function(&fields, "map")?;
    let map = fields.required("map", map)?;
    let reduce = function(&fields, "reduce")?;
    let reduce = fields.required("reduce", reduce)?;
    let finalize = function(&fields, "finalize")?;
    let query = fields.document("query")?.unwrap_or_default();
    let sort = fields.document("sort")?.unwrap_or_default();
    let limit = fields.long("limit")?.unwrap_or(0);
    let globals = fields.document("scope")?.unwrap_or_default();
    let target = fields.required("out", fields.value("out"))?;
    let target = target_of(context, target)?;
    let bypass = fields.loose_flag("bypassDocumentValidation")?;
    fields.ignore(&["jsMode", "verbose", "collation", "shardedFirstPass", "splitInfo"]);
    fields.finish()?;
    if limit < 0 {
        return Err(bad_value!("BSON field 'limit' value must be >= 0, actual value '{limit}'"));
    }
    let scope = context.scope(None)?;
    let Some(hook) = scope.functions.clone() else {
        return Err(refuse!(
            COMMAND_NOT_SUPPORTED,
            "mapReduce requires JavaScript, which is not enabled"
        ));
    };
    let job = Job { hook: hook.with_globals(globals), map, reduce, finalize, context };
    let mut stages = vec![Bson::Document(doc! { "$match": query })];
    if !sort.is_empty() {
        stages.push(Bson::Document(doc! { "$sort": sort }));
    }
    if limit > 0 {
        stages.push(Bson::Document(doc! { "$limit": limit }));
    }
    let results = results(&job, source, stages, &scope)?;
    match target {
        Target::Inline => {
            let reply = doc! { "results": results, "ok": 1.0 };
            if size::of(&Bson::Document(reply.clone())) > LARGEST_REPLY {
                return Err(refuse!(
                    BSON_OBJECT_TOO_LARGE,
                    "mapReduce -> results are too large for one reply; use an output collection"
                ));
            }
            encode(&reply)
        }
        Target::Collection { database, name, mode } => {
            write(&job, &database, &name, mode, results, &scope, bypass)?;
            let result = if database == context.database {
                Bson::String(name)
            } else {
                Bson::Document(doc! { "db": database, "collection": name })
            };
            encode(&doc! { "result": result, "ok": 1.0 })
        }
    }
}

/// The text of a function.
fn function(fields: &Fields<'_>, name: &'static str) -> Result<Option<String>> {
    match fields.value(name) {
        None => Ok(None),
        Some(RawBsonRef::String(text) | RawBsonRef::JavaScriptCode(text)) => {
            Ok(Some(text.to_owned()))
        }
        Some(other) => Err(fields.wrong(name, other, "string")),
    }
}

fn target_of(context: &Context<'_>, out: RawBsonRef<'_>) -> Result<Target> {
    let (database, name, mode) = match decode_value(out)? {
        Bson::String(name) => (context.database.to_owned(), name, Mode::Replace),
        Bson::Document(out) if out.contains_key("inline") => return Ok(Target::Inline),
        Bson::Document(out) => {
            let modes =
                [("replace", Mode::Replace), ("merge", Mode::Merge), ("reduce", Mode::Reduce)];
            let mode = modes.into_iter().find(|(mode, _)| out.contains_key(mode));
            let Some((field, mode)) = mode else {
                return Err(bad_value!("'out' must have one of: inline, merge, replace, reduce"));
            };
            let Ok(name) = out.get_str(field) else {
                return Err(bad_value!("'{field}' of 'out' must name a collection"));
            };
            let database = out.get_str("db").unwrap_or(context.database).to_owned();
            (database, name.to_owned(), mode)
        }
        _ => return Err(bad_value!("'out' must be either a string or an object")),
    };
    name::check_database(&database)?;
    name::check_creatable(&database, &name)?;
    Ok(Target::Collection { database, name, mode })
}

/// The keys that were emitted, each with its value, in the order of the keys.
fn results(job: &Job<'_>, source: &str, stages: Vec<Bson>, scope: &Scope) -> Result<Vec<Document>> {
    let mut places: HashMap<Vec<u8>, usize> = HashMap::new();
    let mut groups: Vec<(Bson, Vec<Bson>)> = Vec::new();
    let mut held = 0;
    aggregate::each(job.context, source, stages, scope, &mut |document| {
        for (key, value) in job.map(&document)? {
            // A key that is nothing is null.
            let key = if key == Bson::Undefined { Bson::Null } else { key };
            let mut encoded = Vec::new();
            key::encode(&key, false, &mut encoded);
            let at = *places.entry(encoded).or_insert_with(|| {
                groups.push((key, Vec::new()));
                groups.len() - 1
            });
            held += size::of(&value);
            groups[at].1.push(value);
            if held > HELD {
                held = 0;
                for (key, values) in &mut groups {
                    *values = vec![job.reduce(key, std::mem::take(values))?];
                    held += size::of(&values[0]);
                }
                if held > HELD {
                    let words = "mapReduce used too much memory and cannot spill to disk";
                    return Err(refuse!(
                        EXCEEDED_MEMORY_LIMIT,
                        "{words}. Memory limit: {HELD} bytes"
                    ));
                }
            }
        }
        Ok(())
    })?;
    groups.sort_by(|(left, _), (right, _)| compare(left, right));
    groups
        .into_iter()
        .map(|(key, values)| {
            let value = job.reduce(&key, values)?;
            let value = job.finalize(&key, value)?;
            Ok(doc! { "_id": key, "value": value })
        })
        .collect()
}

/// Writes results into a collection.
fn write(
    job: &Job<'_>,
    database: &str,
    name: &str,
    mode: Mode,
    mut results: Vec<Document>,
    scope: &Scope,
    bypass: bool,
) -> Result<()> {
    let context = job.context;
    if mode == Mode::Replace {
        return output::replace(context, database, name, results.into_iter().map(Ok), bypass);
    }
    if mode == Mode::Reduce {
        let there = context.within(database);
        for result in &mut results {
            let id = result.get("_id").cloned().unwrap_or(Bson::Null);
            let stages = vec![Bson::Document(doc! { "$match": { "_id": { "$eq": id.clone() } } })];
            let mut old = None;
            aggregate::each(&there, name, stages, scope, &mut |document| {
                old = document.get("value").cloned();
                Ok(())
            })?;
            if let Some(old) = old {
                let new = result.get("value").cloned().unwrap_or(Bson::Null);
                let value = job.reduce(&id, vec![old, new])?;
                result.insert("value", job.finalize(&id, value)?);
            }
        }
    }
    let output = Output::Merge {
        database: database.to_owned(),
        name: name.to_owned(),
        on: vec!["_id".to_owned()],
        matched: Matched::Replace,
        unmatched: Unmatched::Insert,
        variables: Document::new(),
    };
    output.write(context, results.into_iter().map(Ok), bypass)
}
