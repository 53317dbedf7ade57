//! The expression as other rooms see it: parsed, folded, evaluated.

use std::sync::Arc;

use bson::{Bson, Document};

use super::{Node, Parser, Place, Scope};
use crate::error::Result;

/// A compiled aggregation expression. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Expression {
    node: Arc<Node>,
}

impl Expression {
    /// Compiles any value as an expression: strings that start with a dollar are paths or variables, documents whose
    /// first key does are operators, everything else stands for itself.
    ///
    /// `scope` tells which variables exist; their values are read when the expression is evaluated.
    ///
    /// # Errors
    /// Whatever is wrong with the expression, with the server's code and words and without a prefix.
    pub fn parse(value: &Bson, scope: &Scope) -> Result<Self> {
        Ok(Self { node: Arc::new(Parser::new(scope).parse(value)?) })
    }

    /// The expression that a node is.
    pub(super) fn of(node: Node) -> Self {
        Self { node: Arc::new(node) }
    }

    /// Evaluates, once, every part that needs no document.
    ///
    /// # Errors
    /// What such a part fails with (`{$divide: [1, 0]}`); callers put `Failed to optimize pipeline :: caused by :: ` in
    /// front.
    pub fn fold(&mut self, scope: &Scope) -> Result<()> {
        // A clone that is in use elsewhere is left as it is: it evaluates to the same.
        Arc::get_mut(&mut self.node).map_or(Ok(()), |node| node.fold(scope))
    }

    /// The value for one document. `None` means missing, which is not null: a field with it is left out of its document.
    ///
    /// # Errors
    /// What the operators fail with on this document, without a prefix.
    pub fn evaluate(&self, root: &Document, scope: &Scope) -> Result<Option<Bson>> {
        self.node.value(&Place::new(root, scope))
    }

    /// Whether the value for the document counts as true, as `$match: {$expr: ...}` asks.
    ///
    /// # Errors
    /// As [`Expression::evaluate`].
    pub fn is_true(&self, root: &Document, scope: &Scope) -> Result<bool> {
        Ok(truth(self.node.evaluate(&Place::new(root, scope))?.as_deref()))
    }

    /// The value, when it does not depend on the document.
    pub fn constant(&self) -> Option<&Bson> {
        match &*self.node {
            Node::Constant(value) => Some(value),
            _ => None,
        }
    }
}

/// Whether a value counts as true: everything but false, zero, null, undefined and missing.
pub(crate) fn truth(value: Option<&Bson>) -> bool {
    match value {
        None
        | Some(
            Bson::Null | Bson::Undefined | Bson::Boolean(false) | Bson::Int32(0) | Bson::Int64(0),
        ) => false,
        // NaN is no zero and counts as true; -0.0 is one.
        Some(Bson::Double(double)) => *double != 0.0,
        Some(value @ Bson::Decimal128(_)) => !crate::value::compare::equal(value, &Bson::Int32(0)),
        Some(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use bson::{DateTime, bson, doc};

    use super::*;

    fn scope() -> Scope {
        Scope::new(DateTime::from_millis(1_000)).with_variables(doc! { "limit": { "n": 3 } })
    }

    /// The value of an expression on a document, or code and words of its error.
    fn value(
        expression: Bson,
        document: Document,
    ) -> std::result::Result<Option<Bson>, (i32, String)> {
        let scope = scope();
        Expression::parse(&expression, &scope)
            .and_then(|expression| expression.evaluate(&document, &scope))
            .map_err(|error| (error.code().map_or(0, |code| code.0), error.to_string()))
    }

    fn fails(expression: Bson, document: Document, code: i32, words: &str) {
        assert_eq!(
            value(expression.clone(), document),
            Err((code, words.to_owned())),
            "{expression}"
        );
    }

    #[test]
    fn paths_variables_literals_and_missing() {
        let document = doc! { "a": { "b": 7 }, "n": null };
        assert_eq!(value(bson!("$a.b"), document.clone()), Ok(Some(bson!(7))));
        assert_eq!(value(bson!("$a.zz"), document.clone()), Ok(None));
        assert_eq!(value(bson!("$$ROOT.a.b"), document.clone()), Ok(Some(bson!(7))));
        assert_eq!(value(bson!("$$CURRENT"), document.clone()), Ok(Some(bson!(document.clone()))));
        assert_eq!(value(bson!("$$REMOVE"), document.clone()), Ok(None));
        assert_eq!(
            value(bson!("$$NOW"), document.clone()),
            Ok(Some(Bson::DateTime(DateTime::from_millis(1_000))))
        );
        assert_eq!(value(bson!("$$limit.n"), document.clone()), Ok(Some(bson!(3))));
        assert_eq!(value(bson!({ "$literal": "$a" }), document.clone()), Ok(Some(bson!("$a"))));
        assert_eq!(
            value(bson!({ "x": "$zz", "y": "$a.b" }), document.clone()),
            Ok(Some(bson!({ "y": 7 })))
        );
        assert_eq!(value(bson!(["$zz", "$a.b"]), document), Ok(Some(bson!([null, 7]))));
    }

    #[test]
    fn bad_texts_die_at_parse_with_the_servers_words() {
        let none = Document::new;
        fails(bson!("$"), none(), 16872, "'$' by itself is not a valid FieldPath");
        fails(bson!("$$s"), none(), 17276, "Use of undefined variable: s");
        fails(
            bson!("$$$s"),
            none(),
            9,
            "'$s' starts with an invalid character for a user variable name",
        );
        fails(bson!("$$"), none(), 9, "empty variable names are not allowed");
        fails(bson!("$a."), none(), 40353, "FieldPath must not end with a '.'.");
        fails(bson!({ "$foo": 1 }), none(), 168, "Unrecognized expression '$foo'");
        fails(
            bson!({ "$type": "v", "$op": "v" }),
            none(),
            15983,
            r#"An object representing an expression must have exactly one field: { $type: "v", $op: "v" }"#,
        );
        fails(
            bson!({ "$gt": [1] }),
            none(),
            16020,
            "Expression $gt takes exactly 2 arguments. 1 were passed in.",
        );
        fails(
            bson!({ "a": 1, "$b": 2 }),
            none(),
            16410,
            "FieldPath field names may not start with '$'. Consider using $getField or $setField.",
        );
    }

    #[test]
    fn nesting_without_end_is_an_error_and_no_overflow() {
        let mut deep = bson!("$a");
        for _ in 0..5_000 {
            deep = Bson::Array(vec![deep]);
        }
        let scope = scope();
        assert_eq!(Expression::parse(&deep, &scope).unwrap_err().code().unwrap().0, 15);
        // The nested value itself is taken apart step by step: its own drop would recurse.
        while let Bson::Array(mut inner) = deep {
            deep = inner.pop().unwrap();
        }
    }

    #[test]
    fn comparison_crosses_types_and_missing_is_least() {
        assert_eq!(value(bson!({ "$gt": ["x", 5] }), doc! {}), Ok(Some(bson!(true))));
        assert_eq!(value(bson!({ "$eq": [1, 1.0] }), doc! {}), Ok(Some(bson!(true))));
        assert_eq!(value(bson!({ "$eq": ["$zz", null] }), doc! {}), Ok(Some(bson!(false))));
        assert_eq!(value(bson!({ "$lt": ["$zz", null] }), doc! {}), Ok(Some(bson!(true))));
        assert_eq!(value(bson!({ "$cmp": [3, 4] }), doc! {}), Ok(Some(bson!(-1))));
    }

    #[test]
    fn logic_stops_early_and_choices_evaluate_one_branch() {
        let bad = bson!({ "$divide": ["$one", "$zero"] });
        let document = doc! { "one": 1, "zero": 0 };
        assert_eq!(
            value(bson!({ "$and": [0, bad.clone()] }), document.clone()),
            Ok(Some(bson!(false)))
        );
        assert_eq!(
            value(bson!({ "$or": ["x", bad.clone()] }), document.clone()),
            Ok(Some(bson!(true)))
        );
        assert_eq!(value(bson!({ "$and": [] }), doc! {}), Ok(Some(bson!(true))));
        assert_eq!(value(bson!({ "$or": [] }), doc! {}), Ok(Some(bson!(false))));
        assert_eq!(value(bson!({ "$not": ["$zz"] }), doc! {}), Ok(Some(bson!(true))));
        let cond = bson!({ "$cond": { "if": true, "then": 1, "else": bad.clone() } });
        assert_eq!(value(cond, document.clone()), Ok(Some(bson!(1))));
        assert_eq!(value(bson!({ "$cond": ["", 1, 2] }), doc! {}), Ok(Some(bson!(1))));
        assert_eq!(
            value(bson!({ "$ifNull": ["$zz", null, 3, bad] }), document),
            Ok(Some(bson!(3)))
        );
        fails(
            bson!({ "$ifNull": [1] }),
            doc! {},
            1257300,
            "$ifNull needs at least two arguments, had: 1",
        );
        let switch =
            bson!({ "$switch": { "branches": [{ "case": { "$eq": ["$a", 1] }, "then": "one" }] } });
        assert_eq!(value(switch.clone(), doc! { "a": 1 }), Ok(Some(bson!("one"))));
        let words =
            "$switch could not find a matching branch for an input, and no default was specified.";
        fails(switch, doc! { "a": 2 }, 40066, words);
    }

    #[test]
    fn arithmetic_promotes_and_null_wins() {
        let half = i32::MAX;
        assert_eq!(value(bson!({ "$add": [1, 2] }), doc! {}), Ok(Some(bson!(3))));
        assert_eq!(
            value(bson!({ "$add": [half, 1] }), doc! {}),
            Ok(Some(bson!(2_147_483_648_i64)))
        );
        assert_eq!(value(bson!({ "$add": [1, "$zz"] }), doc! {}), Ok(Some(Bson::Null)));
        fails(
            bson!({ "$add": [1, "x"] }),
            doc! {},
            14,
            "$add only supports numeric or date types, not string",
        );
        let date = Bson::DateTime(DateTime::from_millis(5_000));
        let sum = bson!({ "$add": [date.clone(), 1_000] });
        assert_eq!(value(sum, doc! {}), Ok(Some(Bson::DateTime(DateTime::from_millis(6_000)))));
        assert_eq!(
            value(bson!({ "$subtract": [date, "$d"] }), doc! { "d": DateTime::from_millis(1) }),
            Ok(Some(bson!(4_999_i64)))
        );
        assert_eq!(value(bson!({ "$divide": [6, 3] }), doc! {}), Ok(Some(bson!(2.0))));
        fails(bson!({ "$divide": [1, 0] }), doc! {}, 2, "can't $divide by zero");
        assert_eq!(value(bson!({ "$mod": [-7, 3] }), doc! {}), Ok(Some(bson!(-1))));
        fails(bson!({ "$mod": [7, 0] }), doc! {}, 16610, "can't $mod by zero");
        assert_eq!(value(bson!({ "$round": [2.5] }), doc! {}), Ok(Some(bson!(2.0))));
        assert_eq!(value(bson!({ "$round": [1234, -2] }), doc! {}), Ok(Some(bson!(1200))));
        assert_eq!(value(bson!({ "$trunc": [-2.7] }), doc! {}), Ok(Some(bson!(-2.0))));
        assert_eq!(value(bson!({ "$pow": [2, 10] }), doc! {}), Ok(Some(bson!(1024))));
        assert_eq!(value(bson!({ "$pow": [2, -1] }), doc! {}), Ok(Some(bson!(0.5))));
        assert_eq!(value(bson!({ "$sqrt": 16 }), doc! {}), Ok(Some(bson!(4.0))));
        fails(bson!({ "$abs": i64::MIN }), doc! {}, 28680, "can't take $abs of long long min");
        assert_eq!(value(bson!({ "$log": [8, 2] }), doc! {}), Ok(Some(bson!(3.0))));
    }

    #[test]
    fn strings_by_bytes_and_code_points() {
        assert_eq!(value(bson!({ "$concat": ["a", "b"] }), doc! {}), Ok(Some(bson!("ab"))));
        assert_eq!(value(bson!({ "$concat": ["a", "$zz"] }), doc! {}), Ok(Some(Bson::Null)));
        fails(
            bson!({ "$concat": ["a", 1] }),
            doc! {},
            16702,
            "$concat only supports strings, not int",
        );
        assert_eq!(
            value(bson!({ "$substrCP": ["jalapeño", 6, 2] }), doc! {}),
            Ok(Some(bson!("ño")))
        );
        assert_eq!(
            value(bson!({ "$substrBytes": ["hello", 1, -1] }), doc! {}),
            Ok(Some(bson!("ello")))
        );
        let words =
            "$substrBytes:  Invalid range, ending index is in the middle of a UTF-8 character.";
        fails(bson!({ "$substrBytes": ["ño", 0, 1] }), doc! {}, 28657, words);
        assert_eq!(value(bson!({ "$strLenCP": "ño" }), doc! {}), Ok(Some(bson!(2))));
        assert_eq!(value(bson!({ "$strLenBytes": "ño" }), doc! {}), Ok(Some(bson!(3))));
        assert_eq!(
            value(bson!({ "$split": ["a-b-", "-"] }), doc! {}),
            Ok(Some(bson!(["a", "b", ""])))
        );
        assert_eq!(
            value(bson!({ "$trim": { "input": "  a b\n" } }), doc! {}),
            Ok(Some(bson!("a b")))
        );
        assert_eq!(
            value(bson!({ "$ltrim": { "input": "xxay", "chars": "xy" } }), doc! {}),
            Ok(Some(bson!("ay")))
        );
        assert_eq!(value(bson!({ "$indexOfCP": ["vñanilla", "ll"] }), doc! {}), Ok(Some(bson!(5))));
        assert_eq!(
            value(bson!({ "$indexOfBytes": ["vanilla", "zz"] }), doc! {}),
            Ok(Some(bson!(-1)))
        );
        assert_eq!(value(bson!({ "$toUpper": "ñab" }), doc! {}), Ok(Some(bson!("ñAB"))));
        assert_eq!(value(bson!({ "$toLower": "$zz" }), doc! {}), Ok(Some(bson!(""))));
        let all = bson!({ "$replaceAll": { "input": "a.b.c", "find": ".", "replacement": "-" } });
        assert_eq!(value(all, doc! {}), Ok(Some(bson!("a-b-c"))));
    }

    #[test]
    fn arrays_sets_and_objects() {
        let document = doc! { "list": [1, 2, 3], "o": { "a": 1 } };
        assert_eq!(value(bson!({ "$size": "$list" }), document.clone()), Ok(Some(bson!(3))));
        fails(
            bson!({ "$size": "$zz" }),
            doc! {},
            17124,
            "The argument to $size must be an array, but was of type: missing",
        );
        assert_eq!(
            value(bson!({ "$arrayElemAt": ["$list", -1] }), document.clone()),
            Ok(Some(bson!(3)))
        );
        assert_eq!(value(bson!({ "$arrayElemAt": ["$list", 9] }), document.clone()), Ok(None));
        assert_eq!(value(bson!({ "$arrayElemAt": ["$list", -4] }), document.clone()), Ok(None));
        assert_eq!(
            value(bson!({ "$slice": ["$list", 1, 5] }), document.clone()),
            Ok(Some(bson!([2, 3])))
        );
        assert_eq!(
            value(bson!({ "$slice": ["$list", -2] }), document.clone()),
            Ok(Some(bson!([2, 3])))
        );
        assert_eq!(
            value(bson!({ "$in": [2.0, "$list"] }), document.clone()),
            Ok(Some(bson!(true)))
        );
        fails(
            bson!({ "$in": [1, 2] }),
            doc! {},
            40081,
            "$in requires an array as a second argument, found: int",
        );
        assert_eq!(value(bson!({ "$range": [0, 10, 4] }), doc! {}), Ok(Some(bson!([0, 4, 8]))));
        assert_eq!(value(bson!({ "$range": [3, 0, -1] }), doc! {}), Ok(Some(bson!([3, 2, 1]))));
        assert_eq!(value(bson!({ "$range": [0, i32::MAX] }), doc! {}).unwrap_err().0, 146);
        assert_eq!(
            value(bson!({ "$concatArrays": ["$list", "$zz"] }), document.clone()),
            Ok(Some(Bson::Null))
        );
        assert_eq!(
            value(bson!({ "$setUnion": [[2, 1], [1.0, 3]] }), doc! {}),
            Ok(Some(bson!([1, 2, 3])))
        );
        assert_eq!(
            value(bson!({ "$setDifference": [[3, 1, 3], [1]] }), doc! {}),
            Ok(Some(bson!([3])))
        );
        assert_eq!(
            value(bson!({ "$setIsSubset": [[1], "$list"] }), document.clone()),
            Ok(Some(bson!(true)))
        );
        assert_eq!(
            value(bson!({ "$mergeObjects": ["$o", { "b": 2 }] }), document.clone()),
            Ok(Some(bson!({ "a": 1, "b": 2 })))
        );
        assert_eq!(
            value(bson!({ "$objectToArray": "$o" }), document),
            Ok(Some(bson!([{ "k": "a", "v": 1 }])))
        );
        let pairs = bson!({ "$arrayToObject": [[["a", 1], ["b", 2]]] });
        assert_eq!(value(pairs, doc! {}), Ok(Some(bson!({ "a": 1, "b": 2 }))));
        let zip = bson!({ "$zip": { "inputs": [[1, 2], ["a"]], "useLongestLength": true, "defaults": [0, "z"] } });
        assert_eq!(value(zip, doc! {}), Ok(Some(bson!([[1, "a"], [2, "z"]]))));
        let max = bson!({ "$maxN": { "n": 2, "input": [5, null, 9, 7] } });
        assert_eq!(value(max, doc! {}), Ok(Some(bson!([9, 7]))));
        assert_eq!(value(bson!({ "$getField": "a.b" }), doc! { "a.b": 5 }), Ok(Some(bson!(5))));
        let set = bson!({ "$setField": { "field": "$x", "input": "$$ROOT", "value": 1 } });
        assert_eq!(value(set, doc! {}).unwrap_err().0, 5654601);
        let set = bson!({ "$setField": { "field": { "$literal": "$x" }, "input": "$$ROOT", "value": 1 } });
        assert_eq!(value(set, doc! { "a": 0 }), Ok(Some(bson!({ "a": 0, "$x": 1 }))));
    }

    #[test]
    fn let_binds_all_its_variables_at_once() {
        let expression = bson!({ "$let": {
            "vars": { "low": 1, "high": "$$low" },
            "in": ["$$low"],
        } });
        fails(expression, doc! {}, 17276, "Use of undefined variable: low");
        let expression = bson!({ "$let": {
            "vars": { "a": "$x", "b": { "c": 2 } },
            "in": { "$add": ["$$a", "$$b.c", { "$let": { "vars": { "a": 10 }, "in": "$$a" } }, "$$a"] },
        } });
        assert_eq!(value(expression, doc! { "x": 1 }), Ok(Some(bson!(14))));
    }

    #[test]
    fn folding_finds_errors_before_any_document() {
        let scope = scope();
        let mut bad =
            Expression::parse(&bson!({ "$add": ["$a", { "$divide": [1, 0] }] }), &scope).unwrap();
        assert_eq!(bad.fold(&scope).unwrap_err().to_string(), "can't $divide by zero");
        let mut good =
            Expression::parse(&bson!({ "$add": [1, { "$multiply": [2, 3] }] }), &scope).unwrap();
        good.fold(&scope).unwrap();
        assert_eq!(good.constant(), Some(&bson!(7)));
    }
}
