//! `$bucket` and `$bucketAuto`: documents grouped by ranges of a value.

use bson::{Bson, Document, doc};

use super::flow::lazily;
use super::group::{Running, accumulators};
use super::memory::{self, Memory};
use super::{Context, Documents, Place, Row, Stage, refuse};
use crate::engine::expr::{Accumulator, Expression, Scope};
use crate::error::{Code, Error, Result};
use crate::value::compare::{bracket, compare};
use crate::value::number::Number;
use crate::value::{kind, size, text};

pub(super) const STAGES: &[Row] = &[
    Row {
        name: "$bucket",
        help: "groups by given ranges: {groupBy, boundaries, default, output}",
        place: Place::Anywhere,
        parse: bucket,
    },
    Row {
        name: "$bucketAuto",
        help: "groups by ranges of about equal size: {groupBy, buckets, output}",
        place: Place::Anywhere,
        parse: bucket_auto,
    },
];

/// `$bucket`.
#[derive(Debug)]
struct Bucket {
    by: Expression,
    boundaries: Vec<Bson>,
    default: Option<Bson>,
    fields: Vec<(String, Accumulator)>,
}

/// The expression that documents are grouped by: a path or an operator, never a literal.
fn group_by(name: &str, codes: i32, value: &Bson, scope: &Scope) -> Result<Expression> {
    match value {
        Bson::String(path) if path.starts_with('$') => {}
        Bson::Document(inner)
            if inner.keys().next().is_some_and(|first| first.starts_with('$')) => {}
        other => {
            let shown = text::value(other);
            let message = format!(
                "The {name} 'groupBy' field must be defined as a $-prefixed path or an expression, but found: {shown}."
            );
            return Err(refuse(codes, message));
        }
    }
    Expression::parse(value, scope)
}

/// The `output` fields; a count when there is none.
fn output(
    name: &str,
    code: i32,
    value: Option<&Bson>,
    scope: &Scope,
) -> Result<Vec<(String, Accumulator)>> {
    match value {
        None => accumulators(&doc! { "count": { "$sum": 1 } }, scope),
        Some(Bson::Document(fields)) => accumulators(fields, scope),
        Some(other) => {
            let found = kind::name(other);
            Err(refuse(
                code,
                format!("The {name} 'output' field must be an object, but found type: {found}."),
            ))
        }
    }
}

fn bucket(argument: &Bson, scope: &Scope) -> Result<Box<dyn Stage>> {
    let Bson::Document(specification) = argument else {
        let found = kind::name(argument);
        return Err(refuse(
            40201,
            format!("Argument to $bucket stage must be an object, but found type: {found}."),
        ));
    };
    if let Some(name) = specification
        .keys()
        .find(|name| !["groupBy", "boundaries", "default", "output"].contains(&name.as_str()))
    {
        return Err(refuse(40197, format!("Unrecognized option to $bucket: {name}.")));
    }
    let by =
        specification.get("groupBy").map(|by| group_by("$bucket", 40202, by, scope)).transpose()?;
    let constant = |value: &Bson| -> Result<Option<Bson>> {
        let mut expression = Expression::parse(value, scope)?;
        expression.fold(scope)?;
        Ok(expression.constant().cloned())
    };
    let mut boundaries = None;
    if let Some(list) = specification.get("boundaries") {
        let Bson::Array(list) = list else {
            let found = kind::name(list);
            let message = format!(
                "The $bucket 'boundaries' field must be an array, but found type: {found}."
            );
            return Err(refuse(40200, message));
        };
        let mut values: Vec<Bson> = Vec::with_capacity(list.len());
        for value in list {
            let words = "The $bucket 'boundaries' field must be an array of constant values, but found value: ";
            let known = constant(value)?
                .ok_or_else(|| refuse(40191, format!("{words}{}.", text::value(value))))?;
            if let Some(before) = values.last() {
                if bracket(before) != bracket(&known) {
                    let (left, right) = (kind::name(before), kind::name(&known));
                    let message = format!(
                        "All values in the the 'boundaries' option to $bucket must have the same type. Found conflicting \
                         types {left} and {right}."
                    );
                    return Err(refuse(40193, message));
                }
                if compare(before, &known).is_ge() {
                    let (left, right) = (text::value(before), text::value(&known));
                    let message = format!(
                        "The 'boundaries' option to $bucket must be sorted, but elements {} and {} are not in ascending \
                         order ({left} is not less than {right}).",
                        values.len() - 1,
                        values.len()
                    );
                    return Err(refuse(40194, message));
                }
            }
            values.push(known);
        }
        if values.len() < 2 {
            let count = values.len();
            let message = format!(
                "The $bucket 'boundaries' field must have at least 2 values, but found {count} value(s)."
            );
            return Err(refuse(40192, message));
        }
        boundaries = Some(values);
    }
    let default = match specification.get("default") {
        None => None,
        Some(value) => {
            let words = "The $bucket 'default' field must be a constant expression, but found: ";
            Some(
                constant(value)?
                    .ok_or_else(|| refuse(40195, format!("{words}{}.", text::value(value))))?,
            )
        }
    };
    let fields = output("$bucket", 40196, specification.get("output"), scope)?;
    let (Some(by), Some(boundaries)) = (by, boundaries) else {
        return Err(refuse(40198, "$bucket requires 'groupBy' and 'boundaries' to be specified."));
    };
    if let (Some(default), Some(lowest), Some(highest)) =
        (&default, boundaries.first(), boundaries.last())
        && compare(default, lowest).is_ge()
        && compare(default, highest).is_lt()
    {
        let message = "The $bucket 'default' field must be less than the lowest boundary or greater than or equal to the highest \
             boundary.";
        return Err(refuse(40199, message));
    }
    Ok(Box::new(Bucket { by, boundaries, default, fields }))
}

impl Stage for Bucket {
    fn run<'a>(&'a self, input: Documents<'a>, context: &'a Context) -> Documents<'a> {
        lazily(move || {
            let scope = &context.scope;
            let mut memory = Memory::new(context, memory::GROUP);
            let mut buckets: Vec<Option<Running>> = self.boundaries.iter().map(|_| None).collect();
            for document in input {
                let document = document?;
                context.interrupt.check()?;
                let value = self.by.evaluate(&document, scope)?.unwrap_or(Bson::Null);
                let above =
                    self.boundaries.partition_point(|boundary| compare(boundary, &value).is_le());
                // The place after the last range belongs to the default.
                let at = if above == 0 { self.boundaries.len() - 1 } else { above - 1 };
                let id = match self.boundaries.get(at) {
                    Some(lower) if at + 1 < self.boundaries.len() => lower,
                    _ => self.default.as_ref().ok_or_else(|| {
                        let message = "$switch could not find a matching branch for an input, and no default was specified.";
                        refuse(40066, message)
                    })?,
                };
                let running = match &mut buckets[at] {
                    Some(running) => running,
                    empty => empty.insert(Running::start(&self.fields, id, scope)?),
                };
                memory.take(running.take(&self.fields, &document, scope)?)?;
            }
            let ids = self.boundaries.iter().take(self.boundaries.len() - 1).chain(&self.default);
            let mut found: Vec<(Bson, Running)> = Vec::new();
            let mut buckets = buckets.into_iter();
            for id in ids {
                if let Some(Some(running)) = buckets.next() {
                    found.push((id.clone(), running));
                }
            }
            // The default stands among the others by its value.
            found.sort_by(|(left, _), (right, _)| compare(left, right));
            found.into_iter().map(|(id, running)| running.finish(&self.fields, id)).collect()
        })
    }
}

/// `$bucketAuto`.
#[derive(Debug)]
struct BucketAuto {
    by: Expression,
    buckets: usize,
    fields: Vec<(String, Accumulator)>,
}

fn bucket_auto(argument: &Bson, scope: &Scope) -> Result<Box<dyn Stage>> {
    let Bson::Document(specification) = argument else {
        let found = kind::name(argument);
        let message =
            format!("The argument to $bucketAuto must be an object, but found type: {found}.");
        return Err(refuse(40240, message));
    };
    if let Some(name) = specification
        .keys()
        .find(|name| !["groupBy", "buckets", "output", "granularity"].contains(&name.as_str()))
    {
        return Err(refuse(40245, format!("Unrecognized option to $bucketAuto: {name}.")));
    }
    let by = specification
        .get("groupBy")
        .map(|by| group_by("$bucketAuto", 40239, by, scope))
        .transpose()?;
    let buckets = match specification.get("buckets") {
        None => None,
        Some(value) => {
            let Some(number) = Number::of(value) else {
                let found = kind::name(value);
                let message = format!(
                    "The $bucketAuto 'buckets' field must be a numeric value, but found type: {found}."
                );
                return Err(refuse(40241, message));
            };
            let Some(count) = number.integral().and_then(|count| i32::try_from(count).ok()) else {
                let message = format!(
                    "The $bucketAuto 'buckets' field must be representable as a 32-bit integer, but found {}.",
                    text::value(value)
                );
                return Err(refuse(40242, message));
            };
            let message = || {
                format!(
                    "The $bucketAuto 'buckets' field must be greater than 0, but found: {count}."
                )
            };
            let count = usize::try_from(count).ok().filter(|count| *count > 0);
            Some(count.ok_or_else(|| refuse(40243, message()))?)
        }
    };
    if specification.contains_key("granularity") {
        return Err(Error::command(
            Code::NOT_IMPLEMENTED,
            "the 'granularity' option of $bucketAuto is not supported",
        ));
    }
    let fields = output("$bucketAuto", 40244, specification.get("output"), scope)?;
    let (Some(by), Some(buckets)) = (by, buckets) else {
        return Err(refuse(40246, "$bucketAuto requires 'groupBy' and 'buckets' to be specified."));
    };
    Ok(Box::new(BucketAuto { by, buckets, fields }))
}

impl Stage for BucketAuto {
    fn run<'a>(&'a self, input: Documents<'a>, context: &'a Context) -> Documents<'a> {
        lazily(move || {
            let scope = &context.scope;
            let mut memory = Memory::new(context, memory::SORT);
            let mut sorted: Vec<(Bson, Document)> = Vec::new();
            for document in input {
                let document = document?;
                context.interrupt.check()?;
                memory.take(size::of_document(&document))?;
                let value = self.by.evaluate(&document, scope)?.unwrap_or(Bson::Null);
                sorted.push((value, document));
            }
            sorted.sort_by(|(left, _), (right, _)| compare(left, right));
            self.split(&sorted, scope)
        })
    }
}

impl BucketAuto {
    fn split(&self, sorted: &[(Bson, Document)], scope: &Scope) -> Result<Vec<Document>> {
        // A bucket has its share of the documents, and all further ones whose value equals its last one's.
        let share = ((sorted.len() as f64 / self.buckets as f64).round() as usize).max(1);
        let mut results = Vec::new();
        let mut start = 0;
        while let Some((lowest, _)) = sorted.get(start) {
            let mut end = if results.len() + 1 == self.buckets {
                sorted.len()
            } else {
                (start + share).min(sorted.len())
            };
            while end < sorted.len() && compare(&sorted[end].0, &sorted[end - 1].0).is_eq() {
                end += 1;
            }
            // The upper end is the next bucket's lower one; the last bucket includes it.
            let highest = sorted.get(end).unwrap_or(&sorted[end - 1]).0.clone();
            let id = Bson::Document(doc! { "min": lowest.clone(), "max": highest });
            let mut running = Running::start(&self.fields, &id, scope)?;
            for (_, document) in &sorted[start..end] {
                running.take(&self.fields, document, scope)?;
            }
            results.push(running.finish(&self.fields, id)?);
            start = end;
        }
        Ok(results)
    }
}
