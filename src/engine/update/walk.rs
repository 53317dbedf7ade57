//! One document taken through the tree of modifiers.

use std::collections::BTreeMap;

use bson::{Bson, DateTime, Document};

use crate::error::Result;
use crate::value::compare::equal;
use crate::value::path::array_index;
use crate::value::text;
use crate::{bad_value, refuse};

use super::array_filter::ArrayFilter;
use super::tree::{Name, Tree};
use super::{Modifier, Outcome, Place};

/// How far an array may be padded with nulls to reach a position.
const MAX_PADDING: usize = 1_500_000;

/// The walk through one document.
pub(super) struct Walk<'a> {
    /// The document before the update.
    pub(super) original: &'a Document,
    /// The array filters, by identifier.
    pub(super) filters: &'a BTreeMap<String, ArrayFilter>,
    /// Whether the document is about to be inserted.
    pub(super) inserting: bool,
    /// The moment of the command.
    pub(super) now: DateTime,
    /// The dotted path walked so far.
    path: String,
}

impl<'a> Walk<'a> {
    pub(super) fn new(
        original: &'a Document,
        filters: &'a BTreeMap<String, ArrayFilter>,
        inserting: bool,
        now: DateTime,
    ) -> Self {
        Self { original, filters, inserting, now, path: String::new() }
    }

    /// Applies the whole tree; answers whether anything changed.
    pub(super) fn root(&mut self, tree: &Tree, document: &mut Document) -> Result<bool> {
        let Tree::Fields(children) = tree else { return Ok(false) };
        self.document(children, document)
    }

    fn place(&self) -> Place<'_> {
        Place {
            path: &self.path,
            name: self.path.rsplit('.').next().unwrap_or(&self.path),
            document: self.original,
            inserting: self.inserting,
            now: self.now,
        }
    }

    /// Runs `work` one step further down the path.
    fn below<T>(&mut self, name: &str, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let length = self.path.len();
        if length > 0 {
            self.path.push('.');
        }
        self.path.push_str(name);
        let answer = work(self);
        self.path.truncate(length);
        answer
    }

    fn document(
        &mut self,
        children: &BTreeMap<Name, Tree>,
        document: &mut Document,
    ) -> Result<bool> {
        let mut changed = false;
        for (Name(name), child) in children {
            self.below(name, |walk| {
                match document.get_mut(name) {
                    Some(value) => match walk.value(child, value)? {
                        Outcome::Unchanged => {}
                        Outcome::Changed => changed = true,
                        Outcome::Removed => {
                            document.remove(name);
                            changed = true;
                        }
                    },
                    None => {
                        if let Some(value) = walk.create(child)? {
                            document.insert(name.clone(), value);
                            changed = true;
                        }
                    }
                }
                Ok(())
            })?;
        }
        Ok(changed)
    }

    fn array(&mut self, children: &BTreeMap<Name, Tree>, elements: &mut Vec<Bson>) -> Result<bool> {
        let mut changed = false;
        for (Name(name), child) in children {
            let Some(index) = array_index(name) else {
                if child.ignores_dead_ends(self.inserting) {
                    continue;
                }
                return Err(self.dead_end(name, &Bson::Array(elements.clone())));
            };
            self.below(name, |walk| {
                changed |= walk.element(child, elements, index)?;
                Ok(())
            })?;
        }
        Ok(changed)
    }

    fn element(&mut self, child: &Tree, elements: &mut Vec<Bson>, index: usize) -> Result<bool> {
        if let Some(value) = elements.get_mut(index) {
            return Ok(match self.value(child, value)? {
                Outcome::Unchanged => false,
                Outcome::Changed => true,
                // An element that is null already stays what it was.
                Outcome::Removed => std::mem::replace(value, Bson::Null) != Bson::Null,
            });
        }
        let Some(value) = self.create(child)? else { return Ok(false) };
        if index - elements.len() > MAX_PADDING {
            return Err(bad_value!("can't backfill more than {MAX_PADDING} elements"));
        }
        elements.resize(index, Bson::Null);
        elements.push(value);
        Ok(true)
    }

    fn value(&mut self, tree: &Tree, value: &mut Bson) -> Result<Outcome> {
        match tree {
            Tree::Leaf(modifier) => self.leaf(modifier.as_ref(), value),
            Tree::Fields(children) => match value {
                Bson::Document(document) => {
                    self.document(children, document).map(Outcome::changed_if)
                }
                Bson::Array(elements) => self.array(children, elements).map(Outcome::changed_if),
                scalar => match children
                    .iter()
                    .find(|(_, child)| !child.ignores_dead_ends(self.inserting))
                {
                    Some((Name(name), _)) => Err(self.dead_end(name, scalar)),
                    None => Ok(Outcome::Unchanged),
                },
            },
            Tree::Elements(children) => match value {
                Bson::Array(elements) => self.elements(children, elements).map(Outcome::changed_if),
                other => Err(bad_value!(
                    "Cannot apply array updates to non-array element {}",
                    text::element(self.place().name, other)
                )),
            },
        }
    }

    fn leaf(&mut self, modifier: &dyn Modifier, value: &mut Bson) -> Result<Outcome> {
        if !self.is_guarded() {
            return modifier.change(value, &self.place());
        }
        // _id may be written with a value that is equal to it, which changes nothing; all else is refused.
        let before = value.clone();
        match modifier.change(value, &self.place())? {
            Outcome::Unchanged => Ok(Outcome::Unchanged),
            Outcome::Changed if equal(&before, value) => {
                *value = before;
                Ok(Outcome::Unchanged)
            }
            Outcome::Changed | Outcome::Removed => Err(immutable(&self.path)),
        }
    }

    /// Whether the walk stands at or inside an `_id` that the document already has.
    fn is_guarded(&self) -> bool {
        self.path.strip_prefix("_id").is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            && self.original.contains_key("_id")
    }

    fn create(&mut self, tree: &Tree) -> Result<Option<Bson>> {
        match tree {
            Tree::Leaf(modifier) => {
                let created = modifier.create(&self.place())?;
                if created.is_some() && self.is_guarded() {
                    return Err(immutable(&self.path));
                }
                Ok(created)
            }
            Tree::Fields(children) => {
                let mut document = Document::new();
                let changed = self.document(children, &mut document)?;
                Ok(changed.then_some(Bson::Document(document)))
            }
            Tree::Elements(_) => Err(bad_value!(
                "The path '{}' must exist in the document in order to apply array updates.",
                self.path
            )),
        }
    }

    fn elements(
        &mut self,
        children: &BTreeMap<String, Tree>,
        elements: &mut [Bson],
    ) -> Result<bool> {
        let mut changed = false;
        for (index, element) in elements.iter_mut().enumerate() {
            let name = index.to_string();
            let mut chosen: Option<Tree> = None;
            for (identifier, tree) in children {
                let applies = match self.filters.get(identifier) {
                    Some(filter) => filter.matches(element)?,
                    None => true,
                };
                if applies {
                    chosen = Some(match chosen {
                        Some(other) => {
                            other.merge(tree.clone(), &format!("{}.{name}", self.path))?
                        }
                        None => tree.clone(),
                    });
                }
            }
            let Some(tree) = chosen else { continue };
            let outcome = self.below(&name, |walk| walk.value(&tree, element))?;
            changed |= match outcome {
                Outcome::Unchanged => false,
                Outcome::Changed => true,
                Outcome::Removed => std::mem::replace(element, Bson::Null) != Bson::Null,
            };
        }
        Ok(changed)
    }

    fn dead_end(&self, name: &str, value: &Bson) -> crate::Error {
        let element = text::element(self.place().name, value);
        refuse!(PATH_NOT_VIABLE, "Cannot create field '{name}' in element {{{element}}}")
    }
}

fn immutable(path: &str) -> crate::Error {
    refuse!(
        IMMUTABLE_FIELD,
        "Performing an update on the path '{path}' would modify the immutable field '_id'"
    )
}
