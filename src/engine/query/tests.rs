//! What filters match, after the MongoDB manual and the documented behaviour of nulls, arrays and types.

use bson::oid::ObjectId;
use bson::spec::BinarySubtype;
use bson::{Binary, Bson, DateTime, Document, Regex, bson, doc};

use super::*;
use crate::engine::expr::Scope;
use crate::error::{Code, Error};

fn scope() -> Scope {
    Scope::new(DateTime::from_millis(0))
}

fn parse(query: &Document) -> Filter {
    Filter::parse(query, &scope()).unwrap_or_else(|error| panic!("{query}: {error}"))
}

fn matches(query: Document, document: Document) -> bool {
    parse(&query).matches(&document).expect("no expression fails here")
}

/// Which of `documents` a query matches, by position.
fn which(query: Document, documents: &[Document]) -> Vec<usize> {
    (0..documents.len()).filter(|at| matches(query.clone(), documents[*at].clone())).collect()
}

fn refusal(query: Document) -> (i32, String) {
    match Filter::parse(&query, &scope()) {
        Err(Error::Command(error)) => (error.code.0, error.message),
        other => panic!("{query} is refused, not {other:?}"),
    }
}

fn regex(pattern: &str, options: &str) -> Bson {
    Bson::RegularExpression(Regex {
        pattern: pattern.try_into().expect("no null byte"),
        options: options.try_into().expect("no null byte"),
    })
}

#[test]
fn families_are_sorted_and_every_row_is_found() {
    for family in FAMILIES {
        assert!(family.is_sorted_by_key(|row| row.name), "{:?}", family[0].name);
    }
    for row in operators() {
        assert!(row.name.starts_with('$') && !row.help.is_empty());
        assert!(rows(row.name).any(|found| std::ptr::eq(found, row)), "{}", row.name);
    }
}

#[test]
fn equality_walks_into_arrays_once() {
    assert!(matches(doc! {"a": 1}, doc! {"a": 1.0}));
    assert!(matches(doc! {"a": 1}, doc! {"a": [1, 2]}));
    assert!(!matches(doc! {"a": 1}, doc! {"a": [[1]]}));
    assert!(matches(doc! {"a": [1, 2]}, doc! {"a": [1, 2]}));
    assert!(matches(doc! {"a": [1, 2]}, doc! {"a": [[1, 2], 3]}));
    assert!(!matches(doc! {"a": [2, 1]}, doc! {"a": [1, 2]}));
    assert!(matches(doc! {"a": {"b": 1}}, doc! {"a": {"b": 1_i64}}));
    assert!(!matches(doc! {"a": {"b": 1, "c": 1}}, doc! {"a": {"c": 1, "b": 1}}));
    assert!(
        matches(doc! {"a": {}}, doc! {"a": {}}) && !matches(doc! {"a": {}}, doc! {"a": {"b": 1}})
    );
    assert!(matches(doc! {}, doc! {"a": 1}));
}

#[test]
fn null_equals_a_missing_field() {
    let documents = [
        doc! {},
        doc! {"a": Bson::Null},
        doc! {"a": 4},
        doc! {"a": {}},
        doc! {"a": {"b": Bson::Null}},
        doc! {"a": {"b": 1}},
        doc! {"a": []},
        doc! {"a": [1]},
        doc! {"a": [{"b": 1}, {}]},
        doc! {"a": [Bson::Null]},
    ];
    assert_eq!(which(doc! {"a": Bson::Null}, &documents), [0, 1, 9]);
    assert_eq!(which(doc! {"a": {"$ne": Bson::Null}}, &documents), [2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(which(doc! {"a": {"$exists": false}}, &documents), [0]);
    assert_eq!(which(doc! {"a.b": Bson::Null}, &documents), [0, 1, 2, 3, 4, 8]);
    assert_eq!(which(doc! {"a.b": {"$in": [Bson::Null]}}, &documents), [0, 1, 2, 3, 4, 8]);
    assert_eq!(which(doc! {"a.b": {"$exists": false}}, &documents), [0, 1, 2, 3, 6, 7, 9]);
    assert_eq!(which(doc! {"a": {"$gte": Bson::Null}}, &documents), [0, 1, 9]);
    assert_eq!(which(doc! {"a": {"$gt": Bson::Null}}, &documents), [] as [usize; 0]);
    assert_eq!(which(doc! {"a": {"$type": "null"}}, &documents), [1, 9]);
    assert_eq!(which(doc! {"a": {"$in": [Bson::Null, 4]}}, &documents), [0, 1, 2, 9]);
    assert_eq!(which(doc! {"a": {"$nin": [Bson::Null, 4]}}, &documents), [3, 4, 5, 6, 7, 8]);
}

#[test]
fn ranges_stay_within_a_bracket_of_types() {
    let documents = [
        doc! {"a": 5},
        doc! {"a": 6.5},
        doc! {"a": "9"},
        doc! {"a": Bson::Null},
        doc! {"a": [1, 10]},
        doc! {"a": f64::NAN},
        doc! {"a": Bson::MaxKey},
        doc! {},
    ];
    assert_eq!(which(doc! {"a": {"$gt": 5}}, &documents), [1, 4]);
    assert_eq!(which(doc! {"a": {"$gte": 5, "$lt": 6}}, &documents), [0, 4]);
    assert_eq!(which(doc! {"a": {"$lte": f64::NAN}}, &documents), [5]);
    assert_eq!(which(doc! {"a": {"$lt": 100}}, &documents), [0, 1, 4]);
    assert_eq!(which(doc! {"a": {"$gte": Bson::MinKey}}, &documents), [0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(which(doc! {"a": {"$lt": Bson::MaxKey}}, &documents), [0, 1, 2, 3, 4, 5, 7]);
    assert!(matches(doc! {"a": {"$gt": [1]}}, doc! {"a": [2]}));
    assert!(matches(doc! {"a": {"$gt": {"b": 1}}}, doc! {"a": {"b": 2}}));
    assert!(matches(
        doc! {"a": {"$lt": DateTime::from_millis(5)}},
        doc! {"a": DateTime::from_millis(-5)}
    ));
}

#[test]
fn negations_speak_of_the_whole_array() {
    assert!(!matches(doc! {"a": {"$ne": 1}}, doc! {"a": [1, 2]}));
    assert!(matches(doc! {"a": {"$ne": 3}}, doc! {"a": [1, 2]}));
    assert!(!matches(doc! {"a": {"$nin": [2, 3]}}, doc! {"a": [1, 2]}));
    assert!(!matches(doc! {"a": {"$not": {"$gt": 1}}}, doc! {"a": [1, 2]}));
    assert!(matches(doc! {"a": {"$not": {"$gt": 1}}}, doc! {}));
    assert!(matches(doc! {"a": {"$not": {"$gt": 1, "$lt": 3}}}, doc! {"a": 5}));
    assert!(matches(doc! {"a": {"$not": regex("^x", "")}}, doc! {"a": "y"}));
    assert!(matches(doc! {"$nor": [{"a": 1}, {"b": 2}]}, doc! {"a": 2, "b": 1}));
    assert!(!matches(doc! {"$nor": [{"a": 1}, {"b": 2}]}, doc! {"a": 2, "b": 2}));
}

#[test]
fn conditions_on_an_array_may_hold_through_different_elements() {
    let document = doc! {"a": [{"b": 1, "c": 1}, {"b": 2, "c": 2}]};
    assert!(matches(doc! {"a.b": 1, "a.c": 2}, document.clone()));
    assert!(!matches(doc! {"a": {"$elemMatch": {"b": 1, "c": 2}}}, document.clone()));
    assert!(matches(doc! {"a": {"$elemMatch": {"b": 2, "c": 2}}}, document.clone()));
    assert!(matches(doc! {"a.1.b": 2}, document.clone()) && !matches(doc! {"a.0.b": 2}, document));
    assert!(matches(doc! {"a": {"$elemMatch": {"$gt": 1, "$lt": 3}}}, doc! {"a": [0, 2]}));
    assert!(!matches(doc! {"a": {"$elemMatch": {"$gt": 1, "$lt": 3}}}, doc! {"a": [0, 5]}));
    assert!(!matches(doc! {"a": {"$elemMatch": {"$gt": 1}}}, doc! {"a": 2}));
    assert!(matches(
        doc! {"a": {"$elemMatch": {"$elemMatch": {"$gt": 1}}}},
        doc! {"a": [[0], [2]]}
    ));
    assert!(matches(doc! {"a": {"$elemMatch": {"0": 5}}}, doc! {"a": [[5]]}));
    assert!(matches(
        doc! {"a": {"$elemMatch": {"$or": [{"b": 1}, {"b": 7}]}}},
        doc! {"a": [{"b": 7}]}
    ));
    assert!(matches(doc! {"a": {"$elemMatch": {"$nin": [1, 2]}}}, doc! {"a": [1, 3]}));
    assert!(matches(doc! {"a": {"$not": {"$elemMatch": {"b": 9}}}}, doc! {"a": [{"b": 1}]}));
    assert!(!matches(doc! {"a.b": 1}, doc! {"a": [[{"b": 1}]]}));
}

#[test]
fn all_and_size() {
    assert!(matches(doc! {"a": {"$all": [1, 2]}}, doc! {"a": [2, 3, 1]}));
    assert!(!matches(doc! {"a": {"$all": [1, 2]}}, doc! {"a": [1, 3]}));
    assert!(!matches(doc! {"a": {"$all": []}}, doc! {"a": []}));
    assert!(matches(doc! {"a": {"$all": [1]}}, doc! {"a": 1}));
    assert!(matches(doc! {"a": {"$all": [[1, 2]]}}, doc! {"a": [1, 2]}));
    assert!(matches(doc! {"a": {"$all": [[1, 2]]}}, doc! {"a": [[1, 2], 3]}));
    assert!(matches(
        doc! {"a": {"$all": [{"$elemMatch": {"b": 1}}, {"$elemMatch": {"b": 2}}]}},
        doc! {"a": [{"b": 1}, {"b": 2}]}
    ));
    assert!(matches(doc! {"a": {"$all": [regex("^x", ""), "y"]}}, doc! {"a": ["xy", "y"]}));
    assert!(matches(doc! {"a": {"$size": 0}}, doc! {"a": []}));
    assert!(
        !matches(doc! {"a": {"$size": 0}}, doc! {})
            && !matches(doc! {"a": {"$size": 1}}, doc! {"a": 5})
    );
    assert!(matches(doc! {"a": {"$size": 2.0}}, doc! {"a": [1, [2]]}));
}

#[test]
fn types_by_alias_and_number() {
    assert!(matches(doc! {"a": {"$type": "int"}}, doc! {"a": ["x", 1]}));
    assert!(matches(doc! {"a": {"$type": "array"}}, doc! {"a": [1]}));
    assert!(!matches(doc! {"a": {"$type": "array"}}, doc! {"a": 1}));
    assert!(matches(doc! {"a": {"$type": "number"}}, doc! {"a": 1.5}));
    assert!(matches(
        doc! {"a": {"$type": [2, "objectId"]}},
        doc! {"a": ObjectId::from_bytes([1; 12])}
    ));
    assert!(matches(doc! {"a": {"$type": -1}}, doc! {"a": Bson::MinKey}));
    assert!(matches(doc! {"a": {"$type": 127.0}}, doc! {"a": Bson::MaxKey}));
    assert!(!matches(doc! {"a": {"$type": "long"}}, doc! {"a": 1}));
}

#[test]
fn regular_expressions_match_strings_and_themselves() {
    assert!(matches(doc! {"a": regex("^ab", "i")}, doc! {"a": "ABC"}));
    assert!(matches(doc! {"a": regex("b", "")}, doc! {"a": ["x", "abc"]}));
    assert!(!matches(doc! {"a": regex("1", "")}, doc! {"a": 1}));
    assert!(matches(doc! {"a": regex("b", "i")}, doc! {"a": regex("b", "i")}));
    assert!(!matches(doc! {"a": regex("b", "i")}, doc! {"a": regex("b", "")}));
    assert!(matches(doc! {"a": {"$regex": "^AB", "$options": "i"}}, doc! {"a": "abc"}));
    assert!(matches(doc! {"a": {"$options": "i", "$regex": "^AB"}}, doc! {"a": "abc"}));
    assert!(matches(doc! {"a": {"$regex": regex("x", "i")}}, doc! {"a": "X"}));
    assert!(matches(doc! {"a": {"$in": [regex("^x", ""), 3]}}, doc! {"a": "xyz"}));
    assert!(matches(doc! {"a": {"$eq": regex("x", "")}}, doc! {"a": regex("x", "")}));
    assert!(!matches(doc! {"a": {"$eq": regex("x", "")}}, doc! {"a": "x"}));
}

#[test]
fn modulo_truncates_toward_zero() {
    assert!(matches(doc! {"a": {"$mod": [4, 0]}}, doc! {"a": 8}));
    assert!(matches(doc! {"a": {"$mod": [4, 1]}}, doc! {"a": 5.9}));
    assert!(matches(doc! {"a": {"$mod": [4, -1]}}, doc! {"a": -5}));
    assert!(!matches(doc! {"a": {"$mod": [4, 0]}}, doc! {"a": "8"}));
    assert!(!matches(doc! {"a": {"$mod": [4, 0]}}, doc! {"a": f64::NAN}));
    assert!(matches(doc! {"a": {"$mod": [-1, 0]}}, doc! {"a": i64::MIN}));
}

#[test]
fn bits_of_integers_and_binaries() {
    assert!(matches(doc! {"a": {"$bitsAllSet": [1, 5]}}, doc! {"a": 54}));
    assert!(matches(doc! {"a": {"$bitsAllSet": 50}}, doc! {"a": 54.0}));
    assert!(matches(doc! {"a": {"$bitsAllClear": [0, 3]}}, doc! {"a": 54}));
    assert!(matches(doc! {"a": {"$bitsAnySet": 35}}, doc! {"a": 54}));
    assert!(!matches(doc! {"a": {"$bitsAnyClear": 4}}, doc! {"a": 54}));
    assert!(matches(doc! {"a": {"$bitsAllSet": [200]}}, doc! {"a": -1}));
    assert!(!matches(doc! {"a": {"$bitsAllClear": 1}}, doc! {"a": 0.5}));
    let bytes = Bson::Binary(Binary { subtype: BinarySubtype::Generic, bytes: vec![0, 2] });
    assert!(matches(doc! {"a": {"$bitsAllSet": [9]}}, doc! {"a": bytes.clone()}));
    assert!(matches(doc! {"a": {"$bitsAllSet": bytes}}, doc! {"a": 512}));
}

#[test]
fn expressions_see_the_document_and_the_variables() {
    let scope = scope().with_variables(doc! {"least": 5});
    let filter =
        Filter::parse(&doc! {"$expr": {"$gt": ["$a", "$$least"]}}, &scope).expect("a filter");
    assert!(filter.matches(&doc! {"a": 6}).unwrap() && !filter.matches(&doc! {"a": 5}).unwrap());
}

#[test]
fn the_position_is_that_of_the_last_array_condition() {
    let at = |query: Document, document: Document| {
        parse(&query)
            .matches_at(&document)
            .expect("no expression fails here")
            .expect("a match")
            .index
    };
    assert_eq!(at(doc! {"a": 3}, doc! {"a": [1, 2, 3]}), Some(2));
    assert_eq!(at(doc! {"a.b": 2}, doc! {"a": [{"b": 1}, {"b": [5, 2]}]}), Some(1));
    assert_eq!(at(doc! {"a": {"$elemMatch": {"b": 2}}}, doc! {"a": [{"b": 1}, {"b": 2}]}), Some(1));
    assert_eq!(at(doc! {"x": 2, "a": 1}, doc! {"x": [0, 1, 2], "a": [5, 1]}), Some(1));
    assert_eq!(at(doc! {"a": [1, 2]}, doc! {"a": [1, 2]}), None);
    assert_eq!(at(doc! {"a": 1}, doc! {"a": 1}), None);
    assert_eq!(at(doc! {"$or": [{"a": 9}, {"a": 2}]}, doc! {"a": [1, 2]}), Some(1));
}

#[test]
fn bad_queries_die_with_the_servers_words() {
    for (query, code, message) in [
        (doc! {"a": {"$foo": 1}}, 2, "unknown operator: $foo"),
        (doc! {"a": {"$gt": 1, "b": 1}}, 2, "unknown operator: b"),
        (
            doc! {"$foo": 1},
            2,
            "unknown top level operator: $foo. If you have a field name that starts with a '$' symbol, consider using \
             $getField or $setField.",
        ),
        (doc! {"a": {"$in": 1}}, 2, "$in needs an array"),
        (doc! {"a": {"$nin": {}}}, 2, "$nin needs an array"),
        (doc! {"$and": []}, 2, "$and/$or/$nor must be a nonempty array"),
        (doc! {"$or": {}}, 2, "$or must be an array"),
        (doc! {"$or": [1]}, 2, "$or/$and/$nor entries need to be full objects"),
        (doc! {"a": {"$elemMatch": 1}}, 2, "$elemMatch needs an Object"),
        (doc! {"a": {"$not": 1}}, 2, "$not needs a regex or a document"),
        (doc! {"a": {"$not": {}}}, 2, "$not cannot be empty"),
        (doc! {"a": {"$all": 1}}, 2, "$all needs an array"),
        (
            doc! {"a": {"$size": -1}},
            2,
            "Failed to parse $size. Expected a non-negative number in: $size: -1",
        ),
        (doc! {"a": {"$size": 1.5}}, 2, "Failed to parse $size. Expected an integer: $size: 1.5"),
        (doc! {"a": {"$mod": [1]}}, 2, "malformed mod, not enough elements"),
        (doc! {"a": {"$mod": [0, 1]}}, 2, "divisor cannot be 0"),
        (doc! {"a": {"$regex": 1}}, 2, "$regex has to be a string"),
        (doc! {"a": {"$options": "i"}}, 2, "$options needs a $regex"),
        (doc! {"a": {"$type": "abc"}}, 2, "Unknown type name alias: abc"),
        (doc! {"a": {"$type": 16.3}}, 2, "Invalid numerical type code: 16.3"),
        (doc! {"n": {"$type": []}}, 9, "n must match at least one type"),
        (
            doc! {"v": {"$gt": regex("x", "")}},
            2,
            "Can't have RegEx as arg to predicate over field 'v'.",
        ),
        (
            doc! {"v": {"$bitsAllClear": "123"}},
            2,
            "v takes an Array, a number, or a BinData but received: $bitsAllClear: \"123\"",
        ),
        (
            doc! {"v": {"$bitsAllClear": -1}},
            9,
            "Expected a non-negative number in: $bitsAllClear: -1",
        ),
        (doc! {"v": {"$bitsAllClear": 1.2}}, 9, "Expected an integer: $bitsAllClear: 1.2"),
    ] {
        assert_eq!(refusal(query.clone()), (code, message.to_owned()), "{query}");
    }
    assert_eq!(refusal(doc! {"a": {"$regex": "("}}).0, 51091);
    let mut deep = doc! {"a": 1};
    for _ in 0..5000 {
        deep = doc! {"$and": [deep]};
    }
    assert_eq!(refusal(deep).0, Code::BAD_VALUE.0);
}

#[test]
fn a_dbref_is_a_value_and_no_operator() {
    let reference = doc! {"$ref": "c", "$id": 1};
    assert!(matches(doc! {"a": reference.clone()}, doc! {"a": reference.clone()}));
    assert!(matches(doc! {"a.$id": 1}, doc! {"a": reference}));
}

#[test]
fn conjuncts_tell_the_planner_what_must_hold() {
    let filter = parse(&doc! {
        "a": 1, "$and": [{"b": {"$gt": 2, "$lte": 5}}], "c": {"$in": [3, 1]}, "d": regex("^ab", ""),
        "e": {"$elemMatch": {"f": 1}}, "g": {"$elemMatch": {"$gte": 1, "$lt": 2}}, "h": {"$exists": false},
        "$or": [{"i": 1}, {"j": 2}],
    });
    let (one, two, five) = (bson!(1), bson!(2), bson!(5));
    let one_and_three = [bson!(1), bson!(3)];
    let expected = [
        ("a", Condition::Equal(&one)),
        ("b", Condition::Compare(Comparison::Greater, &two)),
        ("b", Condition::Compare(Comparison::LessOrEqual, &five)),
        ("c", Condition::In(&one_and_three)),
        ("d", Condition::Prefix("ab")),
        ("e.f", Condition::Equal(&one)),
        (
            "g",
            Condition::Element(vec![
                Condition::Compare(Comparison::GreaterOrEqual, &one),
                Condition::Compare(Comparison::Less, &two),
            ]),
        ),
        ("h", Condition::Exists(false)),
    ]
    .map(|(path, condition)| Conjunct { path: path.into(), condition });
    assert_eq!(filter.conjuncts(), expected);
    let branches = filter.alternatives().expect("an $or");
    assert_eq!(branches.len(), 2);
    assert!(parse(&doc! {"a": {"$in": []}}).is_none() && parse(&doc! {}).is_all());
}

#[test]
fn equalities_start_an_upsert() {
    let of = |query: Document| parse(&query).equalities();
    assert_eq!(
        of(
            doc! {"a": 1, "b.c": {"$eq": 2}, "$and": [{"d": 3}], "$or": [{"e": 4}], "f": {"$in": [5]},
            "g": {"$all": [6]}, "h": {"$gt": 1}, "i": {"$in": [1, 2]}, "j": {"$ne": 1}, "k": regex("x", ""),
            "l": {"$elemMatch": {"m": 1}}, "$nor": [{"n": 1}]}
        ),
        Ok([("a", 1), ("b.c", 2), ("d", 3), ("e", 4), ("f", 5), ("g", 6)]
            .map(|(path, value)| (path.to_owned(), bson!(value)))
            .to_vec())
    );
    let twice = of(doc! {"x": 1, "$and": [{"x": 2}]}).expect_err("two values");
    assert_eq!(twice.code(), Some(Code::NOT_SINGLE_VALUE_FIELD));
    assert_eq!(twice.to_string(), "cannot infer query fields to set, path 'x' is matched twice");
    assert!(of(doc! {"a": 1, "a.b": 2}).is_err());
}

#[test]
fn a_filter_tells_itself_back() {
    for (query, canonical) in [
        (doc! {}, doc! {}),
        (doc! {"a": 1}, doc! {"a": {"$eq": 1}}),
        (doc! {"a": {"$gt": 1, "$lte": 5}}, doc! {"$and": [{"a": {"$gt": 1}}, {"a": {"$lte": 5}}]}),
        (doc! {"a": {"$ne": 1}}, doc! {"a": {"$not": {"$eq": 1}}}),
        (doc! {"$or": [{"a": 1}, {"b": 2}]}, doc! {"$or": [{"a": {"$eq": 1}}, {"b": {"$eq": 2}}]}),
        (
            doc! {"a": {"$elemMatch": {"$gt": 1, "$lt": 3}}},
            doc! {"a": {"$elemMatch": {"$gt": 1, "$lt": 3}}},
        ),
        (doc! {"a": regex("x", "i")}, doc! {"a": {"$regex": "x", "$options": "i"}}),
        (doc! {"$expr": {"$gt": ["$a", 1]}}, doc! {"$expr": {"$gt": ["$a", 1]}}),
    ] {
        assert_eq!(parse(&query).describe(), canonical);
    }
}

#[test]
fn a_filter_says_why_a_document_does_not_match() {
    let why = |query: Document, document: Document| {
        parse(&query).failure(&document).expect("no expression fails")
    };
    assert_eq!(why(doc! {"a": 1}, doc! {"a": 1}), None);
    assert_eq!(
        why(doc! {"a": {"$gt": 5}}, doc! {"a": 3}),
        Some(doc! {
            "operatorName": "$gt", "specifiedAs": {"a": {"$gt": 5}}, "reason": "comparison failed", "consideredValue": 3,
        })
    );
    assert_eq!(
        why(doc! {"a": 1, "b": {"$exists": true}}, doc! {"a": 1}),
        Some(doc! {"operatorName": "$and", "clausesNotSatisfied": [{"index": 1, "details": {
            "operatorName": "$exists", "specifiedAs": {"b": {"$exists": true}}, "reason": "path does not exist",
        }}]})
    );
}
