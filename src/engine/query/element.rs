//! `$exists` and `$type`.

use bson::Bson;

use crate::error::Result;
use crate::value::kind;
use crate::value::number::{Number, double_text};
use crate::value::path::Path;
use crate::{bad_value, refuse};

use super::node::{Node, Test, TypeSet, truthy};
use super::parse::Reader;
use super::{Operand, Operator, Parse};

/// The rows of this family.
pub(super) const OPERATORS: &[Operator] = &[
    Operator {
        name: "$exists",
        help: "the field is there, or is not",
        parse: Parse::Field(exists),
    },
    Operator {
        name: "$type",
        help: "the value, or an element of the array, is of a type",
        parse: Parse::Field(is_type),
    },
];

fn exists(operand: &Operand<'_>, _: &Reader<'_>) -> Result<Node> {
    let node = Node::Field(Path::new(operand.path), Test::Exists);
    Ok(if truthy(operand.value) { node } else { Node::Not(Box::new(node)) })
}

fn is_type(operand: &Operand<'_>, _: &Reader<'_>) -> Result<Node> {
    let mut types = TypeSet::default();
    match operand.value {
        Bson::Array(values) => {
            for value in values {
                types.add(value)?;
            }
        }
        value => types.add(value)?,
    }
    if types.codes.is_empty() && !types.numbers {
        return Err(refuse!(FAILED_TO_PARSE, "{} must match at least one type", operand.path));
    }
    Ok(Node::Field(Path::new(operand.path), Test::Type(types)))
}

impl TypeSet {
    /// Adds a type by its alias or its number.
    pub(super) fn add(&mut self, value: &Bson) -> Result<()> {
        if let Bson::String(alias) = value {
            match kind::by_name(alias) {
                Some(kind) => self.codes.push(kind.code),
                None if alias == "number" => self.numbers = true,
                None => return Err(bad_value!("Unknown type name alias: {alias}")),
            }
            return Ok(());
        }
        let Some(number) = Number::of(value) else {
            return Err(refuse!(TYPE_MISMATCH, "type must be represented as a number or a string"));
        };
        if number.is_zero() {
            return Err(bad_value!(
                "Invalid numerical type code: 0. Instead use {{$exists:false}}."
            ));
        }
        match number.integral().and_then(kind::by_code) {
            Some(kind) => {
                self.codes.push(kind.code);
                Ok(())
            }
            None => Err(bad_value!("Invalid numerical type code: {}", number_text(number))),
        }
    }
}

fn number_text(number: Number) -> String {
    match number {
        Number::Double(number) => double_text(number),
        Number::Int32(number) => number.to_string(),
        Number::Int64(number) => number.to_string(),
        Number::Decimal(number) => number.to_string(),
    }
}
