//! mongosh: the layout of Node's inspector, and what came from a server.

use bson::oid::ObjectId;
use bson::spec::BinarySubtype;
use bson::{Binary, Bson, DateTime, JavaScriptCodeWithScope, Timestamp, bson, doc};
use tally::print::mongosh::{documents, inspect, print_argument, print_json, print_value};
use tally::print::{DB_REF, FunctionKind, Object, Options, Origin, Paint, Shown};

use super::{array, error, named, object, result, script, served, text};

fn shown(value: &Shown) -> String {
    inspect(value, Options::PROMPT)
}

fn echo(value: &Shown) -> String {
    print_value(value, Options::PROMPT)
}

/// A document around a document, `names` deep, around `inner`.
fn nested(names: &[&str], inner: Shown) -> Shown {
    names.iter().rev().fold(inner, |value, name| object(vec![(name, value)]))
}

#[test]
fn scalars() {
    for (number, expected) in [
        (1.0, "1"),
        (-0.0, "-0"),
        (f64::NAN, "NaN"),
        (1e21, "1e+21"),
        (f64::NEG_INFINITY, "-Infinity"),
    ] {
        assert_eq!(echo(&Shown::Number(number)), expected);
    }
    assert_eq!(echo(&text("raw \t\n")), "raw \t\n");
    assert_eq!(echo(&text("a\u{7}b")), "'a\\x07b'");
    assert_eq!(echo(&text("a\rb")), "'a\\rb'");
    assert_eq!(print_argument(&text("a\u{7}b"), Options::PROMPT), "a\u{7}b");
    assert_eq!(echo(&Shown::Undefined), "");
    assert_eq!(echo(&Shown::Value(Bson::Null)), "null");
    assert_eq!(echo(&Shown::BigInt("10".into())), "10n");
    assert_eq!(echo(&Shown::Symbol("s".into())), "Symbol(s)");
}

#[test]
fn values_with_constructors() {
    let uuid = b"\x3b\x24\x11\x01\xe2\xbb\x42\x55\x8c\xaf\x41\x36\xc5\x66\xa9\x62".to_vec();
    let binary = |subtype, bytes: &[u8]| Bson::Binary(Binary { subtype, bytes: bytes.to_vec() });
    let md5 = b"\x90\x01\x50\x98\x3c\xd2\x4f\xb0\xd6\x96\x3f\x7d\x28\xe1\x7f\x72";
    for (value, expected) in [
        (Bson::Int32(5), "Int32(5)"),
        (Bson::Double(1.0), "Double(1)"),
        (Bson::Double(1.5), "Double(1.5)"),
        (Bson::Int64(5), "Long('5')"),
        (Bson::Int64(9_007_199_254_740_993), "Long('9007199254740993')"),
        (Bson::Decimal128("1.50".parse().expect("a decimal")), "Decimal128('1.50')"),
        (Bson::Decimal128("NaN".parse().expect("a decimal")), "Decimal128('NaN')"),
        (Bson::Decimal128("1E+3".parse().expect("a decimal")), "Decimal128('1E+3')"),
        (
            Bson::ObjectId(ObjectId::parse_str("507f1f77bcf86cd799439011").expect("an id")),
            "ObjectId('507f1f77bcf86cd799439011')",
        ),
        (Bson::DateTime(DateTime::from_millis(0)), "ISODate('1970-01-01T00:00:00.000Z')"),
        (Bson::DateTime(DateTime::MAX), "Invalid Date"),
        (Bson::Timestamp(Timestamp { time: 1, increment: 2 }), "Timestamp({ t: 1, i: 2 })"),
        (binary(BinarySubtype::Generic, b"abc"), "Binary.createFromBase64('YWJj', 0)"),
        (binary(BinarySubtype::Uuid, &uuid), "UUID('3b241101-e2bb-4255-8caf-4136c566a962')"),
        (binary(BinarySubtype::Uuid, b"\xba"), "Binary.createFromBase64('ug==', 4)"),
        (binary(BinarySubtype::Md5, md5), "MD5('900150983cd24fb0d6963f7d28e17f72')"),
        (
            binary(BinarySubtype::Vector, b"\x27\x00\x00\x00\x80\x3f\x00\x00\x00\x40"),
            "Binary.fromFloat32Array(new Float32Array([ 1, 2 ]))",
        ),
        (Bson::JavaScriptCode("function(){return 1}".into()), "Code('function(){return 1}')"),
        (
            Bson::JavaScriptCodeWithScope(JavaScriptCodeWithScope {
                code: "x".into(),
                scope: doc! { "a": 1 },
            }),
            "Code('x', { a: 1 })",
        ),
        (Bson::MinKey, "MinKey()"),
        (Bson::MaxKey, "MaxKey()"),
        (Bson::Symbol("s".into()), "BSONSymbol('s')"),
    ] {
        assert_eq!(echo(&Shown::Value(value)), expected);
    }
    assert_eq!(echo(&Shown::InvalidDate), "Invalid Date");
    let reference =
        named(DB_REF, vec![("$ref", text("c")), ("$id", Shown::Number(1.0)), ("$db", text("d"))]);
    assert_eq!(echo(&reference), "DBRef('c', 1, 'd')");
}

#[test]
fn functions_and_classes() {
    let function =
        |kind, name: &str| Shown::Function { kind, name: name.into(), source: String::new() };
    assert_eq!(echo(&function(FunctionKind::Function, "f")), "[Function: f]");
    assert_eq!(echo(&function(FunctionKind::Function, "")), "[Function (anonymous)]");
    assert_eq!(echo(&function(FunctionKind::Async, "af")), "[AsyncFunction: af]");
    assert_eq!(echo(&function(FunctionKind::Class, "A")), "[class A]");
    assert_eq!(echo(&named("K", vec![])), "K {}");
    assert_eq!(echo(&named("K", vec![("a", Shown::Number(1.0))])), "K { a: 1 }");
    assert_eq!(
        echo(&named("[Object: null prototype]", vec![("a", Shown::Number(1.0))])),
        "[Object: null prototype] { a: 1 }"
    );
}

#[test]
fn collections_errors_and_accessors() {
    let number = Shown::Number;
    assert_eq!(echo(&Shown::Map(vec![(number(1.0), number(2.0))])), "Map(1) { 1 => 2 }");
    assert_eq!(echo(&Shown::Map(vec![])), "Map(0) {}");
    assert_eq!(echo(&Shown::Set(vec![number(1.0)])), "Set(1) { 1 }");
    assert_eq!(echo(&error("Error: x")), "Error: x");
    assert_eq!(shown(&object(vec![("e", error("Error: x"))])), "{ e: [Error: x] }");
    let thrown = Shown::Error {
        text: "Error: x".into(),
        stack: "    at f (a.js:1:2)".into(),
        fields: vec![("code".into(), number(5.0))],
    };
    assert_eq!(
        shown(&object(vec![("e", thrown.clone())])),
        "{\n  e: Error: x\n      at f (a.js:1:2) {\n    code: 5\n  }\n}"
    );
    assert_eq!(echo(&thrown), "Error: x");
    assert_eq!(
        shown(&object(vec![
            ("a", Shown::Accessor { get: true, set: false }),
            ("b", Shown::Accessor { get: true, set: true }),
        ])),
        "{ a: [Getter], b: [Getter/Setter] }"
    );
    assert_eq!(shown(&object(vec![("Symbol(s)", number(1.0))])), "{ [Symbol(s)]: 1 }");
}

#[test]
fn references_to_an_ancestor() {
    assert_eq!(
        shown(&object(vec![("a", Shown::Number(1.0)), ("self", Shown::Ancestor(1))])),
        "<ref *1> { a: 1, self: [Circular *1] }"
    );
    assert_eq!(
        shown(&object(vec![(
            "in",
            object(vec![("up", Shown::Ancestor(2)), ("me", Shown::Ancestor(1))])
        )])),
        "<ref *1> { in: <ref *2> { up: [Circular *1], me: [Circular *2] } }"
    );
}

#[test]
fn keys() {
    let keys = ["$set", "a$", "é", "", "a.b", "quote'", "_ok1"];
    let value = object(keys.iter().map(|key| (*key, Shown::Number(1.0))).collect());
    assert_eq!(
        shown(&value),
        "{ '$set': 1, 'a$': 1, 'é': 1, '': 1, 'a.b': 1, \"quote'\": 1, _ok1: 1 }"
    );
    // As a JavaScript object has them, whatever the order in the document.
    assert_eq!(shown(&served(doc! { "b": 1, "10": 2, "2": 3 })), "{ '2': 3, '10': 2, b: 1 }");
}

#[test]
fn long_arrays_stand_in_columns() {
    assert_eq!(
        shown(&script(bson!([1000, 2, 33, 4, 5, 6, 7]))),
        "[\n  1000, 2, 33,\n     4, 5,  6,\n     7\n]"
    );
    let documents: Vec<Bson> = (1..=7).map(|number| bson!({ "a": number })).collect();
    assert_eq!(
        shown(&script(documents)),
        "[\n  { a: 1 }, { a: 2 },\n  { a: 3 }, { a: 4 },\n  { a: 5 }, { a: 6 },\n  { a: 7 }\n]"
    );
    assert_eq!(
        shown(&script(bson!(["a", "bb", "ccc", "dddd", "eeeee", "f", "g"]))),
        "[ 'a', 'bb', 'ccc', 'dddd', 'eeeee', 'f', 'g' ]"
    );
    let words = shown(&script(vec!["abc"; 30]));
    assert_eq!(words.lines().nth(1), Some("  'abc', 'abc', 'abc', 'abc',"));
    let numbers = shown(&script((0..150).collect::<Vec<i32>>()));
    assert_eq!(numbers.lines().nth(1), Some("   0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11,"));
    assert!(numbers.ends_with("\n  96, 97, 98, 99,\n  ... 50 more items\n]"), "{numbers}");
}

#[test]
fn three_levels_share_a_line() {
    let one = Shown::Number(1.0);
    assert_eq!(shown(&nested(&["a", "b", "c"], one.clone())), "{ a: { b: { c: 1 } } }");
    assert_eq!(shown(&nested(&["a", "b", "c"], object(vec![]))), "{ a: { b: { c: {} } } }");
    assert_eq!(
        shown(&nested(&["a", "b", "c", "d"], one.clone())),
        "{\n  a: { b: { c: { d: 1 } } }\n}"
    );
    assert_eq!(shown(&script(bson!([[[1]]]))), "[ [ [ 1 ] ] ]");
    assert_eq!(shown(&script(bson!([[[[1]]]]))), "[\n  [ [ [ 1 ] ] ]\n]");
    // The level that counts is the last one begun, not the deepest.
    assert_eq!(
        shown(&script(doc! { "a": { "b": { "c": { "d": 1 } } }, "z": { "y": 1 } })),
        "{ a: { b: { c: { d: 1 } } }, z: { y: 1 } }"
    );
    for last in [bson!(1), bson!({})] {
        let value = script(doc! { "a": { "b": { "c": { "d": 1 } } }, "z": last });
        assert_eq!(shown(&value).lines().count(), 4);
    }
    assert_eq!(
        shown(&script(doc! { "a": 1, "b": { "c": 2, "d": { "e": 3, "f": { "g": 4 } } } })),
        "{\n  a: 1,\n  b: { c: 2, d: { e: 3, f: { g: 4 } } }\n}"
    );
}

#[test]
fn deeper_than_six_levels() {
    let deep = nested(&["a", "b", "c", "d", "e", "f", "g", "h"], Shown::Number(1.0));
    assert!(shown(&deep).contains("{ g: [Object] }"));
    assert!(!inspect(&deep, Options::PROMPT.whole()).contains("[Object]"));
    assert!(inspect(&deep, Options::PROMPT.whole()).contains("{ h: 1 }"));
    let mut endless = array(vec![]);
    for _ in 0..3000 {
        endless = array(vec![endless]);
    }
    assert!(inspect(&endless, Options::PROMPT.whole()).contains("[Array]"));
}

#[test]
fn what_a_server_sent_is_inspected_part_by_part() {
    let value = doc! { "_id": 1, "a": 1, "b": { "c": 2, "d": { "e": 3, "f": { "g": 4, "h": { "i": 5 } } } } };
    assert_eq!(
        shown(&served(value.clone())),
        "{ _id: 1, a: 1, b: { c: 2, d: { e: 3, f: { g: 4, h: { i: 5 } } } } }"
    );
    assert_eq!(
        documents(&[served(value.clone())], Options::PROMPT),
        "[\n  { _id: 1, a: 1, b: { c: 2, d: { e: 3, f: { g: 4, h: { i: 5 } } } } }\n]"
    );
    assert!(shown(&script(value.clone())).lines().count() > 1);
    assert_eq!(inspect(&served(value.clone()), Options::SCRIPT), shown(&script(value)));
    // No limit reaches what is inside, in a script all do.
    let many = served(doc! { "list": (0..105).collect::<Vec<i32>>() });
    assert!(!shown(&many).contains("more items"));
    assert!(inspect(&many, Options::SCRIPT).contains("... 5 more items"));
}

#[test]
fn pages() {
    assert_eq!(
        documents(
            &[
                served(doc! { "_id": 1, "name": "Sarah C." }),
                served(doc! { "_id": 2, "name": "Bob D." })
            ],
            Options::PROMPT
        ),
        "[ { _id: 1, name: 'Sarah C.' }, { _id: 2, name: 'Bob D.' } ]"
    );
    let bob = served(doc! {
        "_id": 2, "name": "Bob D.", "tags": [{ "k": true }, { "k": true }], "nested": { "a": { "b": 1 } },
    });
    assert_eq!(
        documents(&[served(doc! { "_id": 1, "name": "Sarah C." }), bob], Options::PROMPT),
        "[\n  { _id: 1, name: 'Sarah C.' },\n  {\n    _id: 2,\n    name: 'Bob D.',\n    \
         tags: [ { k: true }, { k: true } ],\n    nested: { a: { b: 1 } }\n  }\n]"
    );
    let twenty: Vec<Shown> = (0..20).map(|number| served(doc! { "_id": number })).collect();
    assert_eq!(documents(&twenty, Options::PROMPT).lines().count(), 12);
    assert_eq!(documents(&[], Options::PROMPT), "");
}

#[test]
fn results() {
    let update = object(vec![
        ("acknowledged", Shown::Value(Bson::Boolean(true))),
        ("insertedId", Shown::Value(Bson::Null)),
        ("matchedCount", Shown::Number(1.0)),
        ("modifiedCount", Shown::Number(1.0)),
        ("upsertedCount", Shown::Number(0.0)),
    ]);
    assert_eq!(
        echo(&update),
        "{\n  acknowledged: true,\n  insertedId: null,\n  matchedCount: 1,\n  modifiedCount: 1,\n  upsertedCount: 0\n}"
    );
    assert_eq!(
        echo(&script(doc! { "acknowledged": true, "insertedIds": { "0": 2 } })),
        "{ acknowledged: true, insertedIds: { '0': 2 } }"
    );
    let id = ObjectId::parse_str("507f1f77bcf86cd799439011").expect("an id");
    assert_eq!(
        echo(&script(doc! { "acknowledged": true, "insertedId": id })),
        "{\n  acknowledged: true,\n  insertedId: ObjectId('507f1f77bcf86cd799439011')\n}"
    );
    let bulk = result(
        "BulkWriteResult",
        ["insertedCount", "matchedCount", "modifiedCount", "deletedCount", "upsertedCount"]
            .into_iter()
            .map(|name| (name, Shown::Number(0.0)))
            .chain([("upsertedIds", object(vec![])), ("insertedIds", object(vec![]))])
            .collect(),
    );
    assert_eq!(
        shown(&bulk),
        "BulkWriteResult {\n  insertedCount: 0,\n  matchedCount: 0,\n  modifiedCount: 0,\n  deletedCount: 0,\n  \
         upsertedCount: 0,\n  upsertedIds: {},\n  insertedIds: {}\n}"
    );
}

#[test]
fn holes_and_limits() {
    let one = Shown::Number(1.0);
    assert_eq!(
        shown(&array(vec![one.clone(), Shown::Hole, one.clone()])),
        "[ 1, <1 empty item>, 1 ]"
    );
    assert_eq!(shown(&array(vec![Shown::Hole, Shown::Hole])), "[ <2 empty items> ]");
    assert_eq!(
        inspect(&script(bson!([1, 2, 3])), Options { elements: Some(2), ..Options::PROMPT }),
        "[ 1, 2, ... 1 more item ]"
    );
    assert_eq!(
        inspect(&script(bson!(["abcdef"])), Options { string: Some(4), ..Options::PROMPT }),
        "[ 'abcd'... 2 more characters ]"
    );
}

#[test]
fn printjson_opens_every_object() {
    let json = |value: &Shown| print_json(value, Options::PROMPT);
    assert_eq!(json(&script(doc! { "a": 1 })), "{\n  a: 1\n}");
    assert_eq!(json(&script(bson!([1, [], {}]))), "[\n  1,\n  [],\n  {}\n]");
    assert_eq!(json(&text("s")), "s");
    assert_eq!(
        json(&served(doc! { "a": { "b": [1] } })),
        "{\n  a: {\n    b: [\n      1\n    ]\n  }\n}"
    );
}

#[test]
fn colour_never_changes_the_lines() {
    let value = Shown::Object(Object {
        name: None,
        fields: vec![("a".into(), text("x")), ("n".into(), Shown::Number(1.0))],
        origin: Origin::Server,
    });
    let painted = inspect(&value, Options { paint: Paint::Terminal, ..Options::PROMPT });
    assert_eq!(painted, "{ a: \x1b[32m'x'\x1b[0m, n: \x1b[33m1\x1b[0m }");
    let list =
        array(vec![text("日本"), text("b"), text("c"), text("d"), text("e"), text("f"), text("g")]);
    assert_eq!(shown(&list), "[\n  '日本', 'b',\n  'c',    'd',\n  'e',    'f',\n  'g'\n]");
}
