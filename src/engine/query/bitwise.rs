//! `$bitsAllClear`, `$bitsAllSet`, `$bitsAnyClear`, `$bitsAnySet`.

use bson::Bson;

use crate::error::Result;
use crate::value::number::Number;
use crate::value::path::Path;
use crate::value::text;
use crate::{bad_value, refuse};

use super::array::integer;
use super::node::{Node, Test};
use super::parse::Reader;
use super::{Operand, Operator, Parse};

/// The rows of this family.
pub(super) const OPERATORS: &[Operator] = &[
    Operator {
        name: "$bitsAllClear",
        help: "every one of some bits is 0",
        parse: Parse::Field(all_clear),
    },
    Operator {
        name: "$bitsAllSet",
        help: "every one of some bits is 1",
        parse: Parse::Field(all_set),
    },
    Operator {
        name: "$bitsAnyClear",
        help: "one of some bits is 0",
        parse: Parse::Field(any_clear),
    },
    Operator { name: "$bitsAnySet", help: "one of some bits is 1", parse: Parse::Field(any_set) },
];

/// Bits that are asked about, and what of them must hold.
#[derive(Clone, Debug)]
pub(super) struct Bits {
    positions: Vec<u64>,
    wanted: bool,
    quantity: Quantity,
}

#[derive(Clone, Copy, Debug)]
enum Quantity {
    All,
    Any,
}

fn all_clear(operand: &Operand<'_>, _: &Reader<'_>) -> Result<Node> {
    bits(operand, false, Quantity::All)
}

fn all_set(operand: &Operand<'_>, _: &Reader<'_>) -> Result<Node> {
    bits(operand, true, Quantity::All)
}

fn any_clear(operand: &Operand<'_>, _: &Reader<'_>) -> Result<Node> {
    bits(operand, false, Quantity::Any)
}

fn any_set(operand: &Operand<'_>, _: &Reader<'_>) -> Result<Node> {
    bits(operand, true, Quantity::Any)
}

fn bits(operand: &Operand<'_>, wanted: bool, quantity: Quantity) -> Result<Node> {
    let positions = match operand.value {
        Bson::Array(values) => values
            .iter()
            .enumerate()
            .map(|(at, value)| position(at, value))
            .collect::<Result<Vec<_>>>()?,
        Bson::Binary(binary) => {
            (0..binary.bytes.len() as u64 * 8).filter(|at| bit(&binary.bytes, *at)).collect()
        }
        value if Number::of(value).is_some() => {
            let mask = integer(value).and_then(|mask| {
                if mask < 0 { Err("Expected a non-negative number in: ") } else { Ok(mask) }
            });
            let mask = mask.map_err(|what| {
                refuse!(FAILED_TO_PARSE, "{what}{}", text::element(operand.name, value))
            })?;
            (0..63).filter(|at| mask >> at & 1 == 1).collect()
        }
        value => {
            return Err(bad_value!(
                "{} takes an Array, a number, or a BinData but received: {}",
                operand.path,
                text::element(operand.name, value)
            ));
        }
    };
    Ok(Node::Field(Path::new(operand.path), Test::Bits(Bits { positions, wanted, quantity })))
}

fn position(at: usize, value: &Bson) -> Result<u64> {
    let shown = || text::element(&at.to_string(), value);
    let position = integer(value).map_err(|what| {
        refuse!(FAILED_TO_PARSE, "Failed to parse bit position. {what}{}", shown())
    })?;
    if i32::try_from(position).is_err() {
        return Err(refuse!(
            FAILED_TO_PARSE,
            "Failed to parse bit position. bit positions cannot be represented as a 32-bit signed integer: {}",
            shown()
        ));
    }
    u64::try_from(position).map_err(|_| {
        refuse!(
            FAILED_TO_PARSE,
            "Failed to parse bit position. Expected a non-negative number in: {}",
            shown()
        )
    })
}

impl Bits {
    /// The positions as an array.
    pub(super) fn positions(&self) -> Bson {
        Bson::Array(
            self.positions
                .iter()
                .map(|at| Bson::Int64(i64::try_from(*at).unwrap_or(i64::MAX)))
                .collect(),
        )
    }

    /// The operator's name.
    pub(super) fn name(&self) -> &'static str {
        match (self.quantity, self.wanted) {
            (Quantity::All, true) => "$bitsAllSet",
            (Quantity::All, false) => "$bitsAllClear",
            (Quantity::Any, true) => "$bitsAnySet",
            (Quantity::Any, false) => "$bitsAnyClear",
        }
    }

    /// Whether they hold of a value; anything but a whole number in int64 or a BinData has no bits.
    pub(super) fn hold(&self, value: &Bson) -> bool {
        match value {
            Bson::Binary(binary) => self.judge(|at| bit(&binary.bytes, at)),
            value => match Number::of(value).and_then(Number::integral) {
                // A negative number goes on with ones above its 64th bit.
                Some(number) => self.judge(|at| number >> at.min(63) & 1 == 1),
                None => false,
            },
        }
    }

    fn judge(&self, is_set: impl Fn(u64) -> bool) -> bool {
        let holds = |at: &u64| is_set(*at) == self.wanted;
        match self.quantity {
            Quantity::All => self.positions.iter().all(holds),
            Quantity::Any => self.positions.iter().any(holds),
        }
    }
}

/// Bit `at` of bytes in little-endian order; beyond the end every bit is 0.
fn bit(bytes: &[u8], at: u64) -> bool {
    usize::try_from(at / 8)
        .ok()
        .and_then(|byte| bytes.get(byte))
        .is_some_and(|byte| byte >> (at % 8) & 1 == 1)
}
