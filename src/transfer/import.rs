//! `tally import`: the documents of a file into a collection.
//!
//! **What is kept.** Documents go in in their order, and stay in. A line that is no document ends the import: what
//! stands before it is in, nothing behind it is; with `skip_bad` it is named and left out. A document that the database
//! refuses (its `_id` is taken, a validator objects) is named and left out, as by `mongoimport`, unless `stop_on_error`.

use std::path::{Path, PathBuf};

use bson::raw::cstr;
use bson::{RawDocument, RawDocumentBuf, rawdoc};

use super::batch::{self, Batch};
use super::shape::{self, Shape};
use super::source::{Fault, Found, Gauge, Place, Source, Trouble};
use super::{Format, Work, at_path, bson_file, counted, field, grouped, json, key, rows};
use crate::error::Result;

/// How many bad lines and refused documents are named.
const NAMED: u64 = 10;

/// What `tally import` is told.
#[derive(Clone, Debug, PartialEq)]
pub struct Import {
    /// Where the documents are; `None` is standard input.
    pub file: Option<PathBuf>,
    /// What the file holds.
    pub format: Format,
    /// The database they go to.
    pub db: String,
    /// The collection they go to.
    pub collection: String,
    /// What becomes of each.
    pub mode: Mode,
    /// The collection is dropped first.
    pub drop: bool,
    /// A file of JSON must be one array.
    pub array: bool,
    /// The names of the columns of CSV and TSV; `None` has them in the first row.
    pub columns: Option<Vec<String>>,
    /// The names of the columns have types behind them.
    pub typed: bool,
    /// Empty cells are left out.
    pub ignore_blanks: bool,
    /// Bad lines are named and left out.
    pub skip_bad: bool,
    /// The first document that the database refuses ends the import.
    pub stop_on_error: bool,
}

/// What becomes of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mode {
    /// It is inserted.
    Insert,
    /// It replaces the one that has the same values in these fields, or is inserted.
    Upsert(Vec<String>),
    /// Its fields are set in the one that has the same values in these fields, or it is inserted.
    Merge(Vec<String>),
    /// The one that has the same values in these fields is deleted.
    Delete(Vec<String>),
}

/// Imports. Answers with the exit code: 1 where something was left out.
///
/// # Errors
/// [`crate::Error::Usage`] for a file that cannot be read, [`crate::Error::Interrupted`], those of the database. What was imported
/// before has been told.
pub fn import(settings: &Import, work: Work<'_>) -> Result<i32> {
    let source = Source::open(settings.file.as_deref(), work.interrupt)?;
    let (name, gauge) = (source.name.clone(), source.gauge());
    let shape = match (&settings.file, settings.format) {
        (Some(file), Format::Bson) => shape::beside(file)?,
        _ => None,
    };
    let documents = match settings.format {
        Format::Json => json::documents(source, settings.array)?,
        Format::Bson => bson_file::documents(source),
        Format::Csv | Format::Tsv => {
            let layout = rows::Layout {
                format: settings.format,
                names: settings.columns.as_deref(),
                typed: settings.typed,
                ignore_blanks: settings.ignore_blanks,
            };
            rows::documents(source, &layout)?
        }
    };
    let batch = Batch::new();
    let mut run =
        Run { settings, work, name, gauge, batch, begun: false, shape, score: Score::default() };
    let outcome = run.all(documents);
    run.report(&outcome);
    match outcome {
        Ok(Ending::Whole) => Ok(i32::from(run.score.left_out() > 0)),
        Ok(Ending::Stopped) => Ok(1),
        Err(error) => Err(error),
    }
}

/// How an import ended that did not fail.
enum Ending {
    /// Everything was read.
    Whole,
    /// Something that must not be left out.
    Stopped,
}

/// What was done so far.
#[derive(Default)]
struct Score {
    imported: u64,
    bad: u64,
    refused: u64,
    /// Where the last document was that is in.
    last: Option<Place>,
}

impl Score {
    fn left_out(&self) -> u64 {
        self.bad + self.refused
    }
}

struct Run<'a> {
    settings: &'a Import,
    work: Work<'a>,
    name: String,
    gauge: Gauge,
    batch: Batch<Place>,
    /// The collection was dropped and made, where that was asked for.
    begun: bool,
    /// What stands beside a dump.
    shape: Option<Shape>,
    score: Score,
}

impl Run<'_> {
    fn all(&mut self, documents: super::source::Documents) -> Result<Ending> {
        for read in documents {
            match read {
                Ok(Found { place, document }) => {
                    if self.batch.push(place, document) && !self.send()? {
                        return Ok(Ending::Stopped);
                    }
                }
                Err(Trouble::Fault(fault)) => {
                    // What stands before it goes in before anything is said.
                    if !self.send()? {
                        return Ok(Ending::Stopped);
                    }
                    self.score.bad += 1;
                    self.name(&fault);
                    if !self.settings.skip_bad || fault.last {
                        return Ok(Ending::Stopped);
                    }
                }
                Err(Trouble::Failed(error)) => {
                    self.send()?;
                    return Err(error);
                }
            }
        }
        if !self.send()? {
            return Ok(Ending::Stopped);
        }
        self.begin()?;
        if let Some(shape) = &self.shape {
            let Import { db, collection, .. } = self.settings;
            for refusal in shape.index(&self.work, db, collection)?.refused {
                self.score.refused += 1;
                self.work.warn(&refusal);
            }
        }
        Ok(Ending::Whole)
    }

    /// What comes before the first document. A file whose first line is bad drops nothing.
    fn begin(&mut self) -> Result<()> {
        if std::mem::replace(&mut self.begun, true) {
            return Ok(());
        }
        let Import { db, collection, .. } = self.settings;
        if self.settings.drop {
            shape::drop(&self.work, db, collection)?;
        }
        match &self.shape {
            Some(shape) => shape.create(&self.work, db, collection),
            None => Ok(()),
        }
    }

    /// Sends what was gathered. Answers whether to go on.
    fn send(&mut self) -> Result<bool> {
        self.work.interrupt.check()?;
        let entries = self.batch.take();
        let Some((last, _)) = entries.last() else { return Ok(true) };
        let last = *last;
        self.begin()?;
        let places: Vec<Place> = entries.iter().map(|(place, _)| *place).collect();
        let documents = entries.into_iter().map(|(_, document)| document);
        let Import { db, collection, stop_on_error: ordered, .. } = self.settings;
        let body = match &self.settings.mode {
            Mode::Insert => {
                batch::write(cstr!("insert"), collection, cstr!("documents"), documents, *ordered)
            }
            Mode::Upsert(fields) => {
                let updates = documents.map(|document| update(fields, document, false));
                let updates = updates.collect::<Result<Vec<_>>>()?;
                batch::write(cstr!("update"), collection, cstr!("updates"), updates, *ordered)
            }
            Mode::Merge(fields) => {
                let updates = documents.map(|document| update(fields, document, true));
                let updates = updates.collect::<Result<Vec<_>>>()?;
                batch::write(cstr!("update"), collection, cstr!("updates"), updates, *ordered)
            }
            Mode::Delete(fields) => {
                let deletes = documents.map(|document| {
                    let filter = filter(fields, &document)?.unwrap_or(document);
                    Ok(rawdoc! { "q": filter, "limit": 1 })
                });
                let deletes = deletes.collect::<Result<Vec<_>>>()?;
                batch::write(cstr!("delete"), collection, cstr!("deletes"), deletes, *ordered)
            }
        };
        let reply = self.work.run(db, body)?;
        let refused = batch::refused(&reply);
        self.score.imported += batch::count(&reply, "n");
        self.score.last = Some(last);
        for refusal in &refused {
            self.score.refused += 1;
            let place = places.get(refusal.index).copied().unwrap_or(last);
            self.name(&Fault { place, reason: refusal.message.clone(), last: false });
        }
        let (imported, gauge) = (self.score.imported, &self.gauge);
        self.work.output.progress(|| {
            format!("{db}.{collection}: {}{}", counted(imported, "document"), gauge.percent())
        });
        Ok(refused.is_empty() || !ordered)
    }

    /// Names what is wrong, unless there is too much of it.
    fn name(&self, fault: &Fault) {
        if self.score.left_out() <= NAMED {
            self.work.warn(&format!("{}, {}: {}", self.name, fault.place, fault.reason));
        }
    }

    /// The last word, also of an import that failed.
    fn report(&self, outcome: &Result<Ending>) {
        let Score { imported, bad, refused, last } = &self.score;
        let Import { db, collection, .. } = self.settings;
        let done = match self.settings.mode {
            Mode::Delete(_) => format!("{} deleted from", counted(*imported, "document")),
            Mode::Insert | Mode::Upsert(_) | Mode::Merge(_) => {
                format!("{} imported into", counted(*imported, "document"))
            }
        };
        let mut text = format!("{done} {db}.{collection}");
        if bad + refused > NAMED {
            text += &format!("; of what was left out the first {NAMED} are named above");
        }
        match outcome {
            Ok(Ending::Whole) if bad + refused == 0 => return self.work.done(&text),
            Ok(Ending::Whole) => {
                let bad = (*bad > 0).then(|| format!("{} bad", grouped(*bad)));
                let refused = (*refused > 0).then(|| format!("{} refused", grouped(*refused)));
                let left: Vec<String> = bad.into_iter().chain(refused).collect();
                text += &format!("; left out: {}", left.join(", "));
            }
            Ok(Ending::Stopped) => text += ", nothing behind this",
            Err(_) => {
                if let Some(last) = last {
                    text += &format!(", up to {last}");
                }
            }
        }
        if matches!(outcome, Ok(Ending::Stopped)) && *bad > 0 && !self.settings.skip_bad {
            text += " (--skip-bad goes on over what is bad)";
        }
        self.work.warn(&text);
    }
}

/// What finds the document that this one is about; `None` where it lacks one of the fields.
fn filter(fields: &[String], document: &RawDocument) -> Result<Option<RawDocumentBuf>> {
    let mut filter = RawDocumentBuf::new();
    for path in fields {
        let Some(value) = at_path(document, path) else { return Ok(None) };
        filter.append(key(path)?, rawdoc! { "$eq": value });
    }
    Ok(Some(filter))
}

/// The update that brings a document in.
fn update(fields: &[String], document: RawDocumentBuf, merge: bool) -> Result<RawDocumentBuf> {
    let Some(filter) = filter(fields, &document)? else {
        // It is about no other document. A new `_id` finds none.
        let id = field(&document, "_id").map_or_else(
            || bson::RawBson::ObjectId(bson::oid::ObjectId::new()),
            bson::RawBson::from,
        );
        return Ok(rawdoc! { "q": { "_id": id }, "u": document, "upsert": true });
    };
    let empty = document.is_empty();
    let change = if merge && !empty {
        rawdoc! { "$set": document }
    } else {
        document
    };
    Ok(rawdoc! { "q": filter, "u": change, "upsert": true })
}

/// The name that a file gives a collection: its own, up to the first dot of its endings.
pub fn collection_of(file: &Path) -> Option<String> {
    let name = file.file_name()?.to_str()?;
    let name = name.strip_suffix(".gz").unwrap_or(name);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    (!stem.is_empty()).then(|| stem.to_owned())
}
