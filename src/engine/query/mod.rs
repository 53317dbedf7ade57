//! Filters: a query document compiled once, then asked about many documents.
//!
//! Nothing here reads storage; `engine::index` decides which documents to ask about. An operator is a row of its
//! family's table; every bad query dies in [`Filter::parse`] with the server's code and words.

mod absent;
mod array;
mod bitwise;
mod comparison;
mod condition;
mod element;
mod evaluation;
mod filter;
mod logical;
mod node;
mod parse;
pub mod pattern;
mod projection;
mod report;
mod schema;
pub mod sort;

use bson::{Bson, Document};

use crate::error::Result;

pub use condition::{Comparison, Condition, Conjunct};
pub use filter::{Filter, Match};
pub use projection::Projection;
pub use sort::Sort;

use node::Node;
use parse::Reader;

/// One query operator.
#[derive(Debug)]
pub struct Operator {
    /// Its name, with the dollar.
    pub name: &'static str,
    /// One line for a user.
    pub help: &'static str,
    /// Where it stands and how it is compiled.
    parse: Parse,
}

/// How an operator is compiled, by where it may stand.
#[derive(Clone, Copy, Debug)]
enum Parse {
    /// In place of a field: `{$and: [...]}`.
    Top(fn(&Bson, &Reader<'_>) -> Result<Node>),
    /// Under a field: `{a: {$gt: 1}}`.
    Field(fn(&Operand<'_>, &Reader<'_>) -> Result<Node>),
}

/// An operator's argument under a field.
#[derive(Clone, Copy, Debug)]
struct Operand<'a> {
    /// The dotted path of the field.
    path: &'a str,
    /// The operator's name as it was written.
    name: &'a str,
    /// Its argument.
    value: &'a Bson,
    /// The document it stands in, for `$regex` and `$options`.
    siblings: &'a Document,
}

/// The families, each sorted by name.
const FAMILIES: &[&[Operator]] = &[
    absent::OPERATORS,
    array::OPERATORS,
    bitwise::OPERATORS,
    comparison::OPERATORS,
    element::OPERATORS,
    evaluation::OPERATORS,
    logical::OPERATORS,
    schema::OPERATORS,
];

/// Every operator, family by family.
pub fn operators() -> impl Iterator<Item = &'static Operator> {
    FAMILIES.iter().flat_map(|family| family.iter())
}

impl Operator {
    /// Whether it stands in place of a field, as `$and` does, and not under one, as `$gt` does.
    pub fn is_top(&self) -> bool {
        matches!(self.parse, Parse::Top(_))
    }
}

/// Whether a name is an operator that may stand under a field, as `$gt` does and `$and` does not.
pub(crate) fn is_field_operator(name: &str) -> bool {
    field(name).is_some()
}

/// The function of the operator that may stand in place of a field.
fn top(name: &str) -> Option<fn(&Bson, &Reader<'_>) -> Result<Node>> {
    rows(name).find_map(|row| match row.parse {
        Parse::Top(parse) => Some(parse),
        Parse::Field(_) => None,
    })
}

/// The function of the operator that may stand under a field.
fn field(name: &str) -> Option<fn(&Operand<'_>, &Reader<'_>) -> Result<Node>> {
    rows(name).find_map(|row| match row.parse {
        Parse::Field(parse) => Some(parse),
        Parse::Top(_) => None,
    })
}

/// The rows of that name: at most one for each place.
fn rows(name: &str) -> impl Iterator<Item = &'static Operator> {
    FAMILIES.iter().flat_map(move |family| {
        let start = family.partition_point(|row| row.name < name);
        family[start..].iter().take_while(move |row| row.name == name)
    })
}

#[cfg(test)]
mod laws;
#[cfg(test)]
mod tests;
