//! `tally export`: the documents of a collection into a file or to standard output.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::PathBuf;

use bson::raw::cstr;
use bson::{RawBsonRef, RawDocument, RawDocumentBuf, rawdoc};
use csv::{Writer, WriterBuilder};

use super::shape::{self, Shape};
use super::source::reason;
use super::target::Target;
use super::{Format, Work, at_path, counted, exists, key};
use crate::error::{Error, Result};
use crate::print;
use crate::value::extended_json::{self, Form};

/// What `tally export` is told.
#[derive(Clone, Debug, PartialEq)]
pub struct Export {
    /// Where the documents go; `None` is standard output.
    pub file: Option<PathBuf>,
    /// What the file is to hold.
    pub format: Format,
    /// The database they come from.
    pub db: String,
    /// The collection they come from.
    pub collection: String,
    /// Which documents.
    pub query: Option<RawDocumentBuf>,
    /// In which order.
    pub sort: Option<RawDocumentBuf>,
    /// How many of them are left out first.
    pub skip: Option<i64>,
    /// How many at most.
    pub limit: Option<i64>,
    /// Which fields; `None` is all.
    pub fields: Option<Vec<String>>,
    /// The form of extended JSON.
    pub form: Form,
    /// JSON is one array.
    pub array: bool,
    /// JSON has a line for each field.
    pub pretty: bool,
    /// CSV names its columns in the first row.
    pub header: bool,
}

/// Exports. Answers with the exit code.
///
/// # Errors
/// [`Error::Usage`] for a file that cannot be made, [`Error::Storage`] for a full disk, [`Error::Exit`] where the reader
/// went away, [`Error::Interrupted`], those of the database. A file that was there before is as it was then.
pub fn export(settings: &Export, work: Work<'_>) -> Result<i32> {
    let Export { db, collection, .. } = settings;
    let there = exists(&work, db, collection)?;
    // Columns come first, and may be told by the last document only.
    let columns = match (&settings.fields, settings.format) {
        (Some(fields), _) => fields.clone(),
        (None, Format::Csv | Format::Tsv) => columns(settings, &work)?,
        (None, Format::Json | Format::Bson) => Vec::new(),
    };
    let target = Target::open(settings.file.as_deref(), work.output)?;
    let places = columns.iter().enumerate().map(|(at, column)| (column.clone(), at)).collect();
    let mut run = Run { settings, columns, places, target, rows: Vec::new(), written: 0 };
    run.begin()?;
    work.each(db, settings.find(), |document| {
        run.document(&document)?;
        let written = run.written;
        work.output.progress(|| format!("{db}.{collection}: {}", counted(written, "document")));
        Ok(())
    })?;
    let written = run.written;
    run.end()?;
    if let (Some(file), Format::Bson, true) = (&settings.file, settings.format, there)
        && let Some(path) = shape::file_beside(file)
    {
        let body = rawdoc! { "listCollections": 1, "filter": { "name": collection.as_str() } };
        let listed = work.all(db, body)?;
        if let Some(listed) = listed.first() {
            let text = Shape::read(&work, db, collection, listed)?.metadata(collection)?;
            fs::write(&path, text).map_err(|error| {
                let name = path.display();
                Error::Storage(format!("cannot write {name}: {}", reason(&error)))
            })?;
        }
    }
    let counted = counted(written, "document");
    let missing = if there { String::new() } else { " (there is no such collection)".to_owned() };
    work.done(&format!("{counted} exported from {db}.{collection}{missing}"));
    Ok(0)
}

/// The columns that documents fill, in the order in which they are first seen.
fn columns(settings: &Export, work: &Work<'_>) -> Result<Vec<String>> {
    let (mut columns, mut known) = (Vec::new(), HashSet::new());
    let mut seen = 0;
    work.each(&settings.db, settings.find(), |document| {
        seen += 1;
        work.output.progress(|| format!("looking for columns: {}", counted(seen, "document")));
        print::columns(&document, &mut |column, _| {
            if !known.contains(column) {
                known.insert(column.to_owned());
                columns.push(column.to_owned());
            }
            Ok(())
        })
    })?;
    Ok(columns)
}

impl Export {
    /// The command that finds the documents.
    fn find(&self) -> RawDocumentBuf {
        let mut body = rawdoc! { "find": self.collection.as_str() };
        if let Some(query) = &self.query {
            body.append(cstr!("filter"), query.clone());
        }
        if let Some(sort) = &self.sort {
            body.append(cstr!("sort"), sort.clone());
        }
        if let Some(skip) = self.skip {
            body.append(cstr!("skip"), skip);
        }
        if let Some(limit) = self.limit.filter(|limit| *limit > 0) {
            body.append(cstr!("limit"), limit);
        }
        if let Some(projection) = self.fields.as_deref().and_then(|fields| self.projection(fields))
        {
            body.append(cstr!("projection"), projection);
        }
        body
    }

    /// The fields alone; a path through an array by number is no projection, and needs all of the document.
    fn projection(&self, fields: &[String]) -> Option<RawDocumentBuf> {
        let numbered = |path: &String| path.split('.').any(|name| name.parse::<usize>().is_ok());
        let nested = |path: &String| {
            fields.iter().any(|other| {
                path.strip_prefix(other.as_str()).is_some_and(|rest| rest.starts_with('.'))
            })
        };
        if fields.is_empty() || fields.iter().any(|path| numbered(path) || nested(path)) {
            return None;
        }
        let mut projection = RawDocumentBuf::new();
        for field in fields {
            projection.append(key(field).ok()?, 1);
        }
        // As `mongoexport`: JSON has it always, CSV where it is a column.
        if self.format == Format::Csv
            && !fields.iter().any(|field| field == "_id" || field.starts_with("_id."))
        {
            projection.append(cstr!("_id"), 0);
        }
        Some(projection)
    }
}

/// An export under way.
struct Run<'a> {
    settings: &'a Export,
    columns: Vec<String>,
    /// Where each column stands.
    places: HashMap<String, usize>,
    target: Target<'a>,
    /// What waits to be written.
    rows: Vec<u8>,
    written: u64,
}

/// What is written at once.
const CHUNK: usize = 64 * 1024;

impl Run<'_> {
    fn begin(&mut self) -> Result<()> {
        match self.settings.format {
            Format::Csv | Format::Tsv if self.settings.header && !self.columns.is_empty() => {
                let columns = self.columns.clone();
                self.row(&columns)
            }
            Format::Json if self.settings.array => {
                self.rows.push(b'[');
                Ok(())
            }
            Format::Csv | Format::Tsv | Format::Json | Format::Bson => Ok(()),
        }
    }

    fn document(&mut self, document: &RawDocument) -> Result<()> {
        match self.settings.format {
            Format::Bson => self.rows.extend_from_slice(document.as_bytes()),
            Format::Json => {
                let indent = if self.settings.pretty { "\t" } else { "" };
                let mut text = String::new();
                let value = RawBsonRef::Document(document);
                extended_json::export(value, self.settings.form, indent, &mut text)
                    .map_err(|refusal| Error::Usage(refusal.to_string()))?;
                if self.settings.array && self.written > 0 {
                    self.rows.extend_from_slice(b",\n");
                }
                self.rows.extend_from_slice(text.as_bytes());
                if !self.settings.array {
                    self.rows.push(b'\n');
                }
            }
            Format::Csv | Format::Tsv => {
                let mut cells = vec![String::new(); self.columns.len()];
                if self.settings.fields.is_some() {
                    for (column, cell) in self.columns.iter().zip(&mut cells) {
                        if let Some(value) = at_path(document, column) {
                            *cell = print::cell(value)?;
                        }
                    }
                } else {
                    print::columns(document, &mut |column, value| {
                        if let Some(cell) =
                            self.places.get(column).and_then(|at| cells.get_mut(*at))
                        {
                            *cell = print::cell(value)?;
                        }
                        Ok(())
                    })?;
                }
                self.row(&cells)?;
            }
        }
        self.written += 1;
        if self.rows.len() >= CHUNK { self.flush() } else { Ok(()) }
    }

    /// Adds a row of cells.
    fn row(&mut self, cells: &[String]) -> Result<()> {
        let mut writer: Writer<&mut Vec<u8>> =
            WriterBuilder::new().buffer_capacity(1024).from_writer(&mut self.rows);
        let written = writer.write_record(cells).and_then(|()| Ok(writer.flush()?));
        written.map_err(|error| Error::Storage(format!("cannot write a row: {error}")))
    }

    fn flush(&mut self) -> Result<()> {
        self.target.write(&self.rows)?;
        self.rows.clear();
        Ok(())
    }

    fn end(mut self) -> Result<()> {
        if self.settings.format == Format::Json && self.settings.array {
            self.rows.extend_from_slice(b"]\n");
        }
        self.flush()?;
        self.target.end()
    }
}
