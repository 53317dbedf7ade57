//! Documents as rows and columns: CSV, and a table with its columns aligned.

use std::collections::HashMap;

use bson::{RawBsonRef, RawDocument};
use unicode_width::UnicodeWidthStr;

use super::data::line;
use crate::error::{Error, Result};
use crate::value::extended_json::Form;

/// The column of what is no document.
const VALUE: &str = "value";

/// Rows of cells; a column for each field, in the order in which they were first seen.
#[derive(Default)]
pub(super) struct Grid {
    columns: Vec<String>,
    places: HashMap<String, usize>,
    rows: Vec<Vec<Option<Cell>>>,
}

/// One value, as text.
struct Cell {
    text: String,
    /// Numbers stand at the right of their column.
    right: bool,
}

impl Grid {
    /// A row for each value.
    pub(super) fn of<'a>(values: impl Iterator<Item = RawBsonRef<'a>>) -> Result<Self> {
        let mut grid = Self::default();
        for value in values {
            grid.rows.push(Vec::new());
            match value {
                RawBsonRef::Document(document) => {
                    columns(document, &mut |column, value| grid.put(column, value))?;
                }
                value => grid.put(VALUE, value)?,
            }
        }
        Ok(grid)
    }

    fn put(&mut self, column: &str, value: RawBsonRef<'_>) -> Result<()> {
        let cell = Cell::of(value)?;
        let at = match self.places.get(column) {
            Some(at) => *at,
            None => {
                self.columns.push(column.to_owned());
                self.places.insert(column.to_owned(), self.columns.len() - 1);
                self.columns.len() - 1
            }
        };
        let row = self.rows.last_mut().expect("a row was begun");
        if row.len() <= at {
            row.resize_with(at + 1, || None);
        }
        row[at] = Some(cell);
        Ok(())
    }

    /// The rows in the order of the columns; nothing where a document lacks a field.
    fn cells<'a>(&'a self, row: &'a [Option<Cell>]) -> impl Iterator<Item = Option<&'a Cell>> {
        (0..self.columns.len()).map(|at| row.get(at).and_then(Option::as_ref))
    }

    /// As comma-separated values with a header, quoted as RFC 4180 says; `None` when there is no row.
    pub(super) fn csv(&self) -> Option<String> {
        if self.rows.is_empty() {
            return None;
        }
        let header: Vec<String> = self.columns.iter().map(|name| quoted(name)).collect();
        let mut lines = vec![header.join(",")];
        for row in &self.rows {
            let cells: Vec<String> = self
                .cells(row)
                .map(|cell| cell.map_or_else(String::new, |cell| quoted(&cell.text)))
                .collect();
            lines.push(cells.join(","));
        }
        Some(lines.join("\n"))
    }

    /// With columns aligned by what a terminal shows; `None` when there is no row.
    pub(super) fn table(&self) -> Option<String> {
        if self.rows.is_empty() {
            return None;
        }
        let mut widths: Vec<usize> = self.columns.iter().map(|name| plain(name).width()).collect();
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(self.cells(row)) {
                *width = (*width).max(cell.map_or(0, |cell| plain(&cell.text).width()));
            }
        }
        let mut lines = Vec::with_capacity(self.rows.len() + 2);
        let header = self.columns.iter().map(|name| (plain(name), false));
        lines.push(aligned(header, &widths));
        let rule: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
        lines.push(rule.join("  "));
        for row in &self.rows {
            let cells = self.cells(row).map(|cell| {
                cell.map_or_else(|| (String::new(), false), |cell| (plain(&cell.text), cell.right))
            });
            lines.push(aligned(cells, &widths));
        }
        Some(lines.join("\n"))
    }
}

/// The columns that a document fills, with their values: the fields of a document in it have the path to them for a name.
///
/// # Errors
/// Those of `fill`, and for bytes that are no BSON.
pub fn columns<'a>(
    document: &'a RawDocument,
    fill: &mut dyn FnMut(&str, RawBsonRef<'a>) -> Result<()>,
) -> Result<()> {
    fill_columns(document, "", fill)
}

fn fill_columns<'a>(
    document: &'a RawDocument,
    path: &str,
    fill: &mut dyn FnMut(&str, RawBsonRef<'a>) -> Result<()>,
) -> Result<()> {
    for field in document {
        let (key, value) = field.map_err(|error| Error::Usage(error.to_string()))?;
        let path = match path {
            "" => key.to_string(),
            path => format!("{path}.{key}"),
        };
        match value {
            RawBsonRef::Document(inner) if !inner.is_empty() => fill_columns(inner, &path, fill)?,
            value => fill(&path, value)?,
        }
    }
    Ok(())
}

/// A value as the text of one cell.
///
/// # Errors
/// For a value that nests too deeply.
pub fn cell(value: RawBsonRef<'_>) -> Result<String> {
    Ok(Cell::of(value)?.text)
}

impl Cell {
    fn of(value: RawBsonRef<'_>) -> Result<Self> {
        let left = |text: String| Ok(Self { text, right: false });
        let right = |text: String| Ok(Self { text, right: true });
        match value {
            RawBsonRef::String(text) | RawBsonRef::Symbol(text) => left(text.to_owned()),
            RawBsonRef::ObjectId(id) => left(id.to_hex()),
            RawBsonRef::Null | RawBsonRef::Undefined => left(String::new()),
            RawBsonRef::Boolean(value) => left(value.to_string()),
            RawBsonRef::Int32(number) => right(number.to_string()),
            RawBsonRef::Int64(number) => right(number.to_string()),
            RawBsonRef::Decimal128(number) => right(number.to_string()),
            RawBsonRef::DateTime(date) => left(
                date.try_to_rfc3339_string()
                    .unwrap_or_else(|_| date.timestamp_millis().to_string()),
            ),
            value @ RawBsonRef::Double(_) => right(unwrapped(&line(value, Form::Relaxed)?)),
            value @ RawBsonRef::Binary(_) => match value {
                RawBsonRef::Binary(binary) if binary.subtype == bson::spec::BinarySubtype::Uuid => {
                    match uuid::Uuid::from_slice(binary.bytes) {
                        Ok(uuid) => left(uuid.to_string()),
                        Err(_) => left(line(value, Form::Relaxed)?),
                    }
                }
                value => left(line(value, Form::Relaxed)?),
            },
            value @ (RawBsonRef::Array(_)
            | RawBsonRef::Document(_)
            | RawBsonRef::RegularExpression(_)
            | RawBsonRef::JavaScriptCode(_)
            | RawBsonRef::JavaScriptCodeWithScope(_)
            | RawBsonRef::Timestamp(_)
            | RawBsonRef::MaxKey
            | RawBsonRef::MinKey
            | RawBsonRef::DbPointer(_)) => left(line(value, Form::Relaxed)?),
        }
    }
}

/// A double that JSON has no number for (`{"$numberDouble":"NaN"}`) without what is around it.
fn unwrapped(json: &str) -> String {
    let inner =
        json.strip_prefix("{\"$numberDouble\":\"").and_then(|rest| rest.strip_suffix("\"}"));
    inner.unwrap_or(json).to_owned()
}

/// A field of CSV: in quotes, doubled inside, where it holds a comma, a quote or a line end.
fn quoted(text: &str) -> String {
    if text.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// A cell of a table is one line.
fn plain(text: &str) -> String {
    if !text.contains(char::is_control) {
        return text.to_owned();
    }
    let mut shown = String::new();
    for character in text.chars() {
        if character.is_control() {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    shown
}

/// One line of a table.
fn aligned(cells: impl Iterator<Item = (String, bool)>, widths: &[usize]) -> String {
    let padded: Vec<String> = cells
        .zip(widths)
        .map(|((text, right), width)| {
            let room = " ".repeat(width.saturating_sub(text.width()));
            if right { room + &text } else { text + &room }
        })
        .collect();
    padded.join("  ").trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use bson::{RawDocumentBuf, rawdoc};

    use super::*;

    fn grid(documents: &[RawDocumentBuf]) -> Grid {
        Grid::of(documents.iter().map(|one| RawBsonRef::Document(one))).expect("rows")
    }

    #[test]
    fn columns_are_the_union_of_fields_and_nested_ones_have_their_path() {
        let documents = [
            rawdoc! { "_id": 1, "a": { "b": 2, "c": { "d": "x" } } },
            rawdoc! { "_id": 2_i64, "tags": ["p", { "q": 1 }], "a": {} },
        ];
        let csv = grid(&documents).csv();
        let expected = "_id,a.b,a.c.d,tags,a\n1,2,x,,\n2,,,\"[\"\"p\"\",{\"\"q\"\":1}]\",{}";
        assert_eq!(csv.as_deref(), Some(expected));
        assert_eq!(grid(&[]).csv(), None);
    }

    #[test]
    fn csv_quotes_what_would_break_a_row() {
        let document = rawdoc! { "a,b": "say \"hi\"", "c": "two\nlines", "d": " plain " };
        let csv = grid(&[document]).csv();
        assert_eq!(csv.as_deref(), Some("\"a,b\",c,d\n\"say \"\"hi\"\"\",\"two\nlines\", plain "));
    }

    #[test]
    fn a_table_is_aligned_by_what_is_seen() {
        let documents = [
            rawdoc! { "name": "日本", "n": 5, "x": 0.5 },
            rawdoc! { "name": "José\n", "n": 10, "x": f64::NAN },
        ];
        let expected = "name    n   x\n------  --  ---\n日本     5  0.5\nJosé\\n  10  NaN";
        assert_eq!(grid(&documents).table().as_deref(), Some(expected));
    }
}
