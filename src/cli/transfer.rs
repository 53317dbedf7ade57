//! The flags of `tally import`, `tally export` and `tally copy`. Their names are those of `mongoimport` and `mongoexport`.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bson::{RawBson, RawDocumentBuf};
use clap::{Args, ValueEnum};

use super::{Arguments, Place, Server, ServerFlags};
use crate::backend::Address;
use crate::engine::Location;
use crate::error::{Error, Result};
use crate::transfer::{self, Format, Mode};
use crate::value::extended_json::{self, Form};

/// Where a collection is.
#[derive(Debug, Args)]
pub struct Whereabouts {
    /// The collection (default: the file's name without its ending).
    #[arg(short, long, value_name = "NAME")]
    pub collection: Option<String>,
    /// The database (default: that of the address, or test).
    #[arg(short, long, value_name = "NAME")]
    pub db: Option<String>,
    /// The address of a MongoDB server: mongodb://... (default: the embedded engine, see --data).
    #[arg(long, value_name = "ADDRESS")]
    pub uri: Option<String>,
}

/// What `tally import` is told.
#[derive(Debug, Args)]
#[command(after_help = IMPORTING)]
pub struct Import {
    /// The file to read (default: standard input, as for -). It may be compressed with gzip.
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// As FILE.
    #[arg(long = "file", value_name = "FILE", conflicts_with = "file")]
    pub named: Option<PathBuf>,
    /// Where it goes.
    #[command(flatten)]
    pub to: Whereabouts,
    /// What the file holds (default: what its name ends in, else json).
    #[arg(long = "type", value_name = "TYPE")]
    pub format: Option<Imported>,
    /// Drop the collection first.
    #[arg(long)]
    pub drop: bool,
    /// What becomes of each document: it is inserted, replaces another, is merged into it, or deletes it.
    #[arg(long, value_name = "MODE", default_value = "insert")]
    pub mode: ImportMode,
    /// The same as --mode upsert: replace the document that has the same _id, or insert it.
    #[arg(long, conflicts_with = "mode")]
    pub upsert: bool,
    /// Which fields say which other document that is (default: _id).
    #[arg(long = "upsertFields", value_name = "FIELD,FIELD", value_delimiter = ',')]
    pub upsert_fields: Vec<String>,
    /// JSON must be one array; it may be one without this.
    #[arg(long = "jsonArray")]
    pub json_array: bool,
    /// The names of the columns of CSV and TSV (default: the first row has them).
    #[arg(
        short,
        long,
        value_name = "NAME,NAME",
        value_delimiter = ',',
        conflicts_with = "header_line"
    )]
    pub fields: Option<Vec<String>>,
    /// A file with the names of the columns, one a line.
    #[arg(long = "fieldFile", value_name = "FILE", conflicts_with_all = ["fields", "header_line"])]
    pub field_file: Option<PathBuf>,
    /// The first row of CSV and TSV has the names of the columns, which is so without --fields anyway.
    #[arg(long = "headerline")]
    pub header_line: bool,
    /// The names of the columns have types: zip.string(),age.int32(); they are auto, boolean, date, decimal, double, int32, int64, objectId, string.
    #[arg(long = "columnsHaveTypes")]
    pub columns_have_types: bool,
    /// Leave empty cells of CSV and TSV out instead of taking them for empty texts.
    #[arg(long = "ignoreBlanks")]
    pub ignore_blanks: bool,
    /// Name bad lines and go on over them instead of stopping at the first.
    #[arg(long = "skip-bad")]
    pub skip_bad: bool,
    /// Stop at the first document that the database refuses.
    #[arg(long = "stopOnError", visible_alias = "maintainInsertionOrder")]
    pub stop_on_error: bool,
    /// The flags about a server.
    #[command(flatten)]
    pub server: ServerFlags,
}

const IMPORTING: &str = "\
JSON is extended JSON: one document a line, one after the other, or an array. A bad line stops the import: the documents before \
it are in the collection, nothing behind it is, and its line, column and reason are told. What the database refuses (an _id \
that is taken) is told and left out.

Exit codes: 0 all is in, 1 something is not, 2 wrong usage, 130 Ctrl-C; what was imported before stays.

  tally import users.ndjson -c users --drop
  tally import users.csv --columnsHaveTypes --fields '_id.int32(),zip.string()'
  tally import dump/shop/users.bson.gz --db shop --uri mongodb://localhost:27017";

/// What `tally export` is told.
#[derive(Debug, Args)]
#[command(after_help = EXPORTING)]
pub struct Export {
    /// Where it comes from.
    #[command(flatten)]
    pub from: Whereabouts,
    /// The file to write (default: standard output). It appears once it is whole.
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// What to write (default: what the name of the file ends in, else json).
    #[arg(long = "type", value_name = "TYPE")]
    pub format: Option<Exported>,
    /// Which documents: a filter as extended JSON, '{"n": {"$gt": 5}}'.
    #[arg(short, long, value_name = "JSON", value_parser = document)]
    pub query: Option<RawDocumentBuf>,
    /// In which order: {"n": 1}.
    #[arg(long, value_name = "JSON", value_parser = document)]
    pub sort: Option<RawDocumentBuf>,
    /// Leave out so many first.
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(i64).range(0..))]
    pub skip: Option<i64>,
    /// Write so many at most.
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(i64).range(0..))]
    pub limit: Option<i64>,
    /// Which fields, by their paths (default: all; CSV has a column for each field of any document).
    #[arg(short, long, value_name = "NAME,NAME", value_delimiter = ',')]
    pub fields: Option<Vec<String>>,
    /// A file with the fields, one a line.
    #[arg(long = "fieldFile", value_name = "FILE", conflicts_with = "fields")]
    pub field_file: Option<PathBuf>,
    /// The form of extended JSON: canonical keeps every type, relaxed makes one of int32 and a small int64.
    #[arg(long = "jsonFormat", value_name = "FORM", default_value = "relaxed")]
    pub json_format: JsonForm,
    /// Write JSON as one array.
    #[arg(long = "jsonArray")]
    pub json_array: bool,
    /// Give each field of JSON a line.
    #[arg(long)]
    pub pretty: bool,
    /// Write CSV without the row of names.
    #[arg(long = "noHeaderLine")]
    pub no_header_line: bool,
    /// The flags about a server.
    #[command(flatten)]
    pub server: ServerFlags,
}

const EXPORTING: &str = "\
Numbers keep their types in JSON: 1 is an int32, 1.0 a double; canonical tells int64, too. In CSV fields of documents have a path \
for a name (address.city), and arrays are JSON. BSON is what mongodump writes; the indexes go to NAME.metadata.json beside it.

Exit codes: 0 well, 1 it failed and the file is as it was, 2 wrong usage, 130 Ctrl-C.

  tally export -c users --out users.ndjson
  tally export -c users --type csv --fields _id,address.city --query '{\"n\": {\"$gt\": 5}}'";

/// What `tally copy` is told.
#[derive(Debug, Args)]
#[command(after_help = COPYING)]
pub struct Copy {
    /// A data directory, or the address of a server: mongodb://host:27017/db. A database in it is the one to copy.
    #[arg(value_name = "FROM")]
    pub from: String,
    /// The same. A database in it is the name that the one to copy gets.
    #[arg(value_name = "TO")]
    pub to: String,
    /// Copy this database (default: all but admin, config and local). May be repeated.
    #[arg(short, long, value_name = "NAME")]
    pub db: Vec<String>,
    /// Give the one database this name.
    #[arg(long, value_name = "NAME")]
    pub into: Option<String>,
    /// Drop collections of the same name first.
    #[arg(long)]
    pub drop: bool,
    /// Replace documents that are there already and differ.
    #[arg(long, conflicts_with = "drop")]
    pub overwrite: bool,
    /// The flags about a server.
    #[command(flatten)]
    pub server: ServerFlags,
}

const COPYING: &str = "\
Options of collections, documents in their order, indexes and views are copied; counters are documents. Users are not. After an \
interruption run it again: documents that are there already are compared, and only the missing ones are sent.

Exit codes: 0 all is copied, 1 something is not, 2 wrong usage, 130 Ctrl-C; what was copied before stays.

  tally copy ~/.local/share/tally mongodb://localhost:27017
  tally copy mongodb://db.example/shop ./backup";

/// The values of `import --type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Imported {
    /// Extended JSON.
    Json,
    /// Comma-separated values.
    Csv,
    /// Values between tabs.
    Tsv,
    /// What mongodump writes.
    Bson,
}

/// The values of `export --type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Exported {
    /// Extended JSON, one document a line.
    Json,
    /// Comma-separated values.
    Csv,
    /// What mongodump writes.
    Bson,
}

/// The values of `--mode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ImportMode {
    /// Insert it.
    Insert,
    /// Replace the document that has the same _id, or insert it.
    Upsert,
    /// Set its fields in the document that has the same _id, or insert it.
    Merge,
    /// Delete the document that has the same _id.
    Delete,
}

/// The values of `--jsonFormat`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum JsonForm {
    /// Every type is told.
    Canonical,
    /// Numbers and dates are as most programs read them.
    Relaxed,
}

/// An errand instead of a session.
#[derive(Clone, Debug, PartialEq)]
pub enum Transfer {
    /// `tally import`.
    Import(transfer::Import),
    /// `tally export`.
    Export(transfer::Export),
    /// `tally copy`, and where to.
    Copy(transfer::Copy, Place),
}

/// What the whole command line says of the embedded engine.
pub(super) struct Local {
    pub(super) data: Option<PathBuf>,
    pub(super) ephemeral: bool,
    pub(super) wait: Option<Option<Duration>>,
}

impl Local {
    /// Where commands go when this server, or none, was named.
    pub(super) fn place(self, server: Option<Server>) -> Result<Place> {
        let wait = self.wait.map(|wait| wait.unwrap_or(Duration::MAX));
        match (server, self.data) {
            (Some(server), None) if !self.ephemeral => Ok(Place::Server(Box::new(server))),
            (Some(Server { address, .. }), _) => Err(Error::Usage(format!(
                "--data and --ephemeral are for the embedded engine, and {address} is a server"
            ))),
            (None, _) if self.ephemeral => {
                Ok(Place::Embedded { location: Location::Ephemeral, wait })
            }
            (None, directory) => {
                let directory = directory.map_or_else(super::default_directory, Ok)?;
                Ok(Place::Embedded { location: Location::Directory(directory), wait })
            }
        }
    }
}

impl Whereabouts {
    /// Where it is, and the database.
    fn place(self, flags: ServerFlags, local: Local) -> Result<(Place, String)> {
        if let Some(uri) = self.uri.as_deref().filter(|uri| !uri.contains("://")) {
            return Err(Error::Usage(format!("--uri {uri}: an address begins with mongodb://")));
        }
        let server = flags.server(self.uri.as_deref(), local.wait)?;
        let named = server.as_ref().and_then(|server| server.address.database());
        let db = match (self.db, named) {
            (Some(db), Some(named)) if db != named => {
                return Err(Error::Usage(format!("--db {db}: the address names {named}")));
            }
            (Some(db), _) => db,
            (None, named) => named.unwrap_or("test").to_owned(),
        };
        Ok((local.place(server)?, db))
    }
}

impl Import {
    pub(super) fn plan(self, local: Local) -> Result<(Place, Transfer)> {
        let file = self.file.or(self.named).filter(|file| file.as_os_str() != "-");
        let format = match self.format {
            Some(Imported::Json) => Format::Json,
            Some(Imported::Csv) => Format::Csv,
            Some(Imported::Tsv) => Format::Tsv,
            Some(Imported::Bson) => Format::Bson,
            None => file.as_deref().and_then(Format::of).unwrap_or(Format::Json),
        };
        let collection = self.to.collection.clone();
        let collection = collection.or_else(|| file.as_deref().and_then(transfer::collection_of));
        let collection = collection.ok_or_else(|| needed("the collection to import into"))?;
        let columns = names(self.fields, self.field_file.as_deref())?;
        let table = matches!(format, Format::Csv | Format::Tsv);
        for (flag, given) in [
            ("--fields", columns.is_some()),
            ("--headerline", self.header_line),
            ("--columnsHaveTypes", self.columns_have_types),
            ("--ignoreBlanks", self.ignore_blanks),
        ] {
            if given && !table {
                return Err(Error::Usage(format!("{flag} is for csv and tsv")));
            }
        }
        if self.json_array && format != Format::Json {
            return Err(Error::Usage("--jsonArray is for json".to_owned()));
        }
        let mode = if self.upsert { ImportMode::Upsert } else { self.mode };
        if mode == ImportMode::Insert && !self.upsert_fields.is_empty() {
            return Err(Error::Usage(
                "--upsertFields needs --mode upsert, merge or delete".to_owned(),
            ));
        }
        let mut keys = self.upsert_fields;
        if keys.is_empty() {
            keys.push("_id".to_owned());
        }
        let mode = match mode {
            ImportMode::Insert => Mode::Insert,
            ImportMode::Upsert => Mode::Upsert(keys),
            ImportMode::Merge => Mode::Merge(keys),
            ImportMode::Delete => Mode::Delete(keys),
        };
        let (place, db) = self.to.place(self.server, local)?;
        let import = transfer::Import {
            file,
            format,
            db,
            collection,
            mode,
            drop: self.drop,
            array: self.json_array,
            columns,
            typed: self.columns_have_types,
            ignore_blanks: self.ignore_blanks,
            skip_bad: self.skip_bad,
            stop_on_error: self.stop_on_error,
        };
        Ok((place, Transfer::Import(import)))
    }
}

impl Export {
    pub(super) fn plan(self, local: Local) -> Result<(Place, Transfer)> {
        let file = self.out.filter(|file| file.as_os_str() != "-");
        let format = match self.format {
            Some(Exported::Json) => Format::Json,
            Some(Exported::Csv) => Format::Csv,
            Some(Exported::Bson) => Format::Bson,
            None => file.as_deref().and_then(Format::of).unwrap_or(Format::Json),
        };
        if format == Format::Tsv {
            return Err(Error::Usage(
                "tsv cannot be written: it has no room for tabs and line ends in values; csv has"
                    .to_owned(),
            ));
        }
        for (flag, given, of) in [
            ("--jsonArray", self.json_array, Format::Json),
            ("--pretty", self.pretty, Format::Json),
            ("--noHeaderLine", self.no_header_line, Format::Csv),
        ] {
            if given && format != of {
                let name = if of == Format::Json { "json" } else { "csv" };
                return Err(Error::Usage(format!("{flag} is for {name}")));
            }
        }
        let collection = self.from.collection.clone();
        let collection = collection.or_else(|| file.as_deref().and_then(transfer::collection_of));
        let collection = collection.ok_or_else(|| needed("the collection to export"))?;
        let fields = names(self.fields, self.field_file.as_deref())?;
        let (place, db) = self.from.place(self.server, local)?;
        let export = transfer::Export {
            file,
            format,
            db,
            collection,
            query: self.query,
            sort: self.sort,
            skip: self.skip,
            limit: self.limit,
            fields,
            form: match self.json_format {
                JsonForm::Canonical => Form::Canonical,
                JsonForm::Relaxed => Form::Relaxed,
            },
            array: self.json_array,
            pretty: self.pretty,
            header: !self.no_header_line,
        };
        Ok((place, Transfer::Export(export)))
    }
}

impl Copy {
    pub(super) fn plan(self, local: Local) -> Result<(Place, Transfer)> {
        if local.data.is_some() || local.ephemeral {
            return Err(Error::Usage("copy goes FROM a data directory or server TO another: --data and --ephemeral have no place".to_owned()));
        }
        let (from, to) = (is_server(&self.from), is_server(&self.to));
        let (mut flags, mut others) = (Some(self.server), ServerFlags::default());
        if from && to {
            // The same password for both would be a guess.
            if flags.take().is_some_and(|flags| flags.is_given()) {
                return Err(Error::Usage("between two servers flags about a server would be for both: put them into the addresses".to_owned()));
            }
        } else if !from && !to {
            flags.take().map_or(Ok(None), |flags| flags.server(None, None))?;
        }
        let mut end = |text: &str, server: bool| -> Result<Place> {
            if !server {
                let wait = local.wait.map(|wait| wait.unwrap_or(Duration::MAX));
                return Ok(Place::Embedded { location: Location::Directory(text.into()), wait });
            }
            let flags = flags.take().unwrap_or_else(|| std::mem::take(&mut others));
            let server = flags.server(Some(text), local.wait)?;
            server.map(|server| Place::Server(Box::new(server))).ok_or_else(|| {
                Error::Usage(format!("{text} is neither a data directory nor an address"))
            })
        };
        let (source, target) = (end(&self.from, from)?, end(&self.to, to)?);
        if let Place::Embedded { location, .. } = &source
            && !location.has_data()
        {
            return Err(Error::Usage(format!("there is no data directory {}", self.from)));
        }
        let (source_db, target_db) = (database(&source), database(&target));
        let mut databases = self.db;
        if let Some(db) = source_db.filter(|db| !databases.contains(db)) {
            if !databases.is_empty() {
                return Err(Error::Usage(format!(
                    "{} names the database {db}: --db has no place",
                    self.from
                )));
            }
            databases.push(db);
        }
        let into = match (self.into, target_db) {
            (Some(into), Some(db)) if into != db => {
                return Err(Error::Usage(format!("--into {into}: {} names {db}", self.to)));
            }
            (into, db) => into.or(db),
        };
        if into.is_some() && databases.len() != 1 {
            return Err(Error::Usage(
                "only one database can get another name: say which with --db".to_owned(),
            ));
        }
        let renamed = into.as_ref().is_some_and(|into| databases.first() != Some(into));
        if same(&source, &target) && !(renamed && to) {
            return Err(Error::Usage("FROM and TO are the same".to_owned()));
        }
        let copy = transfer::Copy { databases, into, drop: self.drop, overwrite: self.overwrite };
        Ok((source, Transfer::Copy(copy, target)))
    }
}

/// Whether an end of a copy is a server: what has a scheme, or a port and is no directory.
fn is_server(text: &str) -> bool {
    text.contains("://")
        || (Address::is_meant(text)
            && text.contains(':')
            && !text.starts_with(['.', '/'])
            && !Path::new(text).exists())
}

/// The database that an address names.
fn database(place: &Place) -> Option<String> {
    match place {
        Place::Server(server) => server.address.database().map(str::to_owned),
        Place::Embedded { .. } => None,
    }
}

fn same(one: &Place, other: &Place) -> bool {
    match (one, other) {
        (Place::Server(one), Place::Server(other)) => one.address.hosts() == other.address.hosts(),
        (
            Place::Embedded { location: Location::Directory(one), .. },
            Place::Embedded { location: Location::Directory(other), .. },
        ) => {
            one == other
                || matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
        }
        _ => false,
    }
}

fn needed(what: &str) -> Error {
    Error::Usage(format!("which is {what}? Give --collection NAME"))
}

/// The names of fields, from the flag or the file.
fn names(given: Option<Vec<String>>, file: Option<&Path>) -> Result<Option<Vec<String>>> {
    let Some(file) = file else { return Ok(given) };
    let text = fs::read_to_string(file)
        .map_err(|error| Error::Usage(format!("cannot read {}: {error}", file.display())))?;
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    Ok(Some(lines.map(str::to_owned).collect()))
}

/// A document of extended JSON.
fn document(text: &str) -> std::result::Result<RawDocumentBuf, String> {
    match extended_json::parse(text, Form::Canonical) {
        Ok(RawBson::Document(document)) => Ok(document),
        Ok(_) => Err("it is a document: {\"field\": value}".to_owned()),
        Err(refusal) => {
            Err(format!("it is a document of extended JSON, with names in quotes: {refusal}"))
        }
    }
}

impl Arguments {
    /// What an errand is told of the embedded engine. Flags about a server stand behind the word.
    pub(super) fn local(&mut self, word: &str) -> Result<Local> {
        let server = std::mem::take(&mut self.server);
        if server.is_given() {
            return Err(Error::Usage(format!(
                "flags about a server go behind {word}: tally {word} ... --host HOST"
            )));
        }
        Ok(Local { data: self.data.take(), ephemeral: self.ephemeral, wait: self.wait })
    }
}
