//! A search: filter, order and hint of a command, compiled and planned.

use std::sync::Arc;

use bson::{Bson, Document, RawBsonRef};

use super::fields::decode_value;
use super::scan::Scan;
use crate::bad_value;
use crate::engine::expr::Scope;
use crate::engine::index::{Access, Candidate, Definition, Hint, Plan, answers, plan};
use crate::engine::query::{Filter, Sort};
use crate::engine::storage::{Collection, Shape};
use crate::error::{Code, Error, Result};
use crate::refuse;
use crate::value::text;

/// What a command looks for.
#[derive(Clone)]
pub(super) struct Search {
    pub(super) filter: Filter,
    pub(super) sort: Sort,
    hint: Option<Bson>,
    /// The least key and the one after the last, where they were given.
    bounds: Option<(Document, Document)>,
    /// The order and the projection as they were given, for complaints.
    given: (Document, Document),
}

impl Search {
    pub(super) fn new(
        filter: &Document,
        sort: &Document,
        hint: Option<RawBsonRef<'_>>,
        scope: &Scope,
    ) -> Result<Self> {
        let filter = if filter.is_empty() { Filter::all() } else { Filter::parse(filter, scope)? };
        let mut hint = hint.map(decode_value).transpose()?;
        match &hint {
            None | Some(Bson::String(_)) => {}
            Some(Bson::Document(key)) if key.is_empty() => hint = None,
            Some(Bson::Document(_)) => {}
            Some(_) => return Err(refuse!(FAILED_TO_PARSE, "Hint must be a string or an object")),
        }
        let sort = match sort.get("$natural") {
            Some(direction) => {
                // Natural order is a hint that a sort may spell.
                hint.get_or_insert(Bson::Document(
                    [("$natural".to_owned(), direction.clone())].into_iter().collect(),
                ));
                Document::new()
            }
            None => sort.clone(),
        };
        Ok(Self {
            filter,
            sort: Sort::parse(&sort)?,
            hint,
            bounds: None,
            given: (sort, Document::new()),
        })
    }

    /// The same search between two keys of the hinted index, the second left out; an empty one is no bound.
    ///
    /// # Errors
    /// 51173 without a hint.
    pub(super) fn within(mut self, min: Document, max: Document) -> Result<Self> {
        if min.is_empty() && max.is_empty() {
            return Ok(self);
        }
        let natural =
            |hint: &Bson| matches!(hint, Bson::Document(key) if key.contains_key("$natural"));
        if self.hint.as_ref().is_none_or(natural) {
            return Err(Error::command(
                Code(51173),
                "When using min()/max() a hint of which index to use must be provided",
            ));
        }
        self.bounds = Some((min, max));
        Ok(self)
    }

    /// The same search, with the projection that complaints tell.
    pub(super) fn showing(mut self, projection: &Document) -> Self {
        self.given.1.clone_from(projection);
        self
    }

    /// The complaint that the search cannot be planned.
    pub(super) fn refused(&self, namespace: &str, why: &str) -> Error {
        let (sort, projection) = &self.given;
        bad_value!(
            "error processing query: ns={namespace}Tree: {}Sort: {}\nProj: {}\n {why}",
            self.filter.tree(),
            text::document(sort),
            text::document(projection)
        )
    }

    /// The `_id` it asks for, when it finds at most the document that has it: no need to plan.
    pub(super) fn id(&self) -> Option<&Bson> {
        if self.hint.is_some() { None } else { crate::engine::index::id_of(&self.filter) }
    }

    /// Plans it for a collection as it is now.
    pub(super) fn plan(&self, namespace: &str, shape: &Shape) -> Result<Plan> {
        let candidates: Vec<_> = shape
            .indexes
            .iter()
            .map(|index| Candidate { definition: &index.definition, multikey: index.multikey() })
            .collect();
        let hint = self
            .hint
            .as_ref()
            .map(|hint| self.resolve(hint, namespace, &candidates))
            .transpose()?;
        match (&self.bounds, hint) {
            (Some((min, max)), Some(Hint::Index(at))) => {
                let plan = plan(&Filter::all(), &self.sort, hint, &candidates);
                between(plan, candidates[at].definition, min, max)
            }
            _ => Ok(plan(&self.filter, &self.sort, hint, &candidates)),
        }
    }

    /// Whether the index of a plan answers the whole filter by itself.
    pub(super) fn answered(&self, plan: &Plan, shape: &Shape) -> bool {
        match &plan.access {
            Access::Index { at, .. } if self.bounds.is_none() => {
                let index = &shape.indexes[*at];
                let (definition, multikey) = (&index.definition, index.multikey());
                answers(&self.filter, Candidate { definition, multikey })
            }
            _ => false,
        }
    }

    /// Plans it and begins.
    pub(super) fn scan(
        &self,
        namespace: &str,
        collection: &Arc<Collection>,
    ) -> Result<(Scan, Plan)> {
        let shape = collection.shape();
        let plan = self.plan(namespace, &shape)?;
        Ok((Scan::new(collection, &shape, &plan), plan))
    }

    fn resolve(&self, hint: &Bson, namespace: &str, candidates: &[Candidate<'_>]) -> Result<Hint> {
        if let Bson::Document(key) = hint
            && let Some(direction) = key.get("$natural")
        {
            let reverse = match direction {
                Bson::Int32(number) => *number < 0,
                Bson::Int64(number) => *number < 0,
                Bson::Double(number) => *number < 0.0,
                _ => return Err(bad_value!("$natural hint must be a number")),
            };
            return Ok(Hint::Natural { reverse });
        }
        let at = candidates.iter().position(|candidate| match hint {
            Bson::String(name) => candidate.definition.name == *name,
            Bson::Document(key) => same_key(key, &candidate.definition.key()),
            _ => false,
        });
        let at =
            at.filter(|at| candidates[*at].definition.kept && !candidates[*at].definition.hidden);
        at.map(Hint::Index).ok_or_else(|| {
            self.refused(
                namespace,
                "planner returned error :: caused by :: hint provided does not correspond to an existing index",
            )
        })
    }
}

/// A plan over a whole index, narrowed to the keys between two.
fn between(mut plan: Plan, index: &Definition, min: &Document, max: &Document) -> Result<Plan> {
    let key = |bound: &Document| {
        let same = index.fields.iter().map(|field| &field.path).eq(bound.keys());
        if !same {
            let message = "The index chosen is not compatible with min/max";
            return Err(Error::command(Code(51174), message));
        }
        Ok(index.encode(&bound.values().cloned().collect::<Vec<_>>()))
    };
    if let Access::Index { ranges, .. } = &mut plan.access {
        for range in &mut *ranges {
            if !min.is_empty() {
                range.low = key(min)?;
            }
            if !max.is_empty() {
                range.high = key(max)?;
            }
        }
        ranges.retain(|range| range.low < range.high);
    }
    Ok(plan)
}

/// Whether two key patterns are the same: fields and orders by value.
pub(super) fn same_key(left: &Document, right: &Document) -> bool {
    left.len() == right.len()
        && left.iter().zip(right).all(|((path, order), (other, others))| {
            path == other && crate::value::compare::equal(order, others)
        })
}
