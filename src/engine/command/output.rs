//! `$out` and `$merge`: the end of a pipeline in a collection.

use std::sync::Arc;

use bson::oid::ObjectId;
use bson::{Bson, Document};

use super::context::Context;
use super::name;
use super::search::Search;
use super::storable::prepare;
use super::target::{Checks, Target, encode_stored};
use super::write::existing_or_new;
use crate::engine::aggregate::{self, Pipeline};
use crate::engine::expr::Expression;
use crate::engine::index::Definition;
use crate::engine::storage::Collection;
use crate::error::{Code, Error, Result};
use crate::refuse;
use crate::value::{path, text};

/// Where the documents of a pipeline end.
pub(super) enum Output {
    /// In a collection of their own, in place of the one of that name.
    Replace { database: String, name: String },
    /// Each in a collection, by what is there already.
    Merge {
        database: String,
        name: String,
        on: Vec<String>,
        matched: Matched,
        unmatched: Unmatched,
        variables: Document,
    },
}

/// What becomes of a document that is there already.
pub(super) enum Matched {
    Replace,
    Keep,
    Merge,
    Fail,
    Pipeline(Vec<Bson>),
}

/// What becomes of a document that is not there.
pub(super) enum Unmatched {
    Insert,
    Discard,
    Fail,
}

impl Output {
    /// Takes the last stage off, if it is an output.
    pub(super) fn take(context: &Context<'_>, stages: &mut Vec<Bson>) -> Result<Option<Self>> {
        for (at, stage) in stages.iter().enumerate() {
            let name = stage.as_document().and_then(|stage| stage.keys().next());
            if let Some(name @ ("$out" | "$merge")) = name.map(String::as_str)
                && at + 1 < stages.len()
            {
                return Err(Error::command(
                    Code(40601),
                    format!("{name} can only be the final stage in the pipeline"),
                ));
            }
        }
        let last = stages.last().and_then(Bson::as_document).filter(|stage| stage.len() == 1);
        let output = match last.and_then(|stage| stage.iter().next()) {
            Some((stage, argument)) if stage == "$out" => Self::parse_out(context, argument)?,
            Some((stage, argument)) if stage == "$merge" => Self::parse_merge(context, argument)?,
            _ => return Ok(None),
        };
        stages.pop();
        Ok(Some(output))
    }

    fn parse_out(context: &Context<'_>, argument: &Bson) -> Result<Self> {
        let (database, name) = match argument {
            Bson::String(name) => (context.database.to_owned(), name.clone()),
            Bson::Document(place) => {
                let part = |field: &str| match place.get(field) {
                    Some(Bson::String(part)) => Ok(part.clone()),
                    _ => Err(Error::command(
                        Code(40414),
                        format!("BSON field '$out.{field}' is missing but a required field"),
                    )),
                };
                (part("db")?, part("coll")?)
            }
            other => {
                return Err(Error::command(
                    Code(16990),
                    format!(
                        "$out only supports a string or object argument, but found {}",
                        text::type_name(other)
                    ),
                ));
            }
        };
        name::check_database(&database)?;
        name::check_creatable(&database, &name)?;
        Ok(Self::Replace { database, name })
    }

    fn parse_merge(context: &Context<'_>, argument: &Bson) -> Result<Self> {
        let default = Document::new();
        let (into, argument) = match argument {
            Bson::String(_) => (argument, &default),
            Bson::Document(argument) => {
                let into = argument.get("into").ok_or_else(|| {
                    Error::command(
                        Code(40414),
                        "BSON field '$merge.into' is missing but a required field",
                    )
                })?;
                (into, argument)
            }
            other => {
                return Err(Error::command(
                    Code(51182),
                    format!(
                        "$merge only supports a string or object argument, not {}",
                        text::type_name(other)
                    ),
                ));
            }
        };
        for field in argument.keys() {
            if !matches!(field.as_str(), "into" | "on" | "let" | "whenMatched" | "whenNotMatched") {
                return Err(Error::command(
                    Code(40415),
                    format!("BSON field '$merge.{field}' is an unknown field."),
                ));
            }
        }
        let (database, name) = match into {
            Bson::String(name) => (context.database.to_owned(), name.clone()),
            Bson::Document(place) => (
                place.get_str("db").unwrap_or(context.database).to_owned(),
                place.get_str("coll").unwrap_or_default().to_owned(),
            ),
            other => {
                return Err(Error::command(
                    Code(51178),
                    format!(
                        "$merge 'into' field  must be either a string or an object, but found {}",
                        text::type_name(other)
                    ),
                ));
            }
        };
        name::check_database(&database)?;
        name::check_creatable(&database, &name)?;
        let on = match argument.get("on") {
            None => vec!["_id".to_owned()],
            Some(Bson::String(field)) => vec![field.clone()],
            Some(Bson::Array(fields)) => {
                fields.iter().filter_map(Bson::as_str).map(str::to_owned).collect()
            }
            Some(_) => {
                return Err(Error::command(
                    Code(51186),
                    "$merge 'on' field  must be either a string or an array of strings",
                ));
            }
        };
        let matched = match argument.get("whenMatched") {
            None => Matched::Merge,
            Some(Bson::Array(pipeline)) => Matched::Pipeline(pipeline.clone()),
            Some(Bson::String(mode)) => match mode.as_str() {
                "replace" => Matched::Replace,
                "keepExisting" => Matched::Keep,
                "merge" => Matched::Merge,
                "fail" => Matched::Fail,
                other => return Err(mode_unknown("whenMatched", other)),
            },
            Some(other) => return Err(mode_unknown("whenMatched", &text::value(other))),
        };
        let unmatched = match argument.get("whenNotMatched") {
            None => Unmatched::Insert,
            Some(Bson::String(mode)) => match mode.as_str() {
                "insert" => Unmatched::Insert,
                "discard" => Unmatched::Discard,
                "fail" => Unmatched::Fail,
                other => return Err(mode_unknown("whenNotMatched", other)),
            },
            Some(other) => return Err(mode_unknown("whenNotMatched", &text::value(other))),
        };
        let variables = match argument.get("let") {
            Some(Bson::Document(variables)) => variables.clone(),
            _ => Document::new(),
        };
        Ok(Self::Merge { database, name, on, matched, unmatched, variables })
    }

    /// Writes what comes out of a pipeline.
    pub(super) fn write(
        &self,
        context: &Context<'_>,
        documents: impl Iterator<Item = Result<Document>>,
        bypass: bool,
    ) -> Result<()> {
        match self {
            Self::Replace { database, name } => replace(context, database, name, documents, bypass),
            Self::Merge { database, name, on, matched, unmatched, variables } => {
                let there = context.within(database);
                let collection = existing_or_new(&there, name)?;
                let index = check_on(&collection, on)?;
                let namespace = there.namespace(name);
                let rule = Rule { matched, unmatched, variables, on, index };
                for document in documents {
                    rule.merge(&there, &collection, &namespace, document?, bypass)?;
                }
                Ok(())
            }
        }
    }
}

fn mode_unknown(field: &str, mode: &str) -> Error {
    refuse!(
        BAD_VALUE,
        "Enumeration value '{mode}' for field '$merge.{field}' is not a valid value."
    )
}

/// The fields to compare by must be those of a unique index, so that at most one document is there.
fn check_on(collection: &Collection, on: &[String]) -> Result<Definition> {
    let shape = collection.shape();
    let unique = shape.indexes.iter().find(|index| {
        let fields = &index.definition.fields;
        index.definition.unique
            && index.definition.partial.is_none()
            && fields.len() == on.len()
            && fields.iter().all(|field| on.contains(&field.path))
    });
    let words = "Cannot find index to verify that join fields will be unique";
    unique.map(|index| index.definition.clone()).ok_or_else(|| Error::command(Code(51190), words))
}

/// Puts the documents into a new collection and that in the place of the old one, whose indexes it gets.
pub(super) fn replace(
    context: &Context<'_>,
    database: &str,
    name: &str,
    documents: impl Iterator<Item = Result<Document>>,
    bypass: bool,
) -> Result<()> {
    let storage = context.storage();
    let temporary = format!("tmp.agg_out.{}", uuid::Uuid::new_v4());
    let old = storage.collection(database, name).map(|collection| collection.shape());
    let options = old.as_ref().map(|shape| shape.options.clone()).unwrap_or_default();
    if options.get_bool("capped").unwrap_or(false) {
        let words = format!("namespace '{database}.{name}' is capped so it can't be used for $out");
        return Err(Error::command(Code(17152), words));
    }
    let Some(collection) = storage.create(database, &temporary, options)? else { return Ok(()) };
    let namespace = format!("{database}.{name}");
    let filled = (|| {
        let Some(mut writing) = storage.writing(&collection)? else { return Ok(()) };
        let checks = Checks::new(context, writing.shape(), bypass)?;
        for index in old.iter().flat_map(|shape| &shape.indexes).skip(1) {
            writing.build_index(&namespace, &index.definition, &|| Ok(()))?;
        }
        for (at, document) in documents.enumerate() {
            let document = document?;
            checks.check(&document)?;
            let document = encode_stored(&document)?;
            let prepared = prepare(&document)?;
            writing.insert(&namespace, prepared.as_ref().unwrap_or(&document))?;
            if at % 1000 == 999 {
                context.interrupt.check()?;
                writing.flush(false)?;
            }
        }
        writing.commit(context.durable)
    })();
    match filled.and_then(|()| storage.rename((database, &temporary), (database, name), true)) {
        Ok(()) => Ok(()),
        Err(error) => {
            storage.drop_collection(database, &temporary)?;
            Err(error)
        }
    }
}

/// What `$merge` does with each document.
struct Rule<'a> {
    matched: &'a Matched,
    unmatched: &'a Unmatched,
    variables: &'a Document,
    on: &'a [String],
    /// The unique index of these fields.
    index: Definition,
}

impl Rule<'_> {
    fn merge(
        &self,
        context: &Context<'_>,
        collection: &Arc<Collection>,
        namespace: &str,
        mut document: Document,
        bypass: bool,
    ) -> Result<()> {
        // An `_id` to compare by is made before; any other one when the document is inserted.
        if !document.contains_key("_id") && self.on.iter().any(|field| field == "_id") {
            let mut whole = bson::doc! { "_id": ObjectId::new() };
            whole.extend(document);
            document = whole;
        }
        let mut filter = Document::new();
        for field in self.on {
            let value = path::resolve(&document, field)
                .cloned()
                .filter(|value| !matches!(value, Bson::Null | Bson::Undefined | Bson::Array(_)));
            let value = value.ok_or_else(|| {
                Error::command(
                    Code(51132),
                    "$merge write error: 'on' field cannot be missing, null, undefined or an array",
                )
            })?;
            filter.insert(field, bson::doc! { "$eq": value });
        }
        let scope = context.scope(None)?;
        let search = Search::new(&filter, &Document::new(), None, &scope)?;
        let Some(mut writing) = context.storage().writing(collection)? else { return Ok(()) };
        let checks = Checks::new(context, writing.shape(), bypass)?;
        let Some(target) = Target::find(context, &writing, collection, namespace, &search)? else {
            match self.unmatched {
                Unmatched::Insert => {
                    checks.check(&document)?;
                    let document = encode_stored(&document)?;
                    let prepared = prepare(&document)?;
                    writing.insert(namespace, prepared.as_ref().unwrap_or(&document))?;
                    return writing.commit(context.durable);
                }
                Unmatched::Discard => return Ok(()),
                Unmatched::Fail => {
                    return Err(Error::command(
                        Code(13113),
                        "$merge could not find a matching document in the target collection for at least one document in the source collection",
                    ));
                }
            }
        };
        let id = target.document.get("_id").cloned().unwrap_or(Bson::Null);
        let mut merged = match self.matched {
            Matched::Keep => return Ok(()),
            Matched::Fail => {
                let mut values = Document::new();
                for field in &self.index.fields {
                    let value = path::resolve(&document, &field.path).cloned();
                    values.insert(field.path.as_str(), value.unwrap_or(Bson::Null));
                }
                let message = format!(
                    "E11000 duplicate key error collection: {namespace} index: {} dup key: {}",
                    self.index.name,
                    text::document(&values)
                );
                let details = bson::doc! { "keyPattern": self.index.key(), "keyValue": values };
                return Err(Error::command_with(Code::DUPLICATE_KEY, message, details));
            }
            Matched::Replace => document,
            Matched::Merge => {
                let mut merged = target.document.clone();
                merged.extend(document);
                merged
            }
            Matched::Pipeline(stages) => {
                let mut variables = Document::new();
                for (name, expression) in self.variables {
                    let value = Expression::parse(expression, &scope)?;
                    let value = value.evaluate(&document, &scope)?;
                    variables.insert(name.as_str(), value.unwrap_or(Bson::Null));
                }
                variables.insert("new", document);
                let scope = scope.with_variables(variables);
                let pipeline = Pipeline::parse_for_update(stages, &scope)?;
                let surroundings = aggregate::Context::new(scope, context.interrupt.clone());
                pipeline.transform(target.document.clone(), &surroundings)?
            }
        };
        if merged.get("_id").is_some_and(|other| !crate::value::compare::equal(other, &id)) {
            return Err(refuse!(
                IMMUTABLE_FIELD,
                "$merge failed to update the matching document, did you attempt to modify the _id or the shard key?"
            ));
        }
        merged.remove("_id");
        let mut whole = bson::doc! { "_id": id };
        whole.extend(merged);
        checks.check_change(&target.document, &whole)?;
        let whole = encode_stored(&whole)?;
        writing.update(namespace, target.record, target.raw()?, &whole)?;
        writing.commit(context.durable)
    }
}
