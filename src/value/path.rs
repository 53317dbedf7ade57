//! Dotted paths into documents and arrays, as queries, projections and updates walk them.
//!
//! A query walks implicitly through the elements of an array, one level for each array on the way ([`search`]); an
//! expression maps over them ([`map`]); [`resolve`] walks documents alone.

use std::borrow::Cow;

use bson::{Bson, Document};

/// A dotted path, split once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    text: String,
    parts: Vec<Part>,
}

/// One component of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The field's name.
    pub name: String,
    /// The array position it also means, when it is written as one (`0`, `12`, not `012`).
    pub index: Option<usize>,
}

impl Part {
    fn new(name: &str) -> Self {
        Self { name: name.to_owned(), index: array_index(name) }
    }
}

/// The array position a component of a path is written as: digits without a leading zero.
pub fn array_index(name: &str) -> Option<usize> {
    let digits = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
    (digits && (name == "0" || !name.starts_with('0'))).then(|| name.parse().ok()).flatten()
}

impl Path {
    /// Splits at the dots. Any text is a path; an empty one names the field with the empty name.
    pub fn new(text: &str) -> Self {
        Self { text: text.to_owned(), parts: text.split('.').map(Part::new).collect() }
    }

    /// The path as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Its components, at least one.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }
}

/// What a search offers where the path ends at an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// Each element of the array, then the array itself: `{a: 1}` matches `[1, 2]`.
    Elements,
    /// The array itself only: `$size`, `$elemMatch`.
    Whole,
}

/// One place a path leads to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found<'a> {
    /// What is there; `None` where a document on the way lacks the field.
    pub value: Option<&'a Bson>,
    /// The position in the outermost array that was walked through implicitly: what `$` stands for.
    pub index: Option<usize>,
}

/// Offers `test` every place `path` leads to until it answers true; answers whether it did.
///
/// A missing field is offered as `None`. Scalars in the midst of an array are passed over in silence, so `a.b` on
/// `{a: [1]}` leads nowhere while on `{a: 1}` it leads to a missing value. A numeric component is a position *and* a
/// field name of the elements; arrays directly inside arrays are entered only by position.
pub fn search<'a>(
    document: &'a Document,
    path: &[Part],
    ends: Ends,
    test: &mut dyn FnMut(Found<'a>) -> bool,
) -> bool {
    search_fields(document, path, ends, None, test)
}

/// As [`search`] with `array` taken for the document: its elements are the fields `0`, `1`, ...
pub fn search_array<'a>(
    array: &'a [Bson],
    path: &[Part],
    ends: Ends,
    test: &mut dyn FnMut(Found<'a>) -> bool,
) -> bool {
    let Some((part, rest)) = path.split_first() else { return false };
    let value = part.index.and_then(|index| array.get(index));
    search_value(value, rest, ends, None, test)
}

fn search_fields<'a>(
    document: &'a Document,
    path: &[Part],
    ends: Ends,
    index: Option<usize>,
    test: &mut dyn FnMut(Found<'a>) -> bool,
) -> bool {
    let Some((part, rest)) = path.split_first() else { return false };
    search_value(document.get(&part.name), rest, ends, index, test)
}

fn search_value<'a>(
    value: Option<&'a Bson>,
    rest: &[Part],
    ends: Ends,
    index: Option<usize>,
    test: &mut dyn FnMut(Found<'a>) -> bool,
) -> bool {
    match value {
        Some(Bson::Array(elements)) if rest.is_empty() => {
            search_leaf(elements, ends, index, test) || test(Found { value, index })
        }
        Some(Bson::Array(elements)) => search_elements(elements, rest, ends, index, test),
        Some(Bson::Document(document)) if !rest.is_empty() => {
            search_fields(document, rest, ends, index, test)
        }
        _ if rest.is_empty() => test(Found { value, index }),
        _ => test(Found { value: None, index }),
    }
}

fn search_leaf<'a>(
    elements: &'a [Bson],
    ends: Ends,
    index: Option<usize>,
    test: &mut dyn FnMut(Found<'a>) -> bool,
) -> bool {
    match ends {
        Ends::Whole => false,
        Ends::Elements => elements
            .iter()
            .enumerate()
            .any(|(at, element)| test(Found { value: Some(element), index: index.or(Some(at)) })),
    }
}

fn search_elements<'a>(
    elements: &'a [Bson],
    path: &[Part],
    ends: Ends,
    index: Option<usize>,
    test: &mut dyn FnMut(Found<'a>) -> bool,
) -> bool {
    let Some((part, rest)) = path.split_first() else { return false };
    elements.iter().enumerate().any(|(at, element)| {
        let implicit = match element {
            Bson::Document(document) => {
                search_fields(document, path, ends, index.or(Some(at)), test)
            }
            _ => false,
        };
        // A position names this very element, so it is no implicit walk and leaves `$` to what lies below.
        implicit
            || (part.index == Some(at)
                && match element {
                    Bson::Document(_) | Bson::Array(_) => {
                        search_value(Some(element), rest, ends, index, test)
                    }
                    _ if rest.is_empty() => test(Found { value: Some(element), index }),
                    _ => false,
                })
    })
}

/// The values a path leads to when every element of an array counts: the keys of an index, the candidates of a sort.
#[derive(Clone, Debug, PartialEq)]
pub struct Spread<'a> {
    /// At least one; a missing field is null, an empty array at the end of the path undefined.
    pub values: Vec<&'a Bson>,
    /// How many parts of the path lead to the first array whose elements were taken; `None` if none was.
    pub array: Option<usize>,
}

static NULL: Bson = Bson::Null;
static UNDEFINED: Bson = Bson::Undefined;

/// Collects the keys of a document at a path.
///
/// A numeric component of an array that has such a position names that element and spreads nothing.
pub fn spread<'a>(document: &'a Document, path: &[Part]) -> Spread<'a> {
    let mut spread = Spread { values: Vec::new(), array: None };
    match path.split_first() {
        Some((part, rest)) => spread_value(document.get(&part.name), rest, 1, &mut spread),
        None => spread.values.push(&NULL),
    }
    spread
}

fn spread_value<'a>(value: Option<&'a Bson>, rest: &[Part], depth: usize, spread: &mut Spread<'a>) {
    match (value, rest.split_first()) {
        (Some(Bson::Array(elements)), None) => {
            spread.array = spread.array.or(Some(depth));
            match elements.as_slice() {
                [] => spread.values.push(&UNDEFINED),
                elements => spread.values.extend(elements),
            }
        }
        (Some(Bson::Array(elements)), Some((part, after))) => {
            if let Some(element) = part.index.and_then(|index| elements.get(index)) {
                return spread_value(Some(element), after, depth + 1, spread);
            }
            spread.array = spread.array.or(Some(depth));
            if elements.is_empty() {
                spread.values.push(&NULL);
            }
            for element in elements {
                // An array inside an array is no document and has no fields.
                let inner = element.as_document().and_then(|document| document.get(&part.name));
                spread_value(inner, after, depth + 1, spread);
            }
        }
        (Some(Bson::Document(document)), Some((part, after))) => {
            spread_value(document.get(&part.name), after, depth + 1, spread);
        }
        (Some(value), None) => spread.values.push(value),
        (Some(_) | None, _) => spread.values.push(&NULL),
    }
}

/// The value at a path of documents alone; arrays on the way have no fields.
pub fn resolve<'a>(document: &'a Document, path: &str) -> Option<&'a Bson> {
    let mut parts = path.split('.');
    let mut value = document.get(parts.next()?)?;
    for part in parts {
        value = value.as_document()?.get(part)?;
    }
    Some(value)
}

/// The value of a path in an expression: through an array it is the array of what its documents hold there.
///
/// Elements that are no documents, or lack the field, leave no trace; positions are not understood (the manual's
/// "field paths").
pub fn map<'a>(document: &'a Document, path: &[Part]) -> Option<Cow<'a, Bson>> {
    let (part, rest) = path.split_first()?;
    map_value(document.get(&part.name)?, rest)
}

/// As [`map`], from any value on; an empty path is the value itself.
pub fn map_value<'a>(value: &'a Bson, path: &[Part]) -> Option<Cow<'a, Bson>> {
    match value {
        _ if path.is_empty() => Some(Cow::Borrowed(value)),
        Bson::Document(inner) => map(inner, path),
        Bson::Array(elements) => Some(Cow::Owned(Bson::Array(
            elements
                .iter()
                .filter_map(|element| map(element.as_document()?, path).map(Cow::into_owned))
                .collect(),
        ))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use bson::{bson, doc};

    use super::*;

    fn found(document: &Document, path: &str, ends: Ends) -> Vec<(Option<Bson>, Option<usize>)> {
        let mut all = Vec::new();
        search(document, Path::new(path).parts(), ends, &mut |found| {
            all.push((found.value.cloned(), found.index));
            false
        });
        all
    }

    fn values(document: &Document, path: &str) -> Vec<Option<Bson>> {
        found(document, path, Ends::Elements).into_iter().map(|(value, _)| value).collect()
    }

    #[test]
    fn only_plain_digits_are_positions() {
        assert_eq!(array_index("0"), Some(0));
        assert_eq!(array_index("12"), Some(12));
        for name in ["", "01", "-1", "1a", "99999999999999999999999", "٣"] {
            assert_eq!(array_index(name), None, "{name}");
        }
    }

    #[test]
    fn a_path_walks_through_arrays_of_documents() {
        let document = doc! {"a": [{"b": 1}, 5, {"b": [2, 3]}, {}, [{"b": 9}]]};
        assert_eq!(
            found(&document, "a.b", Ends::Elements),
            vec![
                (Some(bson!(1)), Some(0)),
                (Some(bson!(2)), Some(2)),
                (Some(bson!(3)), Some(2)),
                (Some(bson!([2, 3])), Some(2)),
                (None, Some(3)),
            ]
        );
        assert_eq!(found(&document, "a.4.b", Ends::Elements)[3..], [(Some(bson!(9)), Some(0))]);
    }

    #[test]
    fn a_number_is_a_position_and_a_field() {
        assert_eq!(values(&doc! {"a": [7, {"0": 8}]}, "a.0"), vec![Some(bson!(7)), Some(bson!(8))]);
        assert_eq!(values(&doc! {"a": {"0": 8}}, "a.0"), vec![Some(bson!(8))]);
        assert_eq!(values(&doc! {"a": [[1]]}, "a.0"), vec![Some(bson!(1)), Some(bson!([1]))]);
        assert_eq!(values(&doc! {"a": [{"b": 1}]}, "a.0.b"), vec![None, Some(bson!(1))]);
    }

    #[test]
    fn missing_is_not_the_same_as_nowhere() {
        assert_eq!(values(&doc! {}, "a.b"), vec![None]);
        assert_eq!(values(&doc! {"a": 1}, "a.b"), vec![None]);
        assert_eq!(values(&doc! {"a": [1]}, "a.b"), vec![]);
        assert_eq!(values(&doc! {"a": []}, "a"), vec![Some(bson!([]))]);
        assert_eq!(found(&doc! {"a": [1]}, "a", Ends::Whole), vec![(Some(bson!([1])), None)]);
    }

    #[test]
    fn keys_spread_over_arrays() {
        let keys = |document: &Document, path: &str| {
            let spread = super::spread(document, Path::new(path).parts());
            (spread.values.into_iter().cloned().collect::<Vec<_>>(), spread.array)
        };
        assert_eq!(keys(&doc! {"a": [1, [2]]}, "a"), (vec![bson!(1), bson!([2])], Some(1)));
        assert_eq!(keys(&doc! {"a": []}, "a"), (vec![Bson::Undefined], Some(1)));
        assert_eq!(keys(&doc! {"a": []}, "a.b"), (vec![Bson::Null], Some(1)));
        assert_eq!(
            keys(&doc! {"a": [{"b": 1}, {}, 5]}, "a.b"),
            (vec![bson!(1), Bson::Null, Bson::Null], Some(1))
        );
        assert_eq!(keys(&doc! {"a": {"b": [1]}}, "a.b"), (vec![bson!(1)], Some(2)));
        assert_eq!(keys(&doc! {"a": [7, 8]}, "a.1"), (vec![bson!(8)], None));
        assert_eq!(keys(&doc! {}, "a.b"), (vec![Bson::Null], None));
    }

    #[test]
    fn an_expression_maps_over_arrays() {
        let path = Path::new("a.b");
        let map = |document: &Document| super::map(document, path.parts()).map(Cow::into_owned);
        assert_eq!(map(&doc! {"a": [{"b": 1}, 2, {}, {"b": [3]}]}), Some(bson!([1, [3]])));
        assert_eq!(map(&doc! {"a": {"b": 1}}), Some(bson!(1)));
        assert_eq!(map(&doc! {"a": 1}), None);
        assert_eq!(resolve(&doc! {"a": {"b": 1}}, "a.b"), Some(&bson!(1)));
        assert_eq!(resolve(&doc! {"a": [{"b": 1}]}, "a.b"), None);
    }
}
