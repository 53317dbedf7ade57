//! Data in and out: files into collections, collections into files, databases from one place to another.
//!
//! `tally import`, `tally export` and `tally copy`. All of it streams: memory holds a batch of documents, whatever the size
//! of the whole. What is read and written is BSON, so no type is lost where the file has room for it: extended JSON has,
//! CSV has not. Flags have the names that `mongoimport` and `mongoexport` give them.
//!
//! Results go to standard output or a file; progress and the last word, which says how much was done, to standard error.

mod batch;
mod bson_file;
mod column;
mod copy;
mod export;
mod import;
mod json;
mod rows;
mod shape;
mod source;
mod target;

use std::path::Path;

pub use copy::{Copy, copy};
pub use export::{Export, export};
pub use import::{Import, Mode, collection_of, import};

use bson::{RawBsonRef, RawDocument, RawDocumentBuf};

use crate::backend::{Backend, Request};
use crate::error::{Error, Result};
use crate::interrupt::Interrupt;
use crate::shell::Output;

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Documents of extended JSON: one a line, one after the other, or an array of them.
    Json,
    /// Comma-separated values, RFC 4180.
    Csv,
    /// Values separated by tabs, never quoted.
    Tsv,
    /// Documents of BSON, one after the other, as `mongodump` writes them.
    Bson,
}

impl Format {
    /// The format that the name of a file tells; what `mongodump --gzip` adds to it is nothing to go by.
    pub fn of(file: &Path) -> Option<Self> {
        let name = file.file_name()?.to_str()?.to_ascii_lowercase();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        match name.rsplit_once('.')?.1 {
            "json" | "ndjson" | "jsonl" | "ejson" => Some(Self::Json),
            "csv" => Some(Self::Csv),
            "tsv" => Some(Self::Tsv),
            "bson" => Some(Self::Bson),
            _ => None,
        }
    }
}

/// Where an errand works, and whom it tells.
#[derive(Clone, Copy)]
pub struct Work<'a> {
    /// Where commands go.
    pub backend: &'a dyn Backend,
    /// Ctrl-C.
    pub interrupt: &'a Interrupt,
    /// Results, progress and the last word.
    pub output: &'a Output,
    /// The last word is left unsaid where all went well.
    pub quiet: bool,
}

impl Work<'_> {
    fn request(&self, db: &str, body: RawDocumentBuf) -> Request {
        Request { db: db.to_owned(), body, interrupt: self.interrupt.clone() }
    }

    fn run(&self, db: &str, body: RawDocumentBuf) -> Result<RawDocumentBuf> {
        self.interrupt.check()?;
        self.backend.run(self.request(db, body))
    }

    /// Hands every document that a command answers with to `each`.
    fn each(
        &self,
        db: &str,
        body: RawDocumentBuf,
        mut each: impl FnMut(RawDocumentBuf) -> Result<()>,
    ) -> Result<()> {
        self.interrupt.check()?;
        let mut cursor = self.backend.stream(self.request(db, body))?;
        while let Some(batch) = cursor.next_batch()? {
            self.interrupt.check()?;
            batch.into_iter().try_for_each(&mut each)?;
        }
        Ok(())
    }

    /// All documents that a command answers with, where they are few.
    fn all(&self, db: &str, body: RawDocumentBuf) -> Result<Vec<RawDocumentBuf>> {
        let mut all = Vec::new();
        self.each(db, body, |document| {
            all.push(document);
            Ok(())
        })?;
        Ok(all)
    }

    /// The last word of what went well.
    fn done(&self, text: &str) {
        self.output.settle();
        if !self.quiet {
            self.output.notice(text);
        }
    }

    /// What must be told whatever was asked.
    fn warn(&self, text: &str) {
        self.output.settle();
        self.output.notice(text);
    }
}

/// `5 documents`, `1 document`.
fn counted(count: u64, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", grouped(count))
}

/// `12,345`.
fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A text as the key of a document.
///
/// # Errors
/// For one with a NUL in it.
fn key(text: &str) -> Result<bson::raw::CString> {
    let refused = |_| Error::Usage(format!("`{text:?}` is no name of a field: it holds a NUL"));
    bson::raw::CString::try_from(text).map_err(refused)
}

/// The field `key`; `None` where it is missing.
fn field<'a>(document: &'a RawDocument, key: &str) -> Option<RawBsonRef<'a>> {
    document.get(key).ok().flatten()
}

/// The value at a dotted path; a number is the place in an array.
fn at_path<'a>(document: &'a RawDocument, path: &str) -> Option<RawBsonRef<'a>> {
    let (first, rest) =
        path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
    let mut value = field(document, first)?;
    for name in rest.into_iter().flat_map(|rest| rest.split('.')) {
        value = match value {
            RawBsonRef::Document(inner) => field(inner, name)?,
            RawBsonRef::Array(inner) => inner.get(name.parse().ok()?).ok().flatten()?,
            _ => return None,
        };
    }
    Some(value)
}

/// Whether a collection is there.
fn exists(work: &Work<'_>, db: &str, collection: &str) -> Result<bool> {
    let body = bson::rawdoc! {
        "listCollections": 1, "filter": { "name": collection }, "nameOnly": true,
    };
    Ok(!work.all(db, body)?.is_empty())
}

#[cfg(test)]
mod tests {
    use bson::rawdoc;

    use super::*;

    #[test]
    fn the_name_of_a_file_tells_what_it_holds() {
        let of = |name: &str| Format::of(Path::new(name));
        assert_eq!(of("a/users.NDJSON"), Some(Format::Json));
        assert_eq!(of("users.bson.gz"), Some(Format::Bson));
        assert_eq!(of("users.tsv"), Some(Format::Tsv));
        assert_eq!(of("csv"), None);
        assert_eq!(of("users.txt"), None);
    }

    #[test]
    fn numbers_are_grouped_and_nouns_are_counted() {
        assert_eq!(counted(1, "document"), "1 document");
        assert_eq!(counted(0, "document"), "0 documents");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_234_567), "1,234,567");
    }

    #[test]
    fn paths_go_through_documents_and_arrays() {
        let document = rawdoc! { "a": { "b": [{ "c": 7 }] }, "d": 1 };
        assert_eq!(at_path(&document, "a.b.0.c"), Some(RawBsonRef::Int32(7)));
        assert_eq!(at_path(&document, "a.b.1.c"), None);
        assert_eq!(at_path(&document, "d.e"), None);
    }
}
