//! Projections: which fields of a document are shown, and which are computed.
//!
//! `find`, `findAndModify`, `$project`, `$addFields` and `$unset` share this one evaluator; only what they may hold differs.

mod parse;
mod tree;

use bson::{Bson, Document};

use crate::engine::expr::{Expression, Scope};
use crate::error::{Code, Error, Result};
use parse::Use;
use tree::Branch;

/// A compiled projection.
#[derive(Debug)]
pub struct Projection {
    kind: Kind,
    root: Branch,
    computed: Vec<Expression>,
    positional: Option<String>,
}

/// What a field that is not named does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// It goes.
    Inclusion,
    /// It stays.
    Exclusion,
    /// It stays, and so do the named ones: they are only set.
    Addition,
}

impl Projection {
    /// Compiles the projection of `find` and `findAndModify`. An empty one shows everything.
    ///
    /// # Errors
    /// Whatever is wrong with it, in the server's words.
    pub fn parse(specification: &Document, scope: &Scope) -> Result<Self> {
        parse::parse(specification, scope, Use::Find)
    }

    /// Compiles the specification of `$project`.
    ///
    /// # Errors
    /// As [`Projection::parse`], without the stage's prefix.
    pub(crate) fn parse_stage(specification: &Document, scope: &Scope) -> Result<Self> {
        parse::parse(specification, scope, Use::Stage)
    }

    /// Compiles the specification of `$addFields`.
    ///
    /// # Errors
    /// As [`Projection::parse`], without the stage's prefix.
    pub(crate) fn parse_addition(specification: &Document, scope: &Scope) -> Result<Self> {
        parse::parse(specification, scope, Use::Addition)
    }

    /// Compiles the field names of `$unset`: all of them go, `_id` as well if it is named.
    ///
    /// # Errors
    /// As [`Projection::parse`], without the stage's prefix.
    pub(crate) fn parse_removal(names: &[&str], scope: &Scope) -> Result<Self> {
        let mut specification = Document::new();
        for name in names {
            specification.insert(*name, false);
        }
        parse::parse(&specification, scope, Use::Stage)
    }

    /// Evaluates what needs no document.
    ///
    /// # Errors
    /// As [`Expression::fold`].
    pub(crate) fn fold(&mut self, scope: &Scope) -> Result<()> {
        self.computed.iter_mut().try_for_each(|expression| expression.fold(scope))
    }

    /// Whether it holds `a.$` and so needs to know which element of an array the filter matched.
    pub fn is_positional(&self) -> bool {
        self.positional.is_some()
    }

    /// What is shown of a document. `matched` is the position in an array at which the filter matched, for `a.$`.
    ///
    /// # Errors
    /// What a computed field fails with, and 51246, 51247 for a position that is not there.
    pub fn apply(
        &self,
        document: &Document,
        matched: Option<usize>,
        scope: &Scope,
    ) -> Result<Document> {
        self.apply_owned(document.clone(), matched, scope)
    }

    /// As [`Projection::apply`] on a document that is not needed any more.
    ///
    /// # Errors
    /// As [`Projection::apply`].
    pub fn apply_owned(
        &self,
        document: Document,
        matched: Option<usize>,
        scope: &Scope,
    ) -> Result<Document> {
        let values: Vec<Option<Bson>> = self
            .computed
            .iter()
            .map(|expression| expression.evaluate(&document, scope))
            .collect::<Result<_>>()?;
        let mut shown = self.root.apply(self.kind, document, &values)?;
        if let Some(path) = &self.positional {
            keep_matched(&mut shown, path, matched)?;
        }
        Ok(shown)
    }
}

/// Cuts the first array on the path down to the element that matched.
fn keep_matched(document: &mut Document, path: &str, matched: Option<usize>) -> Result<()> {
    let (name, rest) = path.split_once('.').unwrap_or((path, ""));
    match document.get_mut(name) {
        Some(Bson::Array(elements)) => {
            let matched = matched.ok_or_else(|| {
                let message =
                    "positional operator '.$' couldn't find a matching element in the array";
                Error::command(Code(51246), message)
            })?;
            if matched >= elements.len() {
                return Err(Error::command(
                    Code(51247),
                    "positional operator '.$' element mismatch",
                ));
            }
            *elements = vec![elements.swap_remove(matched)];
            Ok(())
        }
        Some(Bson::Document(inner)) if !rest.is_empty() => keep_matched(inner, rest, matched),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use bson::{DateTime, bson, doc};

    use super::*;

    fn scope() -> Scope {
        Scope::new(DateTime::from_millis(0))
    }

    fn shown(projection: Document, document: Document) -> Document {
        let scope = scope();
        Projection::parse(&projection, &scope)
            .and_then(|p| p.apply(&document, None, &scope))
            .expect("a projection")
    }

    fn staged(projection: Document, document: Document) -> Document {
        let scope = scope();
        let projection = Projection::parse_stage(&projection, &scope).expect("a projection");
        projection.apply(&document, None, &scope).expect("a document")
    }

    fn added(projection: Document, document: Document) -> Document {
        let scope = scope();
        let projection = Projection::parse_addition(&projection, &scope).expect("an addition");
        projection.apply(&document, None, &scope).expect("a document")
    }

    fn refused(projection: Document, code: i32, words: &str) {
        let error = Projection::parse(&projection, &scope()).expect_err("a bad projection");
        assert_eq!(
            (error.code(), error.to_string()),
            (Some(Code(code)), words.to_owned()),
            "{projection}"
        );
    }

    #[test]
    fn inclusions_keep_the_documents_order_and_the_id() {
        let document = doc! { "_id": 1, "a": 2, "b": 3, "c": 4 };
        assert_eq!(
            shown(doc! { "c": 1, "a": true }, document.clone()),
            doc! { "_id": 1, "a": 2, "c": 4 }
        );
        assert_eq!(shown(doc! { "a": 1, "_id": 0 }, document.clone()), doc! { "a": 2 });
        assert_eq!(shown(doc! { "_id": 1 }, document.clone()), doc! { "_id": 1 });
        assert_eq!(shown(doc! {}, document.clone()), document);
    }

    #[test]
    fn exclusions_keep_everything_else() {
        let document = doc! { "_id": 1, "a": 2, "b": { "c": 3, "d": 4 } };
        assert_eq!(
            shown(doc! { "a": 0 }, document.clone()),
            doc! { "_id": 1, "b": { "c": 3, "d": 4 } }
        );
        assert_eq!(
            shown(doc! { "_id": false }, document.clone()),
            doc! { "a": 2, "b": { "c": 3, "d": 4 } }
        );
        assert_eq!(
            shown(doc! { "b.c": 0, "_id": 1 }, document),
            doc! { "_id": 1, "a": 2, "b": { "d": 4 } }
        );
    }

    #[test]
    fn paths_reach_through_arrays() {
        let document = doc! { "a": [1, { "b": 1, "c": 1 }, { "c": 2 }, [{ "b": 3 }]] };
        assert_eq!(
            shown(doc! { "a.b": 1 }, document.clone()),
            doc! { "a": [{ "b": 1 }, {}, [{ "b": 3 }]] }
        );
        assert_eq!(
            shown(doc! { "a": { "b": 0 } }, document),
            doc! { "a": [1, { "c": 1 }, { "c": 2 }, [{}]] }
        );
        assert_eq!(shown(doc! { "a.b": 1 }, doc! { "a": 5 }), doc! {});
        assert_eq!(shown(doc! { "a.b": 1 }, doc! { "a": { "c": 5 } }), doc! { "a": {} });
        assert_eq!(shown(doc! { "a.b": 0 }, doc! { "a": 5 }), doc! { "a": 5 });
    }

    #[test]
    fn computed_fields_come_last() {
        let document = doc! { "_id": 1, "a": 2, "b": 3 };
        let projection =
            doc! { "sum": { "$add": ["$a", "$b"] }, "b": 1, "text": "str", "gone": "$zz" };
        assert_eq!(
            shown(projection, document.clone()),
            doc! { "_id": 1, "b": 3, "sum": 5, "text": "str" }
        );
        assert_eq!(staged(doc! { "x": "$a" }, document.clone()), doc! { "_id": 1, "x": 2 });
        assert_eq!(staged(doc! { "n.x": "$a" }, document), doc! { "_id": 1, "n": { "x": 2 } });
        assert_eq!(
            staged(doc! { "a.b": { "$literal": 1 }, "_id": 0 }, doc! { "a": [{ "c": 1 }, 2] }),
            doc! { "a": [{ "b": 1 }, { "b": 1 }] }
        );
    }

    #[test]
    fn additions_keep_places_and_take_numbers_for_values() {
        let document = doc! { "_id": 1, "a": 2, "b": { "c": 3 } };
        assert_eq!(
            added(doc! { "a": 1, "d": "$a" }, document.clone()),
            doc! { "_id": 1, "a": 1, "b": { "c": 3 }, "d": 2 }
        );
        assert_eq!(
            added(doc! { "b.x": true }, document.clone()),
            doc! { "_id": 1, "a": 2, "b": { "c": 3, "x": true } }
        );
        assert_eq!(
            added(doc! { "a.b": 1 }, document.clone()),
            doc! { "_id": 1, "a": { "b": 1 }, "b": { "c": 3 } }
        );
        assert_eq!(added(doc! { "a": "$$REMOVE" }, document), doc! { "_id": 1, "b": { "c": 3 } });
    }

    #[test]
    fn slices_and_first_matches() {
        let document = doc! { "_id": 1, "a": [1, 2, 3], "b": 2 };
        assert_eq!(
            shown(doc! { "a": { "$slice": 1 } }, document.clone()),
            doc! { "_id": 1, "a": [1], "b": 2 }
        );
        assert_eq!(
            shown(doc! { "a": { "$slice": -1 } }, document.clone()),
            doc! { "_id": 1, "a": [3], "b": 2 }
        );
        assert_eq!(
            shown(doc! { "a": { "$slice": [1, 1] }, "_id": 1 }, document.clone()),
            doc! { "_id": 1, "a": [2] }
        );
        assert_eq!(
            shown(doc! { "a": { "$slice": [-5, 2] }, "b": 0 }, document.clone()),
            doc! { "_id": 1, "a": [1, 2] }
        );
        assert_eq!(
            shown(doc! { "a": { "$elemMatch": { "$gt": 1 } } }, document.clone()),
            doc! { "_id": 1, "a": [2] }
        );
        assert_eq!(
            shown(doc! { "a": { "$elemMatch": { "$gt": 9 } }, "b": 1 }, document),
            doc! { "_id": 1, "b": 2 }
        );
        let document = doc! { "a": [{ "x": 1, "y": 1 }, { "x": 2, "y": 1 }] };
        assert_eq!(
            shown(doc! { "a": { "$elemMatch": { "x": 2, "y": 1 } } }, document),
            doc! { "a": [{ "x": 2, "y": 1 }] }
        );
    }

    #[test]
    fn the_positional_operator_shows_the_element_that_matched() {
        let scope = scope();
        let projection = Projection::parse(&doc! { "a.$": 1 }, &scope).expect("a projection");
        assert!(projection.is_positional());
        let document = doc! { "_id": 1, "a": [5, 6], "b": 1 };
        assert_eq!(projection.apply(&document, Some(1), &scope), Ok(doc! { "_id": 1, "a": [6] }));
        assert_eq!(
            projection.apply(&document, None, &scope).unwrap_err().code(),
            Some(Code(51246))
        );
        assert_eq!(
            projection.apply(&document, Some(2), &scope).unwrap_err().code(),
            Some(Code(51247))
        );
        assert_eq!(projection.apply(&doc! { "a": 3 }, None, &scope), Ok(doc! { "a": 3 }));
    }

    #[test]
    fn bad_projections_have_the_servers_words() {
        refused(
            doc! { "foo": false, "bar": true },
            31253,
            "Cannot do inclusion on field bar in exclusion projection",
        );
        refused(
            doc! { "foo": 1, "bar": 0 },
            31254,
            "Cannot do exclusion on field bar in inclusion projection",
        );
        refused(
            doc! { "v": 1, "v.foo": 1 },
            31249,
            "Path collision at v.foo remaining portion foo",
        );
        refused(doc! { "v.foo": 1, "v": 1 }, 31250, "Path collision at v");
        let words = "An empty sub-projection is not a valid value. Found empty object at path";
        refused(doc! { "v": {} }, 51270, words);
        refused(doc! { "v.$": 0 }, 31395, "positional projection cannot be used with exclusion");
        refused(doc! { "v": { "$foo": 1 } }, 31325, "Unknown expression $foo");
        refused(
            doc! { "v": { "$add": [1, { "$foo": 1 }] } },
            168,
            "Unrecognized expression '$foo'",
        );
        refused(doc! { "": 1 }, 40352, "FieldPath cannot be constructed with empty string");
        refused(doc! { "v.": 1 }, 40353, "FieldPath must not end with a '.'.");
        refused(doc! { "v..a": 1 }, 15998, "FieldPath field names may not be empty strings.");
        let words =
            "FieldPath field names may not start with '$'. Consider using $getField or $setField.";
        refused(doc! { "$v": 1 }, 16410, words);
        assert_eq!(
            Projection::parse(&doc! { "a.$.b": 1 }, &scope()).unwrap_err().code(),
            Some(Code(31394))
        );
        assert_eq!(
            Projection::parse_stage(&doc! {}, &scope()).unwrap_err().code(),
            Some(Code(51272))
        );
        assert_eq!(
            Projection::parse_stage(&doc! { "a.$": 1 }, &scope()).unwrap_err().code(),
            Some(Code(31324))
        );
        assert_eq!(
            Projection::parse(&doc! { "a": 0, "b": { "$add": [1] } }, &scope()).unwrap_err().code(),
            Some(Code(31252))
        );
        let elem_match = doc! { "a": { "$elemMatch": 1 } };
        assert_eq!(Projection::parse(&elem_match, &scope()).unwrap_err().code(), Some(Code(31274)));
        let mut deep = bson!(1);
        for _ in 0..1_000 {
            deep = bson!({ "a": deep });
        }
        assert_eq!(
            Projection::parse(&doc! { "a": deep }, &scope()).unwrap_err().code(),
            Some(Code::OVERFLOW)
        );
    }
}
