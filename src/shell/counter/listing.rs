//! `show counters`: one line a counter.

use bson::raw::cstr;
use bson::{RawBson, RawBsonRef, RawDocument, rawdoc};

use super::options::Sequence;
use super::quoted;
use crate::error::Result;
use crate::shell::Shell;
use crate::shell::command::{Command, owned};
use crate::shell::cursor::open_stream;
use crate::value::kind;

/// The lines of `show counters`: name, value, place and type.
pub(in crate::shell) fn listing(shell: &Shell) -> Result<Vec<String>> {
    let mut rows = Vec::new();
    for sequence in [Sequence::Counter, Sequence::Sequence] {
        let collection = sequence.collection();
        let body = Command::new(cstr!("find"), collection).with(cstr!("filter"), rawdoc! {}).body();
        let mut stream = open_stream(shell, &shell.db, body)?;
        while let Some(counter) = stream.next()? {
            let Some((field, value)) = shown(&counter, sequence.field()) else { continue };
            let name = match owned(&counter, "_id") {
                Some(RawBson::String(name)) => name,
                Some(other) => quoted(&other),
                None => String::new(),
            };
            let kind = kind::of(value.element_type());
            rows.push((name, quoted(&value), format!("{collection}.{field}"), kind));
        }
    }
    let width =
        |column: fn(&(String, String, String, &str)) -> usize| rows.iter().map(column).max();
    let names = width(|row| row.0.chars().count()).unwrap_or(0);
    let values = width(|row| row.1.chars().count()).unwrap_or(0).max(5);
    let places = width(|row| row.2.chars().count()).unwrap_or(0);
    let line = |(name, value, place, kind): &(String, String, String, &str)| {
        format!("{name:<names$}  {value:>values$}  {place:<places$}   {kind}")
    };
    Ok(rows.iter().map(line).collect())
}

/// The field that counts: the usual one, or else the first number besides `_id`.
fn shown(counter: &RawDocument, usual: &str) -> Option<(String, RawBson)> {
    if let Ok(Some(value)) = counter.get(usual) {
        return Some((usual.to_owned(), RawBson::from(value)));
    }
    counter.iter().flatten().find_map(|(key, value)| {
        let number = matches!(
            value,
            RawBsonRef::Int32(_)
                | RawBsonRef::Int64(_)
                | RawBsonRef::Double(_)
                | RawBsonRef::Decimal128(_)
        );
        (number && key.as_str() != "_id").then(|| (key.as_str().to_owned(), RawBson::from(value)))
    })
}
