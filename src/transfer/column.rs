//! Columns of a table of text: which field each one fills, and what its cells mean.

use bson::raw::RawBson;
use bson::{DateTime, RawDocumentBuf};

use super::key;
use crate::error::{Error, Result};
use crate::value::decimal::Decimal;
use crate::value::iso_date::{self, Fields};

/// A column: the path of a field, and the type of its values.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Column {
    /// The names on the way to the field.
    path: Vec<String>,
    kind: Kind,
}

/// What the cells of a column hold; the names are those of `mongoimport --columnsHaveTypes`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Numbers where they look like numbers, else texts.
    Auto,
    Boolean,
    /// An ISO date; without a zone it is UTC.
    Date,
    Decimal,
    Double,
    Int32,
    Int64,
    ObjectId,
    String,
}

/// In the order of `Kind`.
const KINDS: &[(&str, Kind)] = &[
    ("auto", Kind::Auto),
    ("boolean", Kind::Boolean),
    ("date", Kind::Date),
    ("decimal", Kind::Decimal),
    ("double", Kind::Double),
    ("int32", Kind::Int32),
    ("int64", Kind::Int64),
    ("objectId", Kind::ObjectId),
    ("string", Kind::String),
];

/// The columns of a header; with `typed` each name has its type behind it: `zip.string()`.
///
/// # Errors
/// [`Error::Usage`] for a name that no field can have, and for two that cannot be in one document.
pub(super) fn columns<'a>(
    header: impl IntoIterator<Item = &'a str>,
    typed: bool,
) -> Result<Vec<Column>> {
    let mut columns: Vec<Column> = Vec::new();
    for name in header {
        let (name, kind) = if typed { split(name)? } else { (name, Kind::Auto) };
        let path: Vec<String> = name.split('.').map(str::to_owned).collect();
        let refused = |why: &str| Error::Usage(format!("the column `{name}` {why}"));
        if name.is_empty() {
            let number = columns.len() + 1;
            return Err(Error::Usage(format!("column {number} has no name")));
        }
        if path.iter().any(String::is_empty) {
            return Err(refused("has an empty name in its path"));
        }
        if name.starts_with('$') {
            return Err(refused("begins with $, as no field may"));
        }
        if let Some(other) = columns.iter().find(|other| clash(&other.path, &path)) {
            let other = other.path.join(".");
            return Err(if other == name {
                refused("is there twice")
            } else {
                refused(&format!("cannot be beside `{other}`: one lies in the other"))
            });
        }
        columns.push(Column { path, kind });
    }
    Ok(columns)
}

/// Whether one path leads to or through the other.
fn clash(one: &[String], other: &[String]) -> bool {
    one.starts_with(other) || other.starts_with(one)
}

/// A name and its type: `age.int32()`.
fn split(text: &str) -> Result<(&str, Kind)> {
    let typed = text
        .strip_suffix(')')
        .and_then(|rest| rest.rsplit_once('('))
        .and_then(|(rest, argument)| Some((rest.rsplit_once('.')?, argument)));
    let Some(((name, kind), argument)) = typed else {
        return Err(Error::Usage(format!(
            "the column `{text}` has no type: write it as in {text}.string()"
        )));
    };
    match KINDS.iter().find(|(known, _)| *known == kind) {
        Some((_, kind)) if argument.is_empty() => Ok((name, *kind)),
        Some(_) => Err(Error::Usage(format!(
            "the column `{text}`: {kind}() takes no format; a date is an ISO date"
        ))),
        None => {
            let known: Vec<&str> = KINDS.iter().map(|(name, _)| *name).collect();
            let known = known.join(", ");
            Err(Error::Usage(format!("the column `{text}`: {kind} is none of {known}")))
        }
    }
}

impl Column {
    /// Its name.
    pub(super) fn name(&self) -> String {
        self.path.join(".")
    }

    /// The value of a cell, or what it should have been.
    fn value(&self, text: &str) -> std::result::Result<RawBson, &'static str> {
        Ok(match self.kind {
            Kind::Auto => guessed(text),
            Kind::String => RawBson::String(text.to_owned()),
            Kind::Boolean => match text.to_ascii_lowercase().as_str() {
                "true" | "t" | "yes" | "y" | "1" => RawBson::Boolean(true),
                "false" | "f" | "no" | "n" | "0" => RawBson::Boolean(false),
                _ => return Err("true or false"),
            },
            Kind::Date => {
                let millis = iso_date::read(text, Fields::Strict).ok_or("an ISO date")?;
                RawBson::DateTime(DateTime::from_millis(millis))
            }
            Kind::Decimal => {
                let number = Decimal::parse(text).ok_or("a decimal number")?;
                RawBson::Decimal128(number.encode())
            }
            Kind::Double => RawBson::Double(text.parse().map_err(|_| "a number")?),
            Kind::Int32 => RawBson::Int32(text.parse().map_err(|_| "a whole number of 32 bits")?),
            Kind::Int64 => RawBson::Int64(text.parse().map_err(|_| "a whole number of 64 bits")?),
            Kind::ObjectId => {
                let id = bson::oid::ObjectId::parse_str(text);
                RawBson::ObjectId(id.map_err(|_| "an ObjectId of 24 hexadecimal digits")?)
            }
        })
    }
}

/// A number where a text is one and would be written so: digits with a leading zero or plus (a postal code, a telephone
/// number) stay a text, since a number would lose them.
fn guessed(text: &str) -> RawBson {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let first = |byte: usize| digits.as_bytes().get(byte).copied();
    let number = first(0).is_some_and(|byte| byte.is_ascii_digit())
        && !(first(0) == Some(b'0') && first(1).is_some_and(|byte| byte.is_ascii_digit()));
    if number {
        if let Ok(number) = text.parse::<i32>() {
            return RawBson::Int32(number);
        }
        if let Ok(number) = text.parse::<i64>() {
            return RawBson::Int64(number);
        }
        // Whole digits that no integer holds would be rounded.
        let whole = digits.bytes().all(|byte| byte.is_ascii_digit());
        if let Some(number) = text.parse::<f64>().ok().filter(|number| number.is_finite() && !whole)
        {
            return RawBson::Double(number);
        }
    }
    RawBson::String(text.to_owned())
}

/// The document of a row. Cells that are missing at its end are left out, and with `blanks` the empty ones.
///
/// # Errors
/// What is wrong with a cell, in one sentence.
pub(super) fn document(
    columns: &[Column],
    cells: &[&str],
    ignore_blanks: bool,
) -> std::result::Result<RawDocumentBuf, String> {
    if cells.len() > columns.len() {
        let (cells, columns) = (cells.len(), columns.len());
        return Err(format!("the row has {cells} cells, but there are {columns} columns"));
    }
    let mut root = Branch::default();
    for (column, cell) in columns.iter().zip(cells) {
        if cell.is_empty() && ignore_blanks {
            continue;
        }
        let value = column.value(cell).map_err(|wanted| {
            format!("the column {} holds {wanted}, not `{cell}`", column.name())
        })?;
        root.put(&column.path, value);
    }
    root.document().map_err(|error| error.to_string())
}

/// A document under construction.
#[derive(Default)]
struct Branch(Vec<(String, Node)>);

enum Node {
    Leaf(RawBson),
    Branch(Branch),
}

impl Branch {
    fn put(&mut self, path: &[String], value: RawBson) {
        let Some((name, rest)) = path.split_first() else { return };
        if rest.is_empty() {
            self.0.push((name.clone(), Node::Leaf(value)));
            return;
        }
        let at = match self.0.iter().position(|(other, _)| other == name) {
            Some(at) => at,
            None => {
                self.0.push((name.clone(), Node::Branch(Self::default())));
                self.0.len() - 1
            }
        };
        if let (_, Node::Branch(branch)) = &mut self.0[at] {
            branch.put(rest, value);
        }
    }

    fn document(self) -> Result<RawDocumentBuf> {
        let mut document = RawDocumentBuf::new();
        for (name, node) in self.0 {
            let value = match node {
                Node::Leaf(value) => value,
                Node::Branch(branch) => RawBson::Document(branch.document()?),
            };
            document.append(key(&name)?, value);
        }
        Ok(document)
    }
}

#[cfg(test)]
mod tests {
    use bson::rawdoc;

    use super::*;

    fn of(header: &str, typed: bool) -> Result<Vec<Column>> {
        columns(header.split(','), typed)
    }

    #[test]
    fn numbers_are_guessed_and_what_they_would_lose_stays_text() {
        for (text, value) in [
            ("5", RawBson::Int32(5)),
            ("-12", RawBson::Int32(-12)),
            ("0", RawBson::Int32(0)),
            ("8031591796700279859", RawBson::Int64(8_031_591_796_700_279_859)),
            ("1.5", RawBson::Double(1.5)),
            ("0.5", RawBson::Double(0.5)),
            ("1e3", RawBson::Double(1000.0)),
            ("01234", RawBson::String("01234".into())),
            ("+49", RawBson::String("+49".into())),
            ("99999999999999999999", RawBson::String("99999999999999999999".into())),
            ("NaN", RawBson::String("NaN".into())),
            ("infinity", RawBson::String("infinity".into())),
            ("1.2.3", RawBson::String("1.2.3".into())),
            ("2016-11-03", RawBson::String("2016-11-03".into())),
            ("true", RawBson::String("true".into())),
            ("", RawBson::String(String::new())),
        ] {
            assert_eq!(guessed(text), value, "{text}");
        }
    }

    #[test]
    fn names_with_dots_are_paths() {
        let columns = of("_id,a.b,a.c.d,e", false).expect("columns");
        let row = document(&columns, &["1", "x", "2", ""], false);
        let expected = rawdoc! { "_id": 1, "a": { "b": "x", "c": { "d": 2 } }, "e": "" };
        assert_eq!(row.expect("a row"), expected);
        let row = document(&columns, &["1", "", "2"], true);
        assert_eq!(row.expect("a row"), rawdoc! { "_id": 1, "a": { "c": { "d": 2 } } });
        let row = document(&columns, &["1", "2", "3", "4", "5"], false);
        assert_eq!(row, Err("the row has 5 cells, but there are 4 columns".to_owned()));
        for wrong in ["a,a", "a,a.b", "a.b,a", "$a", "a..b", "a,,b", ""] {
            assert!(of(wrong, false).is_err(), "{wrong}");
        }
    }

    #[test]
    fn columns_may_have_types() {
        let columns = of("zip.string(),n.int64(),a.b.double(),d.date(),yes.boolean()", true);
        let columns = columns.expect("columns");
        let row = document(&columns, &["5", "5", "5", "2016-11-03", "no"], false);
        let date = DateTime::from_millis(1_478_131_200_000);
        let expected =
            rawdoc! { "zip": "5", "n": 5_i64, "a": { "b": 5.0 }, "d": date, "yes": false };
        assert_eq!(row.expect("a row"), expected);
        let wrong = document(&columns, &["5", "5.5"], false);
        let expected = "the column n holds a whole number of 64 bits, not `5.5`";
        assert_eq!(wrong, Err(expected.to_owned()));
        for wrong in ["a", "a.int()", "a.date(2006)", "int32()"] {
            assert!(of(wrong, true).is_err(), "{wrong}");
        }
    }
}
