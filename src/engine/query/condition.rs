//! What a filter tells about single paths: bounds for the planner, equalities for an upsert.

use std::borrow::Cow;

use bson::Bson;

use crate::error::Result;
use crate::refuse;

use super::node::{Node, Test};

/// One of the four range operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `$gt`
    Greater,
    /// `$gte`
    GreaterOrEqual,
    /// `$lt`
    Less,
    /// `$lte`
    LessOrEqual,
}

/// A condition on one path that must hold for the document to match.
///
/// Over an array each conjunct may hold through another element, so the bounds of two of them may be intersected only
/// where the path meets no array, or inside one [`Condition::Element`].
#[derive(Clone, Debug, PartialEq)]
pub struct Conjunct<'a> {
    /// The dotted path.
    pub path: Cow<'a, str>,
    /// What is asked of it.
    pub condition: Condition<'a>,
}

/// What is asked of one path, as far as an index could answer it. The filter is to be asked again in any case.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition<'a> {
    /// Equal to a value. Null is also equalled by a missing field; an array equals itself or is an element.
    Equal(&'a Bson),
    /// In order against a value, within its bracket of types. Null bounds hold for missing fields too.
    Compare(Comparison, &'a Bson),
    /// Equal to one of these, sorted in comparison order. Null is also equalled by a missing field.
    In(&'a [Bson]),
    /// The field is there, or it is not.
    Exists(bool),
    /// A string that begins with this text.
    Prefix(&'a str),
    /// One element of the array fulfils all of these at once.
    Element(Vec<Condition<'a>>),
    /// Something no bounds can be made of.
    Other,
}

/// The conditions that must all hold.
pub(super) fn conjuncts(node: &Node) -> Vec<Conjunct<'_>> {
    let mut found = Vec::new();
    collect(node, "", &mut found);
    found
}

fn collect<'a>(node: &'a Node, prefix: &str, found: &mut Vec<Conjunct<'a>>) {
    match node {
        Node::And(nodes) => nodes.iter().for_each(|node| collect(node, prefix, found)),
        Node::Field(path, Test::ElementMatches(inner)) => {
            collect(inner, &joined(prefix, path.text()), found)
        }
        Node::Field(path, test) => {
            found.push(Conjunct { path: joined(prefix, path.text()), condition: of(test) })
        }
        Node::Not(inner) => {
            if let Node::Field(path, Test::Exists) = &**inner
                && prefix.is_empty()
            {
                found.push(Conjunct {
                    path: joined(prefix, path.text()),
                    condition: Condition::Exists(false),
                });
            }
        }
        Node::Or(_)
        | Node::Nor(_)
        | Node::Expression { .. }
        | Node::Schema { .. }
        | Node::Always(_) => {}
    }
}

/// Whether a filter has no other conditions than [`conjuncts`] tells of.
pub(super) fn is_conjunction(node: &Node) -> bool {
    match node {
        Node::And(nodes) => nodes.iter().all(is_conjunction),
        Node::Field(_, Test::ElementMatches(_)) => false,
        Node::Field(..) => true,
        Node::Or(_)
        | Node::Nor(_)
        | Node::Not(_)
        | Node::Expression { .. }
        | Node::Schema { .. }
        | Node::Always(_) => false,
    }
}

fn joined<'a>(prefix: &str, path: &'a str) -> Cow<'a, str> {
    if prefix.is_empty() { Cow::Borrowed(path) } else { Cow::Owned(format!("{prefix}.{path}")) }
}

fn of(test: &Test) -> Condition<'_> {
    match test {
        Test::Equal(value) => Condition::Equal(value),
        Test::Compare(comparison, bound) => Condition::Compare(*comparison, bound),
        Test::In(members, patterns) if patterns.is_empty() => Condition::In(members),
        Test::Exists => Condition::Exists(true),
        Test::Matches(pattern) if !pattern.prefix().is_empty() => {
            Condition::Prefix(pattern.prefix())
        }
        Test::ElementPasses(nodes) => Condition::Element(nodes.iter().flat_map(element).collect()),
        Test::In(..)
        | Test::Matches(_)
        | Test::Type(_)
        | Test::Size(_)
        | Test::ElementMatches(_)
        | Test::Modulo { .. }
        | Test::Bits(_) => Condition::Other,
    }
}

fn element(node: &Node) -> Vec<Condition<'_>> {
    match node {
        Node::And(nodes) => nodes.iter().flat_map(element).collect(),
        Node::Field(_, test) => vec![of(test)],
        Node::Or(_)
        | Node::Nor(_)
        | Node::Not(_)
        | Node::Expression { .. }
        | Node::Schema { .. }
        | Node::Always(_) => Vec::new(),
    }
}

/// The branches of the first `$or` that must hold, each as its conjuncts.
pub(super) fn alternatives(node: &Node) -> Option<Vec<Vec<Conjunct<'_>>>> {
    match node {
        Node::Or(branches) => Some(branches.iter().map(conjuncts).collect()),
        Node::And(nodes) => nodes.iter().find_map(alternatives),
        Node::Nor(_)
        | Node::Not(_)
        | Node::Field(..)
        | Node::Expression { .. }
        | Node::Schema { .. }
        | Node::Always(_) => None,
    }
}

/// Whether no document can fulfil the condition.
pub(super) fn never(node: &Node) -> bool {
    match node {
        Node::And(nodes) => nodes.iter().any(never),
        Node::Or(nodes) => nodes.iter().all(never),
        Node::Field(_, Test::In(members, patterns)) => members.is_empty() && patterns.is_empty(),
        Node::Always(answer) => !answer,
        Node::Nor(_)
        | Node::Not(_)
        | Node::Field(..)
        | Node::Expression { .. }
        | Node::Schema { .. } => false,
    }
}

/// Paths and the values they must equal.
///
/// # Errors
/// 54 when a path, or a path and one inside it, is given twice.
pub(super) fn equalities(node: &Node) -> Result<Vec<(String, Bson)>> {
    let mut found: Vec<(String, Bson)> = Vec::new();
    gather(node, &mut found)?;
    Ok(found)
}

fn gather(node: &Node, found: &mut Vec<(String, Bson)>) -> Result<()> {
    match node {
        Node::And(nodes) => nodes.iter().try_for_each(|node| gather(node, found)),
        Node::Field(path, Test::Equal(value)) => {
            let path = path.text();
            for (other, _) in found.iter() {
                if other == path {
                    return Err(refuse!(
                        NOT_SINGLE_VALUE_FIELD,
                        "cannot infer query fields to set, path '{path}' is matched twice"
                    ));
                }
                if is_inside(path, other) || is_inside(other, path) {
                    return Err(refuse!(
                        NOT_SINGLE_VALUE_FIELD,
                        "cannot infer query fields to set, both paths '{path}' and '{other}' are matched"
                    ));
                }
            }
            found.push((path.to_owned(), value.clone()));
            Ok(())
        }
        Node::Field(..)
        | Node::Or(_)
        | Node::Nor(_)
        | Node::Not(_)
        | Node::Expression { .. }
        | Node::Schema { .. }
        | Node::Always(_) => Ok(()),
    }
}

fn is_inside(path: &str, outer: &str) -> bool {
    path.strip_prefix(outer).is_some_and(|rest| rest.starts_with('.'))
}
