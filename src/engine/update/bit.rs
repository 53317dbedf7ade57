//! `$bit`: and, or, xor on integers.

use bson::Bson;

use crate::bad_value;
use crate::error::Result;
use crate::value::compare::identical;
use crate::value::{kind, text};

use super::{Argument, Change, Modifier, Operator, Outcome, Place};

/// The rows of this family.
pub(super) const OPERATORS: &[Operator] =
    &[Operator { name: "$bit", help: "and, or, xor of an integer field", parse: bit }];

/// An integer, as wide as it was given.
#[derive(Clone, Copy, Debug)]
enum Integer {
    Int32(i32),
    Int64(i64),
}

#[derive(Clone, Copy, Debug)]
enum Operation {
    And,
    Or,
    Xor,
}

#[derive(Debug)]
struct Bits(Vec<(Operation, Integer)>);

fn bit(argument: &Argument<'_>) -> Result<Vec<Change>> {
    let Bson::Document(operations) = argument.value else {
        return Err(bad_value!(
            "The $bit modifier is not compatible with a {}. You must pass in an embedded document: {{$bit: {{field: \
             {{and/or/xor: #}}}}",
            kind::name(argument.value)
        ));
    };
    if operations.is_empty() {
        return Err(bad_value!(
            "You must pass in at least one bitwise operation. The format is: {{$bit: {{field: {{and/or/xor: #}}}}"
        ));
    }
    let mut bits = Vec::with_capacity(operations.len());
    for (name, value) in operations {
        let operation = match name.as_str() {
            "and" => Operation::And,
            "or" => Operation::Or,
            "xor" => Operation::Xor,
            _ => {
                return Err(bad_value!(
                    "The $bit modifier only supports 'and', 'or', and 'xor', not '{name}' which is an unknown operator: \
                     {{{}}}",
                    text::element(name, value)
                ));
            }
        };
        let Some(operand) = Integer::of(value) else {
            return Err(bad_value!(
                "The $bit modifier field must be an Integer(32/64 bit); a '{}' is not supported here: {{{}}}",
                kind::name(value),
                text::element(name, value)
            ));
        };
        bits.push((operation, operand));
    }
    argument.at_path(Bits(bits))
}

impl Integer {
    fn of(value: &Bson) -> Option<Self> {
        match value {
            Bson::Int32(value) => Some(Self::Int32(*value)),
            Bson::Int64(value) => Some(Self::Int64(*value)),
            _ => None,
        }
    }

    fn combine(self, operation: Operation, other: Self) -> Self {
        match (self, other) {
            (Self::Int32(left), Self::Int32(right)) => Self::Int32(match operation {
                Operation::And => left & right,
                Operation::Or => left | right,
                Operation::Xor => left ^ right,
            }),
            (left, right) => {
                let (left, right) = (left.wide(), right.wide());
                Self::Int64(match operation {
                    Operation::And => left & right,
                    Operation::Or => left | right,
                    Operation::Xor => left ^ right,
                })
            }
        }
    }

    fn wide(self) -> i64 {
        match self {
            Self::Int32(value) => i64::from(value),
            Self::Int64(value) => value,
        }
    }
}

impl From<Integer> for Bson {
    fn from(integer: Integer) -> Self {
        match integer {
            Integer::Int32(value) => Self::Int32(value),
            Integer::Int64(value) => Self::Int64(value),
        }
    }
}

impl Bits {
    fn of(&self, start: Integer) -> Bson {
        self.0
            .iter()
            .fold(start, |value, (operation, operand)| value.combine(*operation, *operand))
            .into()
    }
}

impl Modifier for Bits {
    fn change(&self, value: &mut Bson, place: &Place<'_>) -> Result<Outcome> {
        let Some(start) = Integer::of(value) else {
            // The missing space is the server's.
            return Err(bad_value!(
                "Cannot apply $bit to a value of non-integral type.{} has the field {} of non-integer type {}",
                place.id_text(),
                place.name,
                kind::name(value)
            ));
        };
        let result = self.of(start);
        let changed = !identical(value, &result);
        *value = result;
        Ok(Outcome::changed_if(changed))
    }

    fn create(&self, _: &Place<'_>) -> Result<Option<Bson>> {
        Ok(Some(self.of(Integer::Int32(0))))
    }
}
