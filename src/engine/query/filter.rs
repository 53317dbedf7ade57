//! A compiled filter: what the engine asks of every document.

use std::sync::Arc;

use bson::{Bson, Document};

use crate::engine::expr::Scope;
use crate::error::Result;

use super::condition::{self, Conjunct};
use super::node::{Node, Root};
use super::parse::Reader;
use super::report;

/// A query document, compiled.
#[derive(Clone, Debug)]
pub struct Filter {
    root: Node,
}

/// That a document matched, and through which element of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Match {
    /// The array position the last array condition of the filter held at: what the positional `$` stands for.
    pub index: Option<usize>,
}

impl Filter {
    /// Compiles a query document. `scope` holds what `$expr` may refer to.
    ///
    /// # Errors
    /// What the server answers to a bad query, with its code.
    pub fn parse(filter: &Document, scope: &Scope) -> Result<Self> {
        let scope = Arc::new(scope.clone());
        Ok(Self { root: Reader::new(&scope).document(filter)? })
    }

    /// The filter that matches everything.
    pub fn all() -> Self {
        Self { root: Node::And(Vec::new()) }
    }

    /// Whether it matches every document without looking.
    pub fn is_all(&self) -> bool {
        matches!(&self.root, Node::And(nodes) if nodes.is_empty())
            || matches!(self.root, Node::Always(true))
    }

    /// Whether it can match no document at all (`{$alwaysFalse: 1}`, `{a: {$in: []}}`, `{a: {$all: []}}`).
    pub fn is_none(&self) -> bool {
        condition::never(&self.root)
    }

    /// Whether a document matches.
    ///
    /// # Errors
    /// Those of an `$expr`; a filter without one cannot fail.
    pub fn matches(&self, document: &Document) -> Result<bool> {
        self.root.matches(Root::Document(document), &mut None)
    }

    /// As [`Filter::matches`], and says where in an array it matched.
    ///
    /// # Errors
    /// As [`Filter::matches`].
    pub fn matches_at(&self, document: &Document) -> Result<Option<Match>> {
        let mut index = None;
        Ok(self.root.matches(Root::Document(document), &mut index)?.then_some(Match { index }))
    }

    /// Why a document does not match, as the server reports it when a collection's validator refuses one; `None` when
    /// it does match.
    ///
    /// # Errors
    /// As [`Filter::matches`].
    pub fn failure(&self, document: &Document) -> Result<Option<Document>> {
        report::failure(&self.root, document)
    }

    /// The filter in the form `explain` shows as `parsedQuery`.
    pub fn describe(&self) -> Document {
        report::describe(&self.root)
    }

    /// The filter as complaints about plans show it, a condition a line.
    pub fn tree(&self) -> String {
        report::tree(&self.root)
    }

    /// Whether one value passes a filter that was made with [`Filter::parse_element`].
    ///
    /// # Errors
    /// As [`Filter::matches`].
    pub fn passes(&self, value: &Bson) -> Result<bool> {
        self.root.passes(value)
    }

    /// Compiles operators that judge a value itself, as `$pull: {a: {$gt: 3}}` and `$elemMatch: {$gt: 3}` hold them.
    ///
    /// # Errors
    /// As [`Filter::parse`].
    pub fn parse_element(operators: &Document, scope: &Scope) -> Result<Self> {
        let scope = Arc::new(scope.clone());
        Ok(Self { root: Node::And(Reader::new(&scope).element().operators("", operators)?) })
    }

    /// The conditions that must all hold, as far as an index could help with them.
    pub fn conjuncts(&self) -> Vec<Conjunct<'_>> {
        condition::conjuncts(&self.root)
    }

    /// The conditions, if the filter is nothing but conditions on single paths that must all hold.
    pub fn only_conjuncts(&self) -> Option<Vec<Conjunct<'_>>> {
        condition::is_conjunction(&self.root).then(|| self.conjuncts())
    }

    /// If one of the conditions that must hold is an `$or`: the conjuncts of each of its branches.
    pub fn alternatives(&self) -> Option<Vec<Vec<Conjunct<'_>>>> {
        condition::alternatives(&self.root)
    }

    /// What the filter says fields are equal to: the start of a document that an upsert inserts.
    ///
    /// # Errors
    /// 54 when a path, or a path and one inside it, is given twice.
    pub fn equalities(&self) -> Result<Vec<(String, Bson)>> {
        condition::equalities(&self.root)
    }
}
