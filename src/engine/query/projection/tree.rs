//! A compiled projection as a tree of field names, and what it makes of a document.

use bson::{Bson, Document};

use super::Kind;
use crate::engine::expr;
use crate::engine::query::Filter;
use crate::error::{Code, Error, Result};

/// The projected fields of one level, in the order of the projection.
#[derive(Debug, Default)]
pub(super) struct Branch {
    fields: Vec<(String, Entry)>,
    /// Whether something is computed here or further down.
    computes: bool,
}

/// What happens to one field.
#[derive(Debug)]
pub(super) enum Entry {
    /// Included by an inclusion, excluded by an exclusion.
    Plain,
    /// Only some fields of it.
    Branch(Branch),
    /// The value of the computed expression with that number.
    Computed(usize),
    /// Included, but only this part of its array.
    Slice(i32, Option<i32>),
    /// An array of the first element that matches.
    ElemMatch(Box<ElemMatch>),
}

/// A `$elemMatch` of a projection.
#[derive(Debug)]
pub(super) struct ElemMatch {
    /// The field.
    pub(super) field: String,
    /// `{field: {$elemMatch: ...}}`.
    pub(super) filter: Filter,
}

impl ElemMatch {
    /// The first element that matches, in an array of its own; `None` when there is none.
    fn of(&self, value: &Bson) -> Result<Option<Bson>> {
        let Bson::Array(elements) = value else { return Ok(None) };
        for element in elements {
            let mut alone = Document::new();
            alone.insert(self.field.as_str(), Bson::Array(vec![element.clone()]));
            if self.filter.matches(&alone)? {
                return Ok(alone.remove(&self.field));
            }
        }
        Ok(None)
    }
}

impl Branch {
    /// The entry of a field.
    pub(super) fn get(&self, name: &str) -> Option<&Entry> {
        self.fields.iter().find(|(known, _)| known == name).map(|(_, entry)| entry)
    }

    /// Adds an entry at a path.
    ///
    /// # Errors
    /// When the path, its beginning or a path under it is taken.
    pub(super) fn insert(&mut self, path: &str, entry: Entry) -> Result<()> {
        self.insert_rest(path, path, entry)
    }

    fn insert_rest(&mut self, whole: &str, rest: &str, entry: Entry) -> Result<()> {
        self.computes |= matches!(entry, Entry::Computed(_) | Entry::ElemMatch(_));
        let (name, below) = match rest.split_once('.') {
            Some((name, below)) => (name, Some(below)),
            None => (rest, None),
        };
        let known = self.fields.iter_mut().find(|(known, _)| known == name).map(|(_, entry)| entry);
        match (known, below) {
            (None, None) => self.fields.push((name.to_owned(), entry)),
            (None, Some(below)) => {
                let mut branch = Self::default();
                branch.insert_rest(whole, below, entry)?;
                self.fields.push((name.to_owned(), Entry::Branch(branch)));
            }
            (Some(Entry::Branch(branch)), Some(below)) => {
                branch.insert_rest(whole, below, entry)?
            }
            (Some(_), Some(below)) => {
                let message = format!("Path collision at {whole} remaining portion {below}");
                return Err(Error::command(Code(31249), message));
            }
            (Some(_), None) => {
                return Err(Error::command(Code(31250), format!("Path collision at {whole}")));
            }
        }
        Ok(())
    }

    /// What the projection makes of a document. `values` are those of the computed expressions.
    ///
    /// # Errors
    /// What the filter of an `$elemMatch` fails with.
    pub(super) fn apply(
        &self,
        kind: Kind,
        document: Document,
        values: &[Option<Bson>],
    ) -> Result<Document> {
        let mut matched = Vec::new();
        if self.computes {
            for (name, entry) in &self.fields {
                if let Entry::ElemMatch(elem_match) = entry {
                    let found = document.get(name).map(|value| elem_match.of(value)).transpose()?;
                    matched.push((name, found.flatten()));
                }
            }
        }
        let mut out = match kind {
            Kind::Addition => document,
            Kind::Inclusion | Kind::Exclusion => self.select(kind, document),
        };
        self.compute(&mut out, values);
        for (name, found) in matched {
            out.remove(name);
            if let Some(found) = found {
                out.insert(name.as_str(), found);
            }
        }
        Ok(out)
    }

    fn select(&self, kind: Kind, document: Document) -> Document {
        let keep = |(name, value): (String, Bson)| {
            let value = match (self.get(&name), kind) {
                (None, Kind::Inclusion) | (Some(Entry::Plain), Kind::Exclusion) => None,
                (None, _) | (Some(Entry::Plain), _) => Some(value),
                (Some(Entry::Branch(branch)), _) => branch.select_value(kind, value),
                (Some(Entry::Slice(second, third)), _) => Some(match value {
                    Bson::Array(elements) => {
                        Bson::Array(expr::slice(&elements, *second, *third).to_vec())
                    }
                    other => other,
                }),
                // Computed fields of an exclusion keep the place of the field they replace.
                (Some(Entry::Computed(_) | Entry::ElemMatch(_)), Kind::Inclusion) => None,
                (Some(Entry::Computed(_) | Entry::ElemMatch(_)), _) => Some(value),
            };
            value.map(|value| (name, value))
        };
        document.into_iter().filter_map(keep).collect()
    }

    fn select_value(&self, kind: Kind, value: Bson) -> Option<Bson> {
        match value {
            Bson::Document(document) => Some(Bson::Document(self.select(kind, document))),
            Bson::Array(elements) => {
                let kept =
                    elements.into_iter().filter_map(|element| self.select_value(kind, element));
                Some(Bson::Array(kept.collect()))
            }
            // There is nothing to choose from: an inclusion drops the value, an exclusion keeps it. Where something is
            // computed further down, its place is kept for the document that will hold it.
            scalar => (kind != Kind::Inclusion || self.computes).then_some(scalar),
        }
    }

    fn compute(&self, out: &mut Document, values: &[Option<Bson>]) {
        if !self.computes {
            return;
        }
        for (name, entry) in &self.fields {
            match entry {
                Entry::Computed(number) => match values.get(*number).cloned().flatten() {
                    Some(value) => {
                        out.insert(name.as_str(), value);
                    }
                    None => {
                        out.remove(name);
                    }
                },
                Entry::Branch(branch) if branch.computes => {
                    let value = out.get_mut(name).map(std::mem::take);
                    out.insert(name.as_str(), branch.compute_value(value, values));
                }
                Entry::Branch(_) | Entry::Plain | Entry::Slice(..) | Entry::ElemMatch(_) => {}
            }
        }
    }

    fn compute_value(&self, value: Option<Bson>, values: &[Option<Bson>]) -> Bson {
        match value {
            Some(Bson::Array(elements)) => elements
                .into_iter()
                .map(|element| self.compute_value(Some(element), values))
                .collect::<Vec<_>>()
                .into(),
            other => {
                // A scalar in the way gives its place to a document of the computed fields.
                let mut document = match other {
                    Some(Bson::Document(document)) => document,
                    _ => Document::new(),
                };
                self.compute(&mut document, values);
                Bson::Document(document)
            }
        }
    }
}
