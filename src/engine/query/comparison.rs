//! `$eq`, `$gt`, `$gte`, `$in`, `$lt`, `$lte`, `$ne`, `$nin`.

use bson::Bson;

use crate::bad_value;
use crate::error::Result;
use crate::value::compare::compare;
use crate::value::path::Path;

use super::condition::Comparison;
use super::node::{Node, Test};
use super::parse::{Reader, is_operators};
use super::pattern::Pattern;
use super::{Operand, Operator, Parse};

/// The rows of this family.
pub(super) const OPERATORS: &[Operator] = &[
    Operator { name: "$eq", help: "equal to a value", parse: Parse::Field(eq) },
    Operator {
        name: "$gt",
        help: "greater than a value of the same type",
        parse: Parse::Field(gt),
    },
    Operator {
        name: "$gte",
        help: "greater than or equal to a value of the same type",
        parse: Parse::Field(gte),
    },
    Operator { name: "$in", help: "equal to one of a list", parse: Parse::Field(is_in) },
    Operator { name: "$lt", help: "less than a value of the same type", parse: Parse::Field(lt) },
    Operator {
        name: "$lte",
        help: "less than or equal to a value of the same type",
        parse: Parse::Field(lte),
    },
    Operator { name: "$ne", help: "not equal to a value", parse: Parse::Field(ne) },
    Operator { name: "$nin", help: "equal to none of a list", parse: Parse::Field(nin) },
];

fn eq(operand: &Operand<'_>, _: &Reader<'_>) -> Result<Node> {
    let value = comparable(operand)?;
    Ok(Node::Field(Path::new(operand.path), Test::Equal(value.clone())))
}

fn ne(operand: &Operand<'_>, reader: &Reader<'_>) -> Result<Node> {
    if let Bson::RegularExpression(_) = operand.value {
        return Err(bad_value!("Can't have regex as arg to $ne."));
    }
    Ok(Node::Not(Box::new(eq(operand, reader)?)))
}

fn gt(operand: &Operand<'_>, _: &Reader<'_>) -> Result<Node> {
    range(operand, Comparison::Greater)
}

fn gte(operand: &Operand<'_>, _: &Reader<'_>) -> Result<Node> {
    range(operand, Comparison::GreaterOrEqual)
}

fn lt(operand: &Operand<'_>, _: &Reader<'_>) -> Result<Node> {
    range(operand, Comparison::Less)
}

fn lte(operand: &Operand<'_>, _: &Reader<'_>) -> Result<Node> {
    range(operand, Comparison::LessOrEqual)
}

fn range(operand: &Operand<'_>, comparison: Comparison) -> Result<Node> {
    if let Bson::RegularExpression(_) = operand.value {
        return Err(bad_value!(
            "Can't have RegEx as arg to predicate over field '{}'.",
            operand.path
        ));
    }
    let bound = comparable(operand)?;
    Ok(Node::Field(Path::new(operand.path), Test::Compare(comparison, bound.clone())))
}

fn comparable<'a>(operand: &Operand<'a>) -> Result<&'a Bson> {
    match operand.value {
        Bson::Undefined => Err(bad_value!("cannot compare to undefined")),
        value => Ok(value),
    }
}

fn is_in(operand: &Operand<'_>, _: &Reader<'_>) -> Result<Node> {
    let Bson::Array(values) = operand.value else {
        return Err(bad_value!("{} needs an array", operand.name));
    };
    let (mut members, mut patterns) = (Vec::with_capacity(values.len()), Vec::new());
    for value in values {
        match value {
            Bson::Document(document) if is_operators(document) => {
                return Err(bad_value!("cannot nest $ under {}", operand.name));
            }
            Bson::Undefined => {
                return Err(bad_value!("InMatchExpression equality cannot be undefined"));
            }
            Bson::RegularExpression(regex) => patterns.push(Pattern::of(regex)?),
            value => members.push(value.clone()),
        }
    }
    members.sort_by(compare);
    members.dedup_by(|left, right| compare(left, right).is_eq());
    let test = match (members.len(), patterns.is_empty()) {
        // One member alone is an equality, for indexes and upserts as well.
        (1, true) => Test::Equal(members.remove(0)),
        _ => Test::In(members, patterns),
    };
    Ok(Node::Field(Path::new(operand.path), test))
}

fn nin(operand: &Operand<'_>, reader: &Reader<'_>) -> Result<Node> {
    Ok(Node::Not(Box::new(is_in(operand, reader)?)))
}
