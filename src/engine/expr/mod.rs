//! Aggregation expressions: compiled once, then evaluated on documents.
//!
//! An operator is a row of its family's table, with its number of arguments, its help and its function. Missing is a value
//! of its own: `None` in this room, as in [`Expression::evaluate`]. Arithmetic and order live in [`crate::value`].

mod accumulator;
mod arguments;
mod arithmetic;
mod array;
mod boolean;
mod comparison;
mod conditional;
mod conversion;
mod date;
mod date_arithmetic;
mod date_parts;
mod deviation;
mod expression;
mod field_path;
mod function;
mod iteration;
mod named;
mod node;
mod object;
mod parse;
mod percentile;
mod regex;
mod scope;
mod set;
mod string;
mod trigonometry;
mod variable;
mod zone;

use std::borrow::Cow;

use bson::Bson;

use crate::error::Result;

pub use accumulator::{ACCUMULATORS, Row as AccumulatorRow};
pub(crate) use accumulator::{Accumulator, State};
pub(crate) use arguments::Arguments;
pub(crate) use array::part as slice;
pub(crate) use comparison::Ordered;
pub(crate) use date_arithmetic::move_date;
pub use expression::Expression;
pub(crate) use expression::truth;
pub(crate) use field_path::{FieldPath, check_field_name, check_variable_name};
pub(crate) use node::{Form, Node, Place};
pub(crate) use parse::Parser;
pub use scope::Scope;
pub(crate) use variable::random;

/// What an expression evaluates to inside the room; `None` is missing.
pub(crate) type Value<'a> = Option<Cow<'a, Bson>>;

/// An operator's work on evaluated arguments.
pub(crate) type Function = fn(&mut Arguments<'_>) -> Result<Option<Bson>>;

/// An upper bound for operators that take any number of arguments.
pub(crate) const MANY: usize = usize::MAX;

/// One operator of the expression language.
#[derive(Debug)]
pub struct Operator {
    /// Its name, with the dollar.
    pub name: &'static str,
    /// The least and the greatest number of arguments.
    pub(crate) arguments: (usize, usize),
    /// One line for a user.
    pub help: &'static str,
    /// How it is compiled.
    pub(crate) parse: Parse,
}

/// How an operator's argument is compiled.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Parse {
    /// All arguments are evaluated, then the function is called.
    Call(Function),
    /// The operator reads its argument itself.
    Form(fn(&'static Operator, &Bson, &Parser<'_>) -> Result<Node>),
}

/// The families, each sorted by name.
const FAMILIES: &[&[Operator]] = &[
    accumulator::OPERATORS,
    arithmetic::OPERATORS,
    array::OPERATORS,
    boolean::OPERATORS,
    comparison::OPERATORS,
    conditional::OPERATORS,
    conversion::OPERATORS,
    date_arithmetic::OPERATORS,
    date_parts::OPERATORS,
    function::OPERATORS,
    iteration::OPERATORS,
    object::OPERATORS,
    percentile::OPERATORS,
    regex::OPERATORS,
    set::OPERATORS,
    string::OPERATORS,
    trigonometry::OPERATORS,
    variable::OPERATORS,
];

/// Every operator, family by family.
pub fn operators() -> impl Iterator<Item = &'static Operator> {
    FAMILIES.iter().flat_map(|family| family.iter())
}

/// Whether an operator has that name (with the dollar).
pub(crate) fn is_operator(name: &str) -> bool {
    operator(name).is_some()
}

/// Refuses a text that is no field path.
pub(crate) fn check_path(path: &str) -> Result<()> {
    FieldPath::parse(path).map(|_| ())
}

/// The operator of that name (with the dollar).
pub(crate) fn operator(name: &str) -> Option<&'static Operator> {
    FAMILIES.iter().find_map(|family| {
        let at = family.binary_search_by_key(&name, |operator| operator.name).ok()?;
        Some(&family[at])
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn families_are_sorted_and_names_are_unique() {
        for family in FAMILIES {
            assert!(
                family.is_sorted_by_key(|operator| operator.name),
                "{:?}",
                family.first().map(|o| o.name)
            );
        }
        let mut seen = HashSet::new();
        for operator in operators() {
            assert!(seen.insert(operator.name), "{} twice", operator.name);
            assert!(operator.name.starts_with('$') && !operator.help.is_empty());
        }
    }
}
