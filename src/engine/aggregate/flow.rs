//! Stages that let documents pass or not: `$match`, `$skip`, `$limit`, `$count`, `$sample`.

use bson::{Bson, Document};

use super::{Context, Documents, Place, Row, Stage, refuse};
use crate::bad_value;
use crate::engine::expr::{Scope, random};
use crate::engine::query::Filter;
use crate::error::Result;
use crate::value::number::Number;
use crate::value::text;

pub(super) const STAGES: &[Row] = &[
    Row {
        name: "$count",
        help: "one document with the number of documents",
        place: Place::Anywhere,
        parse: count,
    },
    Row { name: "$limit", help: "the first documents only", place: Place::Anywhere, parse: limit },
    Row {
        name: "$match",
        help: "documents that match a filter",
        place: Place::Anywhere,
        parse: matching,
    },
    Row {
        name: "$sample",
        help: "documents chosen at random: {size}",
        place: Place::Anywhere,
        parse: sample,
    },
    Row { name: "$skip", help: "all but the first documents", place: Place::Anywhere, parse: skip },
];

#[derive(Debug)]
struct Match {
    filter: Filter,
}

fn matching(argument: &Bson, scope: &Scope) -> Result<Box<dyn Stage>> {
    let Bson::Document(filter) = argument else {
        return Err(refuse(15959, "the match filter must be an expression in an object"));
    };
    if asks_javascript(filter) {
        return Err(bad_value!("$where is not allowed in this context"));
    }
    Ok(Box::new(Match { filter: Filter::parse(filter, scope)? }))
}

/// Whether a filter holds a `$where`, which only stands at its top or in an `$and`, `$or` or `$nor`.
pub(crate) fn asks_javascript(filter: &Document) -> bool {
    filter.iter().any(|(name, value)| match (name.as_str(), value) {
        ("$where", _) => true,
        ("$and" | "$or" | "$nor", Bson::Array(filters)) => {
            filters.iter().filter_map(Bson::as_document).any(asks_javascript)
        }
        _ => false,
    })
}

impl Stage for Match {
    fn run<'a>(&'a self, input: Documents<'a>, context: &'a Context) -> Documents<'a> {
        Box::new(input.filter_map(move |document| {
            let passes = document.and_then(|document| {
                context.interrupt.check()?;
                Ok(self.filter.matches(&document)?.then_some(document))
            });
            passes.transpose()
        }))
    }
}

/// A number of documents, in the words of `$limit` and `$skip`.
fn amount(name: &str, code: i32, argument: &Bson) -> Result<usize> {
    let element = text::element(name, argument);
    let refused =
        |reason: String| refuse(code, format!("invalid argument to {name} stage: {reason}"));
    let Some(number) = Number::of(argument) else {
        return Err(refused(format!("Expected a number in: {element}")));
    };
    if number.is_nan() {
        return Err(refused(format!("Expected an integer, but found NaN in: {element}")));
    }
    if number.to_i64().is_none() {
        return Err(refused(format!("Cannot represent as a 64-bit integer: {element}")));
    }
    let Some(integer) = number.integral() else {
        return Err(refused(format!("Expected an integer: {element}")));
    };
    let nonnegative = || refused(format!("Expected a non-negative number in: {element}"));
    usize::try_from(integer).map_err(|_| nonnegative())
}

#[derive(Debug)]
struct Limit {
    count: usize,
}

fn limit(argument: &Bson, _: &Scope) -> Result<Box<dyn Stage>> {
    match amount("$limit", 5107201, argument)? {
        0 => Err(refuse(15958, "the limit must be positive")),
        count => Ok(Box::new(Limit { count })),
    }
}

impl Stage for Limit {
    fn run<'a>(&'a self, input: Documents<'a>, _: &'a Context) -> Documents<'a> {
        Box::new(input.take(self.count))
    }

    fn window(&self) -> Option<(usize, usize)> {
        Some((0, self.count))
    }
}

#[derive(Debug)]
struct Skip {
    count: usize,
}

fn skip(argument: &Bson, _: &Scope) -> Result<Box<dyn Stage>> {
    Ok(Box::new(Skip { count: amount("$skip", 5107200, argument)? }))
}

impl Stage for Skip {
    fn run<'a>(&'a self, input: Documents<'a>, _: &'a Context) -> Documents<'a> {
        let mut left = self.count;
        // An error among the documents that are left out still is one.
        Box::new(input.filter(move |document| {
            let skipped = left > 0 && document.is_ok();
            left -= usize::from(skipped);
            !skipped
        }))
    }

    fn window(&self) -> Option<(usize, usize)> {
        Some((self.count, usize::MAX))
    }
}

#[derive(Debug)]
struct Count {
    field: String,
}

fn count(argument: &Bson, _: &Scope) -> Result<Box<dyn Stage>> {
    let (code, message) = match argument {
        Bson::String(field) if field.is_empty() => {
            (40157, "the count field must be a non-empty string")
        }
        Bson::String(field) if field.starts_with('$') => {
            (40158, "the count field cannot be a $-prefixed path")
        }
        Bson::String(field) if field.contains('\0') => {
            (40159, "the count field cannot contain a null byte")
        }
        Bson::String(field) if field.contains('.') => (40160, "the count field cannot contain '.'"),
        Bson::String(field) => return Ok(Box::new(Count { field: field.clone() })),
        _ => (40156, "the count field must be a non-empty string"),
    };
    Err(refuse(code, message))
}

impl Stage for Count {
    fn run<'a>(&'a self, input: Documents<'a>, context: &'a Context) -> Documents<'a> {
        lazily(move || {
            let mut count = 0;
            for document in input {
                document?;
                context.interrupt.check()?;
                count += 1;
            }
            let mut result = Document::new();
            result.insert(self.field.as_str(), Bson::from(Number::from_i64(count)));
            // Nothing counted is no document, not a zero.
            Ok(if count == 0 { Vec::new() } else { vec![result] })
        })
    }
}

/// Does the work of a collecting stage when its first document is asked for.
pub(super) fn lazily<'a>(work: impl FnOnce() -> Result<Vec<Document>> + 'a) -> Documents<'a> {
    let results = std::iter::once_with(work);
    Box::new(results.flat_map(|result| -> Documents<'_> {
        match result {
            Ok(documents) => Box::new(documents.into_iter().map(Ok)),
            Err(error) => Box::new(std::iter::once(Err(error))),
        }
    }))
}

#[derive(Debug)]
struct Sample {
    size: usize,
}

fn sample(argument: &Bson, _: &Scope) -> Result<Box<dyn Stage>> {
    let Bson::Document(specification) = argument else {
        return Err(refuse(28745, "the $sample stage specification must be an object"));
    };
    let mut size = None;
    for (name, value) in specification {
        if name != "size" {
            return Err(refuse(28748, format!("unrecognized option to $sample: {name}")));
        }
        let Some(number) = Number::of(value) else {
            return Err(refuse(28746, "size argument to $sample must be a number"));
        };
        if number.is_negative() {
            return Err(refuse(28747, "size argument to $sample must not be negative"));
        }
        size = Some(number.clamped());
    }
    let size = size.ok_or_else(|| refuse(28749, "$sample stage must specify a size"))?;
    Ok(Box::new(Sample { size: usize::try_from(size).unwrap_or(usize::MAX) }))
}

impl Stage for Sample {
    fn run<'a>(&'a self, input: Documents<'a>, context: &'a Context) -> Documents<'a> {
        lazily(move || {
            // Reservoir sampling: each document is kept with the same chance, in one pass.
            let mut kept: Vec<Document> = Vec::new();
            for (seen, document) in input.enumerate() {
                let document = document?;
                context.interrupt.check()?;
                if kept.len() < self.size {
                    kept.push(document);
                } else if self.size > 0 {
                    let at = (random() * (seen + 1) as f64) as usize;
                    if at < self.size {
                        kept[at] = document;
                    }
                }
            }
            for at in (1..kept.len()).rev() {
                kept.swap(at, (random() * (at + 1) as f64) as usize);
            }
            Ok(kept)
        })
    }
}
