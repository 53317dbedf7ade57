//! `$densify`: documents made where a series of numbers or dates has gaps.

use bson::{Bson, DateTime, Document};

use super::flow::lazily;
use super::memory::{self, Memory};
use super::{Context, Documents, Place, Row, Stage, refuse};
use crate::engine::expr::{FieldPath, Scope, move_date};
use crate::error::{Code, Error, Result};
use crate::value::compare::compare;
use crate::value::number::{self, Number, Overflow};
use crate::value::{kind, path, size, text};

pub(super) const STAGES: &[Row] = &[Row {
    name: "$densify",
    help: "documents made in the gaps of a series: {field, partitionByFields, range: {step, unit, bounds}}",
    place: Place::Anywhere,
    parse,
}];

/// How many documents one stage makes at most.
const MOST_MADE: usize = 500_000;

/// The compiled stage.
#[derive(Debug)]
struct Densify {
    field: String,
    by: Vec<String>,
    step: Step,
    bounds: Bounds,
}

/// From where to where documents are made.
#[derive(Debug)]
enum Bounds {
    /// From the least to the greatest value of all documents.
    Full,
    /// From the least to the greatest value of each partition.
    Partition,
    /// From one value to before another.
    Between(Box<(Bson, Bson)>),
}

/// How far apart documents shall be at most.
#[derive(Debug)]
struct Step {
    amount: Number,
    unit: Option<String>,
}

fn wrong_type(field: &str, value: &Bson, expected: &str) -> Error {
    let found = kind::name(value);
    Error::command(
        Code::TYPE_MISMATCH,
        format!(
            "BSON field '$densify.{field}' is the wrong type '{found}', expected type '{expected}'"
        ),
    )
}

fn missing(field: &str) -> Error {
    refuse(40414, format!("BSON field '$densify.{field}' is missing but a required field"))
}

fn check_names(document: &Document, known: &[&str], place: &str) -> Result<()> {
    match document.keys().find(|name| !known.contains(&name.as_str())) {
        None => Ok(()),
        Some(name) => {
            Err(refuse(40415, format!("BSON field '{place}.{name}' is an unknown field.")))
        }
    }
}

fn parse(argument: &Bson, _: &Scope) -> Result<Box<dyn Stage>> {
    let Bson::Document(specification) = argument else {
        return Err(refuse(
            5_733_200,
            format!(
                "The $densify stage specification must be an object, found {}",
                kind::name(argument)
            ),
        ));
    };
    check_names(specification, &["field", "partitionByFields", "range"], "$densify")?;
    let field = match specification.get("field") {
        None => return Err(missing("field")),
        Some(Bson::String(field)) if field.starts_with('$') => {
            return Err(refuse(5_733_201, "Cannot densify field starting with '$'"));
        }
        Some(Bson::String(field)) => field.clone(),
        Some(other) => return Err(wrong_type("field", other, "string")),
    };
    FieldPath::parse(&field)?;
    let range = match specification.get("range") {
        None => return Err(missing("range")),
        Some(Bson::Document(range)) => range,
        Some(other) => return Err(wrong_type("range", other, "object")),
    };
    let by = match specification.get("partitionByFields") {
        None => Vec::new(),
        Some(Bson::Array(fields)) => {
            let names: Option<Vec<String>> =
                fields.iter().map(|field| field.as_str().map(str::to_owned)).collect();
            names.ok_or_else(|| wrong_type("partitionByFields.0", &fields[0], "string"))?
        }
        Some(other) => return Err(wrong_type("partitionByFields", other, "array")),
    };
    for name in &by {
        FieldPath::parse(name)?;
        if *name == field {
            let words = "BSON field '$densify.partitionByFields' cannot include field that is being densified";
            return Err(refuse(8_993_000, words));
        }
    }
    check_names(range, &["step", "unit", "bounds"], "$densify.range")?;
    let step = Step::parse(range)?;
    let bounds = match range.get("bounds") {
        None => return Err(missing("range.bounds")),
        Some(bounds) => Bounds::parse(bounds, &step, by.is_empty())?,
    };
    Ok(Box::new(Densify { field, by, step, bounds }))
}

impl Bounds {
    fn parse(bounds: &Bson, step: &Step, alone: bool) -> Result<Self> {
        match bounds {
            Bson::String(word) if word == "full" => Ok(Self::Full),
            Bson::String(word) if word == "partition" && alone => Err(refuse(
                5_733_408,
                "one may not specify the bounds as 'partition' without specifying a non-empty array of \
                 partitionByFields. You may have meant to specify 'full' bounds.",
            )),
            Bson::String(word) if word == "partition" => Ok(Self::Partition),
            Bson::String(_) => {
                Err(refuse(5_946_801, "Bounds string must either be 'full' or 'partition'"))
            }
            Bson::Array(ends) => {
                let [low, high] = ends.as_slice() else {
                    return Err(refuse(
                        5_733_403,
                        "a bounding array in a range statement must have exactly two elements",
                    ));
                };
                let fits = |end: &Bson| match &step.unit {
                    None => Number::of(end).is_some(),
                    Some(_) => matches!(end, Bson::DateTime(_)),
                };
                if !fits(low) || !fits(high) {
                    return Err(refuse(
                        5_733_402,
                        "a bounding array must contain either both dates or both numeric types",
                    ));
                }
                if compare(low, high).is_gt() {
                    return Err(refuse(
                        5_733_401,
                        "the bounds in a range statement must be the string 'full', 'partition', or an ascending array \
                         of two numbers or two dates",
                    ));
                }
                Ok(Self::Between(Box::new((low.clone(), high.clone()))))
            }
            _ => Err(refuse(
                5_733_402,
                "the bounds in a range statement must be the string 'full', 'partition', or an ascending array of two \
                 numbers or two dates",
            )),
        }
    }
}

impl Step {
    fn parse(range: &Document) -> Result<Self> {
        let amount = match range.get("step") {
            None => return Err(missing("range.step")),
            Some(step) => Number::of(step).ok_or_else(|| {
                refuse(5_733_400, "The step parameter in a range statement must be a strictly positive numeric value")
            })?,
        };
        if amount.is_nan() || amount.is_zero() || amount.is_negative() {
            let words =
                "The step parameter in a range statement must be a strictly positive numeric value";
            return Err(refuse(5_733_401, words));
        }
        let unit = match range.get("unit") {
            None => None,
            Some(Bson::String(unit)) if move_date(0, unit, 0).is_some() => Some(unit.clone()),
            Some(Bson::String(unit)) => {
                return Err(Error::command(
                    Code::FAILED_TO_PARSE,
                    format!("unknown time unit value: {unit}"),
                ));
            }
            Some(other) => return Err(wrong_type("range.unit", other, "string")),
        };
        if unit.is_some() && amount.to_i64().is_none() {
            let words = "The step parameter in a range statement must be a whole number when densifying a date range";
            return Err(refuse(6_586_400, words));
        }
        Ok(Self { amount, unit })
    }

    /// The value `steps` steps after `start`.
    fn after(&self, start: &Bson, steps: i64) -> Result<Bson> {
        let overflow =
            || Error::command(Code::OVERFLOW, "$densify goes beyond what its field can hold");
        match (start, &self.unit) {
            (Bson::DateTime(date), Some(unit)) => {
                let amount = self.amount.clamped().checked_mul(steps).ok_or_else(overflow)?;
                let moved = move_date(date.timestamp_millis(), unit, amount);
                Ok(Bson::DateTime(DateTime::from_millis(moved.ok_or_else(overflow)?)))
            }
            (value, None) => {
                let moved =
                    number::multiply(self.amount, Number::from_i64(steps), Overflow::Double)
                        .zip(Number::of(value))
                        .and_then(|(way, value)| number::add(value, way, Overflow::Double));
                moved.map(Bson::from).ok_or_else(overflow)
            }
            (other, Some(_)) => Err(refuse(
                6_053_600,
                format!("$densify with a unit expects dates, but found {}", kind::name(other)),
            )),
        }
    }
}

/// The documents of one partition.
struct Partition {
    /// The values of the partition's fields; `None` is missing.
    by: Vec<Option<Bson>>,
    documents: Vec<(Bson, Document)>,
}

impl Densify {
    /// The documents by partition, each in order; in front those that have no value to go by.
    fn gathered(
        &self,
        input: Documents<'_>,
        context: &Context,
        output: &mut Vec<Document>,
        memory: &mut Memory,
    ) -> Result<Vec<Partition>> {
        let mut partitions: Vec<Partition> = Vec::new();
        let mut places = std::collections::HashMap::new();
        for document in input {
            let document = document?;
            context.interrupt.check()?;
            memory.take(size::of_document(&document))?;
            let value = match path::resolve(&document, &self.field) {
                None | Some(Bson::Null | Bson::Undefined) => {
                    output.push(document);
                    continue;
                }
                Some(value) => value.clone(),
            };
            match (&value, &self.step.unit) {
                (Bson::DateTime(_), Some(_)) => {}
                (Bson::DateTime(_), None) => {
                    return Err(refuse(
                        6_053_600,
                        "Encountered date value while step did not have a date unit",
                    ));
                }
                (other, None) if Number::of(other).is_some() => {}
                (other, Some(_)) if Number::of(other).is_some() => {
                    return Err(refuse(
                        6_053_600,
                        "Encountered numeric value while step has a date unit",
                    ));
                }
                (other, _) => {
                    return Err(refuse(
                        5_733_201,
                        format!(
                            "Densify field type must be numeric or a date, but found {}",
                            text::value(other)
                        ),
                    ));
                }
            }
            let by: Vec<Option<Bson>> =
                self.by.iter().map(|name| path::resolve(&document, name).cloned()).collect();
            let mut key = Vec::new();
            for part in &by {
                crate::value::key::encode(
                    part.as_ref().unwrap_or(&Bson::Undefined),
                    false,
                    &mut key,
                );
            }
            let at = *places.entry(key).or_insert_with(|| {
                partitions.push(Partition { by, documents: Vec::new() });
                partitions.len() - 1
            });
            partitions[at].documents.push((value, document));
        }
        for partition in &mut partitions {
            partition.documents.sort_by(|(left, _), (right, _)| compare(left, right));
        }
        Ok(partitions)
    }

    /// A document that fills a gap.
    fn made(&self, by: &[Option<Bson>], value: Bson) -> Document {
        let mut document = Document::new();
        for (name, part) in self.by.iter().zip(by) {
            if let Some(part) = part {
                put(&mut document, name, part.clone());
            }
        }
        put(&mut document, &self.field, value);
        document
    }

    fn work(&self, input: Documents<'_>, context: &Context) -> Result<Vec<Document>> {
        let mut memory = Memory::new(context, memory::WINDOWS);
        let mut output = Vec::new();
        let mut partitions = self.gathered(input, context, &mut output, &mut memory)?;
        if partitions.is_empty() && self.by.is_empty() && matches!(self.bounds, Bounds::Between(..))
        {
            partitions.push(Partition { by: Vec::new(), documents: Vec::new() });
        }
        let firsts = partitions.iter().filter_map(|partition| partition.documents.first());
        let least = firsts.map(|(value, _)| value.clone()).min_by(compare);
        let lasts = partitions.iter().filter_map(|partition| partition.documents.last());
        let greatest = lasts.map(|(value, _)| value.clone()).max_by(compare);
        let mut made = 0;
        for partition in partitions {
            let ends = match &self.bounds {
                Bounds::Full => {
                    least.clone().zip(greatest.clone()).map(|(low, high)| (low, high, true))
                }
                Bounds::Partition => {
                    let (first, last) = (partition.documents.first(), partition.documents.last());
                    first.zip(last).map(|((low, _), (high, _))| (low.clone(), high.clone(), true))
                }
                Bounds::Between(ends) => Some((ends.0.clone(), ends.1.clone(), false)),
            };
            let Some((low, high, inclusive)) = ends else { continue };
            let mut steps = 0;
            let mut next = low.clone();
            let within = |next: &Bson| {
                let order = compare(next, &high);
                order.is_lt() || (inclusive && order.is_eq())
            };
            for (value, document) in partition.documents {
                while within(&next) && compare(&next, &value).is_le() {
                    if compare(&next, &value).is_lt() {
                        made += 1;
                        output.push(self.made(&partition.by, next));
                    }
                    steps += 1;
                    next = self.step.after(&low, steps)?;
                    self.check(made, context)?;
                }
                output.push(document);
            }
            while within(&next) {
                made += 1;
                output.push(self.made(&partition.by, next));
                steps += 1;
                next = self.step.after(&low, steps)?;
                self.check(made, context)?;
            }
        }
        Ok(output)
    }

    fn check(&self, made: usize, context: &Context) -> Result<()> {
        context.interrupt.check()?;
        if made > MOST_MADE {
            return Err(refuse(
                5_897_900,
                format!(
                    "Generated {made} documents in $densify, which is over the limit of {MOST_MADE}. Increase the \
                     'internalQueryMaxAllowedDensifyDocs' parameter to allow more generated documents"
                ),
            ));
        }
        Ok(())
    }
}

/// Sets a path with dots in a document that is being made.
fn put(document: &mut Document, path: &str, value: Bson) {
    match path.split_once('.') {
        None => {
            document.insert(path, value);
        }
        Some((first, rest)) => {
            if !matches!(document.get(first), Some(Bson::Document(_))) {
                document.insert(first, Document::new());
            }
            if let Some(Bson::Document(inner)) = document.get_mut(first) {
                put(inner, rest, value);
            }
        }
    }
}

impl Stage for Densify {
    fn run<'a>(&'a self, input: Documents<'a>, context: &'a Context) -> Documents<'a> {
        lazily(move || self.work(input, context))
    }
}
