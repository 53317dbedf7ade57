//! The other side of an equality `$lookup`: found by an index, or held in memory when there is none.

use std::collections::{BTreeMap, BTreeSet};

use bson::{Bson, Document, doc};

use super::lookup::scan;
use super::{Context, Documents};
use crate::engine::expr::Ordered;
use crate::engine::query::Filter;
use crate::error::Result;
use crate::value::path::{self, Ends, Path};
use crate::value::size;

/// How many bytes of the other collection are held at most.
const HELD: usize = 100 * 1024 * 1024;

/// A collection whose documents are looked up by the values of one field.
#[derive(Debug)]
pub(super) struct Foreign<'a> {
    context: &'a Context,
    collection: &'a str,
    field: &'a str,
    held: Option<Held>,
}

/// All its documents, and which of them may have a value.
#[derive(Debug)]
struct Held {
    documents: Vec<Document>,
    places: BTreeMap<Ordered, Vec<usize>>,
}

impl<'a> Foreign<'a> {
    /// Opens a collection: one that has no index of the field is read once, if it is small enough.
    pub(super) fn open(context: &'a Context, collection: &'a str, field: &'a str) -> Result<Self> {
        let indexed =
            context.collections.as_ref().is_none_or(|others| others.has_index(collection, field));
        let held = if indexed { None } else { Held::read(context, collection, field)? };
        Ok(Self { context, collection, field, held })
    }

    /// The documents that have any of these values, in natural order.
    pub(super) fn matching(&self, values: &[Bson]) -> Result<Documents<'_>> {
        let filter = self.filter(values);
        let Some(held) = &self.held else { return scan(self.context, self.collection, &filter) };
        let places = values.iter().filter_map(|value| held.places.get(&Ordered(value.clone())));
        let places: BTreeSet<usize> = places.flatten().copied().collect();
        // The table only proposes; whether a document matches is the filter's to say.
        let filter = Filter::parse(&filter, &self.context.scope)?;
        let mut found = Vec::new();
        for at in places {
            if filter.matches(&held.documents[at])? {
                found.push(Ok(held.documents[at].clone()));
            }
        }
        Ok(Box::new(found.into_iter()))
    }

    fn filter(&self, values: &[Bson]) -> Document {
        let equal = |value: &Bson| {
            let mut filter = Document::new();
            filter.insert(self.field, doc! { "$eq": value.clone() });
            Bson::Document(filter)
        };
        match values {
            // No value, no document.
            [] => doc! { "$nor": [{}] },
            [single] => match equal(single) {
                Bson::Document(filter) => filter,
                _ => Document::new(),
            },
            // In `$in` a regular expression would match texts instead of itself.
            several if several.iter().any(|value| matches!(value, Bson::RegularExpression(_))) => {
                doc! { "$or": several.iter().map(equal).collect::<Vec<_>>() }
            }
            several => {
                let mut filter = Document::new();
                filter.insert(self.field, doc! { "$in": several.to_vec() });
                filter
            }
        }
    }
}

impl Held {
    /// Reads a collection; `None` when it is too big.
    fn read(context: &Context, collection: &str, field: &str) -> Result<Option<Self>> {
        let path = Path::new(field);
        let mut held = Self { documents: Vec::new(), places: BTreeMap::new() };
        let mut bytes = 0;
        for document in scan(context, collection, &Document::new())? {
            let document = document?;
            context.interrupt.check()?;
            bytes += size::of_document(&document);
            if bytes > HELD {
                return Ok(None);
            }
            let at = held.documents.len();
            let mut any = false;
            path::search(&document, path.parts(), Ends::Elements, &mut |found| {
                any = true;
                // Missing counts as null.
                held.places
                    .entry(Ordered(found.value.cloned().unwrap_or(Bson::Null)))
                    .or_default()
                    .push(at);
                false
            });
            if !any {
                held.places.entry(Ordered(Bson::Null)).or_default().push(at);
            }
            held.documents.push(document);
        }
        Ok(Some(held))
    }
}
