//! Updates: an update document compiled once, then applied to documents.
//!
//! An operator is a row of its family's table; its argument becomes a `Modifier`, and the modifiers of one update hang
//! in a tree of paths (`tree`), where conflicts show before anything is changed and new fields find their order.
//! Every bad update dies in [`Update::parse`], with the server's code and words, or on the document it does not suit.

mod array;
mod array_filter;
mod bit;
mod compiled;
mod field;
mod replacement;
mod storable;
mod target;
mod tree;
mod walk;

use std::fmt::Debug;
use std::sync::Arc;

use bson::{Bson, DateTime, Document};

use crate::engine::expr::Scope;
use crate::error::Result;

pub use compiled::{Applied, Update};
pub use storable::{check_id, check_storable};

use array::OPERATORS as ARRAY;
use bit::OPERATORS as BIT;
use field::OPERATORS as FIELD;

/// One update operator.
#[derive(Debug)]
pub struct Operator {
    /// Its name, with the dollar.
    pub name: &'static str,
    /// One line for a user.
    pub help: &'static str,
    /// Compiles one field of its argument.
    parse: fn(&Argument<'_>) -> Result<Vec<Change>>,
}

/// One field of an operator's argument: `{$inc: {path: value}}`.
#[derive(Clone, Copy, Debug)]
struct Argument<'a> {
    path: &'a str,
    value: &'a Bson,
    scope: &'a Scope,
}

impl Argument<'_> {
    /// The only change: `modifier` at the path as it was written.
    fn at_path(&self, modifier: impl Modifier + 'static) -> Result<Vec<Change>> {
        Ok(vec![Change { path: self.path.to_owned(), modifier: Arc::new(modifier) }])
    }
}

/// A modifier and the path it works at.
#[derive(Clone, Debug)]
struct Change {
    path: String,
    modifier: Arc<dyn Modifier>,
}

/// What one operator does at one place.
trait Modifier: Debug + Send + Sync {
    /// Changes the value that is there.
    fn change(&self, value: &mut Bson, place: &Place<'_>) -> Result<Outcome>;

    /// The value to put where there is none; `None` leaves it so.
    fn create(&self, place: &Place<'_>) -> Result<Option<Bson>>;

    /// Whether a path that cannot lead to a field (`a.b` with a number in `a`) is passed over in silence.
    fn ignores_dead_ends(&self, inserting: bool) -> bool {
        let _ = inserting;
        false
    }
}

/// What became of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// It stayed as it was, bit for bit.
    Unchanged,
    /// It is another one now.
    Changed,
    /// It goes away: its field is removed, an element of an array becomes null.
    Removed,
}

impl Outcome {
    /// Changed, if so.
    fn changed_if(changed: bool) -> Self {
        if changed { Self::Changed } else { Self::Unchanged }
    }
}

/// Where a modifier works, for its messages and for what it must know besides the value.
struct Place<'a> {
    /// The dotted path, positions filled in.
    path: &'a str,
    /// Its last component.
    name: &'a str,
    /// The document as it was before the update.
    document: &'a Document,
    /// Whether the document is about to be inserted by an upsert.
    inserting: bool,
    /// The moment of the command.
    now: DateTime,
}

impl Place<'_> {
    /// The document's `_id` as messages show it: `{_id: 1}`.
    fn id_text(&self) -> String {
        match self.document.get("_id") {
            Some(id) => format!("{{{}}}", crate::value::text::element("_id", id)),
            None => "{no id}".into(),
        }
    }
}

/// The families, each sorted by name.
const FAMILIES: &[&[Operator]] = &[ARRAY, BIT, FIELD];

/// Every operator, family by family.
pub fn operators() -> impl Iterator<Item = &'static Operator> {
    FAMILIES.iter().flat_map(|family| family.iter())
}

/// The operator of that name (with the dollar).
fn operator(name: &str) -> Option<&'static Operator> {
    FAMILIES.iter().find_map(|family| {
        let at = family.binary_search_by_key(&name, |operator| operator.name).ok()?;
        Some(&family[at])
    })
}

#[cfg(test)]
mod tests;
