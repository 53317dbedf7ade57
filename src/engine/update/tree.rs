//! The modifiers of one update, hung in a tree of paths.
//!
//! Two modifiers at one path, or one above another, conflict. Fields stand in the order in which the server creates
//! them: by name, names that are numbers by number (since MongoDB 5.0), whatever the order in the update.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::refuse;
use crate::value::path::array_index;

use super::Modifier;
use super::target::Step;

/// A place in the tree.
#[derive(Clone, Debug)]
pub(super) enum Tree {
    /// A modifier works here.
    Leaf(Arc<dyn Modifier>),
    /// Modifiers work at fields, or positions, below.
    Fields(BTreeMap<Name, Tree>),
    /// Modifiers work at elements that array filters choose, by identifier; the empty one chooses all.
    Elements(BTreeMap<String, Tree>),
}

/// A field's name in the order of creation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Name(pub(super) String);

impl Ord for Name {
    fn cmp(&self, other: &Self) -> Ordering {
        match (array_index(&self.0), array_index(&other.0)) {
            (Some(left), Some(right)) => left.cmp(&right),
            _ => self.0.as_bytes().cmp(other.0.as_bytes()),
        }
    }
}

impl PartialOrd for Name {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Tree {
    /// A tree without modifiers.
    pub(super) fn new() -> Self {
        Self::Fields(BTreeMap::new())
    }

    /// Hangs a modifier at a path. `matched` is the position `$` stands for, once it is known.
    ///
    /// # Errors
    /// 40 where it meets another modifier; 2 where `$` stands for nothing.
    pub(super) fn insert(
        &mut self,
        path: &str,
        steps: &[Step],
        matched: Option<usize>,
        modifier: Arc<dyn Modifier>,
    ) -> Result<()> {
        let mut here = self;
        for (at, step) in steps.iter().enumerate() {
            let fresh = if at + 1 == steps.len() {
                Self::Leaf(Arc::clone(&modifier))
            } else if matches!(steps[at + 1], Step::Elements(_)) {
                Self::Elements(BTreeMap::new())
            } else {
                Self::new()
            };
            let last = at + 1 == steps.len();
            let (existed, next) = match (step, here) {
                (Step::Elements(identifier), Self::Elements(children)) => {
                    child(children, identifier.clone(), fresh)
                }
                (Step::Field(name), Self::Fields(children)) => {
                    child(children, Name(name.clone()), fresh)
                }
                (Step::Matched, Self::Fields(children)) => {
                    let name = matched.map_or_else(|| "$".to_owned(), |index| index.to_string());
                    child(children, Name(name), fresh)
                }
                _ => return Err(conflict(path, &joined(&steps[..at], matched))),
            };
            if existed && (last || matches!(next, Self::Leaf(_))) {
                return Err(conflict(path, &joined(&steps[..=at], matched)));
            }
            here = next;
        }
        Ok(())
    }

    /// Joins two trees that work at the same place, reached as `path`.
    ///
    /// # Errors
    /// 40 where they meet.
    pub(super) fn merge(self, other: Self, path: &str) -> Result<Self> {
        match (self, other) {
            (Self::Fields(mut left), Self::Fields(right)) => {
                for (name, tree) in right {
                    let below = format!("{path}.{}", name.0);
                    merge_into(&mut left, name, tree, &below)?;
                }
                Ok(Self::Fields(left))
            }
            (Self::Elements(mut left), Self::Elements(right)) => {
                for (identifier, tree) in right {
                    let below = format!("{path}.$[{identifier}]");
                    merge_into(&mut left, identifier, tree, &below)?;
                }
                Ok(Self::Elements(left))
            }
            _ => {
                Err(refuse!(CONFLICTING_UPDATE_OPERATORS, "Update created a conflict at '{path}'"))
            }
        }
    }

    /// Whether every modifier below passes over paths that cannot lead to it.
    pub(super) fn ignores_dead_ends(&self, inserting: bool) -> bool {
        match self {
            Self::Leaf(modifier) => modifier.ignores_dead_ends(inserting),
            Self::Fields(children) => {
                children.values().all(|child| child.ignores_dead_ends(inserting))
            }
            Self::Elements(children) => {
                children.values().all(|child| child.ignores_dead_ends(inserting))
            }
        }
    }
}

fn child<K: Ord>(children: &mut BTreeMap<K, Tree>, key: K, fresh: Tree) -> (bool, &mut Tree) {
    match children.entry(key) {
        std::collections::btree_map::Entry::Occupied(entry) => (true, entry.into_mut()),
        std::collections::btree_map::Entry::Vacant(entry) => (false, entry.insert(fresh)),
    }
}

fn merge_into<K: Ord + Clone>(
    children: &mut BTreeMap<K, Tree>,
    key: K,
    tree: Tree,
    path: &str,
) -> Result<()> {
    let merged = match children.remove(&key) {
        Some(there) => there.merge(tree, path)?,
        None => tree,
    };
    children.insert(key, merged);
    Ok(())
}

fn joined(steps: &[Step], matched: Option<usize>) -> String {
    let names: Vec<String> = steps
        .iter()
        .map(|step| match step {
            Step::Field(name) => name.clone(),
            Step::Matched => matched.map_or_else(|| "$".to_owned(), |index| index.to_string()),
            Step::Elements(identifier) => format!("$[{identifier}]"),
        })
        .collect();
    names.join(".")
}

fn conflict(path: &str, at: &str) -> Error {
    refuse!(
        CONFLICTING_UPDATE_OPERATORS,
        "Updating the path '{path}' would create a conflict at '{at}'"
    )
}
