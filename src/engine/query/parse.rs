//! From a query document to the tree of its conditions.

use std::sync::Arc;

use bson::{Bson, Document};

use crate::bad_value;
use crate::engine::expr::Scope;
use crate::error::Result;
use crate::value::path::Path;

use super::node::{Node, Test};
use super::pattern::Pattern;
use super::{Operand, field, top};

/// The deepest nesting of conditions the server accepts.
const MAX_DEPTH: usize = 100;

/// What the parsers of operators share.
#[derive(Clone, Debug)]
pub(super) struct Reader<'a> {
    scope: &'a Arc<Scope>,
    depth: usize,
    inside_element: bool,
}

impl<'a> Reader<'a> {
    /// A reader for a whole filter.
    pub(super) fn new(scope: &'a Arc<Scope>) -> Self {
        Self { scope, depth: 0, inside_element: false }
    }

    /// What expressions may refer to.
    pub(super) fn scope(&self) -> &Arc<Scope> {
        self.scope
    }

    /// Whether this is the inside of an `$elemMatch`, where `$expr` and `$where` may not stand.
    pub(super) fn inside_element(&self) -> bool {
        self.inside_element
    }

    /// The same reader for the inside of an `$elemMatch`.
    pub(super) fn element(&self) -> Self {
        Self { inside_element: true, ..self.clone() }
    }

    fn deeper(&self) -> Result<Self> {
        if self.depth == MAX_DEPTH {
            return Err(bad_value!("exceeded maximum query tree depth of {MAX_DEPTH}"));
        }
        Ok(Self { depth: self.depth + 1, ..self.clone() })
    }

    /// Compiles a query document; its conditions must all hold.
    pub(super) fn document(&self, query: &Document) -> Result<Node> {
        let reader = self.deeper()?;
        let mut nodes = Vec::with_capacity(query.len());
        for (name, value) in query {
            if name.starts_with('$') && !is_reference_field(name) {
                nodes.push(reader.top(name, value)?);
            } else {
                reader.field(name, value, &mut nodes)?;
            }
        }
        Ok(single_or(nodes, Node::And))
    }

    fn top(&self, name: &str, value: &Bson) -> Result<Node> {
        match top(name) {
            Some(parse) => parse(value, self),
            None if name == "$not" => Err(bad_value!(
                "unknown top level operator: $not. If you are trying to negate an entire expression, use $nor."
            )),
            None => Err(bad_value!(
                "unknown top level operator: {name}. If you have a field name that starts with a '$' symbol, consider \
                 using $getField or $setField."
            )),
        }
    }

    fn field(&self, path: &str, value: &Bson, nodes: &mut Vec<Node>) -> Result<()> {
        match value {
            Bson::Document(operators) if is_operators(operators) => {
                nodes.extend(self.operators(path, operators)?)
            }
            Bson::RegularExpression(regex) => {
                nodes.push(Node::Field(Path::new(path), Test::Matches(Pattern::of(regex)?)));
            }
            Bson::Undefined => return Err(bad_value!("cannot compare to undefined")),
            value => nodes.push(equality(path, value)),
        }
        Ok(())
    }

    /// Compiles the operators under one field, each to a condition of its own.
    pub(super) fn operators(&self, path: &str, operators: &Document) -> Result<Vec<Node>> {
        let reader = self.deeper()?;
        operators
            .iter()
            .map(|(name, value)| match field(name) {
                Some(parse) => parse(&Operand { path, name, value, siblings: operators }, &reader),
                None => Err(bad_value!("unknown operator: {name}")),
            })
            .collect()
    }
}

/// The condition that a field equals a value.
pub(super) fn equality(path: &str, value: &Bson) -> Node {
    Node::Field(Path::new(path), Test::Equal(value.clone()))
}

/// One condition stands for itself; several are joined.
pub(super) fn single_or(mut nodes: Vec<Node>, join: fn(Vec<Node>) -> Node) -> Node {
    match (nodes.len(), nodes.pop()) {
        (1, Some(node)) => node,
        (_, last) => {
            nodes.extend(last);
            join(nodes)
        }
    }
}

/// Whether a document under a field holds operators: its first name says so, unless it is a DBRef.
pub(super) fn is_operators(document: &Document) -> bool {
    document.keys().next().is_some_and(|name| name.starts_with('$') && !is_reference_field(name))
}

/// The fields of a DBRef begin with a dollar and are no operators.
fn is_reference_field(name: &str) -> bool {
    matches!(name, "$ref" | "$id" | "$db")
}
