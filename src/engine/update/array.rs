//! `$addToSet`, `$pop`, `$pull`, `$pullAll`, `$push`.

use bson::{Bson, Document};

use crate::engine::query::{Filter, Sort};
use crate::error::Result;
use crate::value::compare::{compare, equal};
use crate::value::number::Number;
use crate::value::{kind, text};
use crate::{bad_value, refuse};

use super::{Argument, Change, Modifier, Operator, Outcome, Place};

/// The rows of this family.
pub(super) const OPERATORS: &[Operator] = &[
    Operator {
        name: "$addToSet",
        help: "appends to an array what it does not hold",
        parse: add_to_set,
    },
    Operator {
        name: "$pop",
        help: "removes the first (-1) or the last (1) element of an array",
        parse: pop,
    },
    Operator {
        name: "$pull",
        help: "removes elements that equal a value or match a query",
        parse: pull,
    },
    Operator {
        name: "$pullAll",
        help: "removes elements that equal one of a list",
        parse: pull_all,
    },
    Operator { name: "$push", help: "appends to an array", parse: push },
];

/// `$push` with its clauses.
#[derive(Debug)]
struct Push {
    values: Vec<Bson>,
    position: Option<i64>,
    order: Option<Order>,
    slice: Option<i64>,
}

/// The `$sort` of a `$push`.
#[derive(Debug)]
enum Order {
    /// Whole elements.
    Elements { descending: bool },
    /// Documents by their fields.
    Fields(Sort),
}

fn push(argument: &Argument<'_>) -> Result<Vec<Change>> {
    match argument.value {
        Bson::Document(clauses) if clauses.contains_key("$each") => {
            argument.at_path(Push::parse(clauses)?)
        }
        value => argument.at_path(Push {
            values: vec![value.clone()],
            position: None,
            order: None,
            slice: None,
        }),
    }
}

impl Push {
    fn parse(clauses: &Document) -> Result<Self> {
        let mut push = Self { values: Vec::new(), position: None, order: None, slice: None };
        for (name, value) in clauses {
            match name.as_str() {
                "$each" => match value {
                    Bson::Array(values) => push.values = values.clone(),
                    other => {
                        return Err(bad_value!(
                            "The argument to $each in $push must be an array but it was of type: {}",
                            kind::name(other)
                        ));
                    }
                },
                "$slice" => {
                    push.slice = Some(whole(value).ok_or_else(|| {
                        bad_value!(
                            "The value for $slice must be an integer value but was given type: {}",
                            kind::name(value)
                        )
                    })?);
                }
                "$position" => {
                    push.position = Some(whole(value).ok_or_else(|| {
                        bad_value!(
                            "The value for $position must be an integer value, not of type: {}",
                            kind::name(value)
                        )
                    })?);
                }
                "$sort" => push.order = Some(Order::parse(value)?),
                other => return Err(bad_value!("Unrecognized clause in $push: {other}")),
            }
        }
        Ok(push)
    }

    /// The work in the server's order: position, sort, slice.
    fn work(&self, elements: &mut Vec<Bson>) -> Result<()> {
        let at = match self.position {
            None => elements.len(),
            Some(position) => offset(position, elements.len()),
        };
        elements.splice(at..at, self.values.iter().cloned());
        if let Some(order) = &self.order {
            order.sort(elements)?;
        }
        match self.slice {
            None => {}
            Some(count) if count >= 0 => {
                elements.truncate(usize::try_from(count).unwrap_or(usize::MAX))
            }
            Some(count) => {
                let kept = usize::try_from(count.unsigned_abs()).unwrap_or(usize::MAX);
                elements.drain(..elements.len().saturating_sub(kept));
            }
        }
        Ok(())
    }
}

/// A position from the start, or if negative from the end, within an array of `length`.
fn offset(position: i64, length: usize) -> usize {
    let distance = usize::try_from(position.unsigned_abs()).unwrap_or(usize::MAX);
    if position < 0 { length.saturating_sub(distance) } else { distance.min(length) }
}

fn whole(value: &Bson) -> Option<i64> {
    Number::of(value).and_then(Number::integral)
}

impl Order {
    fn parse(value: &Bson) -> Result<Self> {
        let bad = || {
            bad_value!(
                "The $sort is invalid: use 1/-1 to sort the whole element, or {{field:1/-1}} to sort embedded fields"
            )
        };
        match value {
            Bson::Document(fields) if fields.is_empty() => {
                Err(bad_value!("The $sort pattern is empty when it should be a set of fields."))
            }
            Bson::Document(fields) => {
                for (path, direction) in fields {
                    if !matches!(whole(direction), Some(1 | -1)) {
                        return Err(bad_value!("The $sort element value must be either 1 or -1"));
                    }
                    if path.split('.').any(str::is_empty) {
                        return Err(bad_value!(
                            "The $sort field is a dotted field but has an empty part: {path}"
                        ));
                    }
                }
                Sort::parse(fields).map(Self::Fields)
            }
            value => match whole(value) {
                Some(1) => Ok(Self::Elements { descending: false }),
                Some(-1) => Ok(Self::Elements { descending: true }),
                _ => Err(bad()),
            },
        }
    }

    fn sort(&self, elements: &mut [Bson]) -> Result<()> {
        match self {
            Self::Elements { descending } => elements.sort_by(|left, right| {
                let order = compare(left, right);
                if *descending { order.reverse() } else { order }
            }),
            Self::Fields(sort) => {
                let none = Document::new();
                let mut keyed = Vec::with_capacity(elements.len());
                for element in elements.iter() {
                    // What is no document lacks every field.
                    let key = sort.key(element.as_document().unwrap_or(&none))?;
                    keyed.push((key.into_iter().cloned().collect::<Vec<Bson>>(), element.clone()));
                }
                keyed.sort_by(|(left, _), (right, _)| sort.compare_keys(left, right));
                for (place, (_, element)) in elements.iter_mut().zip(keyed) {
                    *place = element;
                }
            }
        }
        Ok(())
    }
}

impl Modifier for Push {
    fn change(&self, value: &mut Bson, place: &Place<'_>) -> Result<Outcome> {
        let Bson::Array(elements) = value else {
            return Err(bad_value!(
                "The field '{}' must be an array but is of type {} in document {}",
                place.name,
                kind::name(value),
                place.id_text()
            ));
        };
        // Without new elements a sort or a slice may still have work; only then is there something to compare.
        let before = self.values.is_empty().then(|| elements.clone());
        self.work(elements)?;
        Ok(Outcome::changed_if(before.is_none_or(|before| before != *elements)))
    }

    fn create(&self, _: &Place<'_>) -> Result<Option<Bson>> {
        let mut elements = Vec::new();
        self.work(&mut elements)?;
        Ok(Some(Bson::Array(elements)))
    }
}

#[derive(Debug)]
struct AddToSet(Vec<Bson>);

fn add_to_set(argument: &Argument<'_>) -> Result<Vec<Change>> {
    let values = match argument.value {
        Bson::Document(clauses) if clauses.keys().next().is_some_and(|name| name == "$each") => {
            if clauses.len() > 1 {
                return Err(bad_value!(
                    "Found unexpected fields after $each in $addToSet: {}",
                    text::document(clauses)
                ));
            }
            match clauses.get("$each") {
                Some(Bson::Array(values)) => values.clone(),
                other => {
                    return Err(refuse!(
                        TYPE_MISMATCH,
                        "The argument to $each in $addToSet must be an array but it was of type {}",
                        kind::name_or_missing(other)
                    ));
                }
            }
        }
        value => vec![value.clone()],
    };
    argument.at_path(AddToSet(values))
}

impl AddToSet {
    fn add(&self, elements: &mut Vec<Bson>) -> bool {
        let before = elements.len();
        for value in &self.0 {
            if !elements.iter().any(|element| equal(element, value)) {
                elements.push(value.clone());
            }
        }
        elements.len() > before
    }
}

impl Modifier for AddToSet {
    fn change(&self, value: &mut Bson, place: &Place<'_>) -> Result<Outcome> {
        match value {
            Bson::Array(elements) => Ok(Outcome::changed_if(self.add(elements))),
            other => Err(bad_value!(
                "Cannot apply $addToSet to non-array field. Field named '{}' has non-array type {}",
                place.name,
                kind::name(other)
            )),
        }
    }

    fn create(&self, _: &Place<'_>) -> Result<Option<Bson>> {
        let mut elements = Vec::new();
        self.add(&mut elements);
        Ok(Some(Bson::Array(elements)))
    }
}

/// Which end a `$pop` takes from.
#[derive(Debug)]
enum Pop {
    First,
    Last,
}

fn pop(argument: &Argument<'_>) -> Result<Vec<Change>> {
    let Some(number) = Number::of(argument.value) else {
        return Err(refuse!(
            FAILED_TO_PARSE,
            "Expected a number in: {}",
            text::element(argument.path, argument.value)
        ));
    };
    match number.integral() {
        Some(1) => argument.at_path(Pop::Last),
        Some(-1) => argument.at_path(Pop::First),
        Some(other) => Err(refuse!(FAILED_TO_PARSE, "$pop expects 1 or -1, found: {other}")),
        None => Err(refuse!(
            FAILED_TO_PARSE,
            "Expected an integer: {}",
            text::element(argument.path, argument.value)
        )),
    }
}

impl Modifier for Pop {
    fn change(&self, value: &mut Bson, place: &Place<'_>) -> Result<Outcome> {
        match value {
            Bson::Array(elements) if elements.is_empty() => Ok(Outcome::Unchanged),
            Bson::Array(elements) => {
                match self {
                    Self::First => elements.remove(0),
                    Self::Last => elements.remove(elements.len() - 1),
                };
                Ok(Outcome::Changed)
            }
            other => Err(refuse!(
                TYPE_MISMATCH,
                "Path '{}' contains an element of non-array type '{}'",
                place.path,
                kind::name(other)
            )),
        }
    }

    fn create(&self, _: &Place<'_>) -> Result<Option<Bson>> {
        Ok(None)
    }
}

/// What `$pull` and `$pullAll` remove.
#[derive(Debug)]
enum Pull {
    /// Elements equal to one of these.
    Equal(Vec<Bson>),
    /// Documents that match a query.
    Documents(Filter),
    /// Elements that pass operators or a regular expression. The filter asks for the field with the empty name.
    Values(Filter),
}

fn pull(argument: &Argument<'_>) -> Result<Vec<Change>> {
    let wrapped = |value: &Bson| -> Result<Pull> {
        let mut query = Document::new();
        query.insert("", value.clone());
        Filter::parse(&query, argument.scope).map(Pull::Values)
    };
    argument.at_path(match argument.value {
        value @ Bson::RegularExpression(_) => wrapped(value)?,
        value @ Bson::Document(query) if judges_values(query) => wrapped(value)?,
        Bson::Document(query) => Pull::Documents(Filter::parse(query, argument.scope)?),
        value => Pull::Equal(vec![value.clone()]),
    })
}

/// Whether a condition's first name is an operator that stands under a field.
fn judges_values(query: &Document) -> bool {
    query.keys().next().is_some_and(|name| crate::engine::query::is_field_operator(name))
}

fn pull_all(argument: &Argument<'_>) -> Result<Vec<Change>> {
    match argument.value {
        Bson::Array(values) => argument.at_path(Pull::Equal(values.clone())),
        other => Err(bad_value!(
            "$pullAll requires an array argument but was given a {}",
            kind::name(other)
        )),
    }
}

impl Pull {
    fn takes(&self, element: &Bson) -> Result<bool> {
        match self {
            Self::Equal(values) => Ok(values.iter().any(|value| equal(value, element))),
            Self::Documents(filter) => {
                element.as_document().map_or(Ok(false), |document| filter.matches(document))
            }
            Self::Values(filter) => {
                let mut document = Document::new();
                document.insert("", element.clone());
                filter.matches(&document)
            }
        }
    }
}

impl Modifier for Pull {
    fn change(&self, value: &mut Bson, _: &Place<'_>) -> Result<Outcome> {
        let Bson::Array(elements) = value else {
            return Err(bad_value!("Cannot apply $pull to a non-array value"));
        };
        let mut kept = Vec::with_capacity(elements.len());
        for element in elements.iter() {
            if !self.takes(element)? {
                kept.push(element.clone());
            }
        }
        if kept.len() == elements.len() {
            return Ok(Outcome::Unchanged);
        }
        *elements = kept;
        Ok(Outcome::Changed)
    }

    fn create(&self, _: &Place<'_>) -> Result<Option<Bson>> {
        Ok(None)
    }
}
