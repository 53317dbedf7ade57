//! What updates make of documents, after the MongoDB manual and the server's documented messages.

use bson::{Bson, DateTime, Document, Regex, Timestamp, bson, doc};

use super::*;
use crate::engine::query::Filter;
use crate::error::{Code, Error};

fn scope() -> Scope {
    Scope::new(DateTime::from_millis(1_700_000_000_500))
}

fn parse(update: Document, filters: &[Document]) -> Update {
    Update::parse(&Bson::Document(update.clone()), filters, &scope())
        .unwrap_or_else(|error| panic!("{update}: {error}"))
}

fn applied(document: &Document, update: Document) -> Applied {
    parse(update, &[]).apply(document, None, &scope()).unwrap_or_else(|error| panic!("{error}"))
}

/// The text of the document after the update: it shows the order of fields and the types of numbers.
fn after(document: Document, update: Document) -> String {
    crate::value::text::document(&applied(&document, update).document)
}

fn modifies(document: Document, update: Document) -> bool {
    applied(&document, update).modified
}

fn refused(error: Error) -> (i32, String) {
    match error {
        Error::Command(error) => (error.code.0, error.message),
        other => panic!("a server error, not {other:?}"),
    }
}

/// Code and words of a refusal, while compiling or on the document.
fn refusal(document: Document, update: Document) -> (i32, String) {
    match Update::parse(&Bson::Document(update.clone()), &[], &scope()) {
        Err(error) => refused(error),
        Ok(compiled) => match compiled.apply(&document, None, &scope()) {
            Err(error) => refused(error),
            Ok(applied) => panic!("{update} is refused, and does not give {:?}", applied.document),
        },
    }
}

fn parse_refusal(update: Document, filters: &[Document]) -> (i32, String) {
    match Update::parse(&Bson::Document(update.clone()), filters, &scope()) {
        Err(error) => refused(error),
        Ok(_) => panic!("{update} is refused"),
    }
}

/// Applies an update through the element that a query matched.
fn matched(
    document: Document,
    query: Document,
    update: Document,
    filters: &[Document],
) -> Result<String> {
    let found = Filter::parse(&query, &scope())?.matches_at(&document)?;
    let update = Update::parse(&Bson::Document(update), filters, &scope())?;
    Ok(crate::value::text::document(&update.apply(&document, found.as_ref(), &scope())?.document))
}

fn upsert(query: Document, update: Document) -> Result<Document> {
    Update::parse(&Bson::Document(update), &[], &scope())?
        .upsert(&Filter::parse(&query, &scope())?, &scope())
}

#[test]
fn families_are_sorted_and_names_are_unique() {
    let mut names: Vec<&str> = operators().map(|row| row.name).collect();
    for family in FAMILIES {
        assert!(family.is_sorted_by_key(|row| row.name));
    }
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 15);
    assert!(
        operators().all(|row| operator(row.name).is_some_and(|found| std::ptr::eq(found, row)))
    );
}

#[test]
fn new_fields_come_in_the_order_of_their_names() {
    assert_eq!(
        after(doc! {"_id": 1, "m": 0}, doc! {"$set": {"z": 1, "b": 2, "10": 3, "9": 4, "m": 5}}),
        "{ _id: 1, m: 5, 9: 4, 10: 3, b: 2, z: 1 }"
    );
    assert_eq!(
        after(doc! {"_id": 1}, doc! {"$inc": {"n": 1}, "$set": {"a.c": 1, "a.b": 2}}),
        "{ _id: 1, a: { b: 2, c: 1 }, n: 1 }"
    );
}

#[test]
fn set_makes_documents_and_fills_arrays() {
    assert_eq!(
        after(doc! {"_id": 1}, doc! {"$set": {"a.b.c": 1}}),
        "{ _id: 1, a: { b: { c: 1 } } }"
    );
    assert_eq!(after(doc! {"_id": 1}, doc! {"$set": {"a.3": 1}}), "{ _id: 1, a: { 3: 1 } }");
    assert_eq!(
        after(doc! {"_id": 1, "a": [0]}, doc! {"$set": {"a.3": 1}}),
        "{ _id: 1, a: [ 0, null, null, 1 ] }"
    );
    assert_eq!(
        after(doc! {"_id": 1, "a": [{"b": 1}]}, doc! {"$set": {"a.0.b": 2}}),
        "{ _id: 1, a: [ { b: 2 } ] }"
    );
    assert_eq!(
        refusal(doc! {"a": "x"}, doc! {"$set": {"a.b": 1}}),
        (28, "Cannot create field 'b' in element {a: \"x\"}".into())
    );
    assert_eq!(
        refusal(doc! {"a": [1]}, doc! {"$set": {"a.b": 1}}),
        (28, "Cannot create field 'b' in element {a: [ 1 ]}".into())
    );
    assert_eq!(refusal(doc! {"a": []}, doc! {"$set": {"a.1500002": 1}}).0, 2);
}

#[test]
fn writing_what_is_there_modifies_nothing() {
    assert!(!modifies(doc! {"_id": 1, "a": 1}, doc! {"$set": {"a": 1}}));
    assert!(modifies(doc! {"_id": 1, "a": 1}, doc! {"$set": {"a": 1.0}}));
    assert!(!modifies(doc! {"a": 1}, doc! {"$inc": {"a": 0}}));
    assert!(!modifies(doc! {"a": 1}, doc! {"$unset": {"b": ""}}));
    assert!(!modifies(doc! {"a": 1}, doc! {"$set": {}}));
    assert!(!modifies(doc! {"a": 1}, doc! {"$setOnInsert": {"b": 1}}));
    assert!(!modifies(doc! {"a": [1]}, doc! {"$addToSet": {"a": 1.0}}));
    assert!(!modifies(doc! {"a": []}, doc! {"$pop": {"a": 1}}));
    assert!(!modifies(doc! {"a": 5}, doc! {"$max": {"a": 5.0}}));
    assert!(!modifies(doc! {"_id": 1, "a": 1}, doc! {"a": 1}));
    assert!(modifies(doc! {"_id": 1, "a": 1, "b": 2}, doc! {"b": 2, "a": 1}));
}

#[test]
fn inc_and_mul_promote_and_refuse() {
    assert_eq!(after(doc! {}, doc! {"$inc": {"a": 2}}), "{ a: 2 }");
    assert_eq!(after(doc! {"a": 1}, doc! {"$inc": {"a": 0.5}}), "{ a: 1.5 }");
    assert_eq!(after(doc! {"a": i32::MAX}, doc! {"$inc": {"a": 1}}), "{ a: 2147483648 }");
    assert_eq!(after(doc! {}, doc! {"$mul": {"a": 2.0}}), "{ a: 0.0 }");
    assert_eq!(after(doc! {"a": 3}, doc! {"$mul": {"a": 4_i64}}), "{ a: 12 }");
    let overflow = doc! {"_id": "int64-max", "a": i64::MAX};
    assert_eq!(
        refusal(overflow, doc! {"$inc": {"a": 1}}),
        (
            2,
            "Failed to apply $inc operations to current value ((NumberLong)9223372036854775807) for document \
             {_id: \"int64-max\"}"
                .into()
        )
    );
    assert_eq!(
        refusal(doc! {"_id": 1, "a": "x"}, doc! {"$inc": {"a": 1}}),
        (
            14,
            "Cannot apply $inc to a value of non-numeric type. {_id: 1} has the field 'a' of non-numeric type string"
                .into()
        )
    );
    assert_eq!(refusal(doc! {"_id": 1, "a": Bson::Null}, doc! {"$mul": {"a": 1}}).0, 14);
    assert_eq!(
        refusal(doc! {}, doc! {"$inc": {"v": "string"}}),
        (14, "Cannot increment with non-numeric argument: {v: \"string\"}".into())
    );
    assert_eq!(
        refusal(doc! {}, doc! {"$mul": {"v": "string"}}),
        (14, "Cannot multiply with non-numeric argument: {v: \"string\"}".into())
    );
}

#[test]
fn unset_rename_min_max_and_dates() {
    assert_eq!(after(doc! {"a": 1, "b": 2}, doc! {"$unset": {"a": ""}}), "{ b: 2 }");
    assert_eq!(after(doc! {"a": [1, 2]}, doc! {"$unset": {"a.0": ""}}), "{ a: [ null, 2 ] }");
    assert_eq!(after(doc! {"a": 1}, doc! {"$unset": {"a.b": ""}}), "{ a: 1 }");
    assert_eq!(after(doc! {"a": 1, "b": 2}, doc! {"$rename": {"a": "c"}}), "{ b: 2, c: 1 }");
    assert_eq!(
        after(doc! {"a": {"x": 1}}, doc! {"$rename": {"a.x": "b.y"}}),
        "{ a: {}, b: { y: 1 } }"
    );
    assert_eq!(after(doc! {"b": 2}, doc! {"$rename": {"a": "b"}}), "{ b: 2 }");
    assert_eq!(after(doc! {"a": 5}, doc! {"$min": {"a": 3}, "$max": {"b": 1}}), "{ a: 3, b: 1 }");
    assert_eq!(after(doc! {"a": "x"}, doc! {"$max": {"a": 3}}), "{ a: \"x\" }");
    assert_eq!(
        after(doc! {}, doc! {"$currentDate": {"a": true, "b": {"$type": "timestamp"}}}),
        "{ a: new Date(1700000000500), b: Timestamp(1700000000, 1) }"
    );
    assert_eq!(
        refusal(doc! {}, doc! {"$rename": {"a": "a"}}),
        (2, "The source and target field for $rename must differ: a: \"a\"".into())
    );
    assert_eq!(
        refusal(doc! {}, doc! {"$rename": {"a.$[i]": "b"}}),
        (2, "The source field for $rename may not be dynamic: a.$[i]".into())
    );
    assert_eq!(
        refusal(doc! {}, doc! {"$rename": {"a": "b.$[]"}}),
        (2, "The destination field for $rename may not be dynamic: b.$[]".into())
    );
    assert_eq!(
        refusal(doc! {"v": "x"}, doc! {"$rename": {"v.foo": "b"}}),
        (28, "cannot use the part (v of v.foo) to traverse the element ({v: \"x\"})".into())
    );
}

#[test]
fn conflicts_show_before_anything_changes() {
    for (update, message) in [
        (
            doc! {"$set": {"a": 1}, "$inc": {"a.b": 1}},
            "Updating the path 'a.b' would create a conflict at 'a'",
        ),
        (
            doc! {"$set": {"a.b": 1}, "$inc": {"a": 1}},
            "Updating the path 'a' would create a conflict at 'a'",
        ),
        (
            doc! {"$set": {"a": 1}, "$unset": {"a": 1}},
            "Updating the path 'a' would create a conflict at 'a'",
        ),
        (
            doc! {"$set": {"a": 1}, "$setOnInsert": {"a": 1}},
            "Updating the path 'a' would create a conflict at 'a'",
        ),
        (
            doc! {"$rename": {"a": "b"}, "$set": {"b": 1}},
            "Updating the path 'b' would create a conflict at 'b'",
        ),
        (
            doc! {"$set": {"a.$[]": 1, "a.0": 1}},
            "Updating the path 'a.0' would create a conflict at 'a'",
        ),
    ] {
        assert_eq!(parse_refusal(update, &[]), (40, message.into()));
    }
    assert!(Update::parse(&bson!({"$set": {"a.b": 1, "a.c": 2}}), &[], &scope()).is_ok());
}

#[test]
fn an_id_never_changes() {
    let stored = doc! {"_id": 1, "a": 1};
    let message = "Performing an update on the path '_id' would modify the immutable field '_id'";
    assert_eq!(refusal(stored.clone(), doc! {"$set": {"_id": 2}}), (66, message.into()));
    assert_eq!(refusal(stored.clone(), doc! {"$unset": {"_id": ""}}), (66, message.into()));
    assert_eq!(refusal(stored.clone(), doc! {"$inc": {"_id": 1}}).0, 66);
    assert_eq!(refusal(doc! {"_id": {"x": 1}}, doc! {"$set": {"_id.x": 2}}).0, 66);
    assert_eq!(refusal(doc! {"_id": {"x": 1}}, doc! {"$set": {"_id.y": 2}}).0, 66);
    assert!(!modifies(stored.clone(), doc! {"$set": {"_id": 1.0}}));
    assert_eq!(
        refusal(stored.clone(), doc! {"_id": 2, "b": 1}),
        (66, "After applying the update, the (immutable) field '_id' was found to have been altered to _id: 2".into())
    );
    assert_eq!(after(stored.clone(), doc! {"b": 1, "_id": 1}), "{ _id: 1, b: 1 }");
    assert_eq!(after(stored, doc! {}), "{ _id: 1 }");
}

#[test]
fn push_appends_places_sorts_and_slices() {
    assert_eq!(after(doc! {}, doc! {"$push": {"a": 1}}), "{ a: [ 1 ] }");
    assert_eq!(after(doc! {"a": [1]}, doc! {"$push": {"a": [2, 3]}}), "{ a: [ 1, [ 2, 3 ] ] }");
    assert_eq!(
        after(doc! {"a": [1]}, doc! {"$push": {"a": {"$each": [2, 3]}}}),
        "{ a: [ 1, 2, 3 ] }"
    );
    assert_eq!(
        after(doc! {"a": [1, 2]}, doc! {"$push": {"a": {"$each": [9], "$position": 1}}}),
        "{ a: [ 1, 9, 2 ] }"
    );
    assert_eq!(
        after(doc! {"a": [1, 2]}, doc! {"$push": {"a": {"$each": [9], "$position": -1}}}),
        "{ a: [ 1, 9, 2 ] }"
    );
    assert_eq!(
        after(doc! {"a": [5, 1]}, doc! {"$push": {"a": {"$each": [3], "$sort": 1, "$slice": 2}}}),
        "{ a: [ 1, 3 ] }"
    );
    assert_eq!(
        after(doc! {"a": [5, 1]}, doc! {"$push": {"a": {"$each": [3], "$slice": -2}}}),
        "{ a: [ 1, 3 ] }"
    );
    assert_eq!(
        after(doc! {"a": [5, 1]}, doc! {"$push": {"a": {"$each": [], "$slice": 0}}}),
        "{ a: [] }"
    );
    assert_eq!(
        after(
            doc! {"a": [{"s": 1}, 7]},
            doc! {"$push": {"a": {"$each": [{"s": 3}], "$sort": {"s": -1}}}}
        ),
        "{ a: [ { s: 3 }, { s: 1 }, 7 ] }"
    );
    // Without $each the document is what is pushed.
    assert_eq!(after(doc! {}, doc! {"$push": {"a": {"b": 1}}}), "{ a: [ { b: 1 } ] }");
    assert_eq!(
        refusal(doc! {"_id": 1, "a": "x"}, doc! {"$push": {"a": 1}}),
        (2, "The field 'a' must be an array but is of type string in document {_id: 1}".into())
    );
    assert_eq!(refusal(doc! {"_id": 1, "a": Bson::Null}, doc! {"$push": {"a": 1}}).0, 2);
    assert_eq!(
        refusal(doc! {}, doc! {"$push": {"a": {"$each": 1}}}),
        (2, "The argument to $each in $push must be an array but it was of type: int".into())
    );
    assert_eq!(
        refusal(doc! {}, doc! {"$push": {"a": {"$each": [], "$xxx": 1}}}),
        (2, "Unrecognized clause in $push: $xxx".into())
    );
    assert_eq!(refusal(doc! {}, doc! {"$push": {"a": {"$each": [], "$slice": 1.5}}}).0, 2);
}

#[test]
fn sets_pops_and_pulls() {
    assert_eq!(
        after(doc! {"a": [1]}, doc! {"$addToSet": {"a": {"$each": [1, 2, 2]}}}),
        "{ a: [ 1, 2 ] }"
    );
    assert_eq!(after(doc! {}, doc! {"$addToSet": {"a": [1]}}), "{ a: [ [ 1 ] ] }");
    assert_eq!(
        refusal(doc! {"field": "x"}, doc! {"$addToSet": {"field": 1}}),
        (2, "Cannot apply $addToSet to non-array field. Field named 'field' has non-array type string".into())
    );
    assert_eq!(after(doc! {"a": [1, 2, 3]}, doc! {"$pop": {"a": 1}}), "{ a: [ 1, 2 ] }");
    assert_eq!(after(doc! {"a": [1, 2, 3]}, doc! {"$pop": {"a": -1}}), "{ a: [ 2, 3 ] }");
    assert_eq!(after(doc! {"b": 1}, doc! {"$pop": {"a": 1}}), "{ b: 1 }");
    assert_eq!(refusal(doc! {"a": 1}, doc! {"$pop": {"a": 1}}).0, 14);
    assert_eq!(
        refusal(doc! {}, doc! {"$pop": {"a": 2}}),
        (9, "$pop expects 1 or -1, found: 2".into())
    );
    let numbers = doc! {"a": [1, 5, 3, 5]};
    assert_eq!(after(numbers.clone(), doc! {"$pull": {"a": 5.0}}), "{ a: [ 1, 3 ] }");
    assert_eq!(
        after(numbers.clone(), doc! {"$pull": {"a": {"$gt": 2, "$lt": 5}}}),
        "{ a: [ 1, 5, 5 ] }"
    );
    assert_eq!(after(numbers.clone(), doc! {"$pull": {"a": {"$in": [1, 3]}}}), "{ a: [ 5, 5 ] }");
    assert_eq!(after(numbers, doc! {"$pullAll": {"a": [1, 5]}}), "{ a: [ 3 ] }");
    let documents = doc! {"a": [{"b": 1, "c": 2}, {"b": 2}, 1]};
    assert_eq!(after(documents.clone(), doc! {"$pull": {"a": {"b": 1}}}), "{ a: [ { b: 2 }, 1 ] }");
    assert_eq!(
        after(documents.clone(), doc! {"$pull": {"a": {"$or": [{"b": 1}, {"b": 2}]}}}),
        "{ a: [ 1 ] }"
    );
    assert_eq!(
        after(documents, doc! {"$pull": {"a": {"b": {"$gte": 2}}}}),
        "{ a: [ { b: 1, c: 2 }, 1 ] }"
    );
    assert_eq!(after(doc! {"a": [[1], 1]}, doc! {"$pull": {"a": [1]}}), "{ a: [ 1 ] }");
    let pattern = Bson::RegularExpression(Regex {
        pattern: "^x".try_into().unwrap(),
        options: "".try_into().unwrap(),
    });
    assert_eq!(after(doc! {"a": ["xa", "b"]}, doc! {"$pull": {"a": pattern}}), "{ a: [ \"b\" ] }");
    assert_eq!(
        refusal(doc! {"a": 1}, doc! {"$pull": {"a": 1}}),
        (2, "Cannot apply $pull to a non-array value".into())
    );
    assert_eq!(after(doc! {"b": 1}, doc! {"$pull": {"a": 1}}), "{ b: 1 }");
}

#[test]
fn bits() {
    assert_eq!(after(doc! {"a": 13}, doc! {"$bit": {"a": {"and": 10}}}), "{ a: 8 }");
    assert_eq!(after(doc! {}, doc! {"$bit": {"a": {"or": 5_i64}}}), "{ a: 5 }");
    assert_eq!(after(doc! {"a": 1}, doc! {"$bit": {"a": {"xor": 3, "or": 8}}}), "{ a: 10 }");
    assert_eq!(
        refusal(doc! {}, doc! {"$bit": {"a": {"not": 1}}}),
        (
            2,
            "The $bit modifier only supports 'and', 'or', and 'xor', not 'not' which is an unknown operator: {not: 1}"
                .into()
        )
    );
    assert!(
        refusal(doc! {}, doc! {"$bit": {"a": "x"}})
            .1
            .starts_with("The $bit modifier is not compatible with a string.")
    );
    assert!(
        refusal(doc! {}, doc! {"$bit": {"a": {}}})
            .1
            .starts_with("You must pass in at least one bitwise operation.")
    );
    assert_eq!(refusal(doc! {"a": 1.0}, doc! {"$bit": {"a": {"and": 1}}}).0, 2);
}

#[test]
fn positions_of_arrays() {
    let grades = doc! {"_id": 1, "g": [80, 85, 80]};
    assert_eq!(
        matched(grades.clone(), doc! {"g": 85}, doc! {"$set": {"g.$": 0}}, &[]),
        Ok("{ _id: 1, g: [ 80, 0, 80 ] }".into())
    );
    assert_eq!(
        matched(grades.clone(), doc! {"_id": 1}, doc! {"$inc": {"g.$[]": 1}}, &[]),
        Ok("{ _id: 1, g: [ 81, 86, 81 ] }".into())
    );
    assert_eq!(
        matched(
            grades.clone(),
            doc! {},
            doc! {"$set": {"g.$[low]": 0}},
            &[doc! {"low": {"$lt": 85}}]
        ),
        Ok("{ _id: 1, g: [ 0, 85, 0 ] }".into())
    );
    let nested = doc! {"a": [{"k": 1, "b": [1, 9]}, {"k": 2, "b": [9]}]};
    assert_eq!(
        matched(
            nested,
            doc! {},
            doc! {"$set": {"a.$[i].b.$[j]": 0}},
            &[doc! {"i.k": 1}, doc! {"j": {"$gte": 5}}]
        ),
        Ok("{ a: [ { k: 1, b: [ 1, 0 ] }, { k: 2, b: [ 9 ] } ] }".into())
    );
    let error = |document, query, update, filters: &[Document]| {
        refused(matched(document, query, update, filters).expect_err("a refusal"))
    };
    assert_eq!(
        error(grades.clone(), doc! {"_id": 1}, doc! {"$set": {"g.$": 0}}, &[]),
        (2, "The positional operator did not find the match needed from the query.".into())
    );
    assert_eq!(
        error(doc! {"_id": 1}, doc! {}, doc! {"$set": {"a.$[]": 0}}, &[]),
        (2, "The path 'a' must exist in the document in order to apply array updates.".into())
    );
    assert_eq!(
        error(doc! {"a": 1}, doc! {}, doc! {"$set": {"a.$[]": 0}}, &[]),
        (2, "Cannot apply array updates to non-array element a: 1".into())
    );
    assert_eq!(error(grades, doc! {"g": 85}, doc! {"$set": {"g.$": 0, "g.1": 1}}, &[]).0, 40);
}

#[test]
fn array_filters_are_checked() {
    assert_eq!(
        parse_refusal(doc! {"$set": {"a.$[i]": 1}}, &[]),
        (2, "No array filter found for identifier 'i' in path 'a.$[i]'".into())
    );
    assert_eq!(
        parse_refusal(doc! {"$set": {"a.$[i]": 5.0}}, &[doc! {"i": 0}, doc! {"j": 0}]),
        (9, "The array filter for identifier 'j' was not used in the update { $set: { a.$[i]: 5.0 } }".into())
    );
    assert_eq!(
        parse_refusal(doc! {"$set": {"a.$[i]": 1}}, &[doc! {"i": 0}, doc! {"i": 1}]),
        (9, "Found multiple array filters with the same top-level field name i".into())
    );
    assert_eq!(
        parse_refusal(doc! {"$set": {"a.$[i]": 1}}, &[doc! {"a": 0, "b": 1}]),
        (9, "Error parsing array filter :: caused by :: Expected a single top-level field name, found 'a' and 'b'".into())
    );
    assert_eq!(
        parse_refusal(doc! {"$set": {"a.$[i]": 1}}, &[doc! {}]),
        (9, "Cannot use an expression without a top-level field name in arrayFilters".into())
    );
}

#[test]
fn bad_updates_die_with_the_servers_words() {
    for (update, code, message) in [
        (
            doc! {"$foo": {"a": 1}},
            9,
            "Unknown modifier: $foo. Expected a valid update modifier or pipeline-style update specified as an array",
        ),
        (
            doc! {"$set": {"a": 1}, "b": 1},
            9,
            "Unknown modifier: b. Expected a valid update modifier or pipeline-style update specified as an array",
        ),
        (
            doc! {"$bit": "string"},
            9,
            "Modifiers operate on fields but we found type string instead. For example: {$mod: {<field>: ...}} not \
             {$bit: \"string\"}",
        ),
        (
            doc! {"a": 1, "$set": {"b": 1}},
            52,
            "The dollar ($) prefixed field '$set' in '$set' is not allowed in the context of an update's replacement \
             document. Consider using an aggregation pipeline with $replaceWith.",
        ),
        (doc! {"$set": {"": 1}}, 56, "An empty update path is not valid."),
        (
            doc! {"$set": {"v.": 1}},
            56,
            "The update path 'v.' contains an empty field name, which is not allowed.",
        ),
        (
            doc! {"$set": {"$x": 1}},
            52,
            "The dollar ($) prefixed field '$x' in '$x' is not valid for storage.",
        ),
    ] {
        assert_eq!(parse_refusal(update, &[]), (code, message.into()));
    }
}

#[test]
fn an_upsert_starts_from_the_equalities_of_the_query() {
    let made = upsert(
        doc! {"_id": 5, "b.c": 1, "a": {"$eq": 2}, "x": {"$gt": 1}},
        doc! {"$inc": {"n": 1}},
    );
    assert_eq!(made, Ok(doc! {"_id": 5, "a": 2, "b": {"c": 1}, "n": 1}));
    let fresh = upsert(doc! {"name": "x"}, doc! {"$setOnInsert": {"k": 1}}).expect("a document");
    assert!(fresh.get_object_id("_id").is_ok());
    assert_eq!(fresh.keys().collect::<Vec<_>>(), ["_id", "name", "k"]);
    assert_eq!(upsert(doc! {"a": 1}, doc! {"$set": {"_id": 7}}), Ok(doc! {"_id": 7, "a": 1}));
    // A replacement takes only _id from the query.
    assert_eq!(upsert(doc! {"_id": 3, "a": 1}, doc! {"b": 2}), Ok(doc! {"_id": 3, "b": 2}));
    let code = |made: Result<Document>| made.expect_err("a refusal").code();
    assert_eq!(code(upsert(doc! {"_id": 3}, doc! {"_id": 4, "b": 2})), Some(Code::IMMUTABLE_FIELD));
    assert_eq!(
        code(upsert(doc! {"_id": 3}, doc! {"$set": {"_id": 4}})),
        Some(Code::IMMUTABLE_FIELD)
    );
    assert_eq!(
        code(upsert(doc! {"a": 1, "$and": [{"a": 2}]}, doc! {"$set": {"b": 1}})),
        Some(Code(54))
    );
    assert_eq!(code(upsert(doc! {"a": 1}, doc! {"$set": {"b.$": 1}})), Some(Code::BAD_VALUE));
    assert_eq!(
        code(upsert(doc! {"a": 1}, doc! {"$setOnInsert": {"a.b": 1}})),
        Some(Code::PATH_NOT_VIABLE)
    );
    assert_eq!(
        refused(upsert(doc! {}, doc! {"$set": {"_id": [1]}}).expect_err("no array")),
        (53, "The '_id' value cannot be of type array".into())
    );
}

#[test]
fn empty_timestamps_at_the_top_become_the_time() {
    let zero = Bson::Timestamp(Timestamp { time: 0, increment: 0 });
    assert_eq!(
        after(doc! {"_id": 1}, doc! {"a": zero.clone(), "b": {"c": zero}}),
        "{ _id: 1, a: Timestamp(1700000000, 1), b: { c: Timestamp(0, 0) } }"
    );
}

#[test]
fn nothing_nests_too_deep() {
    let mut deep = bson!({"a": 1});
    for _ in 0..200 {
        deep = bson!({"a": deep});
    }
    assert_eq!(refusal(doc! {"_id": 1}, doc! {"$set": {"a": deep}}).0, Code::OVERFLOW.0);
    let long = vec!["a"; 5000].join(".");
    assert_eq!(refusal(doc! {"_id": 1}, doc! {"$set": {long: 1}}).0, Code::OVERFLOW.0);
}

#[test]
fn pipelines_see_the_whole_document() {
    let update = |stages: Bson| Update::parse(&stages, &[], &scope());
    let total =
        update(bson!([{"$set": {"sum": {"$add": ["$a", "$b"]}, "at": "$$NOW"}}, {"$unset": "b"}]))
            .unwrap();
    let made = total.apply(&doc! {"_id": 1, "a": 1, "b": 2}, None, &scope()).unwrap();
    assert_eq!(made.document, doc! {"_id": 1, "a": 1, "sum": 3, "at": scope().now});
    assert!(made.modified);
    let replace = update(bson!([{"$replaceWith": {"x": "$a"}}])).unwrap();
    let made = replace.apply(&doc! {"_id": 1, "a": 5}, None, &scope()).unwrap();
    assert_eq!(made.document, doc! {"_id": 1, "x": 5});
    let id = update(bson!([{"$set": {"_id": 2}}])).unwrap().apply(&doc! {"_id": 1}, None, &scope());
    assert_eq!(refused(id.unwrap_err()).0, 66);
    let forbidden = update(bson!([{"$match": {}}])).unwrap_err();
    assert_eq!(
        refused(forbidden),
        (72, "$match is not allowed to be used within an update".into())
    );
    let filter = Filter::parse(&doc! {"_id": "k"}, &scope()).unwrap();
    let counter = update(bson!([{"$set": {"n": {"$add": [{"$ifNull": ["$n", 0]}, 1]}}}])).unwrap();
    assert_eq!(counter.upsert(&filter, &scope()), Ok(doc! {"_id": "k", "n": 1}));
}
