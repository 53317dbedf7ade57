//! A compiled update: operators, a replacement or a pipeline.

use std::collections::BTreeMap;
use std::sync::Arc;

use bson::oid::ObjectId;
use bson::{Bson, Document};

use crate::engine::aggregate::{Context, Pipeline};
use crate::engine::expr::Scope;
use crate::engine::query::{Filter, Match};
use crate::error::Result;
use crate::interrupt::Interrupt;
use crate::value::compare::{equal, identical_documents};
use crate::value::{kind, text};
use crate::{bad_value, refuse};

use super::array_filter::{self, ArrayFilter};
use super::storable::check_storable;
use super::target::{self, Step};
use super::tree::Tree;
use super::walk::Walk;
use super::{Argument, Modifier, operator, replacement};

/// An update, compiled once and applied to any number of documents.
#[derive(Clone, Debug)]
pub struct Update {
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Replacement(Document),
    Operators(Operators),
    Pipeline(Arc<Pipeline>, Arc<Context>),
}

/// The modifiers of an update with operators.
#[derive(Clone, Debug)]
struct Operators {
    changes: Vec<(String, Vec<Step>, Arc<dyn Modifier>)>,
    /// All changes in one tree, with `$` as a name of its own.
    tree: Tree,
    filters: BTreeMap<String, ArrayFilter>,
}

/// What an update made of a document.
#[derive(Clone, Debug, PartialEq)]
pub struct Applied {
    /// The document afterwards, `_id` in front.
    pub document: Document,
    /// Whether it differs from the one before; writing an identical value is no modification.
    pub modified: bool,
}

impl Update {
    /// Compiles an update: a document whose first name begins with a dollar holds operators, any other replaces the
    /// whole document; an array is a pipeline.
    ///
    /// # Errors
    /// What the server answers to a bad update, with its code.
    pub fn parse(update: &Bson, array_filters: &[Document], scope: &Scope) -> Result<Self> {
        let kind = match update {
            Bson::Document(document)
                if document.keys().next().is_some_and(|name| name.starts_with('$')) =>
            {
                Kind::Operators(Operators::parse(document, array_filters, scope)?)
            }
            Bson::Document(document) => {
                if !array_filters.is_empty() {
                    return Err(refuse!(
                        FAILED_TO_PARSE,
                        "arrayFilters may not be specified for replacement-style updates"
                    ));
                }
                Kind::Replacement(replacement::parse(document)?)
            }
            Bson::Array(stages) => {
                if !array_filters.is_empty() {
                    // The server's own spelling.
                    return Err(refuse!(
                        FAILED_TO_PARSE,
                        "arrayFilters may not be specified for pipeline-syle updates"
                    ));
                }
                // One document goes through at a time, so there is nothing to interrupt.
                let context = Context::new(scope.clone(), Interrupt::default());
                Kind::Pipeline(
                    Arc::new(Pipeline::parse_for_update(stages, scope)?),
                    Arc::new(context),
                )
            }
            _ => {
                return Err(refuse!(
                    FAILED_TO_PARSE,
                    "Update argument must be either an object or an array"
                ));
            }
        };
        Ok(Self { kind })
    }

    /// Whether it replaces whole documents, which `multi` does not allow.
    pub fn is_replacement(&self) -> bool {
        matches!(self.kind, Kind::Replacement(_))
    }

    /// Whether it needs to know through which element the query matched (`a.$`).
    pub fn is_positional(&self) -> bool {
        match &self.kind {
            Kind::Operators(operators) => operators.is_positional(),
            Kind::Replacement(_) | Kind::Pipeline(..) => false,
        }
    }

    /// Applies the update to a stored document. `matched` says where the query matched in an array.
    ///
    /// # Errors
    /// What the server answers when the update does not suit the document; the document is then as it was.
    pub fn apply(
        &self,
        document: &Document,
        matched: Option<&Match>,
        scope: &Scope,
    ) -> Result<Applied> {
        let updated = match &self.kind {
            Kind::Replacement(replacement) => replacement::apply(replacement, document, scope)?,
            Kind::Operators(operators) => {
                let index = matched.and_then(|matched| matched.index);
                let (document, modified) = operators.apply(document, index, false, scope)?;
                if modified {
                    check_storable(&document)?;
                }
                return Ok(Applied { document, modified });
            }
            Kind::Pipeline(pipeline, context) => {
                let updated = pipeline.transform(document.clone(), context)?;
                replacement::with_id_of(document, updated)?
            }
        };
        check_storable(&updated)?;
        let modified = !identical_documents(document, &updated);
        Ok(Applied { document: updated, modified })
    }

    /// The document an upsert inserts when nothing matched: what the filter says fields equal, then the update; with a
    /// new ObjectId where neither gives an `_id`.
    ///
    /// # Errors
    /// 54 where the filter gives a field twice, and those of [`Update::apply`].
    pub fn upsert(&self, filter: &Filter, scope: &Scope) -> Result<Document> {
        let mut equalities = filter.equalities()?;
        // The server keeps them by path.
        equalities.sort_by(|(left, _), (right, _)| left.as_bytes().cmp(right.as_bytes()));
        let mut base = Document::new();
        for (path, value) in equalities {
            plant(&mut base, &path, value);
        }
        let mut document = match &self.kind {
            Kind::Replacement(replacement) => {
                base.retain(|name| name == "_id");
                replacement::apply(replacement, &base, scope)?
            }
            Kind::Operators(operators) => operators.apply(&base, None, true, scope)?.0,
            Kind::Pipeline(pipeline, context) => {
                let made = pipeline.transform(base.clone(), context)?;
                replacement::with_id_of(&base, made)?
            }
        };
        let id = document.remove("_id").unwrap_or_else(|| Bson::ObjectId(ObjectId::new()));
        let mut whole = Document::new();
        whole.insert("_id", id);
        whole.extend(document);
        check_storable(&whole)?;
        Ok(whole)
    }
}

/// Keeps the fields whose names pass.
trait Retain {
    fn retain(&mut self, keep: impl Fn(&str) -> bool);
}

impl Retain for Document {
    fn retain(&mut self, keep: impl Fn(&str) -> bool) {
        *self = std::mem::take(self).into_iter().filter(|(name, _)| keep(name)).collect();
    }
}

/// Puts a value at a dotted path, making documents on the way.
fn plant(document: &mut Document, path: &str, value: Bson) {
    match path.split_once('.') {
        None => {
            document.insert(path, value);
        }
        Some((first, rest)) => {
            let inner = document.entry(first).or_insert_with(|| Bson::Document(Document::new()));
            // Paths of equalities never run through one another, so what is here was planted as a document.
            if let Bson::Document(inner) = inner {
                plant(inner, rest, value);
            }
        }
    }
}

impl Operators {
    fn parse(update: &Document, array_filters: &[Document], scope: &Scope) -> Result<Self> {
        let filters = array_filter::parse(array_filters, scope)?;
        let mut operators = Self { changes: Vec::new(), tree: Tree::new(), filters };
        for (name, argument) in update {
            let Some(row) = operator(name) else {
                return Err(refuse!(
                    FAILED_TO_PARSE,
                    "Unknown modifier: {name}. Expected a valid update modifier or pipeline-style update specified as \
                     an array"
                ));
            };
            let Bson::Document(fields) = argument else {
                return Err(refuse!(
                    FAILED_TO_PARSE,
                    "Modifiers operate on fields but we found type {} instead. For example: {{$mod: {{<field>: ...}}}} \
                     not {{{}}}",
                    kind::name(argument),
                    text::element(name, argument)
                ));
            };
            for (path, value) in fields {
                for change in (row.parse)(&Argument { path, value, scope })? {
                    operators.add(change.path, change.modifier)?;
                }
            }
        }
        operators.check_filters_used(update)?;
        Ok(operators)
    }

    fn add(&mut self, path: String, modifier: Arc<dyn Modifier>) -> Result<()> {
        let steps = target::parse(&path)?;
        for step in &steps {
            if let Step::Elements(identifier) = step
                && !identifier.is_empty()
                && !self.filters.contains_key(identifier)
            {
                return Err(bad_value!(
                    "No array filter found for identifier '{identifier}' in path '{path}'"
                ));
            }
        }
        self.tree.insert(&path, &steps, None, Arc::clone(&modifier))?;
        self.changes.push((path, steps, modifier));
        Ok(())
    }

    fn check_filters_used(&self, update: &Document) -> Result<()> {
        let used = |identifier: &str| {
            self.changes
                .iter()
                .flat_map(|(_, steps, _)| steps)
                .any(|step| matches!(step, Step::Elements(used) if used == identifier))
        };
        match self.filters.keys().find(|identifier| !used(identifier)) {
            Some(identifier) => Err(refuse!(
                FAILED_TO_PARSE,
                "The array filter for identifier '{identifier}' was not used in the update {}",
                text::document(update)
            )),
            None => Ok(()),
        }
    }

    fn is_positional(&self) -> bool {
        self.changes.iter().any(|(_, steps, _)| steps.contains(&Step::Matched))
    }

    /// The updated document, and whether anything in it changed.
    fn apply(
        &self,
        document: &Document,
        matched: Option<usize>,
        inserting: bool,
        scope: &Scope,
    ) -> Result<(Document, bool)> {
        let mut updated = document.clone();
        let mut walk = Walk::new(document, &self.filters, inserting, scope.now);
        if !self.is_positional() {
            let changed = walk.root(&self.tree, &mut updated)?;
            return Ok((updated, changed));
        }
        if matched.is_none() {
            return Err(bad_value!(
                "The positional operator did not find the match needed from the query."
            ));
        }
        // With the position filled in, `a.$` may meet `a.0`: the tree is hung anew and conflicts show.
        let mut tree = Tree::new();
        for (path, steps, modifier) in &self.changes {
            tree.insert(path, steps, matched, Arc::clone(modifier))?;
        }
        let changed = walk.root(&tree, &mut updated)?;
        Ok((updated, changed))
    }
}

/// Whether two documents have an equal `_id`, or the second has none.
pub(super) fn same_id(document: &Document, other: &Document) -> bool {
    match (document.get("_id"), other.get("_id")) {
        (Some(id), Some(other)) => equal(id, other),
        (_, None) | (None, Some(_)) => true,
    }
}
