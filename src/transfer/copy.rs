//! `tally copy`: databases from one place to another, with their options, documents, indexes and views.
//!
//! Counters are documents, and come along like all others. Documents are copied in their natural order and byte for
//! byte; validators do not judge them again.
//!
//! **Resumed by running it again.** Nothing is noted anywhere: a collection that has documents already is asked, a batch
//! at a time, which of the source's are missing. One that is there and differs is left as it is, named and counted,
//! unless `overwrite`; so a copy that goes on never undoes what was done at its target in the meantime.

use std::collections::HashMap;

use bson::raw::cstr;
use bson::{Bson, RawArrayBuf, RawBson, RawBsonRef, RawDocument, RawDocumentBuf, rawdoc};

use super::batch::{self, Batch};
use super::shape::{self, Shape};
use super::{Work, counted, exists, field, grouped};
use crate::backend::Backend;
use crate::error::{Error, Result};
use crate::value::{key, text};

/// Databases that belong to a server, not to its users.
const OWN: &[&str] = &["admin", "config", "local"];

/// How many documents that differ or are refused are named in a collection.
const NAMED: u64 = 5;

/// What `tally copy` is told.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Copy {
    /// The databases to copy; none is all.
    pub databases: Vec<String>,
    /// The name that a single database gets.
    pub into: Option<String>,
    /// Collections of the same name at the target are dropped first.
    pub drop: bool,
    /// Documents of the target that differ are replaced.
    pub overwrite: bool,
}

/// Copies from where `work` works to `target`. Answers with the exit code: 1 where something could not be copied.
///
/// # Errors
/// [`Error::Usage`] for a database that is not there, [`Error::Interrupted`], those of both databases. What was copied
/// before stays, and has been told.
pub fn copy(settings: &Copy, work: Work<'_>, target: &dyn Backend) -> Result<i32> {
    let mut run =
        Run { settings, from: work, to: Work { backend: target, ..work }, score: Score::default() };
    let outcome = run.all();
    let Score { collections, documents, there, indexes, left } = run.score;
    let mut text = format!(
        "{} copied: {}, {}",
        counted(collections, "collection"),
        counted(documents, "document"),
        counted(indexes, "index").replace("indexs", "indexes"),
    );
    if there > 0 {
        text += &format!("; {} there already", counted(there, "document"));
    }
    if left > 0 {
        text += &format!("; {} not copied, named above", grouped(left));
    }
    match outcome {
        Ok(()) if left == 0 => work.done(&text),
        Ok(()) => work.warn(&text),
        Err(_) => work.warn(&format!("{text}; running it again goes on from here")),
    }
    outcome.map(|()| i32::from(left > 0))
}

/// What was done so far.
#[derive(Default)]
struct Score {
    collections: u64,
    documents: u64,
    /// Documents that were there already, as they are.
    there: u64,
    indexes: u64,
    /// What was not copied.
    left: u64,
}

struct Run<'a> {
    settings: &'a Copy,
    from: Work<'a>,
    to: Work<'a>,
    score: Score,
}

impl Run<'_> {
    fn all(&mut self) -> Result<()> {
        for db in self.databases()? {
            let into = self.settings.into.clone().unwrap_or_else(|| db.clone());
            let listed = self.from.all(&db, rawdoc! { "listCollections": 1 })?;
            let kind =
                |listed: &RawDocumentBuf| listed.get_str("type").unwrap_or("collection").to_owned();
            let mut views = Vec::new();
            for listed in listed {
                let Ok(name) = listed.get_str("name").map(str::to_owned) else { continue };
                match kind(&listed).as_str() {
                    _ if name.starts_with("system.") && name != "system.js" => {}
                    "view" => views.push((name, listed)),
                    "collection" => self.collection(&db, &into, &name, &listed)?,
                    other => {
                        self.leave(&format!("{db}.{name} is not copied: it is of the kind {other}"))
                    }
                }
            }
            // A view may stand on another.
            for (name, listed) in views {
                let shape = Shape {
                    options: match field(&listed, "options") {
                        Some(RawBsonRef::Document(options)) => options.to_owned(),
                        _ => RawDocumentBuf::new(),
                    },
                    indexes: Vec::new(),
                };
                if self.settings.drop {
                    shape::drop(&self.to, &into, &name)?;
                }
                match shape.create(&self.to, &into, &name) {
                    Err(Error::Command(error)) => {
                        self.leave(&format!("{db}.{name} is not copied: {}", error.message));
                    }
                    made => made?,
                }
            }
        }
        Ok(())
    }

    /// The databases to copy.
    fn databases(&self) -> Result<Vec<String>> {
        let reply = self.from.run("admin", rawdoc! { "listDatabases": 1, "nameOnly": true });
        let listed = match (reply, &self.settings.databases[..]) {
            // A user who may read one database need not be allowed to list all.
            (Err(Error::Command(_)), [_, ..]) => return Ok(self.settings.databases.clone()),
            (reply, _) => reply?,
        };
        let listed = listed.get_array("databases").ok();
        let names = listed.into_iter().flatten().flatten();
        let names =
            names.filter_map(|db| db.as_document()?.get_str("name").ok().map(str::to_owned));
        let names: Vec<String> = names.collect();
        if let Some(missing) = self.settings.databases.iter().find(|db| !names.contains(db)) {
            let known = if names.is_empty() {
                "there is none".to_owned()
            } else {
                format!("there are {}", names.join(", "))
            };
            return Err(Error::Usage(format!("there is no database {missing} to copy; {known}")));
        }
        Ok(match &self.settings.databases[..] {
            [] => names.into_iter().filter(|db| !OWN.contains(&db.as_str())).collect(),
            wanted => wanted.to_vec(),
        })
    }

    /// Something is not copied.
    fn leave(&mut self, text: &str) {
        self.score.left += 1;
        self.to.warn(text);
    }

    fn collection(
        &mut self,
        db: &str,
        into: &str,
        name: &str,
        listed: &RawDocumentBuf,
    ) -> Result<()> {
        let shape = Shape::read(&self.from, db, name, listed)?;
        if self.settings.drop {
            shape::drop(&self.to, into, name)?;
        }
        let fresh = !exists(&self.to, into, name)?;
        if fresh && let Err(error) = shape.create(&self.to, into, name) {
            let Error::Command(error) = error else { return Err(error) };
            self.leave(&format!("{db}.{name} is not copied: {}", error.message));
            return Ok(());
        }
        let empty = fresh
            || self
                .to
                .all(into, rawdoc! { "find": name, "limit": 1, "projection": { "_id": 1 } })?
                .is_empty();
        let total = self
            .from
            .run(db, rawdoc! { "count": name })
            .map_or(0, |reply| batch::count(&reply, "n"));
        let before = (self.score.documents, self.score.there);
        let mut batch = Batch::new();
        let (from, mut differ) = (self.from, 0);
        let mut seen = 0;
        from.each(db, rawdoc! { "find": name }, |document| {
            seen += 1;
            if batch.push((), document) {
                self.documents(into, name, batch.take(), empty, &mut differ)?;
                from.output.progress(|| {
                    format!(
                        "{db}.{name}: {} of {}",
                        grouped(seen),
                        counted(total.max(seen), "document")
                    )
                });
            }
            Ok(())
        })?;
        self.documents(into, name, batch.take(), empty, &mut differ)?;
        if differ > NAMED {
            self.to.warn(&format!("{into}.{name}: {} more like these", grouped(differ - NAMED)));
        }
        // Indexes made at the end cost less, and one that expires documents does not do so half-way.
        let indexed = shape.index(&self.to, into, name)?;
        indexed.refused.iter().for_each(|refusal| self.leave(refusal));
        self.score.indexes += indexed.made;
        self.score.collections += 1;
        let there = match self.score.there - before.1 {
            0 => String::new(),
            there => format!(", {} there already", grouped(there)),
        };
        let copied = counted(self.score.documents - before.0, "document");
        self.to.done(&format!("{into}.{name}: {copied}{there}"));
        Ok(())
    }

    /// Brings a batch of documents to the target.
    fn documents(
        &mut self,
        db: &str,
        name: &str,
        documents: Vec<((), RawDocumentBuf)>,
        empty: bool,
        differ: &mut u64,
    ) -> Result<()> {
        let documents: Vec<RawDocumentBuf> =
            documents.into_iter().map(|((), document)| document).collect();
        if documents.is_empty() {
            return Ok(());
        }
        let (missing, changed) =
            if empty { (documents, Vec::new()) } else { self.compare(db, name, documents)? };
        if !missing.is_empty() {
            let mut body = batch::write(
                cstr!("insert"),
                name,
                cstr!("documents"),
                missing.iter().cloned(),
                false,
            );
            body.append(cstr!("bypassDocumentValidation"), true);
            let reply = self.to.run(db, body)?;
            self.score.documents += batch::count(&reply, "n");
            for refusal in batch::refused(&reply) {
                let id = missing
                    .get(refusal.index)
                    .map_or_else(String::new, |document| id_text(document));
                self.refuse(
                    differ,
                    &format!("{db}.{name}: _id {id} is not copied: {}", refusal.message),
                );
            }
        }
        if self.settings.overwrite && !changed.is_empty() {
            let updates = changed.iter().map(|document| {
                let id = field(document, "_id").unwrap_or(RawBsonRef::Null);
                rawdoc! { "q": { "_id": id }, "u": document.clone() }
            });
            let mut body = batch::write(cstr!("update"), name, cstr!("updates"), updates, false);
            body.append(cstr!("bypassDocumentValidation"), true);
            let reply = self.to.run(db, body)?;
            let refused = batch::refused(&reply);
            self.score.documents += (changed.len() - refused.len()) as u64;
            for refusal in refused {
                let id = changed
                    .get(refusal.index)
                    .map_or_else(String::new, |document| id_text(document));
                self.refuse(
                    differ,
                    &format!("{db}.{name}: _id {id} is not copied: {}", refusal.message),
                );
            }
        } else {
            for document in &changed {
                let id = id_text(document);
                self.refuse(differ, &format!(
                    "{db}.{name}: _id {id} is there and differs: it is left as it is (--overwrite takes the source's)"
                ));
            }
        }
        Ok(())
    }

    /// A document is not copied.
    fn refuse(&mut self, differ: &mut u64, text: &str) {
        *differ += 1;
        self.score.left += 1;
        if *differ <= NAMED {
            self.to.warn(text);
        }
    }

    /// Which of these documents the target lacks, and which it has otherwise.
    fn compare(
        &mut self,
        db: &str,
        name: &str,
        documents: Vec<RawDocumentBuf>,
    ) -> Result<(Vec<RawDocumentBuf>, Vec<RawDocumentBuf>)> {
        let ids: RawArrayBuf = documents
            .iter()
            .filter_map(|document| field(document, "_id"))
            .map(RawBson::from)
            .collect();
        let size = i32::try_from(documents.len()).unwrap_or(i32::MAX);
        let body = rawdoc! { "find": name, "filter": { "_id": { "$in": ids } }, "batchSize": size };
        let mut found: HashMap<Vec<u8>, RawDocumentBuf> = HashMap::new();
        self.to.each(db, body, |document| {
            found.insert(id_key(&document), document);
            Ok(())
        })?;
        let (mut missing, mut changed) = (Vec::new(), Vec::new());
        for document in documents {
            match found.get(&id_key(&document)) {
                None => missing.push(document),
                Some(there) if there.as_bytes() == document.as_bytes() => self.score.there += 1,
                Some(_) => changed.push(document),
            }
        }
        Ok((missing, changed))
    }
}

/// The `_id` of a document.
fn id(document: &RawDocument) -> Bson {
    field(document, "_id").and_then(|id| Bson::try_from(id).ok()).unwrap_or(Bson::Null)
}

/// What is equal for equal ids, numbers of different types included.
fn id_key(document: &RawDocument) -> Vec<u8> {
    let mut bytes = Vec::new();
    key::encode(&id(document), false, &mut bytes);
    bytes
}

/// The `_id` of a document, for a message.
fn id_text(document: &RawDocument) -> String {
    text::value(&id(document))
}
