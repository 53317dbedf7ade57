//! Documents out of rows: CSV and TSV.

use std::io::{self, BufRead, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use csv::{ByteRecord, Reader, ReaderBuilder};

use super::Format;
use super::column::{self, Column};
use super::source::{Documents, Fault, Found, Place, Source, Trouble, unread};
use crate::error::{Error, Result};

/// How rows are to be read.
pub(super) struct Layout<'a> {
    /// Commas and quotes, or tabs.
    pub(super) format: Format,
    /// The names of the columns; without them the first row names them.
    pub(super) names: Option<&'a [String]>,
    /// The names have types.
    pub(super) typed: bool,
    /// Empty cells are left out.
    pub(super) ignore_blanks: bool,
}

/// The documents of a source.
///
/// # Errors
/// When the source cannot be read, and for a header that is none.
pub(super) fn documents(mut source: Source, layout: &Layout<'_>) -> Result<Documents> {
    source.skip_mark()?;
    let quotes = Arc::new(Quotes::default());
    let csv = layout.format == Format::Csv;
    let reader = Watched { reader: source.reader, quotes: Arc::clone(&quotes) };
    let mut reader = ReaderBuilder::new()
        .delimiter(if csv { b',' } else { b'\t' })
        .quoting(csv)
        .flexible(true)
        .has_headers(false)
        .from_reader(reader);
    let columns = match layout.names {
        Some(names) => column::columns(names.iter().map(String::as_str), layout.typed)?,
        None => {
            let mut header = ByteRecord::new();
            if !reader.read_byte_record(&mut header).map_err(|error| failed(&source.name, error))? {
                Vec::new()
            } else {
                let cells = texts(&header).map_err(|at| {
                    Error::Usage(format!("{}: column {at} of the header is no UTF-8", source.name))
                })?;
                let refused = |error| Error::Usage(format!("{}: {error}", source.name));
                column::columns(cells, layout.typed).map_err(refused)?
            }
        }
    };
    let (name, ignore_blanks) = (source.name, layout.ignore_blanks);
    let quotes = csv.then_some(quotes);
    let (record, ended) = (ByteRecord::new(), false);
    Ok(Box::new(Rows { reader, name, columns, ignore_blanks, quotes, record, ended }))
}

struct Rows {
    reader: Reader<Watched>,
    name: String,
    columns: Vec<Column>,
    ignore_blanks: bool,
    /// `None` where quotes mean nothing.
    quotes: Option<Arc<Quotes>>,
    record: ByteRecord,
    ended: bool,
}

impl Iterator for Rows {
    type Item = std::result::Result<Found, Trouble>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        match self.reader.read_byte_record(&mut self.record) {
            Ok(true) => {}
            Ok(false) => {
                self.ended = true;
                return None;
            }
            Err(error) => {
                self.ended = true;
                return Some(Err(Trouble::Failed(failed(&self.name, error))));
            }
        }
        let line = self.record.position().map_or(0, csv::Position::line);
        let place = Place::Line { line, column: 1 };
        let fault = |reason: String, last| Some(Err(Trouble::Fault(Fault { place, reason, last })));
        // A quote that nothing closes swallows all that follows it.
        let swallows = self.record.iter().any(|cell| cell.contains(&b'\n'));
        if swallows && self.is_open() {
            self.ended = true;
            return fault("a quote is opened in this row and never closed".to_owned(), true);
        }
        let cells = match texts(&self.record) {
            Ok(cells) => cells,
            Err(at) => return fault(format!("cell {at} is no UTF-8"), false),
        };
        match column::document(&self.columns, &cells, self.ignore_blanks) {
            Ok(document) => Some(Ok(Found { place, document })),
            Err(reason) => fault(reason, false),
        }
    }
}

impl Rows {
    /// Whether the reader stands at the end, within quotes.
    fn is_open(&self) -> bool {
        self.quotes.as_ref().is_some_and(|quotes| {
            quotes.ended.load(Ordering::Relaxed) && quotes.open.load(Ordering::Relaxed)
        })
    }
}

/// The cells of a row as texts, or the number of the first that is none.
fn texts(record: &ByteRecord) -> std::result::Result<Vec<&str>, usize> {
    let cells = record.iter().enumerate();
    cells.map(|(at, cell)| std::str::from_utf8(cell).map_err(|_| at + 1)).collect()
}

fn failed(name: &str, error: csv::Error) -> Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => unread(name, error),
        // Rows of any length and of any bytes are taken.
        other => Error::Usage(format!("cannot read {name}: {other:?}")),
    }
}

/// What passed through a [`Watched`] reader.
#[derive(Default)]
struct Quotes {
    /// An odd number of quotes leaves one open.
    open: AtomicBool,
    ended: AtomicBool,
}

struct Watched {
    reader: Box<dyn BufRead>,
    quotes: Arc<Quotes>,
}

impl Read for Watched {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(bytes)?;
        if read == 0 && !bytes.is_empty() {
            self.quotes.ended.store(true, Ordering::Relaxed);
        }
        if bytes[..read].iter().filter(|byte| **byte == b'"').count() % 2 == 1 {
            self.quotes.open.fetch_xor(true, Ordering::Relaxed);
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use bson::{RawDocumentBuf, rawdoc};

    use super::*;

    fn read(text: &[u8], format: Format) -> Vec<std::result::Result<RawDocumentBuf, String>> {
        let layout = Layout { format, names: None, typed: false, ignore_blanks: false };
        let rows = documents(Source::of(text.to_vec()), &layout).expect("a header");
        let told = rows.map(|row| match row {
            Ok(found) => Ok(found.document),
            Err(Trouble::Fault(fault)) => Err(format!("{}: {}", fault.place, fault.reason)),
            Err(Trouble::Failed(error)) => Err(error.to_string()),
        });
        told.collect()
    }

    #[test]
    fn csv_is_as_rfc_4180_has_it() {
        let text = b"\xef\xbb\xbfa,b\r\n\"say \"\"hi\"\"\",\"x,\ny\"\r\n\r\n5,\n";
        let rows = read(text, Format::Csv);
        assert_eq!(
            rows,
            [Ok(rawdoc! { "a": "say \"hi\"", "b": "x,\ny" }), Ok(rawdoc! { "a": 5, "b": "" })]
        );
        assert!(read(b"", Format::Csv).is_empty());
        assert!(read(b"a,b\n", Format::Csv).is_empty());
    }

    #[test]
    fn tabs_are_never_quoted() {
        let rows = read(b"a\tb\n\"x\t5'11\"\n", Format::Tsv);
        assert_eq!(rows, [Ok(rawdoc! { "a": "\"x", "b": "5'11\"" })]);
    }

    #[test]
    fn a_bad_row_is_named_by_its_line() {
        let rows = read(b"a,b\n1,2\n\"two\nlines\",2\n1,2,3\n\xff,1\n1,2\n", Format::Csv);
        assert_eq!(
            rows[2],
            Err("line 5, column 1: the row has 3 cells, but there are 2 columns".into())
        );
        assert_eq!(rows[3], Err("line 6, column 1: cell 1 is no UTF-8".into()));
        assert_eq!(rows[4], Ok(rawdoc! { "a": 1, "b": 2 }));
        let open = read(b"a,b\n1,2\n\"x,2\n3,4\n5,6\n", Format::Csv);
        let expected = "line 3, column 1: a quote is opened in this row and never closed";
        assert_eq!(open[1..], [Err(expected.to_owned())]);
    }
}
