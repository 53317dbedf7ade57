//! `$all`, `$elemMatch`, `$size`.

use bson::{Bson, Document};

use crate::bad_value;
use crate::error::Result;
use crate::value::number::Number;
use crate::value::path::Path;
use crate::value::text;

use super::node::{Node, Test};
use super::parse::{Reader, equality, is_operators, single_or};
use super::pattern::Pattern;
use super::{Operand, Operator, Parse, top};

/// The rows of this family.
pub(super) const OPERATORS: &[Operator] = &[
    Operator {
        name: "$all",
        help: "the array holds every one of a list",
        parse: Parse::Field(all),
    },
    Operator {
        name: "$elemMatch",
        help: "one element of the array passes every condition",
        parse: Parse::Field(elem_match),
    },
    Operator { name: "$size", help: "the array has so many elements", parse: Parse::Field(size) },
];

fn all(operand: &Operand<'_>, reader: &Reader<'_>) -> Result<Node> {
    let Bson::Array(values) = operand.value else { return Err(bad_value!("$all needs an array")) };
    if values.is_empty() {
        return Ok(Node::Always(false));
    }
    let elements = matches!(&values[0], Bson::Document(first) if is_elem_match(first));
    let nodes = values.iter().map(|value| match value {
        Bson::Document(document) if elements && is_elem_match(document) => {
            Ok(single_or(reader.operators(operand.path, document)?, Node::And))
        }
        _ if elements => Err(bad_value!("$all/$elemMatch has to be consistent")),
        Bson::Document(document) if is_operators(document) => {
            Err(bad_value!("no $ expressions in $all"))
        }
        Bson::RegularExpression(regex) => {
            Ok(Node::Field(Path::new(operand.path), Test::Matches(Pattern::of(regex)?)))
        }
        value => Ok(equality(operand.path, value)),
    });
    Ok(single_or(nodes.collect::<Result<_>>()?, Node::And))
}

fn is_elem_match(document: &Document) -> bool {
    document.keys().next().is_some_and(|name| name == "$elemMatch")
}

fn elem_match(operand: &Operand<'_>, reader: &Reader<'_>) -> Result<Node> {
    let Bson::Document(query) = operand.value else {
        return Err(bad_value!("$elemMatch needs an Object"));
    };
    let reader = reader.element();
    // Operators that need a field judge the element itself; a query, or $and and its like, judges a document.
    let judges_value =
        is_operators(query) && query.keys().next().is_some_and(|name| top(name).is_none());
    let test = if judges_value {
        Test::ElementPasses(reader.operators("", query)?)
    } else {
        Test::ElementMatches(Box::new(reader.document(query)?))
    };
    Ok(Node::Field(Path::new(operand.path), test))
}

fn size(operand: &Operand<'_>, _: &Reader<'_>) -> Result<Node> {
    let size = integer(operand.value)
        .and_then(
            |size| if size < 0 { Err("Expected a non-negative number in: ") } else { Ok(size) },
        )
        .map_err(|what| {
            bad_value!(
                "Failed to parse $size. {what}{}",
                text::element(operand.name, operand.value)
            )
        })?;
    Ok(Node::Field(Path::new(operand.path), Test::Size(size)))
}

/// Reads a whole number, or says in the server's words what it is not.
pub(super) fn integer(value: &Bson) -> std::result::Result<i64, &'static str> {
    let number = Number::of(value).ok_or("Expected a number in: ")?;
    if number.is_nan() {
        return Err("Expected an integer, but found NaN in: ");
    }
    if number.to_i64().is_none() {
        return Err("Cannot represent as a 64-bit integer: ");
    }
    number.integral().ok_or("Expected an integer: ")
}
