//! Window functions of a document's place in the order: `$rank`, `$denseRank`, `$documentNumber`, `$shift`.

use bson::Bson;

use super::bounds::Bounds;
use super::function::{Column, Values};
use super::{Frame, failed, refuse};
use crate::engine::expr::{Expression, Scope};
use crate::error::Result;
use crate::value::number::Number;
use crate::value::text;

/// How ties are counted.
#[derive(Clone, Copy, Debug)]
enum Ties {
    Share,
    ShareDensely,
    Count,
}

#[derive(Debug)]
struct Rank(Ties);

pub(super) fn rank(
    name: &'static str,
    argument: &Bson,
    _: Bounds,
    _: &Scope,
) -> Result<Box<dyn Values>> {
    ranked(name, argument, Ties::Share)
}

pub(super) fn dense(
    name: &'static str,
    argument: &Bson,
    _: Bounds,
    _: &Scope,
) -> Result<Box<dyn Values>> {
    ranked(name, argument, Ties::ShareDensely)
}

pub(super) fn number(
    name: &'static str,
    argument: &Bson,
    _: Bounds,
    _: &Scope,
) -> Result<Box<dyn Values>> {
    ranked(name, argument, Ties::Count)
}

fn ranked(name: &str, argument: &Bson, ties: Ties) -> Result<Box<dyn Values>> {
    match argument {
        Bson::Document(argument) if argument.is_empty() => Ok(Box::new(Rank(ties))),
        _ => Err(refuse(5_371_603, format!("{name} must be specified with '{{}}' as the value"))),
    }
}

impl Values for Rank {
    fn values(&self, frame: Frame<'_>) -> Result<Column> {
        let keys = &frame.partition.keys;
        let (mut place, mut distinct) = (0, 0);
        let column = (0..keys.len()).map(|at| {
            if at == 0 || frame.sort.compare_keys(&keys[at - 1], &keys[at]).is_ne() {
                place = at as i64 + 1;
                distinct += 1;
            }
            let rank = match self.0 {
                Ties::Share => place,
                Ties::ShareDensely => distinct,
                Ties::Count => at as i64 + 1,
            };
            Some(Number::from_i64(rank).into())
        });
        Ok(column.collect())
    }
}

#[derive(Debug)]
struct Shift {
    output: Expression,
    by: i64,
    default: Bson,
}

pub(super) fn shift(
    _: &'static str,
    argument: &Bson,
    _: Bounds,
    scope: &Scope,
) -> Result<Box<dyn Values>> {
    let Bson::Document(argument) = argument else {
        return Err(failed(format!(
            "Argument to $shift must be an object, but was: {}",
            text::value(argument)
        )));
    };
    if let Some(name) =
        argument.keys().find(|name| !["output", "by", "default"].contains(&name.as_str()))
    {
        return Err(failed(format!("Unknown argument in $shift: {name}")));
    }
    let Some(output) = argument.get("output") else {
        return Err(failed("$shift requires an 'output' expression."));
    };
    let Some(by) = argument.get("by") else {
        return Err(failed("$shift requires 'by' as an integer value."));
    };
    let Some(by) = Number::of(by).and_then(Number::to_i32) else {
        return Err(failed(format!(
            "'$shift:by' field must be an integer, but found by: {}",
            text::value(by)
        )));
    };
    let default = match argument.get("default") {
        None => Bson::Null,
        Some(default) => {
            let mut expression = Expression::parse(default, scope)?;
            expression.fold(scope)?;
            let words = "'$shift:default' expression must yield a constant value.";
            expression.constant().cloned().ok_or_else(|| failed(words))?
        }
    };
    Ok(Box::new(Shift { output: Expression::parse(output, scope)?, by: i64::from(by), default }))
}

impl Values for Shift {
    fn values(&self, frame: Frame<'_>) -> Result<Column> {
        let documents = &frame.partition.documents;
        let column = (0..documents.len()).map(|at| {
            let place = usize::try_from(at as i64 + self.by).ok();
            match place.and_then(|place| documents.get(place)) {
                Some(document) => self.output.evaluate(document, &frame.context.scope),
                None => Ok(Some(self.default.clone())),
            }
        });
        column.collect()
    }
}
