//! What a write aims at: the documents that match, found under the turn to write.

use std::sync::Arc;

use bson::{Document, RawDocument, RawDocumentBuf};

use super::context::Context;
use super::fields::decode;
use super::scan::{Flow, Scan};
use super::search::Search;
use super::storable::LARGEST_DOCUMENT;
use crate::engine::expr::Scope;
use crate::engine::index::Access;
use crate::engine::query::{Filter, Match};
use crate::engine::storage::{self, Bytes, Collection, Shape, Writing, id_key};
use crate::engine::update::Update;
use crate::error::{Code, Error, Result};
use crate::refuse;

/// A stored document that a write aims at.
pub(super) struct Target {
    /// Its record number.
    pub(super) record: u64,
    /// Its bytes.
    pub(super) bytes: Bytes,
    /// Decoded.
    pub(super) document: Document,
    /// Where the filter matched in an array.
    pub(super) matched: Match,
}

impl Target {
    /// The document of a record, if it matches.
    pub(super) fn of(record: u64, bytes: &Bytes, filter: &Filter) -> Result<Option<Self>> {
        let document = decode(storage::document(bytes)?)?;
        let matched = filter.matches_at(&document)?;
        Ok(matched.map(|matched| Self { record, bytes: bytes.clone(), document, matched }))
    }

    /// The stored document.
    pub(super) fn raw(&self) -> Result<&RawDocument> {
        storage::document(&self.bytes)
    }

    /// The first document that a search finds, while `writing` lasts.
    pub(super) fn find(
        context: &Context<'_>,
        writing: &Writing<'_>,
        collection: &Arc<Collection>,
        namespace: &str,
        search: &Search,
    ) -> Result<Option<Self>> {
        if let Some(id) = search.id() {
            let found = writing.find_id(&id_key(id))?;
            return found
                .map_or(Ok(None), |(record, bytes)| Self::of(record, &bytes, &search.filter));
        }
        let plan = search.plan(namespace, writing.shape())?;
        if let Access::Id(id) = &plan.access {
            let found = writing.find_id(&id_key(id))?;
            return found
                .map_or(Ok(None), |(record, bytes)| Self::of(record, &bytes, &search.filter));
        }
        let mut scan = Scan::new(collection, writing.shape(), &plan);
        let reading = writing.reading();
        let mut best: Option<Self> = None;
        scan.run(&reading, &context.interrupt, &mut |record, bytes| {
            let Some(target) = Self::of(record, bytes, &search.filter)? else {
                return Ok(Flow::On);
            };
            let better = match &best {
                None => true,
                Some(best) => search.sort.compare(&target.document, &best.document)?.is_lt(),
            };
            if better {
                best = Some(target);
            }
            Ok(if plan.sorted { Flow::Stop } else { Flow::On })
        })?;
        Ok(best)
    }

    /// Applies an update and puts the result into the batch. Answers the new document if it is another one.
    pub(super) fn update(
        &self,
        writing: &mut Writing<'_>,
        namespace: &str,
        update: &Update,
        scope: &Scope,
        checks: &Checks,
    ) -> Result<Option<RawDocumentBuf>> {
        let applied = update.apply(&self.document, Some(&self.matched), scope)?;
        if !applied.modified {
            return Ok(None);
        }
        checks.check_change(&self.document, &applied.document)?;
        let new = encode_stored(&applied.document)?;
        writing.update(namespace, self.record, self.raw()?, &new)?;
        Ok(Some(new))
    }
}

/// A document's bytes, if it can be stored.
pub(super) fn encode_stored(document: &Document) -> Result<RawDocumentBuf> {
    let encoded =
        RawDocumentBuf::try_from(document).map_err(|error| refuse!(INVALID_BSON, "{error}"))?;
    if encoded.as_bytes().len() > LARGEST_DOCUMENT {
        return Err(Error::command(
            Code(17419),
            format!("Resulting document after update is larger than {LARGEST_DOCUMENT}"),
        ));
    }
    Ok(encoded)
}

/// What a collection demands of its documents.
pub(super) struct Checks {
    validator: Option<(Filter, Document)>,
    /// A document that was not valid before may be changed (`validationLevel: "moderate"`).
    moderate: bool,
}

impl Checks {
    /// The demands of a collection, unless the command goes by them.
    pub(super) fn new(context: &Context<'_>, shape: &Shape, bypass: bool) -> Result<Self> {
        let options = &shape.options;
        let is =
            |option: &str, value: &str| options.get_str(option).is_ok_and(|found| found == value);
        let off = is("validationLevel", "off") || is("validationAction", "warn");
        let validator = match options.get_document("validator") {
            Ok(validator) if !bypass && !off && !validator.is_empty() => {
                Some((Filter::parse(validator, &context.scope(None)?)?, validator.clone()))
            }
            _ => None,
        };
        Ok(Self { validator, moderate: is("validationLevel", "moderate") })
    }

    /// Whether every document passes.
    pub(super) fn are_none(&self) -> bool {
        self.validator.is_none()
    }

    /// Refuses what a document would become, unless it need not be valid.
    pub(super) fn check_change(&self, old: &Document, new: &Document) -> Result<()> {
        match (self.check(new), &self.validator) {
            (Err(_), Some((filter, _))) if self.moderate && !filter.matches(old)? => Ok(()),
            (checked, _) => checked,
        }
    }

    /// Refuses a document that the validator does not match.
    pub(super) fn check(&self, document: &Document) -> Result<()> {
        let Some((filter, validator)) = &self.validator else { return Ok(()) };
        let Some(mut details) = filter.failure(document)? else { return Ok(()) };
        // A single condition is shown as it was written.
        if details.contains_key("specifiedAs") {
            details.insert("specifiedAs", validator.clone());
        }
        let info = bson::doc! {
            "failingDocumentId": document.get("_id").cloned().unwrap_or(bson::Bson::Null),
            "details": details,
        };
        Err(Error::command_with(
            Code::DOCUMENT_VALIDATION_FAILURE,
            "Document failed validation",
            bson::doc! { "errInfo": info },
        ))
    }
}
