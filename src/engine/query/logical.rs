//! `$and`, `$nor`, `$not`, `$or`, and the conditions that always or never hold.

use bson::Bson;

use crate::error::Result;
use crate::value::number::Number;
use crate::value::path::Path;
use crate::value::text;
use crate::{bad_value, refuse};

use super::node::{Node, Test};
use super::parse::{Reader, single_or};
use super::pattern::Pattern;
use super::{Operand, Operator, Parse};

/// The rows of this family.
pub(super) const OPERATORS: &[Operator] = &[
    Operator { name: "$alwaysFalse", help: "matches nothing", parse: Parse::Top(always_false) },
    Operator { name: "$alwaysTrue", help: "matches everything", parse: Parse::Top(always_true) },
    Operator {
        name: "$and",
        help: "every one of a list of queries matches",
        parse: Parse::Top(and),
    },
    Operator { name: "$nor", help: "none of a list of queries matches", parse: Parse::Top(nor) },
    Operator {
        name: "$not",
        help: "the operators or the regular expression do not match",
        parse: Parse::Field(not),
    },
    Operator { name: "$or", help: "one of a list of queries matches", parse: Parse::Top(or) },
];

fn and(value: &Bson, reader: &Reader<'_>) -> Result<Node> {
    Ok(single_or(branches("$and", value, reader)?, Node::And))
}

fn or(value: &Bson, reader: &Reader<'_>) -> Result<Node> {
    // A single branch is the branch itself, for indexes and upserts as well.
    Ok(single_or(branches("$or", value, reader)?, Node::Or))
}

fn nor(value: &Bson, reader: &Reader<'_>) -> Result<Node> {
    Ok(Node::Nor(branches("$nor", value, reader)?))
}

fn branches(name: &str, value: &Bson, reader: &Reader<'_>) -> Result<Vec<Node>> {
    let Bson::Array(queries) = value else { return Err(bad_value!("{name} must be an array")) };
    if queries.is_empty() {
        return Err(bad_value!("$and/$or/$nor must be a nonempty array"));
    }
    queries
        .iter()
        .map(|query| match query {
            Bson::Document(query) => reader.document(query),
            _ => Err(bad_value!("$or/$and/$nor entries need to be full objects")),
        })
        .collect()
}

fn not(operand: &Operand<'_>, reader: &Reader<'_>) -> Result<Node> {
    let node = match operand.value {
        Bson::RegularExpression(regex) => {
            Node::Field(Path::new(operand.path), Test::Matches(Pattern::of(regex)?))
        }
        Bson::Document(operators) if operators.is_empty() => {
            return Err(bad_value!("$not cannot be empty"));
        }
        Bson::Document(operators) => {
            single_or(reader.operators(operand.path, operators)?, Node::And)
        }
        _ => return Err(bad_value!("$not needs a regex or a document")),
    };
    Ok(Node::Not(Box::new(node)))
}

fn always_true(value: &Bson, _: &Reader<'_>) -> Result<Node> {
    one("$alwaysTrue", value)?;
    Ok(Node::Always(true))
}

fn always_false(value: &Bson, _: &Reader<'_>) -> Result<Node> {
    one("$alwaysFalse", value)?;
    Ok(Node::Always(false))
}

fn one(name: &str, value: &Bson) -> Result<()> {
    match Number::of(value).and_then(Number::integral) {
        Some(1) => Ok(()),
        _ => Err(refuse!(
            FAILED_TO_PARSE,
            "{name} must be an integer value of 1, not {}",
            text::value(value)
        )),
    }
}
