//! Comparison: unlike a query's, it crosses types. Missing stands below null.

use std::cmp::Ordering;

use bson::Bson;

use super::{Arguments, Operator, Parse};
use crate::error::Result;
use crate::value::compare;

pub(super) const OPERATORS: &[Operator] = &[
    Operator {
        name: "$cmp",
        arguments: (2, 2),
        help: "-1, 0 or 1: how two values compare",
        parse: Parse::Call(cmp),
    },
    Operator {
        name: "$eq",
        arguments: (2, 2),
        help: "whether two values are equal",
        parse: Parse::Call(eq),
    },
    Operator {
        name: "$gt",
        arguments: (2, 2),
        help: "whether the first is greater",
        parse: Parse::Call(gt),
    },
    Operator {
        name: "$gte",
        arguments: (2, 2),
        help: "whether the first is greater or equal",
        parse: Parse::Call(gte),
    },
    Operator {
        name: "$lt",
        arguments: (2, 2),
        help: "whether the first is less",
        parse: Parse::Call(lt),
    },
    Operator {
        name: "$lte",
        arguments: (2, 2),
        help: "whether the first is less or equal",
        parse: Parse::Call(lte),
    },
    Operator {
        name: "$ne",
        arguments: (2, 2),
        help: "whether two values differ",
        parse: Parse::Call(ne),
    },
];

/// Compares two values, either of which may be missing.
pub(crate) fn compare_values(left: Option<&Bson>, right: Option<&Bson>) -> Ordering {
    // Missing has undefined's place in the order.
    compare::compare(left.unwrap_or(&Bson::Undefined), right.unwrap_or(&Bson::Undefined))
}

/// A value as the key of an ordered map, so that equal numbers of different types are one key.
#[derive(Clone, Debug)]
pub(crate) struct Ordered(pub(crate) Bson);

impl PartialEq for Ordered {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ordered {}

impl PartialOrd for Ordered {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ordered {
    fn cmp(&self, other: &Self) -> Ordering {
        compare::compare(&self.0, &other.0)
    }
}

fn order(arguments: &Arguments<'_>) -> Ordering {
    compare_values(arguments.get(0), arguments.get(1))
}

fn truth(boolean: bool) -> Result<Option<Bson>> {
    Ok(Some(Bson::Boolean(boolean)))
}

fn cmp(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    Ok(Some(Bson::Int32(order(arguments) as i32)))
}

fn eq(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    truth(order(arguments).is_eq())
}

fn gt(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    truth(order(arguments).is_gt())
}

fn gte(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    truth(order(arguments).is_ge())
}

fn lt(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    truth(order(arguments).is_lt())
}

fn lte(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    truth(order(arguments).is_le())
}

fn ne(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    truth(order(arguments).is_ne())
}
