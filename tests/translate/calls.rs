//! The calls that every language is tried with: each kind of call, each option, each type of value.

use bson::oid::ObjectId;
use bson::spec::BinarySubtype;
use bson::{Binary, Bson, DateTime, Document, JavaScriptCodeWithScope, Regex, Timestamp, doc};

/// Commands by name, as the shell sends them.
pub(super) fn calls() -> Vec<(&'static str, Document)> {
    let id = ObjectId::parse_str("65a1b2c3d4e5f60718293a4b").unwrap();
    let group = doc! { "$group": { "_id": 1, "n": { "$sum": 1 } } };
    vec![
        (
            "counter",
            doc! {
                "findAndModify": "counters", "query": { "_id": "users" },
                "update": { "$inc": { "next": 1_i64 } }, "new": true, "upsert": true,
            },
        ),
        (
            "take a job",
            doc! {
                "findAndModify": "jobs", "query": { "taken": { "$exists": false } },
                "sort": { "priority": -1.0 }, "remove": true, "fields": { "_id": 0.0 },
            },
        ),
        (
            "replace one and see the old",
            doc! {
                "findAndModify": "users", "query": { "_id": id }, "update": { "name": "Ann" },
                "collation": { "locale": "en", "strength": 2 }, "maxTimeMS": 100,
            },
        ),
        (
            "modify by a pipeline",
            doc! {
                "findAndModify": "counters", "query": { "_id": "rr" },
                "update": [{ "$set": { "n": { "$add": ["$n", 1] } } }], "new": true,
            },
        ),
        (
            "insert one",
            doc! { "insert": "users", "documents": [{ "_id": 1, "name": "Sarah C." }], "ordered": true },
        ),
        (
            "insert many",
            doc! { "insert": "my-coll", "documents": [{ "_id": 1 }, { "_id": 2 }], "ordered": false },
        ),
        (
            "update one",
            doc! {
                "update": "users", "ordered": true,
                "updates": [{
                    "q": { "name": "Ann", "tags.k": 2 }, "multi": false, "upsert": true,
                    "u": { "$set": { "tags.$[t].v": 1, "seen": true } },
                    "arrayFilters": [{ "t.k": 2 }], "hint": { "name": 1 },
                }],
            },
        ),
        (
            "update many",
            doc! {
                "update": "users", "ordered": true,
                "updates": [{ "q": {}, "u": { "$unset": { "old": 1 } }, "multi": true, "upsert": false }],
            },
        ),
        (
            "replace one",
            doc! {
                "update": "users", "ordered": true,
                "updates": [{ "q": { "_id": 1 }, "u": { "a": [] }, "multi": false, "upsert": true }],
            },
        ),
        (
            "delete one",
            doc! { "delete": "users", "ordered": true, "deletes": [{ "q": { "_id": 1 }, "limit": 1 }] },
        ),
        (
            "delete many",
            doc! { "delete": "users", "ordered": true, "deletes": [{ "q": {}, "limit": 0 }] },
        ),
        (
            "write in bulk",
            doc! {
                "update": "users", "ordered": false,
                "updates": [
                    { "q": { "_id": 1 }, "u": { "$inc": { "n": 1 } }, "multi": false, "upsert": true },
                    { "q": { "n": 2 }, "u": { "$set": { "n": 3 } }, "multi": true, "upsert": false },
                    { "q": { "_id": 3 }, "u": { "n": 4 }, "multi": false, "upsert": false },
                ],
            },
        ),
        ("find all", doc! { "find": "users", "filter": {} }),
        (
            "find some",
            doc! {
                "find": "users", "filter": { "age": { "$gte": 18.0 }, "name": { "$in": ["Ann", "Bob"] } },
                "limit": 5, "skip": 10, "projection": { "_id": 0, "name": 1 },
                "sort": { "name": 1.0, "age": -1.0 }, "hint": "name_1",
                "collation": { "locale": "de", "strength": 1, "numericOrdering": true },
            },
        ),
        (
            "find one",
            doc! {
                "find": "users", "filter": { "_id": id }, "limit": 1, "singleBatch": true,
                "projection": { "name": 1 },
            },
        ),
        (
            "aggregate",
            doc! {
                "aggregate": "orders",
                "pipeline": [
                    { "$match": { "status": "A" } },
                    { "$group": { "_id": "$customer", "total": { "$sum": "$amount" } } },
                    { "$sort": { "total": -1.0 } },
                ],
                "allowDiskUse": true, "cursor": {},
            },
        ),
        (
            "aggregate a database",
            doc! { "aggregate": 1, "pipeline": [{ "$currentOp": {} }], "cursor": {} },
        ),
        ("distinct", doc! { "distinct": "users", "key": "name", "query": {} }),
        (
            "count documents",
            doc! {
                "aggregate": "users", "pipeline": [{ "$match": { "a": 1.0 } }, { "$limit": 5 }, group],
                "cursor": {},
            },
        ),
        ("count", doc! { "count": "users", "query": {} }),
        (
            "create an index",
            doc! {
                "createIndexes": "users",
                "indexes": [{
                    "key": { "mail": 1.0 }, "name": "mail_1", "unique": true,
                    "expireAfterSeconds": 3600, "partialFilterExpression": { "mail": { "$exists": true } },
                }],
            },
        ),
        (
            "create indexes",
            doc! {
                "createIndexes": "users",
                "indexes": [
                    { "key": { "a": 1, "b": -1 }, "name": "a_1_b_-1" },
                    { "key": { "c": "text" }, "name": "search" },
                ],
            },
        ),
        ("drop an index", doc! { "dropIndexes": "users", "index": "a_1" }),
        ("drop indexes", doc! { "dropIndexes": "users", "index": "*" }),
        ("list indexes", doc! { "listIndexes": "users", "cursor": {} }),
        ("drop", doc! { "drop": "users" }),
        ("drop a database", doc! { "dropDatabase": 1 }),
        ("create a collection", doc! { "create": "users" }),
        (
            "list collections",
            doc! { "listCollections": 1, "filter": { "name": "a" }, "cursor": {} },
        ),
        (
            "collection names",
            doc! { "listCollections": 1, "filter": {}, "nameOnly": true, "authorizedCollections": true, "cursor": {} },
        ),
        ("ping", doc! { "ping": 1.0 }),
        ("another command", doc! { "validate": "users", "full": true }),
    ]
}

/// Values by name, one of each type and of what is delicate in it.
pub(super) fn values() -> Vec<(&'static str, Bson)> {
    let binary = |subtype: u8, bytes: &[u8]| {
        Bson::Binary(Binary { subtype: BinarySubtype::from(subtype), bytes: bytes.to_vec() })
    };
    let regex = |pattern: &str, options: &str| {
        Bson::RegularExpression(Regex {
            pattern: pattern.try_into().unwrap(),
            options: options.try_into().unwrap(),
        })
    };
    vec![
        ("int32", Bson::Int32(5)),
        ("negative", Bson::Int32(i32::MIN)),
        ("int64", Bson::Int64(5)),
        ("large", Bson::Int64(9_007_199_254_740_993)),
        ("least", Bson::Int64(i64::MIN)),
        ("double", Bson::Double(1.5)),
        ("whole", Bson::Double(1.0)),
        ("huge", Bson::Double(1e300)),
        ("zero", Bson::Double(-0.0)),
        ("nan", Bson::Double(f64::NAN)),
        ("infinity", Bson::Double(f64::INFINITY)),
        ("minus infinity", Bson::Double(f64::NEG_INFINITY)),
        ("decimal", Bson::Decimal128("1.50".parse().unwrap())),
        ("id", Bson::ObjectId(ObjectId::parse_str("65a1b2c3d4e5f60718293a4b").unwrap())),
        ("date", Bson::DateTime(DateTime::from_millis(1_704_067_200_000))),
        ("instant", Bson::DateTime(DateTime::from_millis(1_704_067_200_123))),
        ("far", Bson::DateTime(DateTime::from_millis(i64::MIN))),
        ("timestamp", Bson::Timestamp(Timestamp { time: 1_700_000_000, increment: 2 })),
        ("late", Bson::Timestamp(Timestamp { time: u32::MAX, increment: 1 })),
        ("bytes", binary(0, &[0, 255])),
        ("md5", binary(5, &[1, 2])),
        ("user", binary(0x80, &[])),
        ("uuid", binary(4, &(0..16).collect::<Vec<_>>())),
        ("regex", regex("^A.*z$", "i")),
        ("odd regex", regex("a/\"(?i)'\\d", "msx")),
        ("code", Bson::JavaScriptCode("function() { return \"x\"; }".into())),
        (
            "scope",
            Bson::JavaScriptCodeWithScope(JavaScriptCodeWithScope {
                code: "f(y)".into(),
                scope: doc! { "y": 1 },
            }),
        ),
        ("min", Bson::MinKey),
        ("max", Bson::MaxKey),
        ("null", Bson::Null),
        ("true", Bson::Boolean(true)),
        ("empty document", Bson::Document(Document::new())),
        ("empty array", Bson::Array(Vec::new())),
        ("list", Bson::Array(vec![Bson::Int32(1), Bson::String("a".into()), Bson::Null])),
        ("lone null", Bson::Array(vec![Bson::Null])),
        ("nested", Bson::Document(doc! { "a": { "b": [{ "c": [] }] } })),
        ("counted", Bson::Document(doc! { "0": "a", "1": "b" })),
        ("unordered", Bson::Document(doc! { "b": 1, "1": 2 })),
        (
            "proto",
            Bson::Document(doc! { "__proto__": 1, "": 2, "$a": 3, "a.b": 4, "if": 5, "ñ": 6 }),
        ),
        (
            "nine",
            Bson::Document(
                (1..=9).map(|n| (format!("k{n}"), Bson::Int32(n))).collect::<Document>(),
            ),
        ),
        ("quotes", Bson::String("say \"it's\" \\ done".into())),
        ("lines", Bson::String("a\nb\r\tc".into())),
        ("dollars", Bson::String("$name {$x} ${y} #{z} #$w %s".into())),
        ("dollars and lines", Bson::String("$name\n{$x} ${y} #{z} #@w\\".into())),
        ("nul", Bson::String("a\u{0}1".into())),
        ("unicode", Bson::String("né 日本 😀".into())),
        ("hidden", Bson::String("\u{feff}\u{202e}\u{2028}\u{85}\u{1b}".into())),
        ("symbol", Bson::Symbol("s".into())),
        ("undefined", Bson::Undefined),
    ]
}
