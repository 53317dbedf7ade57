//! `$currentDate`, `$inc`, `$max`, `$min`, `$mul`, `$rename`, `$set`, `$setOnInsert`, `$unset`.

use std::cmp::Ordering;
use std::sync::Arc;

use bson::{Bson, DateTime, Document, Timestamp};

use crate::error::Result;
use crate::value::compare::{compare, identical};
use crate::value::number::{self, Number, Overflow};
use crate::value::path::array_index;
use crate::value::{kind, text};
use crate::{bad_value, refuse};

use super::{Argument, Change, Modifier, Operator, Outcome, Place};

/// The rows of this family.
pub(super) const OPERATORS: &[Operator] = &[
    Operator {
        name: "$currentDate",
        help: "sets a field to the time of the update",
        parse: current_date,
    },
    Operator { name: "$inc", help: "adds a number to a field", parse: inc },
    Operator { name: "$max", help: "sets a field if the value is greater", parse: max },
    Operator { name: "$min", help: "sets a field if the value is less", parse: min },
    Operator { name: "$mul", help: "multiplies a field by a number", parse: mul },
    Operator { name: "$rename", help: "gives a field another name", parse: rename },
    Operator { name: "$set", help: "sets a field", parse: set },
    Operator {
        name: "$setOnInsert",
        help: "sets a field if the upsert inserts",
        parse: set_on_insert,
    },
    Operator { name: "$unset", help: "removes a field", parse: unset },
];

fn set(argument: &Argument<'_>) -> Result<Vec<Change>> {
    argument.at_path(Set(argument.value.clone()))
}

fn set_on_insert(argument: &Argument<'_>) -> Result<Vec<Change>> {
    argument.at_path(SetOnInsert(argument.value.clone()))
}

fn unset(argument: &Argument<'_>) -> Result<Vec<Change>> {
    argument.at_path(Unset)
}

fn inc(argument: &Argument<'_>) -> Result<Vec<Change>> {
    arithmetic(argument, Operation::Increment)
}

fn mul(argument: &Argument<'_>) -> Result<Vec<Change>> {
    arithmetic(argument, Operation::Multiply)
}

fn min(argument: &Argument<'_>) -> Result<Vec<Change>> {
    argument.at_path(Extreme { value: argument.value.clone(), wins: Ordering::Less })
}

fn max(argument: &Argument<'_>) -> Result<Vec<Change>> {
    argument.at_path(Extreme { value: argument.value.clone(), wins: Ordering::Greater })
}

/// Puts `new` in place of a value, unless it is that very value.
fn put(value: &mut Bson, new: Bson) -> Outcome {
    if identical(value, &new) {
        return Outcome::Unchanged;
    }
    *value = new;
    Outcome::Changed
}

#[derive(Debug)]
struct Set(Bson);

impl Modifier for Set {
    fn change(&self, value: &mut Bson, _: &Place<'_>) -> Result<Outcome> {
        Ok(put(value, self.0.clone()))
    }

    fn create(&self, _: &Place<'_>) -> Result<Option<Bson>> {
        Ok(Some(self.0.clone()))
    }
}

#[derive(Debug)]
struct SetOnInsert(Bson);

impl Modifier for SetOnInsert {
    fn change(&self, value: &mut Bson, place: &Place<'_>) -> Result<Outcome> {
        Ok(if place.inserting { put(value, self.0.clone()) } else { Outcome::Unchanged })
    }

    fn create(&self, place: &Place<'_>) -> Result<Option<Bson>> {
        Ok(place.inserting.then(|| self.0.clone()))
    }

    // Without an insert it does nothing, wherever its path leads.
    fn ignores_dead_ends(&self, inserting: bool) -> bool {
        !inserting
    }
}

#[derive(Debug)]
struct Unset;

impl Modifier for Unset {
    fn change(&self, _: &mut Bson, _: &Place<'_>) -> Result<Outcome> {
        Ok(Outcome::Removed)
    }

    fn create(&self, _: &Place<'_>) -> Result<Option<Bson>> {
        Ok(None)
    }

    fn ignores_dead_ends(&self, _: bool) -> bool {
        true
    }
}

/// The two arithmetic operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    Increment,
    Multiply,
}

impl Operation {
    fn name(self) -> &'static str {
        match self {
            Self::Increment => "$inc",
            Self::Multiply => "$mul",
        }
    }

    fn verb(self) -> &'static str {
        match self {
            Self::Increment => "increment",
            Self::Multiply => "multiply",
        }
    }
}

#[derive(Debug)]
struct Arithmetic {
    operation: Operation,
    operand: Number,
}

fn arithmetic(argument: &Argument<'_>, operation: Operation) -> Result<Vec<Change>> {
    match Number::of(argument.value) {
        Some(operand) => argument.at_path(Arithmetic { operation, operand }),
        None => Err(refuse!(
            TYPE_MISMATCH,
            "Cannot {} with non-numeric argument: {{{}}}",
            operation.verb(),
            text::element(argument.path, argument.value)
        )),
    }
}

impl Modifier for Arithmetic {
    fn change(&self, value: &mut Bson, place: &Place<'_>) -> Result<Outcome> {
        let Some(current) = Number::of(value) else {
            return Err(refuse!(
                TYPE_MISMATCH,
                "Cannot apply {} to a value of non-numeric type. {} has the field '{}' of non-numeric type {}",
                self.operation.name(),
                place.id_text(),
                place.name,
                kind::name(value)
            ));
        };
        let result = match self.operation {
            Operation::Increment => number::add(current, self.operand, Overflow::Refused),
            Operation::Multiply => number::multiply(current, self.operand, Overflow::Refused),
        };
        match result {
            Some(result) => Ok(put(value, result.into())),
            None => Err(bad_value!(
                "Failed to apply {} operations to current value ({}) for document {}",
                self.operation.name(),
                text::tagged_number(current),
                place.id_text()
            )),
        }
    }

    fn create(&self, _: &Place<'_>) -> Result<Option<Bson>> {
        Ok(Some(match self.operation {
            Operation::Increment => self.operand.into(),
            Operation::Multiply => self.operand.zero().into(),
        }))
    }
}

#[derive(Debug)]
struct Extreme {
    value: Bson,
    wins: Ordering,
}

impl Modifier for Extreme {
    fn change(&self, value: &mut Bson, _: &Place<'_>) -> Result<Outcome> {
        if compare(&self.value, value) != self.wins {
            return Ok(Outcome::Unchanged);
        }
        *value = self.value.clone();
        Ok(Outcome::Changed)
    }

    fn create(&self, _: &Place<'_>) -> Result<Option<Bson>> {
        Ok(Some(self.value.clone()))
    }
}

/// What `$currentDate` writes.
#[derive(Clone, Copy, Debug)]
enum CurrentDate {
    Date,
    Timestamp,
}

fn current_date(argument: &Argument<'_>) -> Result<Vec<Change>> {
    let what = match argument.value {
        Bson::Boolean(_) => CurrentDate::Date,
        Bson::Document(document) => {
            if let Some(other) = document.keys().find(|name| *name != "$type") {
                return Err(bad_value!("Unrecognized $currentDate option: {other}"));
            }
            match document.get("$type") {
                Some(Bson::String(name)) if name == "date" => CurrentDate::Date,
                Some(Bson::String(name)) if name == "timestamp" => CurrentDate::Timestamp,
                _ => {
                    return Err(bad_value!(
                        "The '$type' string field is required to be 'date' or 'timestamp': {{$currentDate: {{field : \
                         {{$type: 'date'}}}}}}"
                    ));
                }
            }
        }
        other => {
            return Err(bad_value!(
                "{} is not valid type for $currentDate. Please use a boolean ('true') or a $type expression ({{$type: \
                 'timestamp/date'}}).",
                kind::name(other)
            ));
        }
    };
    argument.at_path(what)
}

impl CurrentDate {
    fn value(self, now: DateTime) -> Bson {
        match self {
            Self::Date => Bson::DateTime(now),
            Self::Timestamp => Bson::Timestamp(timestamp(now)),
        }
    }
}

/// The first timestamp of a second.
pub(super) fn timestamp(now: DateTime) -> Timestamp {
    let seconds = now.timestamp_millis().div_euclid(1000);
    Timestamp {
        time: u32::try_from(seconds).unwrap_or(if seconds < 0 { 0 } else { u32::MAX }),
        increment: 1,
    }
}

impl Modifier for CurrentDate {
    fn change(&self, value: &mut Bson, place: &Place<'_>) -> Result<Outcome> {
        *value = (*self).value(place.now);
        Ok(Outcome::Changed)
    }

    fn create(&self, place: &Place<'_>) -> Result<Option<Bson>> {
        Ok(Some((*self).value(place.now)))
    }
}

fn rename(argument: &Argument<'_>) -> Result<Vec<Change>> {
    let (from, shown) = (argument.path, || text::element(argument.path, argument.value));
    let Bson::String(to) = argument.value else {
        return Err(bad_value!("The 'to' field for $rename must be a string: {}", shown()));
    };
    let is_dynamic = |path: &str| path.split('.').any(|name| name == "$" || name.starts_with("$["));
    if is_dynamic(from) {
        return Err(bad_value!("The source field for $rename may not be dynamic: {from}"));
    }
    if is_dynamic(to) {
        return Err(bad_value!("The destination field for $rename may not be dynamic: {to}"));
    }
    if from == to {
        return Err(bad_value!("The source and target field for $rename must differ: {}", shown()));
    }
    let inside = |path: &str, outer: &str| {
        path.strip_prefix(outer).is_some_and(|rest| rest.starts_with('.'))
    };
    if inside(from, to) || inside(to, from) {
        return Err(bad_value!(
            "The source and target field for $rename must not be on the same path: {}",
            shown()
        ));
    }
    Ok(vec![
        Change { path: from.to_owned(), modifier: Arc::new(Unset) },
        Change { path: to.clone(), modifier: Arc::new(Rename { from: from.to_owned() }) },
    ])
}

/// The destination of a `$rename`: it becomes what the source was.
#[derive(Debug)]
struct Rename {
    from: String,
}

impl Rename {
    /// The value that moves, read from the document as it was. Neither end may lie inside an array.
    fn moved(&self, place: &Place<'_>) -> Result<Option<Bson>> {
        let moved = walk("source", &self.from, place.document, place)?.cloned();
        if moved.is_some() {
            walk("destination", place.path, place.document, place)?;
        }
        Ok(moved)
    }
}

fn walk<'a>(
    end: &str,
    path: &str,
    document: &'a Document,
    place: &Place<'_>,
) -> Result<Option<&'a Bson>> {
    let mut names = path.split('.');
    let first = names.next().unwrap_or(path);
    let mut name = first;
    let mut value = document.get(first);
    for next in names {
        value = match value {
            None => return Ok(None),
            Some(Bson::Document(inner)) => inner.get(next),
            Some(array @ Bson::Array(elements)) => {
                let id = place
                    .document
                    .get("_id")
                    .map_or_else(|| "no id".into(), |id| text::element("_id", id));
                if array_index(next).is_some_and(|at| at < elements.len()) || end == "destination" {
                    return Err(bad_value!(
                        "The {end} field cannot be an array element, '{path}' in doc with {id} has an array field called \
                         '{name}'"
                    ));
                }
                return Err(dead_end(next, path, name, array));
            }
            Some(scalar) if end == "source" => return Err(dead_end(next, path, name, scalar)),
            Some(_) => return Ok(None),
        };
        name = next;
    }
    Ok(value)
}

fn dead_end(_next: &str, path: &str, name: &str, value: &Bson) -> crate::Error {
    refuse!(
        PATH_NOT_VIABLE,
        "cannot use the part ({name} of {path}) to traverse the element ({{{}}})",
        text::element(name, value)
    )
}

impl Modifier for Rename {
    fn change(&self, value: &mut Bson, place: &Place<'_>) -> Result<Outcome> {
        Ok(match self.moved(place)? {
            Some(moved) => {
                *value = moved;
                Outcome::Changed
            }
            None => Outcome::Unchanged,
        })
    }

    fn create(&self, place: &Place<'_>) -> Result<Option<Bson>> {
        self.moved(place)
    }
}
