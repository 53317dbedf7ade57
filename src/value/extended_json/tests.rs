//! The published facts of the Extended JSON specification, and the forms of version 1.

use bson::oid::ObjectId;
use bson::spec::BinarySubtype;
use bson::{Binary, Bson, DateTime, RawBson, Regex, Timestamp, bson, doc, rawdoc};
use proptest::prelude::*;

use super::*;

fn both(value: impl Into<Bson>) -> (String, String) {
    let value = RawBson::try_from(value.into()).expect("BSON");
    let text = |form| text(value.as_raw_bson_ref(), form, "").expect("JSON");
    (text(Form::Canonical), text(Form::Relaxed))
}

/// Both forms of a value, and that the canonical one is read as the same value again.
#[track_caller]
fn tells(value: impl Into<Bson>, canonical: &str, relaxed: &str) {
    let value = value.into();
    let (written, short) = both(value.clone());
    assert_eq!((written.as_str(), short.as_str()), (canonical, relaxed));
    let read = parse(canonical, Form::Canonical).expect("it was written");
    assert_eq!(read, RawBson::try_from(value).expect("BSON"));
}

#[track_caller]
fn means(text: &str, value: impl Into<Bson>) {
    let value = RawBson::try_from(value.into()).expect("BSON");
    assert_eq!(parse(text, Form::Canonical), Ok(value), "{text}");
}

fn regex(pattern: &str, options: &str) -> Regex {
    let text = |text: &str| text.try_into().expect("no null byte");
    Regex { pattern: text(pattern), options: text(options) }
}

fn id() -> ObjectId {
    ObjectId::parse_str("56e1fc72e0c917e9c4714161").expect("an ObjectId")
}

#[test]
fn every_type_has_the_two_forms_of_the_specification() {
    tells(id(), r#"{"$oid":"56e1fc72e0c917e9c4714161"}"#, r#"{"$oid":"56e1fc72e0c917e9c4714161"}"#);
    tells(Bson::Symbol("s".into()), r#"{"$symbol":"s"}"#, r#"{"$symbol":"s"}"#);
    tells("text", r#""text""#, r#""text""#);
    tells(42, r#"{"$numberInt":"42"}"#, "42");
    tells(42_i64, r#"{"$numberLong":"42"}"#, "42");
    tells(i64::MAX, r#"{"$numberLong":"9223372036854775807"}"#, "9223372036854775807");
    tells(42.42, r#"{"$numberDouble":"42.42"}"#, "42.42");
    tells(42.0, r#"{"$numberDouble":"42.0"}"#, "42");
    tells(1e21, r#"{"$numberDouble":"1e+21"}"#, "1e+21");
    tells(5_000_000_000.0, r#"{"$numberDouble":"5000000000.0"}"#, "5000000000");
    let infinite = r#"{"$numberDouble":"Infinity"}"#;
    tells(f64::INFINITY, infinite, infinite);
    let infinite = r#"{"$numberDouble":"-Infinity"}"#;
    tells(f64::NEG_INFINITY, infinite, infinite);
    let decimal = r#"{"$numberDecimal":"1.50"}"#;
    tells(Bson::Decimal128("1.50".parse().expect("a decimal")), decimal, decimal);
    let bytes = Binary { subtype: BinarySubtype::Generic, bytes: b"abc".to_vec() };
    let binary = r#"{"$binary":{"base64":"YWJj","subType":"00"}}"#;
    tells(bytes, binary, binary);
    let own = Binary { subtype: BinarySubtype::UserDefined(0xff), bytes: vec![] };
    let binary = r#"{"$binary":{"base64":"","subType":"ff"}}"#;
    tells(own, binary, binary);
    tells(Bson::JavaScriptCode("f()".into()), r#"{"$code":"f()"}"#, r#"{"$code":"f()"}"#);
    let scoped = bson::JavaScriptCodeWithScope { code: "f()".into(), scope: doc! {"a": 1} };
    tells(
        scoped,
        r#"{"$code":"f()","$scope":{"a":{"$numberInt":"1"}}}"#,
        r#"{"$code":"f()","$scope":{"a":1}}"#,
    );
    let stamp = r#"{"$timestamp":{"t":123456789,"i":42}}"#;
    tells(Timestamp { time: 123_456_789, increment: 42 }, stamp, stamp);
    let pattern = regex("^a/", "mi");
    let (canonical, relaxed) = both(pattern);
    assert_eq!(canonical, r#"{"$regularExpression":{"pattern":"^a/","options":"im"}}"#);
    assert_eq!(canonical, relaxed);
    tells(Bson::MinKey, r#"{"$minKey":1}"#, r#"{"$minKey":1}"#);
    tells(Bson::MaxKey, r#"{"$maxKey":1}"#, r#"{"$maxKey":1}"#);
    tells(Bson::Undefined, r#"{"$undefined":true}"#, "null");
    tells(Bson::Null, "null", "null");
    tells(true, "true", "true");
    tells(doc! {}, "{}", "{}");
    tells(bson!([[], {}]), "[[],{}]", "[[],{}]");
    let pointer = crate::value::pointer::make("db.c", id()).expect("a pointer");
    let told = r#"{"$dbPointer":{"$ref":"db.c","$id":{"$oid":"56e1fc72e0c917e9c4714161"}}}"#;
    assert_eq!(text(pointer.as_raw_bson_ref(), Form::Relaxed, "").as_deref(), Ok(told));
    assert_eq!(parse(told, Form::Relaxed), Ok(pointer));
}

#[test]
fn negative_zero_and_nan_are_kept() {
    assert_eq!(both(-0.0), (r#"{"$numberDouble":"-0.0"}"#.into(), "-0.0".into()));
    for text in [r#"{"$numberDouble":"-0.0"}"#, "-0.0"] {
        let Ok(RawBson::Double(zero)) = parse(text, Form::Relaxed) else { panic!("{text}") };
        assert!(zero == 0.0 && zero.is_sign_negative());
    }
    let nan = r#"{"$numberDouble":"NaN"}"#;
    assert_eq!(both(f64::NAN), (nan.into(), nan.into()));
    assert!(matches!(parse(nan, Form::Relaxed), Ok(RawBson::Double(nan)) if nan.is_nan()));
}

#[test]
fn a_relaxed_date_is_an_iso_text_between_1970_and_9999() {
    let date = |millis| both(Bson::DateTime(DateTime::from_millis(millis)));
    let canonical = |millis: i64| format!(r#"{{"$date":{{"$numberLong":"{millis}"}}}}"#);
    let whole = r#"{"$date":"2012-12-24T12:15:30Z"}"#.to_owned();
    assert_eq!(date(1_356_351_330_000), (canonical(1_356_351_330_000), whole));
    let fraction = r#"{"$date":"2012-12-24T12:15:30.501Z"}"#.to_owned();
    assert_eq!(date(1_356_351_330_501), (canonical(1_356_351_330_501), fraction));
    assert_eq!(date(253_402_300_799_999).1, r#"{"$date":"9999-12-31T23:59:59.999Z"}"#);
    for far in [-1, 253_402_300_800_000, i64::MIN] {
        assert_eq!(date(far), (canonical(far), canonical(far)));
        means(&canonical(far), Bson::DateTime(DateTime::from_millis(far)));
    }
}

#[test]
fn dates_of_every_form_are_read() {
    let date = |millis| Bson::DateTime(DateTime::from_millis(millis));
    means(r#"{"$date":0}"#, date(0));
    means(r#"{"$date":-1}"#, date(-1));
    means(r#"{"$date":"1970-01-01T00:00:00Z"}"#, date(0));
    means(r#"{"$date":"1970-01-01T00:00:00.5+01:00"}"#, date(-3_599_500));
    means(r#"{"$date":{"$numberLong":"1356351330501"}}"#, date(1_356_351_330_501));
}

#[test]
fn the_forms_of_version_one_are_read() {
    let bytes = |subtype| Binary { subtype, bytes: b"abc".to_vec() };
    means(r#"{"$binary":"YWJj","$type":"00"}"#, bytes(BinarySubtype::Generic));
    means(r#"{"$type":"80","$binary":"YWJj"}"#, bytes(BinarySubtype::UserDefined(0x80)));
    means(r#"{"$binary":"YWJj","$type":0}"#, bytes(BinarySubtype::Generic));
    let pattern = regex("^a", "im");
    means(r#"{"$regex":"^a","$options":"mi"}"#, pattern);
    means(r#"{"$numberLong":5}"#, 5_i64);
    means(r#"{"$undefined":true}"#, Bson::Undefined);
    let uuid = Binary { subtype: BinarySubtype::Uuid, bytes: (0..16).collect() };
    means(r#"{"$uuid":"00010203-0405-0607-0809-0a0b0c0d0e0f"}"#, uuid);
}

#[test]
fn what_only_looks_like_extended_json_is_a_document() {
    means(r#"{"$gt":{"$numberInt":"5"}}"#, doc! {"$gt": 5});
    means(r#"{"$regex":"^a"}"#, doc! {"$regex": "^a"});
    means(
        r#"{"$regex":"^a","$options":"i","$ne":"b"}"#,
        doc! {
            "$regex": "^a", "$options": "i", "$ne": "b",
        },
    );
    means(r#"{"$type":"string"}"#, doc! {"$type": "string"});
    means(r#"{"$ref":"c","$id":1}"#, doc! {"$ref": "c", "$id": 1});
    means(r#"{"b":1,"a":2,"10":3}"#, doc! {"b": 1, "a": 2, "10": 3});
}

#[test]
fn whole_numbers_keep_their_value_whatever_their_size() {
    let relaxed = |text| parse(text, Form::Relaxed).expect("JSON");
    assert_eq!(relaxed("5"), RawBson::Int32(5));
    assert_eq!(relaxed("5.0"), RawBson::Double(5.0));
    assert_eq!(relaxed("5000000000"), RawBson::Double(5e9));
    assert_eq!(relaxed("9007199254740993"), RawBson::Int64(9_007_199_254_740_993));
    assert_eq!(relaxed(r#"{"$numberLong":"5"}"#), RawBson::Int32(5));
    assert_eq!(
        relaxed(r#"{"$numberLong":"9007199254740991"}"#),
        RawBson::Double(9_007_199_254_740_991.0)
    );
    assert_eq!(
        relaxed(r#"{"$numberLong":"9007199254740993"}"#),
        RawBson::Int64(9_007_199_254_740_993)
    );
    means("5000000000", 5_000_000_000_i64);
    means("18446744073709551615", 18_446_744_073_709_551_615.0);
    // The shortest text of a double is that double again.
    means("0.1", 0.1);
    means("21.815872192382812", 21.815_872_192_382_812);
}

#[test]
fn plain_json_is_left_as_it_is_but_for_long_numbers() {
    let left = plain(r#"{"a":{"$oid":"x"},"b":9007199254740993,"c":-7}"#);
    let expected = rawdoc! {
        "a": {"$oid": "x"}, "b": {"$numberLong": "9007199254740993"}, "c": -7,
    };
    assert_eq!(left, Ok(RawBson::Document(expected)));
}

#[test]
fn an_indent_gives_each_field_a_line() {
    let value = RawBson::Document(rawdoc! {"a": 1, "b": [], "c": [true, {"d": {}}]});
    let text = text(value.as_raw_bson_ref(), Form::Relaxed, "  ").expect("JSON");
    let expected = "{\n  \"a\": 1,\n  \"b\": [],\n  \"c\": [\n    true,\n    {\n      \"d\": {}\n    }\n  ]\n}";
    assert_eq!(text, expected);
}

#[test]
fn texts_are_escaped_as_json_has_it() {
    let value = "q\" b\\ n\n c\u{1} é \u{2028}";
    assert_eq!(both(value).1, "\"q\\\" b\\\\ n\\n c\\u0001 é \u{2028}\"");
    means(&both(value).0, value);
    means(r#""\u00e9\ud83d\ude00""#, "é😀");
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    let said = |text: &str| parse(text, Form::Relaxed).expect_err(text).to_string();
    assert_eq!(
        said(r#"{"a":[{"$oid":"12"}]}"#),
        r#"$oid needs 24 hexadecimal digits, not "12" (in a.0)"#
    );
    assert_eq!(said(r#"{"$oid":"12","b":1}"#), "b has no place beside $oid");
    assert_eq!(
        said(r#"{"$numberInt":"2147483648"}"#),
        r#"$numberInt needs a whole number of 32 bits, not "2147483648""#
    );
    assert_eq!(
        said(r#"{"$numberDouble":"inf"}"#),
        r#"$numberDouble needs a text of digits, not "inf""#
    );
    assert!(
        said(r#"{"$binary":{"base64":"*","subType":"00"}}"#).starts_with("$binary needs base64")
    );
    assert_eq!(
        said(r#"{"$date":"yesterday"}"#),
        r#"$date needs an ISO date or milliseconds since 1970, not "yesterday""#
    );
    let refusal = parse("{\"a\": 1,\n \"b\" 2}", Form::Relaxed).expect_err("a colon is missing");
    assert_eq!(refusal.position, Some((2, 6)));
    assert!(parse("{} {}", Form::Relaxed).is_err());
    assert_eq!(said(&"[".repeat(300)), "it nests more than 250 levels deep");
    assert!(parse(&format!("{}{}", "[".repeat(250), "]".repeat(250)), Form::Relaxed).is_ok());
    assert!(said(r#"{"a\u0000b":1}"#).starts_with("a field name must not contain a null byte"));
}

fn scalars() -> impl Strategy<Value = Bson> {
    prop_oneof![
        any::<i32>().prop_map(Bson::Int32),
        any::<i64>().prop_map(Bson::Int64),
        any::<f64>()
            .prop_filter("NaN is not equal to itself", |number| !number.is_nan())
            .prop_map(Bson::Double),
        any::<String>().prop_map(Bson::String),
        any::<bool>().prop_map(Bson::Boolean),
        any::<i64>().prop_map(|millis| Bson::DateTime(DateTime::from_millis(millis))),
        any::<[u8; 12]>().prop_map(|bytes| Bson::ObjectId(ObjectId::from_bytes(bytes))),
        (any::<u8>(), any::<Vec<u8>>()).prop_map(|(subtype, bytes)| {
            Bson::Binary(Binary { subtype: BinarySubtype::from(subtype), bytes })
        }),
        Just(Bson::Null),
        Just(Bson::MinKey),
    ]
}

proptest! {
    #[test]
    fn the_canonical_form_is_read_as_it_was_written(values in prop::collection::vec(scalars(), 0..5)) {
        let value = RawBson::try_from(Bson::Array(values)).expect("BSON");
        let written = text(value.as_raw_bson_ref(), Form::Canonical, " ").expect("JSON");
        prop_assert_eq!(parse(&written, Form::Canonical), Ok(value));
    }
}
