//! Stages that read other collections: `$lookup`, `$unionWith`.

use bson::{Bson, Document};

use super::joined::Foreign;
use super::unwind::set;
use super::{Context, Documents, Pipeline, Place, Row, Stage};
use crate::engine::expr::{Expression, FieldPath, Scope, check_path, check_variable_name};
use crate::error::{Code, Error, Result};
use crate::value::kind;

pub(super) const STAGES: &[Row] = &[
    Row {
        name: "$lookup",
        help: "documents of another collection in an array: {from, localField, foreignField, let, pipeline, as}",
        place: Place::Anywhere,
        parse: lookup,
    },
    Row {
        name: "$unionWith",
        help: "the documents of another collection as well: a name, or {coll, pipeline}",
        place: Place::Anywhere,
        parse: union_with,
    },
];

fn refuse(message: impl Into<String>) -> Error {
    Error::command(Code::FAILED_TO_PARSE, message)
}

/// The documents of another collection that match a filter.
pub(super) fn scan<'a>(
    context: &'a Context,
    collection: &str,
    filter: &Document,
) -> Result<Documents<'a>> {
    match &context.collections {
        Some(collections) => collections.scan(collection, filter),
        None => Ok(Box::new(std::iter::empty())),
    }
}

/// The documents that an inner pipeline begins with: those its leading filter lets pass, as far as a scan can tell.
fn feed<'a>(context: &'a Context, collection: &str, pipeline: &Pipeline) -> Result<Documents<'a>> {
    let filter = pipeline.leading_match().map(|(filter, _)| plain(filter)).unwrap_or_default();
    scan(context, collection, &filter)
}

/// The part of a filter that needs no variables. It may let more pass: the pipeline itself checks everything.
fn plain(filter: &Document) -> Document {
    let mut kept = Document::new();
    for (name, value) in filter {
        match value {
            Bson::Array(parts) if name == "$and" => {
                let parts = parts
                    .iter()
                    .filter_map(Bson::as_document)
                    .map(plain)
                    .filter(|part| !part.is_empty());
                let parts: Vec<Bson> = parts.map(Bson::Document).collect();
                if !parts.is_empty() {
                    kept.insert(name.as_str(), parts);
                }
            }
            _ if name == "$expr" || has_expression(value) => {}
            _ => {
                kept.insert(name.as_str(), value.clone());
            }
        }
    }
    kept
}

fn has_expression(value: &Bson) -> bool {
    match value {
        Bson::Document(document) => {
            document.iter().any(|(name, value)| name == "$expr" || has_expression(value))
        }
        Bson::Array(elements) => elements.iter().any(has_expression),
        _ => false,
    }
}

/// `$lookup`.
#[derive(Debug)]
struct Lookup {
    from: String,
    target: String,
    /// Local and foreign field.
    equality: Option<(FieldPath, String)>,
    variables: Vec<(String, Expression)>,
    pipeline: Option<Inner>,
}

/// The pipeline over the other collection.
#[derive(Debug)]
enum Inner {
    /// It knows nothing of the local document, and is compiled once.
    Same(Pipeline),
    /// It is compiled with each document's variables.
    Each(Vec<Bson>),
}

fn lookup(argument: &Bson, scope: &Scope) -> Result<Box<dyn Stage>> {
    let Bson::Document(specification) = argument else {
        return Err(refuse(format!(
            "the $lookup stage specification must be an object, but found {}",
            kind::name(argument)
        )));
    };
    let mut texts: [Option<&str>; 4] = [None; 4];
    const TEXTS: [&str; 4] = ["from", "as", "localField", "foreignField"];
    let (mut variables, mut stages) = (None, None);
    for (name, value) in specification {
        match (TEXTS.iter().position(|text| text == name), value) {
            (Some(at), Bson::String(text)) => texts[at] = Some(text),
            (Some(_), other) => {
                let (shown, found) = (crate::value::text::value(other), kind::name(other));
                return Err(refuse(format!(
                    "$lookup argument '{name}' must be a string, found {name}: {shown} is type {found}"
                )));
            }
            (None, Bson::Document(values)) if name == "let" => variables = Some(values),
            (None, other) if name == "let" => {
                let found = kind::name(other);
                return Err(refuse(format!(
                    "$lookup argument 'let: {}' must be an object, is type {found}",
                    crate::value::text::value(other)
                )));
            }
            (None, Bson::Array(list)) if name == "pipeline" => stages = Some(list),
            (None, _) if name == "pipeline" => {
                return Err(Error::command(
                    Code::TYPE_MISMATCH,
                    "'pipeline' option must be specified as an array",
                ));
            }
            (None, _) => return Err(refuse(format!("unknown argument to $lookup: {name}"))),
        }
    }
    let [from, target, local, foreign] = texts;
    let target = target.ok_or_else(|| refuse("must specify 'as' field for a $lookup"))?;
    check_path(target)?;
    let from = from.ok_or_else(|| refuse("must specify 'from' field for a $lookup"))?;
    let equality = match (local, foreign) {
        (Some(local), Some(foreign)) => {
            check_path(foreign)?;
            Some((FieldPath::parse(local)?, foreign.to_owned()))
        }
        (None, None) if stages.is_some() => None,
        _ => {
            let message = "$lookup requires either 'pipeline' or both 'localField' and 'foreignField' to be specified";
            return Err(refuse(message));
        }
    };
    if variables.is_some() && stages.is_none() {
        return Err(refuse("$lookup with a 'let' argument must also specify 'pipeline'"));
    }
    let mut bound = Vec::new();
    let mut inner = scope.clone();
    for (name, value) in variables.into_iter().flatten() {
        check_variable_name(name, false)?;
        bound.push((name.clone(), Expression::parse(value, scope)?));
        inner.variables.insert(name.as_str(), Bson::Null);
    }
    let pipeline = match stages {
        None => None,
        // Compiled here in any case, so that a bad pipeline is refused before any document.
        Some(stages) => {
            let pipeline = Pipeline::parse_inner(stages, &inner, "$lookup")?;
            Some(if bound.is_empty() { Inner::Same(pipeline) } else { Inner::Each(stages.clone()) })
        }
    };
    Ok(Box::new(Lookup {
        from: from.to_owned(),
        target: target.to_owned(),
        equality,
        variables: bound,
        pipeline,
    }))
}

impl Stage for Lookup {
    fn run<'a>(&'a self, input: Documents<'a>, context: &'a Context) -> Documents<'a> {
        let mut foreign = None;
        Box::new(input.map(move |document| {
            let mut document = document?;
            context.interrupt.check()?;
            let found = self.found(&document, context, &mut foreign)?;
            set(&mut document, &self.target, Bson::Array(found));
            Ok(document)
        }))
    }

    fn fold(&mut self, scope: &Scope) -> Result<()> {
        self.variables.iter_mut().try_for_each(|(_, value)| value.fold(scope))
    }
}

impl Lookup {
    /// The foreign documents for a local one.
    fn found<'a>(
        &'a self,
        document: &Document,
        context: &'a Context,
        foreign: &mut Option<Foreign<'a>>,
    ) -> Result<Vec<Bson>> {
        let whole =
            |documents: Documents<'_>| documents.map(|found| found.map(Bson::Document)).collect();
        let matching: Documents<'_> = match &self.equality {
            Some((local, field)) => {
                let values = match local.of(document).map(|value| value.into_owned()) {
                    // Any element of a local array may be the one.
                    Some(Bson::Array(elements)) => elements,
                    other => vec![other.unwrap_or(Bson::Null)],
                };
                let foreign = match foreign {
                    Some(foreign) => foreign,
                    empty => empty.insert(Foreign::open(context, &self.from, field)?),
                };
                foreign.matching(&values)?
            }
            None => match &self.pipeline {
                Some(Inner::Same(pipeline)) => feed(context, &self.from, pipeline)?,
                Some(Inner::Each(_)) | None => Box::new(std::iter::empty()),
            },
        };
        match &self.pipeline {
            None => whole(matching),
            Some(Inner::Same(pipeline)) => whole(pipeline.run(matching, context)),
            Some(Inner::Each(stages)) => {
                let mut inner = context.clone();
                for (name, value) in &self.variables {
                    // A missing value stays one: the variable is then unset.
                    match value.evaluate(document, &context.scope)? {
                        Some(value) => inner.scope.variables.insert(name.as_str(), value),
                        None => inner.scope.variables.insert(name.as_str(), Bson::Undefined),
                    };
                }
                let pipeline = Pipeline::parse_inner(stages, &inner.scope, "$lookup")?;
                let matching = match &self.equality {
                    Some(_) => matching,
                    None => feed(context, &self.from, &pipeline)?,
                };
                whole(pipeline.run(matching, &inner))
            }
        }
    }
}

/// `$unionWith`.
#[derive(Debug)]
struct UnionWith {
    collection: String,
    pipeline: Pipeline,
}

fn union_with(argument: &Bson, scope: &Scope) -> Result<Box<dyn Stage>> {
    let nothing = Vec::new();
    let (collection, stages) = match argument {
        Bson::String(collection) => (collection, &nothing),
        Bson::Document(specification) => {
            let (mut collection, mut stages) = (None, &nothing);
            for (name, value) in specification {
                match (name.as_str(), value) {
                    ("coll", Bson::String(name)) => collection = Some(name),
                    ("pipeline", Bson::Array(list)) => stages = list,
                    ("coll" | "pipeline", other) => {
                        let expected = if name == "coll" { "string" } else { "array" };
                        let found = kind::name(other);
                        let message = format!(
                            "BSON field '$unionWith.{name}' is the wrong type '{found}', expected type '{expected}'"
                        );
                        return Err(Error::command(Code::TYPE_MISMATCH, message));
                    }
                    _ => {
                        let message =
                            format!("BSON field '$unionWith.{name}' is an unknown field.");
                        return Err(Error::command(Code(40415), message));
                    }
                }
            }
            let message = "BSON field '$unionWith.coll' is missing but a required field";
            (collection.ok_or_else(|| Error::command(Code(40414), message))?, stages)
        }
        other => {
            let found = kind::name(other);
            return Err(refuse(format!(
                "the $unionWith stage specification must be an object or string, but found {found}"
            )));
        }
    };
    let pipeline = Pipeline::parse_inner(stages, scope, "$unionWith")?;
    Ok(Box::new(UnionWith { collection: collection.clone(), pipeline }))
}

impl Stage for UnionWith {
    fn run<'a>(&'a self, input: Documents<'a>, context: &'a Context) -> Documents<'a> {
        // The other collection is opened when its turn comes.
        let further = std::iter::once_with(move || -> Documents<'a> {
            match feed(context, &self.collection, &self.pipeline) {
                Ok(documents) => self.pipeline.run(documents, context),
                Err(error) => Box::new(std::iter::once(Err(error))),
            }
        });
        Box::new(input.chain(further.flatten()))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use bson::{DateTime, bson, doc};

    use super::super::Collections;
    use super::*;
    use crate::engine::query::Filter;
    use crate::interrupt::Interrupt;

    /// Collections held in memory.
    #[derive(Debug)]
    struct Held(BTreeMap<&'static str, Vec<Document>>);

    impl Collections for Held {
        fn scan(&self, collection: &str, filter: &Document) -> Result<Documents<'_>> {
            let filter = Filter::parse(filter, &Scope::new(DateTime::from_millis(0)))?;
            let documents = self.0.get(collection).cloned().unwrap_or_default();
            Ok(Box::new(documents.into_iter().filter_map(move |document| {
                match filter.matches(&document) {
                    Ok(true) => Some(Ok(document)),
                    Ok(false) => None,
                    Err(error) => Some(Err(error)),
                }
            })))
        }
    }

    fn run(stages: Bson, input: &[Document]) -> Result<Vec<Document>> {
        let held = Held(BTreeMap::from([
            (
                "items",
                vec![
                    doc! { "_id": 1, "sku": "nuts", "stock": 60 },
                    doc! { "_id": 2, "sku": "bread", "stock": 10 },
                    doc! { "_id": 3, "sku": null },
                    doc! { "_id": 4 },
                    doc! { "_id": 5, "sku": ["nuts", "oats"] },
                ],
            ),
            (
                "staff",
                vec![
                    doc! { "_id": 1, "name": "Dev" },
                    doc! { "_id": 2, "name": "Eliot", "boss": "Dev" },
                    doc! { "_id": 3, "name": "Ron", "boss": "Eliot" },
                    doc! { "_id": 4, "name": "Asya", "boss": "Ron" },
                ],
            ),
        ]));
        let scope = Scope::new(DateTime::from_millis(0));
        let context = Context::new(scope, Interrupt::new()).with_collections(Arc::new(held));
        let Bson::Array(stages) = stages else { panic!("stages are an array") };
        let pipeline = Pipeline::parse(&stages, &context.scope)?;
        let input: Vec<_> = input.iter().cloned().map(Ok).collect();
        pipeline.run(Box::new(input.into_iter()), &context).collect()
    }

    #[test]
    fn equal_fields_join_and_null_is_missing() {
        let lookup = bson!([
            { "$lookup": { "from": "items", "localField": "item", "foreignField": "sku", "as": "found" } },
            { "$project": { "found": "$found._id" } },
        ]);
        let orders = [
            doc! { "_id": 1, "item": "nuts" },
            doc! { "_id": 2 },
            doc! { "_id": 3, "item": ["bread", "nuts"] },
            doc! { "_id": 4, "item": "zz" },
        ];
        let expected = [
            doc! { "_id": 1, "found": [1, 5] },
            doc! { "_id": 2, "found": [3, 4] },
            doc! { "_id": 3, "found": [1, 2, 5] },
            doc! { "_id": 4, "found": [] },
        ];
        assert_eq!(run(lookup, &orders), Ok(expected.to_vec()));
        let by_id = bson!([
            { "$lookup": { "from": "items", "localField": "i", "foreignField": "_id", "as": "a.found" } },
            { "$unwind": "$a.found" },
            { "$project": { "_id": 0, "sku": "$a.found.sku" } },
        ]);
        assert_eq!(run(by_id, &[doc! { "i": 2.0 }]), Ok(vec![doc! { "sku": "bread" }]));
    }

    #[test]
    fn pipelines_see_the_local_document_by_their_variables() {
        let lookup = bson!([
            { "$lookup": {
                "from": "items",
                "let": { "wanted": "$n" },
                "pipeline": [{ "$match": { "$expr": { "$gte": ["$stock", "$$wanted"] } } }, { "$project": { "stock": 1, "_id": 0 } }],
                "as": "found",
            } },
        ]);
        let expected = vec![
            doc! { "n": 50, "found": [{ "stock": 60 }] },
            doc! { "n": 5, "found": [{ "stock": 60 }, { "stock": 10 }] },
        ];
        assert_eq!(run(lookup, &[doc! { "n": 50 }, doc! { "n": 5 }]), Ok(expected));
        let both = bson!([{ "$lookup": {
            "from": "items", "localField": "item", "foreignField": "sku", "pipeline": [{ "$count": "n" }], "as": "found",
        } }]);
        assert_eq!(
            run(both, &[doc! { "item": "nuts" }]),
            Ok(vec![doc! { "item": "nuts", "found": [{ "n": 2 }] }])
        );
    }

    #[test]
    fn unions_follow_the_input() {
        let union = bson!([{ "$unionWith": { "coll": "items", "pipeline": [{ "$match": { "stock": { "$gt": 50 } } }] } }]);
        let expected = vec![doc! { "a": 1 }, doc! { "_id": 1, "sku": "nuts", "stock": 60 }];
        assert_eq!(run(union, &[doc! { "a": 1 }]), Ok(expected));
    }

    #[test]
    fn graphs_are_followed() {
        let graph = bson!([
            { "$graphLookup": {
                "from": "staff", "startWith": "$boss", "connectFromField": "boss", "connectToField": "name",
                "as": "chain", "depthField": "level",
            } },
            { "$project": { "chain": { "$sortArray": { "input": "$chain", "sortBy": { "level": 1 } } } } },
            { "$project": { "_id": 0, "names": "$chain.name", "levels": "$chain.level" } },
        ]);
        let expected = doc! { "names": ["Ron", "Eliot", "Dev"], "levels": [0_i64, 1_i64, 2_i64] };
        assert_eq!(run(graph, &[doc! { "name": "Asya", "boss": "Ron" }]), Ok(vec![expected]));
    }

    #[test]
    fn bad_lookups_are_refused() {
        let words = |stage: Bson| run(bson!([stage]), &[]).unwrap_err().to_string();
        assert_eq!(
            words(bson!({ "$lookup": { "from": "a" } })),
            "must specify 'as' field for a $lookup"
        );
        assert_eq!(
            words(bson!({ "$lookup": { "from": "a", "as": "b", "localField": "c" } })),
            "$lookup requires either 'pipeline' or both 'localField' and 'foreignField' to be specified"
        );
        assert_eq!(words(bson!({ "$lookup": { "x": 1 } })), "unknown argument to $lookup: x");
        assert_eq!(
            words(bson!({ "$lookup": { "from": "a", "as": "b", "pipeline": [{ "$x": 1 }] } })),
            "Unrecognized pipeline stage name: '$x'"
        );
    }
}
