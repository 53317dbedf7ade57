//! The document that was shown last, and the BSON types in it: `show types`.

use bson::{RawBson, RawBsonRef, RawDocumentBuf};

use super::Shell;
use crate::value::kind;

/// Nested deeper than this, types are not listed.
const DEPTH: usize = 100;

/// A field's path, as far as it is known, and its type.
type Row = (String, &'static str);

impl Shell {
    /// A value was shown: if it is a document, or an array, `show types` tells of it.
    pub fn look_at(&mut self, value: RawBson) {
        if matches!(value, RawBson::Document(_) | RawBson::Array(_)) {
            self.viewed = Some(value);
        }
    }

    /// Documents were shown, the last of them last.
    pub(super) fn look_at_last(&mut self, documents: &[RawDocumentBuf]) {
        if let Some(last) = documents.last() {
            self.viewed = Some(RawBson::Document(last.clone()));
        }
    }

    /// A script shows a document that only it can tell the types of.
    pub fn look_away(&mut self) {
        self.viewed = None;
    }

    /// Whether the document shown last is known here; a script holds it otherwise, if there is one.
    pub fn is_looking(&self) -> bool {
        self.viewed.is_some()
    }

    /// Each field of the document shown last with its type, below each other; `None` when none was shown.
    pub(super) fn viewed_types(&self) -> Option<Vec<String>> {
        let mut value = self.viewed.as_ref()?.as_raw_bson_ref();
        // Of an array of documents the last is the one that was shown last.
        while let RawBsonRef::Array(array) = value
            && let Some(Ok(last @ (RawBsonRef::Document(_) | RawBsonRef::Array(_)))) =
                array.into_iter().last()
        {
            value = last;
        }
        let rows = rows(value, DEPTH);
        if rows.is_empty() {
            return Some(vec!["the document shown last has no fields".to_owned()]);
        }
        let width = rows.iter().map(|(path, _)| path.chars().count()).max().unwrap_or(0);
        Some(rows.iter().map(|(path, kind)| format!("{path:<width$}   {kind}")).collect())
    }
}

/// The rows below a value: its fields, or its elements. Neighbouring elements with the same types share their rows.
fn rows(value: RawBsonRef<'_>, depth: usize) -> Vec<Row> {
    if depth == 0 {
        return Vec::new();
    }
    match value {
        RawBsonRef::Document(document) => {
            let fields = document.iter().flatten();
            fields.flat_map(|(key, value)| under(key.as_str(), value, depth)).collect()
        }
        RawBsonRef::Array(array) => {
            let mut all = Vec::new();
            let mut run: Option<(usize, Vec<Row>)> = None;
            let mut count = 0;
            for (at, element) in array.into_iter().flatten().enumerate() {
                count = at + 1;
                let own = under("", element, depth);
                match &run {
                    Some((_, rows)) if *rows == own => {}
                    _ => {
                        if let Some((from, rows)) = run.replace((at, own)) {
                            all.extend(at_indexes(from, at - 1, rows));
                        }
                    }
                }
            }
            if let Some((from, rows)) = run {
                all.extend(at_indexes(from, count - 1, rows));
            }
            all
        }
        _ => Vec::new(),
    }
}

/// A field's own row and those below it.
fn under(key: &str, value: RawBsonRef<'_>, depth: usize) -> Vec<Row> {
    let kind = kind::of(value.element_type());
    let below = rows(value, depth - 1);
    let below = below.into_iter().map(|(path, kind)| (format!("{key}.{path}"), kind));
    [(key.to_owned(), kind)].into_iter().chain(below).collect()
}

/// The rows of elements that have the same types: `items.0`, or `items.0-9` for ten of them.
fn at_indexes(from: usize, to: usize, rows: Vec<Row>) -> impl Iterator<Item = Row> {
    let index = if from == to { format!("{from}") } else { format!("{from}-{to}") };
    rows.into_iter().map(move |(path, kind)| (format!("{index}{path}"), kind))
}

#[cfg(test)]
mod tests {
    use bson::rawdoc;

    use super::*;

    #[test]
    fn elements_of_the_same_types_share_their_rows() {
        let document = rawdoc! {
            "_id": 1_i64, "tags": ["a", "b", "c", 1.0], "items": [{ "n": 1 }, { "n": 2 }], "none": [],
        };
        let expected = [
            ("_id", "long"),
            ("tags", "array"),
            ("tags.0-2", "string"),
            ("tags.3", "double"),
            ("items", "array"),
            ("items.0-1", "object"),
            ("items.0-1.n", "int"),
            ("none", "array"),
        ];
        let expected: Vec<Row> =
            expected.iter().map(|(path, kind)| ((*path).to_owned(), *kind)).collect();
        assert_eq!(rows(RawBsonRef::Document(&document), DEPTH), expected);
    }
}
