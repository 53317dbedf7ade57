//! The compiled tree of a filter, and how it is asked about a document or about one value.

use std::cmp::Ordering;
use std::sync::Arc;

use bson::{Bson, Document};

use crate::engine::expr::{Expression, Scope};
use crate::error::Result;
use crate::value::compare::{bracket, compare, equal};
use crate::value::kind;
use crate::value::number::{self, Number};
use crate::value::path::{self, Ends, Found, Path};

use super::bitwise::Bits;
use super::condition::Comparison;
use super::pattern::Pattern;
use super::schema::Schema;

/// One condition of a filter.
#[derive(Clone, Debug)]
pub(super) enum Node {
    /// Every one holds; none at all holds too.
    And(Vec<Node>),
    /// At least one holds.
    Or(Vec<Node>),
    /// None holds.
    Nor(Vec<Node>),
    /// It does not hold.
    Not(Box<Node>),
    /// Some value at the path passes the test.
    Field(Path, Test),
    /// An aggregation expression is true; `source` is the condition as it was written.
    Expression { source: Document, expression: Box<Expression>, scope: Arc<Scope> },
    /// The document fits a JSON schema.
    Schema { source: Document, schema: Box<Schema> },
    /// A fixed answer.
    Always(bool),
}

/// What is asked about one value at a path.
#[derive(Clone, Debug)]
pub(super) enum Test {
    /// Equal in comparison order; null also where there is no value.
    Equal(Bson),
    /// Ordered against a value of the same bracket.
    Compare(Comparison, Bson),
    /// Equal to one of the members, which are sorted, or matching one of the patterns.
    In(Vec<Bson>, Vec<Pattern>),
    /// There is a value.
    Exists,
    /// Of one of these types.
    Type(TypeSet),
    /// An array of so many elements.
    Size(i64),
    /// An array of which one element passes every condition.
    ElementPasses(Vec<Node>),
    /// An array of which one element is a document (or array) that matches.
    ElementMatches(Box<Node>),
    /// A number whose integer part leaves a remainder.
    Modulo { divisor: i64, remainder: i64 },
    /// A string that matches, or the same stored regular expression.
    Matches(Pattern),
    /// Bits of an integer or a BinData.
    Bits(Bits),
}

/// The types a `$type` names.
#[derive(Clone, Debug, Default)]
pub(super) struct TypeSet {
    /// The numbers of the types.
    pub(super) codes: Vec<i32>,
    /// Whether the alias `number` is among them.
    pub(super) numbers: bool,
}

/// What a path of a filter starts from: a document, or an array inside `$elemMatch`, whose fields are its positions.
#[derive(Clone, Copy)]
pub(super) enum Root<'a> {
    Document(&'a Document),
    Array(&'a [Bson]),
}

impl<'a> Root<'a> {
    fn of(value: &'a Bson) -> Option<Self> {
        match value {
            Bson::Document(document) => Some(Self::Document(document)),
            Bson::Array(elements) => Some(Self::Array(elements)),
            _ => None,
        }
    }

    fn search(self, path: &Path, ends: Ends, test: &mut dyn FnMut(Found<'a>) -> bool) -> bool {
        match self {
            Self::Document(document) => path::search(document, path.parts(), ends, test),
            Self::Array(elements) => path::search_array(elements, path.parts(), ends, test),
        }
    }
}

impl Node {
    /// Whether the condition holds. `index` becomes the array position of the last array condition that held.
    ///
    /// # Errors
    /// Those of an `$expr`.
    pub(super) fn matches(&self, root: Root<'_>, index: &mut Option<usize>) -> Result<bool> {
        match self {
            Self::And(nodes) => all(nodes, |node| node.matches(root, index)),
            Self::Or(nodes) => any(nodes, |node| node.matches(root, index)),
            Self::Nor(nodes) => any(nodes, |node| node.matches(root, &mut None)).map(|held| !held),
            Self::Not(node) => node.matches(root, &mut None).map(|held| !held),
            Self::Field(path, test) => test.search(path, root, index),
            Self::Expression { expression, scope, .. } => match root {
                Root::Document(document) => expression.is_true(document, scope),
                // The parser lets no expression into an $elemMatch.
                Root::Array(_) => Ok(false),
            },
            Self::Schema { schema, .. } => Ok(match root {
                Root::Document(document) => schema.fits(document),
                Root::Array(_) => false,
            }),
            Self::Always(answer) => Ok(*answer),
        }
    }

    /// Whether the condition holds for one element of an array itself, as `$elemMatch: {$gt: 1}` asks: paths are
    /// empty there and arrays are not walked into.
    pub(super) fn passes(&self, value: &Bson) -> Result<bool> {
        match self {
            Self::And(nodes) => all(nodes, |node| node.passes(value)),
            Self::Or(nodes) => any(nodes, |node| node.passes(value)),
            Self::Nor(nodes) => any(nodes, |node| node.passes(value)).map(|held| !held),
            Self::Not(node) => node.passes(value).map(|held| !held),
            Self::Field(_, test) => Ok(test.passes(Some(value), &mut None)? == Passed::Yes),
            Self::Expression { .. } => Ok(false),
            Self::Schema { schema, .. } => {
                Ok(value.as_document().is_some_and(|document| schema.fits(document)))
            }
            Self::Always(answer) => Ok(*answer),
        }
    }
}

/// Whether a value passed a test.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Passed {
    Yes,
    No,
}

impl From<bool> for Passed {
    fn from(passed: bool) -> Self {
        if passed { Self::Yes } else { Self::No }
    }
}

impl Test {
    fn search(&self, path: &Path, root: Root<'_>, index: &mut Option<usize>) -> Result<bool> {
        let mut outcome = Ok(Passed::No);
        let held = root.search(path, self.ends(), &mut |found| {
            let mut inner = None;
            outcome = self.passes(found.value, &mut inner);
            let stop = !matches!(outcome, Ok(Passed::No));
            if stop && let Some(at) = found.index.or(inner) {
                *index = Some(at);
            }
            stop
        });
        outcome.map(|passed| held && passed == Passed::Yes)
    }

    /// Array conditions look at the array as a whole, all others at its elements first.
    fn ends(&self) -> Ends {
        match self {
            Self::Size(_) | Self::ElementPasses(_) | Self::ElementMatches(_) => Ends::Whole,
            Self::Equal(_)
            | Self::Compare(..)
            | Self::In(..)
            | Self::Exists
            | Self::Type(_)
            | Self::Modulo { .. }
            | Self::Matches(_)
            | Self::Bits(_) => Ends::Elements,
        }
    }

    fn passes(&self, value: Option<&Bson>, index: &mut Option<usize>) -> Result<Passed> {
        let passed = match self {
            Self::Equal(wanted) => is_equal(value, wanted),
            Self::Compare(comparison, bound) => in_order(value, *comparison, bound),
            Self::In(members, patterns) => match value {
                Some(Bson::Undefined) | None => {
                    members.binary_search_by(|member| compare(member, &Bson::Null)).is_ok()
                }
                Some(value) => {
                    members.binary_search_by(|member| compare(member, value)).is_ok()
                        || patterns.iter().any(|pattern| pattern.matches(value))
                }
            },
            Self::Exists => value.is_some(),
            Self::Type(types) => value.is_some_and(|value| types.contains(value)),
            Self::Size(size) => value
                .and_then(Bson::as_array)
                .is_some_and(|elements| i64::try_from(elements.len()) == Ok(*size)),
            Self::ElementPasses(nodes) => {
                return first(value, index, |element| all(nodes, |node| node.passes(element)));
            }
            Self::ElementMatches(node) => {
                return first(value, index, |element| match Root::of(element) {
                    Some(root) => node.matches(root, &mut None),
                    None => Ok(false),
                });
            }
            Self::Modulo { divisor, remainder } => value
                .and_then(Number::of)
                .filter(|number| number.is_finite())
                .and_then(Number::to_i64)
                .is_some_and(|number| number.wrapping_rem(*divisor) == *remainder),
            Self::Matches(pattern) => value.is_some_and(|value| pattern.matches(value)),
            Self::Bits(bits) => value.is_some_and(|value| bits.hold(value)),
        };
        Ok(passed.into())
    }
}

impl TypeSet {
    /// Whether documents are of one of the types.
    pub(super) fn holds_object(&self) -> bool {
        self.codes.contains(&3)
    }

    /// Whether a value is of one of the types.
    pub(super) fn contains(&self, value: &Bson) -> bool {
        (self.numbers && Number::of(value).is_some())
            || kind::by_name(kind::name(value)).is_some_and(|kind| self.codes.contains(&kind.code))
    }
}

/// Finds the first element of an array that holds, and notes its position.
fn first(
    value: Option<&Bson>,
    index: &mut Option<usize>,
    mut holds: impl FnMut(&Bson) -> Result<bool>,
) -> Result<Passed> {
    for (at, element) in value.and_then(Bson::as_array).into_iter().flatten().enumerate() {
        if holds(element)? {
            *index = Some(at);
            return Ok(Passed::Yes);
        }
    }
    Ok(Passed::No)
}

fn all(nodes: &[Node], mut holds: impl FnMut(&Node) -> Result<bool>) -> Result<bool> {
    for node in nodes {
        if !holds(node)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn any(nodes: &[Node], mut holds: impl FnMut(&Node) -> Result<bool>) -> Result<bool> {
    for node in nodes {
        if holds(node)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Equality of a filter: a missing and an undefined value equal null.
fn is_equal(value: Option<&Bson>, wanted: &Bson) -> bool {
    match value {
        None => *wanted == Bson::Null,
        Some(Bson::Undefined) => matches!(wanted, Bson::Null | Bson::Undefined),
        Some(value) => equal(value, wanted),
    }
}

/// A range condition holds only within one bracket of types, MinKey and MaxKey as bounds apart (the manual's
/// "type bracketing"); NaN equals NaN and is in no other relation.
fn in_order(value: Option<&Bson>, comparison: Comparison, bound: &Bson) -> bool {
    let inclusive = matches!(comparison, Comparison::GreaterOrEqual | Comparison::LessOrEqual);
    let above = matches!(comparison, Comparison::Greater | Comparison::GreaterOrEqual);
    match (value, bound) {
        (None | Some(Bson::Undefined), Bson::Null) => return inclusive,
        (Some(Bson::MinKey), Bson::MinKey) | (Some(Bson::MaxKey), Bson::MaxKey) => {
            return inclusive;
        }
        (_, Bson::MinKey) => return above,
        (_, Bson::MaxKey) => return !above,
        _ => {}
    }
    let Some(value) = value else { return false };
    if bracket(value) != bracket(bound) {
        return false;
    }
    if is_nan(value) || is_nan(bound) {
        return inclusive && is_nan(value) && is_nan(bound);
    }
    match compare(value, bound) {
        Ordering::Equal => inclusive,
        Ordering::Greater => above,
        Ordering::Less => !above,
    }
}

fn is_nan(value: &Bson) -> bool {
    Number::of(value).is_some_and(Number::is_nan)
}

/// What counts as true: everything but false, null, undefined and zero.
pub(super) fn truthy(value: &Bson) -> bool {
    match value {
        Bson::Boolean(value) => *value,
        Bson::Null | Bson::Undefined => false,
        value => number::Number::of(value).is_none_or(|number| !number.is_zero()),
    }
}
