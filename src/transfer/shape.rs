//! What a collection is beside its documents: its options and its indexes, in a database or beside a dump.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use bson::{RawBson, RawBsonRef, RawDocument, RawDocumentBuf, rawdoc};

use super::source::reason;
use super::{Work, field};
use crate::error::{Code, Error, Result};
use crate::value::extended_json::{self, Form};

/// The options and indexes of a collection.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Shape {
    /// What `create` was told.
    pub(super) options: RawDocumentBuf,
    /// Its indexes, the one of `_id` left out.
    pub(super) indexes: Vec<RawDocumentBuf>,
}

/// What became of the indexes.
pub(super) struct Indexed {
    /// How many there are now.
    pub(super) made: u64,
    /// Why the others are not there.
    pub(super) refused: Vec<String>,
}

impl Shape {
    /// That of a collection which was listed.
    pub(super) fn read(
        work: &Work<'_>,
        db: &str,
        name: &str,
        listed: &RawDocumentBuf,
    ) -> Result<Self> {
        let options = match field(listed, "options") {
            Some(RawBsonRef::Document(options)) => options.to_owned(),
            _ => RawDocumentBuf::new(),
        };
        let mut indexes = work.all(db, rawdoc! { "listIndexes": name })?;
        indexes.retain(|index| !is_id(index));
        Ok(Self { options, indexes })
    }

    /// Makes the collection unless it is there.
    pub(super) fn create(&self, work: &Work<'_>, db: &str, name: &str) -> Result<()> {
        let mut body = rawdoc! { "create": name };
        for (key, value) in self.options.iter().flatten() {
            // Gone since MongoDB 4.0; every collection has that index.
            if key != "autoIndexId" {
                body.append(key, value);
            }
        }
        match work.run(db, body) {
            Err(error) if error.code() == Some(Code::NAMESPACE_EXISTS) => Ok(()),
            made => made.map(drop_reply),
        }
    }

    /// Makes the indexes that are not there. One that cannot be made does not keep the others.
    pub(super) fn index(&self, work: &Work<'_>, db: &str, name: &str) -> Result<Indexed> {
        let mut indexed = Indexed { made: 0, refused: Vec::new() };
        for index in &self.indexes {
            let mut spec = RawDocumentBuf::new();
            for (key, value) in index.iter().flatten() {
                // Older servers tell the namespace, and how the index was built.
                if !matches!(key.as_str(), "ns" | "v" | "background") {
                    spec.append(key, value);
                }
            }
            let label = index.get_str("name").unwrap_or("an index").to_owned();
            work.output.progress(|| format!("{db}.{name}: index {label}"));
            match work.run(db, rawdoc! { "createIndexes": name, "indexes": [spec] }) {
                Ok(_) => indexed.made += 1,
                Err(Error::Command(error)) => {
                    let message = &error.message;
                    indexed.refused.push(format!("{db}.{name}: no index {label}: {message}"));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(indexed)
    }

    /// As `mongodump` writes it beside a dump.
    pub(super) fn metadata(&self, collection: &str) -> Result<String> {
        let indexes: Vec<RawBson> =
            std::iter::once(rawdoc! { "v": 2, "key": { "_id": 1 }, "name": "_id_" })
                .chain(self.indexes.iter().cloned())
                .map(RawBson::Document)
                .collect();
        let indexes: bson::RawArrayBuf = indexes.into_iter().collect();
        let metadata = rawdoc! {
            "options": self.options.clone(), "indexes": indexes,
            "collectionName": collection, "type": "collection",
        };
        let mut text = String::new();
        extended_json::export(RawBsonRef::Document(&metadata), Form::Canonical, "", &mut text)
            .map_err(|refusal| Error::Usage(refusal.to_string()))?;
        Ok(text)
    }
}

/// Whether an index is the one that every collection has.
fn is_id(index: &RawDocument) -> bool {
    index.get_str("name").is_ok_and(|name| name == "_id_")
}

fn drop_reply(_: RawDocumentBuf) {}

/// Drops a collection, if it is there.
pub(super) fn drop(work: &Work<'_>, db: &str, name: &str) -> Result<()> {
    match work.run(db, rawdoc! { "drop": name }) {
        // Servers before 7.0.
        Err(error) if error.code() == Some(Code::NAMESPACE_NOT_FOUND) => Ok(()),
        dropped => dropped.map(drop_reply),
    }
}

/// The file that stands beside a dump: `users.metadata.json` beside `users.bson`.
pub(super) fn file_beside(dump: &Path) -> Option<PathBuf> {
    let name = dump.file_name()?.to_str()?;
    let name = name.strip_suffix(".gz").unwrap_or(name);
    Some(dump.with_file_name(format!("{}.metadata.json", name.strip_suffix(".bson")?)))
}

/// What stands beside a dump, if it does.
pub(super) fn beside(dump: &Path) -> Result<Option<Shape>> {
    let Some(path) = file_beside(dump) else { return Ok(None) };
    let wrong = |what: &str| Error::Usage(format!("cannot read {}: {what}", path.display()));
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(wrong(&reason(&error))),
    };
    let read = extended_json::parse(&text, Form::Canonical);
    let RawBson::Document(metadata) = read.map_err(|refusal| wrong(&refusal.to_string()))? else {
        return Err(wrong("it holds no document"));
    };
    let options = match field(&metadata, "options") {
        Some(RawBsonRef::Document(options)) => options.to_owned(),
        _ => RawDocumentBuf::new(),
    };
    let indexes = metadata.get_array("indexes").ok().into_iter().flatten().flatten();
    let indexes = indexes.filter_map(|index| index.as_document().map(ToOwned::to_owned));
    let indexes = indexes.filter(|index| !is_id(index)).collect();
    Ok(Some(Shape { options, indexes }))
}
