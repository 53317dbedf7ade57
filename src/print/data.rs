//! Results as data for programs: JSON, lines of JSON, CSV, and a table for the eye.
//!
//! What these forms print is BSON, so that no type is lost on the way: what a script answers is converted as a save
//! would convert it.

use bson::{RawBsonRef, RawDocument, RawDocumentBuf};

use super::grid::Grid;
use crate::error::{Error, Result};
use crate::value::extended_json::{self, Form};

/// How deep each level is indented.
const INDENT: &str = "  ";

/// A form that data takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Data {
    /// One value of JSON for each result.
    Json(Form),
    /// One line of JSON for each document.
    Lines,
    /// Comma-separated values, the first row naming the columns.
    Csv,
    /// Columns, aligned.
    Table,
}

/// A value as extended JSON of one line.
pub(super) fn line(value: RawBsonRef<'_>, form: Form) -> Result<String> {
    extended_json::text(value, form, "").map_err(|refusal| Error::Usage(refusal.to_string()))
}

fn indented(value: RawBsonRef<'_>, form: Form) -> Result<String> {
    extended_json::text(value, form, INDENT).map_err(|refusal| Error::Usage(refusal.to_string()))
}

impl Data {
    /// One result; `None` when there is no line to print. An array stands for its elements where there is a line or row
    /// for each.
    ///
    /// # Errors
    /// For a value that nests too deeply.
    pub fn value(self, value: RawBsonRef<'_>) -> Result<Option<String>> {
        match (self, value) {
            (Self::Json(form), value) => indented(value, form).map(Some),
            (Self::Lines, RawBsonRef::Array(elements)) => {
                let lines = elements.into_iter().flatten().map(|one| line(one, Form::Relaxed));
                let lines = lines.collect::<Result<Vec<_>>>()?;
                Ok((!lines.is_empty()).then(|| lines.join("\n")))
            }
            (Self::Lines, value) => line(value, Form::Relaxed).map(Some),
            (Self::Csv | Self::Table, RawBsonRef::Array(elements)) => {
                self.grid(elements.into_iter().flatten())
            }
            (Self::Csv | Self::Table, value) => self.grid([value].into_iter()),
        }
    }

    /// What `print` makes of a value that is no text.
    ///
    /// # Errors
    /// As [`Data::value`].
    pub fn argument(self, value: RawBsonRef<'_>) -> Result<String> {
        match self {
            Self::Json(form) => indented(value, form),
            Self::Lines | Self::Csv | Self::Table => line(value, Form::Relaxed),
        }
    }

    /// Rows and columns of values, most of them documents; `None` when there is none.
    fn grid<'a>(self, values: impl Iterator<Item = RawBsonRef<'a>>) -> Result<Option<String>> {
        let grid = Grid::of(values)?;
        Ok(match self {
            Self::Table => grid.table(),
            Self::Json(_) | Self::Lines | Self::Csv => grid.csv(),
        })
    }
}

/// The documents of a cursor on their way into text. Only rows and columns gather them: their header names the fields
/// of all.
pub struct Flow {
    data: Data,
    /// The text of the last element of an array, which needs a comma if another follows.
    last: Option<String>,
    gathered: Vec<RawDocumentBuf>,
}

impl Flow {
    /// The documents of one cursor.
    pub fn new(data: Data) -> Self {
        Self { data, last: None, gathered: Vec::new() }
    }

    /// Takes a document; answers with lines that can be printed.
    ///
    /// # Errors
    /// As [`Data::value`].
    pub fn push(&mut self, document: &RawDocument) -> Result<Option<String>> {
        let value = RawBsonRef::Document(document);
        match self.data {
            Data::Json(form) => {
                // No text of JSON holds a line end that is not its layout's.
                let text = indented(value, form)?.replace('\n', "\n  ");
                let before = self.last.replace(text);
                Ok(Some(before.map_or_else(|| "[".to_owned(), |text| format!("{INDENT}{text},"))))
            }
            Data::Lines => line(value, Form::Relaxed).map(Some),
            Data::Csv | Data::Table => {
                self.gathered.push(document.to_owned());
                Ok(None)
            }
        }
    }

    /// The lines that are left when there are no more documents.
    ///
    /// # Errors
    /// As [`Data::value`].
    pub fn end(self) -> Result<Option<String>> {
        match self.data {
            Data::Json(_) => Ok(Some(match self.last {
                Some(text) => format!("{INDENT}{text}\n]"),
                None => "[]".to_owned(),
            })),
            Data::Lines => Ok(None),
            Data::Csv | Data::Table => {
                let documents = self.gathered.iter().map(|one| RawBsonRef::Document(one));
                self.data.grid(documents)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use bson::{RawBson, rawdoc};

    use super::*;

    fn flow(data: Data, documents: &[RawDocumentBuf]) -> String {
        let mut flow = Flow::new(data);
        let mut text = String::new();
        for document in documents {
            if let Some(lines) = flow.push(document).expect("JSON") {
                text += &lines;
                text.push('\n');
            }
        }
        text + &flow.end().expect("JSON").unwrap_or_default()
    }

    #[test]
    fn a_cursor_is_one_array_laid_out_as_json_stringify_does() {
        let documents = [rawdoc! { "a": 1, "b": ["x\ny"] }, rawdoc! {}];
        let relaxed = "[\n  {\n    \"a\": 1,\n    \"b\": [\n      \"x\\ny\"\n    ]\n  },\n  {}\n]";
        assert_eq!(flow(Data::Json(Form::Relaxed), &documents), relaxed);
        assert_eq!(flow(Data::Json(Form::Canonical), &[]), "[]");
        let lines = "{\"a\":1,\"b\":[\"x\\ny\"]}\n{}\n";
        assert_eq!(flow(Data::Lines, &documents), lines);
    }

    #[test]
    fn an_array_is_a_line_or_row_for_each_element() {
        let array = RawBson::Array(
            [RawBson::Int32(1), RawBson::Document(rawdoc! { "a": 2 })].into_iter().collect(),
        );
        let text = |data: Data| data.value(array.as_raw_bson_ref()).expect("JSON");
        assert_eq!(text(Data::Lines).as_deref(), Some("1\n{\"a\":2}"));
        assert_eq!(text(Data::Csv).as_deref(), Some("value,a\n1,\n,2"));
        let empty = RawBson::Array(Vec::<RawBson>::new().into_iter().collect());
        assert_eq!(Data::Lines.value(empty.as_raw_bson_ref()), Ok(None));
    }
}
