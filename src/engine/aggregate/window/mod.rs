//! `$setWindowFields`: fields computed over the neighbours of each document, in an order.

mod bounds;
mod function;
mod rank;
mod series;

use bson::{Bson, DateTime, Document};

use super::flow::lazily;
use super::memory::{self, Memory};
use super::{Context, Documents, Place, Row, Stage, refuse};
use crate::engine::expr::{Expression, Scope};
use crate::engine::query::{Projection, Sort};
use crate::error::{Code, Error, Result};
use crate::value::compare::compare;
use crate::value::{kind, size};

use function::Function;
pub use function::{FUNCTIONS, Row as FunctionRow};
pub(super) use series::filling;

pub(super) const STAGES: &[Row] = &[Row {
    name: "$setWindowFields",
    help: "fields computed over neighbours: {partitionBy, sortBy, output}",
    place: Place::Anywhere,
    parse,
}];

fn failed(message: impl Into<String>) -> Error {
    Error::command(Code::FAILED_TO_PARSE, message)
}

/// The compiled stage.
#[derive(Debug)]
pub(super) struct Windows {
    by: Option<Expression>,
    sort: Sort,
    functions: Vec<Function>,
    /// Puts the values, which it knows as variables, into a document.
    addition: Projection,
}

/// Documents of one partition, in order, with what they are sorted by.
#[derive(Debug, Default)]
pub(super) struct Partition {
    documents: Vec<Document>,
    /// What each is sorted by; one value for each key of the sort.
    keys: Vec<Vec<Bson>>,
}

/// What a function may look at.
#[derive(Clone, Copy, Debug)]
struct Frame<'a> {
    partition: &'a Partition,
    sort: &'a Sort,
    context: &'a Context,
}

fn parse(argument: &Bson, scope: &Scope) -> Result<Box<dyn Stage>> {
    let Bson::Document(specification) = argument else {
        let found = kind::name(argument);
        return Err(failed(format!(
            "the $setWindowFields stage specification must be an object, found {found}"
        )));
    };
    if let Some(name) = specification
        .keys()
        .find(|name| !["partitionBy", "sortBy", "output"].contains(&name.as_str()))
    {
        return Err(refuse(
            40415,
            format!("BSON field '$setWindowFields.{name}' is an unknown field."),
        ));
    }
    let document = |name: &str| match specification.get(name) {
        None => Ok(None),
        Some(Bson::Document(document)) => Ok(Some(document)),
        Some(other) => Err(Error::command(
            Code::TYPE_MISMATCH,
            format!(
                "BSON field '$setWindowFields.{name}' is the wrong type '{}', expected type 'object'",
                kind::name(other)
            ),
        )),
    };
    let sort = document("sortBy")?;
    let Some(output) = document("output")? else {
        return Err(refuse(
            40414,
            "BSON field '$setWindowFields.output' is missing but a required field",
        ));
    };
    Ok(Box::new(Windows::new(specification.get("partitionBy"), sort, output, scope)?))
}

/// The variable under which the addition knows a function's value.
fn variable(at: usize) -> String {
    format!("w{at}")
}

impl Windows {
    /// Compiles the stage from its three parts.
    pub(super) fn new(
        by: Option<&Bson>,
        sort: Option<&Document>,
        output: &Document,
        scope: &Scope,
    ) -> Result<Self> {
        let by = by.map(|by| Expression::parse(by, scope)).transpose()?;
        let sort = sort.map(Sort::parse).transpose()?.unwrap_or_default();
        let mut functions = Vec::with_capacity(output.len());
        let (mut addition, mut known) = (Document::new(), Document::new());
        for (at, (field, specification)) in output.iter().enumerate() {
            let Bson::Document(specification) = specification else {
                return Err(failed(format!("The field '{field}' must be an object")));
            };
            functions.push(Function::parse(specification, &sort, scope)?);
            known.insert(variable(at), Bson::Null);
            addition.insert(field.as_str(), format!("$${}", variable(at)));
        }
        if output.is_empty() {
            return Err(failed("output must be specified with at least one field"));
        }
        let named = Scope::new(DateTime::from_millis(0)).with_variables(known);
        let addition = Projection::parse_addition(&addition, &named)
            .map_err(|error| error.prefixed("Invalid $setWindowFields :: caused by :: "))?;
        Ok(Self { by, sort, functions, addition })
    }

    /// All documents, partition by partition, each in order.
    fn partitions(&self, input: Documents<'_>, context: &Context) -> Result<Vec<Partition>> {
        let mut memory = Memory::new(context, memory::WINDOWS);
        let mut all: Vec<(Bson, Vec<Bson>, Document)> = Vec::new();
        for document in input {
            let document = document?;
            context.interrupt.check()?;
            memory.take(size::of_document(&document))?;
            let by = match &self.by {
                None => Bson::Null,
                Some(by) => match by.evaluate(&document, &context.scope)? {
                    None | Some(Bson::Undefined) => Bson::Null,
                    Some(Bson::Array(_)) => {
                        let words = "An expression used to partition cannot evaluate to value of type array";
                        return Err(Error::command(Code::TYPE_MISMATCH, words));
                    }
                    Some(value) => value,
                },
            };
            let key = self.sort.key(&document)?.into_iter().cloned().collect();
            all.push((by, key, document));
        }
        all.sort_by(|(left, left_key, _), (right, right_key, _)| {
            compare(left, right).then_with(|| self.sort.compare_keys(left_key, right_key))
        });
        let mut partitions: Vec<Partition> = Vec::new();
        let mut last: Option<Bson> = None;
        for (by, key, document) in all {
            if last.as_ref().is_none_or(|last| compare(last, &by).is_ne()) {
                partitions.push(Partition::default());
                last = Some(by);
            }
            if let Some(partition) = partitions.last_mut() {
                partition.documents.push(document);
                partition.keys.push(key);
            }
        }
        Ok(partitions)
    }

    /// The documents of a partition with their new fields.
    fn fill(&self, partition: Partition, context: &Context) -> Result<Vec<Document>> {
        let frame = Frame { partition: &partition, sort: &self.sort, context };
        let mut columns = self
            .functions
            .iter()
            .map(|function| Ok(function.values(frame)?.into_iter()))
            .collect::<Result<Vec<_>>>()?;
        let mut scope = Scope::new(context.scope.now);
        let documents = partition.documents.into_iter().map(|document| {
            scope.variables.clear();
            for (at, column) in columns.iter_mut().enumerate() {
                if let Some(Some(value)) = column.next() {
                    scope.variables.insert(variable(at), value);
                }
            }
            self.addition.apply_owned(document, None, &scope)
        });
        documents.collect()
    }
}

impl Stage for Windows {
    fn run<'a>(&'a self, input: Documents<'a>, context: &'a Context) -> Documents<'a> {
        lazily(move || {
            let mut filled = Vec::new();
            for partition in self.partitions(input, context)? {
                filled.append(&mut self.fill(partition, context)?);
            }
            Ok(filled)
        })
    }

    fn fold(&mut self, scope: &Scope) -> Result<()> {
        self.by.iter_mut().try_for_each(|by| by.fold(scope))
    }
}
