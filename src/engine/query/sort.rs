//! Sort orders: `{a: 1, "b.c": -1}` compiled once, then used to compare documents.

use std::cmp::Ordering;

use bson::{Bson, Document};

use crate::bad_value;
use crate::engine::expr::FieldPath;
use crate::error::{Code, Error, Result};
use crate::value::compare::compare;
use crate::value::number::Number;
use crate::value::path::{self, Path};
use crate::value::text;

/// A compiled sort order. Without keys it leaves every order as it is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sort {
    keys: Vec<Key>,
}

/// One field of a sort order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// The field.
    pub path: Path,
    /// Whether its greatest values come first.
    pub descending: bool,
}

impl Sort {
    /// Compiles the document of `sort()` or `$sort`.
    ///
    /// # Errors
    /// 15974 for a key that is no number, 15975 for one that is neither 1 nor -1, and those of a bad field path.
    pub fn parse(sort: &Document) -> Result<Self> {
        let keys = sort.iter().map(|(name, value)| {
            let Some(number) = Number::of(value) else {
                let key = text::element(name, value);
                return Err(Error::command(
                    Code(15974),
                    format!("Illegal key in $sort specification: {key}"),
                ));
            };
            let descending = match number.to_i64() {
                Some(1) => false,
                Some(-1) => true,
                _ => {
                    return Err(Error::command(
                        Code(15975),
                        "$sort key ordering must be 1 (for ascending) or -1 (for descending)",
                    ));
                }
            };
            FieldPath::parse(name)?;
            Ok(Key { path: Path::new(name), descending })
        });
        Ok(Self { keys: keys.collect::<Result<_>>()? })
    }

    /// The fields, most significant first.
    pub fn keys(&self) -> &[Key] {
        &self.keys
    }

    /// Whether there is nothing to sort by.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// What a document is sorted by: one value for each field. Of an array that is the smallest element ascending and
    /// the largest descending; of an empty array undefined, of a missing field null.
    ///
    /// # Errors
    /// 2 when two fields go through different arrays.
    pub fn key<'a>(&self, document: &'a Document) -> Result<Vec<&'a Bson>> {
        let mut values = Vec::with_capacity(self.keys.len());
        let mut array: Option<&[path::Part]> = None;
        for key in &self.keys {
            let parts = key.path.parts();
            let spread = path::spread(document, parts);
            if let Some(depth) = spread.array {
                let here = &parts[..depth];
                if array.is_some_and(|array| array != here) {
                    return Err(bad_value!("cannot sort with keys that are parallel arrays"));
                }
                array = Some(here);
            }
            let by_value = |left: &&Bson, right: &&Bson| compare(left, right);
            let value = spread.values.into_iter();
            let value =
                if key.descending { value.max_by(by_value) } else { value.min_by(by_value) };
            values.push(value.expect("a path spreads to at least one value"));
        }
        Ok(values)
    }

    /// Compares two keys of documents, each made by [`Sort::key`].
    pub fn compare_keys<B: std::borrow::Borrow<Bson>>(&self, left: &[B], right: &[B]) -> Ordering {
        self.keys
            .iter()
            .zip(left.iter().zip(right))
            .map(|(key, (left, right))| {
                let order = compare(left.borrow(), right.borrow());
                if key.descending { order.reverse() } else { order }
            })
            .find(|order| order.is_ne())
            .unwrap_or(Ordering::Equal)
    }

    /// Compares two documents.
    ///
    /// # Errors
    /// Those of [`Sort::key`].
    pub fn compare(&self, left: &Document, right: &Document) -> Result<Ordering> {
        Ok(self.compare_keys(&self.key(left)?, &self.key(right)?))
    }

    /// Sorts documents; those that compare equal keep their order.
    ///
    /// # Errors
    /// Those of [`Sort::key`].
    pub fn sort(&self, documents: &mut Vec<Document>) -> Result<()> {
        let mut keyed = Vec::with_capacity(documents.len());
        for document in documents.iter() {
            keyed.push(self.key(document)?.into_iter().cloned().collect::<Vec<Bson>>());
        }
        let mut pairs: Vec<(Vec<Bson>, Document)> =
            keyed.into_iter().zip(std::mem::take(documents)).collect();
        pairs.sort_by(|(left, _), (right, _)| self.compare_keys(left, right));
        *documents = pairs.into_iter().map(|(_, document)| document).collect();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use bson::doc;

    use super::*;

    fn order(sort: Document, documents: &[Document]) -> Vec<i32> {
        let mut documents: Vec<Document> = documents
            .iter()
            .enumerate()
            .map(|(at, document)| {
                let mut document = document.clone();
                document.insert("n", at as i32);
                document
            })
            .collect();
        Sort::parse(&sort).and_then(|sort| sort.sort(&mut documents)).expect("a sort order");
        documents.iter().filter_map(|document| document.get_i32("n").ok()).collect()
    }

    #[test]
    fn arrays_sort_by_their_least_or_greatest_element() {
        let documents =
            [doc! {"a": [5, 1]}, doc! {"a": 3}, doc! {"a": []}, doc! {}, doc! {"a": Bson::Null}];
        assert_eq!(order(doc! {"a": 1}, &documents), [2, 3, 4, 0, 1]);
        assert_eq!(order(doc! {"a": -1}, &documents), [0, 1, 3, 4, 2]);
    }

    #[test]
    fn fields_count_in_turn_and_ties_keep_their_order() {
        let documents = [
            doc! {"a": 1, "b": 1},
            doc! {"a": 0, "b": 2},
            doc! {"a": 1, "b": 2},
            doc! {"a": 1, "b": 1},
        ];
        assert_eq!(order(doc! {"a": -1, "b": -1}, &documents), [2, 0, 3, 1]);
        assert_eq!(order(doc! {}, &documents), [0, 1, 2, 3]);
        let nested = [doc! {"a": [{"b": 2}]}, doc! {"a": [{"b": 3}, {"b": 1}]}];
        assert_eq!(order(doc! {"a.b": 1}, &nested), [1, 0]);
    }

    #[test]
    fn parallel_arrays_and_bad_orders_are_refused() {
        let refusal = |sort: Document| Sort::parse(&sort).expect_err("a bad order");
        let bad = refusal(doc! {"asc": "123"});
        assert_eq!(
            (bad.code(), bad.to_string()),
            (Some(Code(15974)), r#"Illegal key in $sort specification: asc: "123""#.into())
        );
        assert_eq!(refusal(doc! {"a": 2}).code(), Some(Code(15975)));
        assert_eq!(refusal(doc! {"$a": 1}).code(), Some(Code(16410)));
        assert_eq!(refusal(doc! {"a..b": 1}).code(), Some(Code(15998)));
        let sort = Sort::parse(&doc! {"a": 1, "b": 1}).expect("a sort order");
        let parallel = sort.key(&doc! {"a": [1], "b": [1]}).expect_err("parallel arrays");
        assert_eq!(parallel.to_string(), "cannot sort with keys that are parallel arrays");
        assert!(sort.key(&doc! {"a": [1], "b": 1}).is_ok());
        let same = Sort::parse(&doc! {"a.b": 1, "a.c": 1}).expect("a sort order");
        assert!(same.key(&doc! {"a": [{"b": 1, "c": 2}]}).is_ok());
    }
}
