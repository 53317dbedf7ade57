//! The classic shell: `tojson` and its rule of 80, the prompt, `print`.

use bson::oid::ObjectId;
use bson::spec::BinarySubtype;
use bson::{Binary, Bson, DateTime, JavaScriptCodeWithScope, RawBson, Timestamp, bson, doc};
use tally::print::mongo::{line, print_argument, print_value, tojson};
use tally::print::{DB_REF, FunctionKind, Paint, Shown};

use super::{array, error, named, object, result, script, served, text};

fn json(value: &Shown) -> String {
    tojson(value, "", None)
}

fn echo(value: &Shown) -> String {
    print_value(value, Paint::Plain).expect("this value is shown")
}

#[test]
fn numbers() {
    for (number, shown) in [
        (1.0, "1"),
        (1.5, "1.5"),
        (1e21, "1e+21"),
        (1e-7, "1e-7"),
        (0.1 + 0.2, "0.30000000000000004"),
        (-0.0, "0"),
        (f64::NAN, "NaN"),
        (f64::INFINITY, "Infinity"),
        (f64::NEG_INFINITY, "-Infinity"),
    ] {
        assert_eq!(echo(&Shown::Number(number)), shown);
        assert_eq!(
            json(&object(vec![("n", Shown::Number(number))])),
            format!("{{ \"n\" : {shown} }}")
        );
    }
    assert_eq!(echo(&Shown::Value(Bson::Int32(5))), "NumberInt(5)");
}

#[test]
fn long_numbers_are_quoted_from_two_to_the_31st_up() {
    for (number, shown) in [
        (5, "NumberLong(5)"),
        (2_147_483_647, "NumberLong(2147483647)"),
        (2_147_483_648, "NumberLong(\"2147483648\")"),
        (-2_147_483_647, "NumberLong(-2147483647)"),
        (-2_147_483_648, "NumberLong(\"-2147483648\")"),
        (9_007_199_254_740_993, "NumberLong(\"9007199254740993\")"),
        (i64::MIN, "NumberLong(\"-9223372036854775808\")"),
    ] {
        assert_eq!(echo(&Shown::Value(Bson::Int64(number))), shown);
    }
}

#[test]
fn values_with_constructors() {
    let uuid = b"\x3b\x24\x11\x01\xe2\xbb\x42\x55\x8c\xaf\x41\x36\xc5\x66\xa9\x62".to_vec();
    let binary = |subtype, bytes: &[u8]| Bson::Binary(Binary { subtype, bytes: bytes.to_vec() });
    let id = ObjectId::parse_str("507f1f77bcf86cd799439011").expect("an id");
    let regex = |pattern: &str, options: &str| {
        Bson::RegularExpression(bson::Regex {
            pattern: pattern.try_into().expect("no zero byte"),
            options: options.try_into().expect("no zero byte"),
        })
    };
    for (value, shown) in [
        (Bson::Decimal128("1.50".parse().expect("a decimal")), "NumberDecimal(\"1.50\")"),
        (Bson::ObjectId(id), "ObjectId(\"507f1f77bcf86cd799439011\")"),
        (Bson::DateTime(DateTime::from_millis(0)), "ISODate(\"1970-01-01T00:00:00Z\")"),
        (Bson::DateTime(DateTime::from_millis(456)), "ISODate(\"1970-01-01T00:00:00.456Z\")"),
        (
            Bson::DateTime(DateTime::from_millis(1_577_934_245_678)),
            "ISODate(\"2020-01-02T03:04:05.678Z\")",
        ),
        (Bson::DateTime(DateTime::MAX), "ISODate(\"0NaN-NaN-NaNTNaN:NaN:NaNZ\")"),
        (Bson::Timestamp(Timestamp { time: 1, increment: 2 }), "Timestamp(1, 2)"),
        (binary(BinarySubtype::Generic, b"abc"), "BinData(0,\"YWJj\")"),
        (binary(BinarySubtype::UserDefined(128), b"abc"), "BinData(128,\"YWJj\")"),
        (binary(BinarySubtype::UuidOld, &uuid), "BinData(3,\"OyQRAeK7QlWMr0E2xWapYg==\")"),
        (binary(BinarySubtype::Uuid, &uuid), "UUID(\"3b241101-e2bb-4255-8caf-4136c566a962\")"),
        (binary(BinarySubtype::Uuid, b"\xba"), "BinData(4,\"ug==\")"),
        (regex("ab/c", "gi"), "/ab\\/c/gi"),
        (
            Bson::JavaScriptCode("function(){return 1}".into()),
            "{ \"code\" : \"function(){return 1}\" }",
        ),
        (
            Bson::JavaScriptCodeWithScope(JavaScriptCodeWithScope {
                code: "x".into(),
                scope: doc! { "a": 1 },
            }),
            "{ \"code\" : \"x\", \"scope\" : { \"a\" : 1 } }",
        ),
        (Bson::MinKey, "{ \"$minKey\" : 1 }"),
        (Bson::MaxKey, "{ \"$maxKey\" : 1 }"),
        (Bson::Null, "null"),
        (Bson::Boolean(true), "true"),
    ] {
        assert_eq!(echo(&Shown::Value(value)), shown);
    }
    assert_eq!(echo(&Shown::InvalidDate), "ISODate(\"0NaN-NaN-NaNTNaN:NaN:NaNZ\")");
    let reference = named(DB_REF, vec![("$ref", text("c")), ("$id", Shown::Number(1.0))]);
    assert_eq!(echo(&reference), "DBRef(\"c\", 1)");
    let reference = named(
        DB_REF,
        vec![("$ref", text("c")), ("$id", Shown::Value(Bson::ObjectId(id))), ("$db", text("d"))],
    );
    assert_eq!(echo(&reference), "DBRef(\"c\", ObjectId(\"507f1f77bcf86cd799439011\"), \"d\")");
}

#[test]
fn what_a_server_sent() {
    let document = bson::rawdoc! {
        "_id": 5,
        "double": 3.0,
        "long": 3_i64,
        "ref": { "$ref": "c", "$id": 1 },
        "not": { "$id": 1, "$ref": "c" },
        "symbol": RawBson::Symbol("s".into()),
        "far": DateTime::MAX,
    };
    assert_eq!(
        line(&Shown::from_raw_document(&document), Paint::Plain),
        "{ \"_id\" : 5, \"double\" : 3, \"long\" : NumberLong(3), \"ref\" : DBRef(\"c\", 1), \
         \"not\" : { \"$id\" : 1, \"$ref\" : \"c\" }, \"symbol\" : \"s\", \
         \"far\" : ISODate(\"0NaN-NaN-NaNTNaN:NaN:NaNZ\") }"
    );
    // A literal with these fields stays what it is.
    assert_eq!(json(&script(doc! { "$ref": "c", "$id": 1 })), "{ \"$ref\" : \"c\", \"$id\" : 1 }");
}

#[test]
fn strings_are_bare_at_the_top_and_json_below() {
    assert_eq!(echo(&text("it's \"q\"\n")), "it's \"q\"\n");
    assert_eq!(
        json(&text("a\"b\\c\n\t\u{1}é/'\u{2028}")),
        "\"a\\\"b\\\\c\\n\\t\\u0001é/'\u{2028}\""
    );
    assert_eq!(json(&script(bson!(["s"]))), "[ \"s\" ]");
    // The old shell left keys as they were; an escaped one can be pasted back.
    assert_eq!(json(&object(vec![("k\"q", Shown::Number(1.0))])), "{ \"k\\\"q\" : 1 }");
}

#[test]
fn nothing_and_undefined() {
    assert_eq!(print_value(&Shown::Undefined, Paint::Plain), None);
    assert_eq!(json(&Shown::Undefined), "undefined");
    assert_eq!(json(&object(vec![("a", Shown::Undefined)])), "{ \"a\" : undefined }");
    assert_eq!(json(&array(vec![Shown::Number(1.0), Shown::Hole])), "[ 1, undefined ]");
}

#[test]
fn functions_and_errors() {
    let function = Shown::Function {
        kind: FunctionKind::Function,
        name: "f".to_owned(),
        source: "function f() { return 1 }".to_owned(),
    };
    assert_eq!(echo(&function), "function f() { return 1 }");
    assert_eq!(json(&error("Error: x")), "Error: x");
    assert_eq!(json(&object(vec![("e", error("Error: x"))])), "{ \"e\" : Error: x }");
}

#[test]
fn the_rule_of_80_is_all_or_nothing() {
    assert_eq!(json(&script(doc! {})), "{ }");
    assert_eq!(json(&script(bson!([]))), "[ ]");
    // A flat document with one field may have 78 visible characters.
    let filled = |length: usize| script(doc! { "a": "x".repeat(length) });
    assert_eq!(json(&filled(65)), format!("{{ \"a\" : \"{}\" }}", "x".repeat(65)));
    assert_eq!(json(&filled(67)), format!("{{\n\t\"a\" : \"{}\"\n}}", "x".repeat(67)));
    // Ten short fields have ten tabs that count.
    let ten = script(doc! {
        "a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "f": 6, "g": 7, "h": 8, "i": 9, "j": 10,
    });
    assert_eq!(json(&ten).lines().count(), 12);
    // No short part of a long document is folded.
    let nested =
        script(doc! { "long": "x".repeat(70), "empty": {}, "none": [], "list": [{ "b": 1 }, 2] });
    let expected = [
        "{",
        &format!("\t\"long\" : \"{}\",", "x".repeat(70)),
        "\t\"empty\" : {",
        "\t\t",
        "\t},",
        "\t\"none\" : [ ],",
        "\t\"list\" : [",
        "\t\t{",
        "\t\t\t\"b\" : 1",
        "\t\t},",
        "\t\t2",
        "\t]",
        "}",
    ];
    assert_eq!(json(&nested), expected.join("\n"));
}

#[test]
fn nolint() {
    let value = script(doc! { "_id": 1, "a": [1, 2, { "b": 3 }], "c": {} });
    assert_eq!(
        tojson(&value, "", Some(true)),
        "{ \"_id\" : 1, \"a\" : [ 1, 2, { \"b\" : 3 } ], \"c\" : {  } }"
    );
    assert_eq!(line(&script(doc! {}), Paint::Plain), "{  }");
    assert_eq!(tojson(&script(doc! { "a": 1 }), "", Some(false)), "{\n\t\"a\" : 1\n}");
    // `tojsononeline` hands one blank in as indentation.
    let value = script(doc! { "a": 1, "b": [1, 2], "c": { "d": 1 } });
    assert_eq!(
        tojson(&value, " ", Some(true)),
        "{  \"a\" : 1,  \"b\" : [ 1, 2 ],  \"c\" : {  \"d\" : 1 } }"
    );
    let wide = script(doc! { "a": "x".repeat(200) });
    assert_eq!(line(&wide, Paint::Plain), format!("{{ \"a\" : \"{}\" }}", "x".repeat(200)));
}

#[test]
fn deeper_than_a_hundred_levels() {
    let mut value = script(doc! {});
    let mut list = array(Vec::new());
    for _ in 0..3000 {
        value = object(vec![("a", value)]);
        list = array(vec![list]);
    }
    let shown = tojson(&value, "", Some(true));
    assert_eq!(shown.matches("\"a\"").count(), 101);
    assert!(shown.contains("\"a\" : [Object] }"));
    assert!(tojson(&list, "", Some(true)).contains("[ [Array] ]"));
}

#[test]
fn results_of_writes() {
    let number = Shown::Number;
    assert_eq!(
        echo(&result("WriteResult", vec![("nInserted", number(1.0))])),
        "WriteResult({ \"nInserted\" : 1 })"
    );
    assert_eq!(echo(&result("WriteResult", vec![])), "WriteResult({ })");
    assert_eq!(
        echo(&result(
            "WriteResult",
            vec![
                ("nMatched", number(0.0)),
                ("nUpserted", number(1.0)),
                ("nModified", number(0.0)),
                ("_id", number(99.0))
            ]
        )),
        "WriteResult({ \"nMatched\" : 0, \"nUpserted\" : 1, \"nModified\" : 0, \"_id\" : 99 })"
    );
    let bulk = result(
        "BulkWriteResult",
        vec![
            ("writeErrors", array(vec![])),
            ("writeConcernErrors", array(vec![])),
            ("nInserted", number(2.0)),
            ("nUpserted", number(0.0)),
            ("nMatched", number(0.0)),
            ("nModified", number(0.0)),
            ("nRemoved", number(0.0)),
            ("upserted", array(vec![])),
        ],
    );
    assert_eq!(
        echo(&bulk),
        "BulkWriteResult({\n\t\"writeErrors\" : [ ],\n\t\"writeConcernErrors\" : [ ],\n\t\"nInserted\" : 2,\n\
         \t\"nUpserted\" : 0,\n\t\"nMatched\" : 0,\n\t\"nModified\" : 0,\n\t\"nRemoved\" : 0,\n\t\"upserted\" : [ ]\n})"
    );
    let refused = result(
        "WriteResult",
        vec![
            ("nInserted", number(0.0)),
            (
                "writeError",
                script(doc! {
                    "code": 11000,
                    "errmsg": "E11000 duplicate key error collection: test.t index: _id_ dup key: { _id: 1.0 }",
                }),
            ),
        ],
    );
    assert_eq!(
        echo(&refused),
        "WriteResult({\n\t\"nInserted\" : 0,\n\t\"writeError\" : {\n\t\t\"code\" : 11000,\n\
         \t\t\"errmsg\" : \"E11000 duplicate key error collection: test.t index: _id_ dup key: { _id: 1.0 }\"\n\t}\n})"
    );
    // Its `tojson` has no name, so neither has one inside a document.
    assert_eq!(
        json(&result("WriteResult", vec![("nInserted", number(1.0))])),
        "{ \"nInserted\" : 1 }"
    );
}

#[test]
fn replies() {
    assert_eq!(
        echo(&served(
            doc! { "acknowledged": true, "insertedId": ObjectId::parse_str("507f1f77bcf86cd799439011").expect("an id") }
        )),
        "{\n\t\"acknowledged\" : true,\n\t\"insertedId\" : ObjectId(\"507f1f77bcf86cd799439011\")\n}"
    );
    assert_eq!(
        echo(&served(doc! { "acknowledged": true, "insertedIds": [5, 6] })),
        "{ \"acknowledged\" : true, \"insertedIds\" : [ 5, 6 ] }"
    );
    assert_eq!(
        echo(&served(bson!([{ "v": 2, "key": { "_id": 1 }, "name": "_id_" }]))),
        "[ { \"v\" : 2, \"key\" : { \"_id\" : 1 }, \"name\" : \"_id_\" } ]"
    );
    assert_eq!(
        echo(&served(doc! { "nInsertOps": 1, "nUpdateOps": 0, "nRemoveOps": 0, "nBatches": 1 })),
        "{ \"nInsertOps\" : 1, \"nUpdateOps\" : 0, \"nRemoveOps\" : 0, \"nBatches\" : 1 }"
    );
    assert_eq!(
        echo(&served(
            doc! { "nIndexesWas": 3, "msg": "non-_id indexes dropped for collection", "ok": 1 }
        ))
        .lines()
        .count(),
        5
    );
}

#[test]
fn print_says_what_is_there() {
    assert_eq!(print_argument(&script(doc! {})), "{ }");
    assert_eq!(print_argument(&script(doc! { "a": 1 })), "{ \"a\" : 1 }");
    assert_eq!(print_argument(&Shown::Value(Bson::Null)), "null");
    assert_eq!(print_argument(&Shown::Undefined), "undefined");
    assert_eq!(print_argument(&script(bson!([1, [2]]))), "1,2");
    assert_eq!(print_argument(&script(bson!(["a", null, 1]))), "a,,1");
    assert_eq!(print_argument(&script(bson!([1, { "a": 2 }]))), "[ 1, { \"a\" : 2 } ]");
    assert_eq!(print_argument(&Shown::Value(Bson::Int64(5))), "NumberLong(5)");
    assert_eq!(print_argument(&text("s")), "s");
    assert_eq!(
        print_argument(&result("WriteResult", vec![("nInserted", Shown::Number(1.0))])),
        "WriteResult({ \"nInserted\" : 1 })"
    );
}

#[test]
fn colour_never_changes_the_lines() {
    let value = script(doc! { "a": "x".repeat(65) });
    let painted = print_value(&value, Paint::Terminal).expect("shown");
    assert_eq!(painted, format!("{{ \"a\" : \x1b[32m\"{}\"\x1b[0m }}", "x".repeat(65)));
}
