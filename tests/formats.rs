//! What programs read: `--format`, `--json`, `.csv()` and `.table()`, and which stream and exit code things have.

use std::fs;

use crate::program::{Outcome, tally};

fn quiet<const N: usize>(arguments: [&str; N]) -> Outcome {
    tally(["--quiet", "--norc", "--ephemeral"].into_iter().chain(arguments)).run()
}

/// Code whose value is printed in a style.
fn formatted(format: &str, code: &str) -> Outcome {
    quiet(["--format", format, "--eval", code])
}

const SHOP: &str = "db.t.insert([{_id: 1, n: NumberInt(5), l: NumberLong('8031591796700279859'), \
                    a: {b: [1.5, 'x,y']}}, {_id: 2, d: ISODate('2020-01-02T03:04:05.678Z'), s: 'say \"hi\"'}]);";

#[test]
fn json_is_one_value_a_result_and_a_cursor_is_an_array() {
    let code = format!("{SHOP} db.t.find()");
    formatted("json", &code).prints(
        "[\n  {\n    \"_id\": 1,\n    \"n\": 5,\n    \"l\": 8031591796700279859,\n    \"a\": {\n      \"b\": [\n        \
         1.5,\n        \"x,y\"\n      ]\n    }\n  },\n  {\n    \"_id\": 2,\n    \"d\": {\n      \"$date\": \
         \"2020-01-02T03:04:05.678Z\"\n    },\n    \"s\": \"say \\\"hi\\\"\"\n  }\n]\n",
    );
    formatted("json", "db.none.find()").prints("[]\n");
    formatted("json", "({a: 'x'})").prints("{\n  \"a\": \"x\"\n}\n");
    formatted("json", "'text'").prints("\"text\"\n");
    formatted("json", "null").prints("null\n");
    formatted("json", "var x = 1").prints("");
}

#[test]
fn ejson_tells_the_types_that_a_save_would_store() {
    formatted("ejson", "({i: NumberInt(1), d: 2.5, l: NumberLong(3)})").prints(
        "{\n  \"i\": {\n    \"$numberInt\": \"1\"\n  },\n  \"d\": {\n    \"$numberDouble\": \"2.5\"\n  },\n  \"l\": {\n    \
         \"$numberLong\": \"3\"\n  }\n}\n",
    );
    // A number of a script is a double in one shell and an int32 in the other.
    formatted("ejson", "[7]").prints("[\n  {\n    \"$numberDouble\": \"7.0\"\n  }\n]\n");
    quiet(["--emulate", "mongosh", "--format", "ejson", "--eval", "[7]"])
        .prints("[\n  {\n    \"$numberInt\": \"7\"\n  }\n]\n");
    // A document that was read keeps the types it has.
    formatted("ejson", "db.t.insert({_id: NumberInt(4)}); db.t.findOne()")
        .prints("{\n  \"_id\": {\n    \"$numberInt\": \"4\"\n  }\n}\n");
}

#[test]
fn ndjson_is_a_line_a_document_and_all_of_them() {
    let code = format!("{SHOP} db.t.find({{}}, {{a: 1}})");
    formatted("ndjson", &code).prints("{\"_id\":1,\"a\":{\"b\":[1.5,\"x,y\"]}}\n{\"_id\":2}\n");
    let many = formatted(
        "ndjson",
        "for (var i = 0; i < 2500; i++) db.t.insert({i: i}); db.t.find({}, {_id: 0})",
    );
    assert_eq!(many.out.lines().count(), 2500);
    assert!(many.out.ends_with("{\"i\":2499}\n"), "{}", &many.out[many.out.len() - 80..]);
    formatted("ndjson", "db.none.find()").prints("");
    formatted("ndjson", "[{a: 'x'}, 2]").prints("{\"a\":\"x\"}\n2\n");
    // Of files and of a pipe as well.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("s.js").display().to_string();
    fs::write(&file, "printjson({a: 'x'}); print('text', {b: null})\n").unwrap();
    quiet(["--format", "ndjson", &file]).prints("{\"a\":\"x\"}\ntext {\"b\":null}\n");
    tally(["--quiet", "--norc", "--ephemeral", "--format", "ndjson"])
        .input("use shop\ndb.t.insert({_id: 'x'})\ndb.t.find()\nshow collections\n")
        .run()
        .prints("{\"nInserted\":1}\n{\"_id\":\"x\"}\n\"t\"\n")
        .warns("switched to db shop");
}

#[test]
fn csv_and_tables_gather_the_fields_of_all_documents() {
    let code = format!("{SHOP} db.t.find()");
    formatted("csv", &code).prints(
        "_id,n,l,a.b,d,s\n1,5,8031591796700279859,\"[1.5,\"\"x,y\"\"]\",,\n\
         2,,,,2020-01-02T03:04:05.678Z,\"say \"\"hi\"\"\"\n",
    );
    formatted(
        "table",
        "db.t.insert([{_id: 1, name: '日本'}, {_id: 20, name: 'Ann', ok: true}]); db.t.find()",
    )
    .prints("_id  name  ok\n---  ----  ----\n  1  日本\n 20  Ann   true\n");
    formatted("csv", "db.none.find()").prints("");
    quiet([
        "--eval",
        "db.t.insert({_id: 1, a: {b: 'x'}}); db.t.find({}, {_id: 0, 'a.b': 1}).csv()",
    ])
    .prints("a.b\nx\n");
    quiet(["--eval", "db.t.insert({_id: 1}); print(db.t.aggregate([]).table())"])
        .prints("_id\n---\n  1\n");
    quiet(["--emulate", "mongosh", "--eval", "db.t.insertOne({_id: 1}); db.t.find().csv()"])
        .prints("_id\n1\n");
}

#[test]
fn a_named_shell_style_shows_a_cursor_whole() {
    let code = "for (var i = 0; i < 45; i++) db.t.insert({_id: i}); db.t.find()";
    let plain = quiet(["--eval", code]).exits(0);
    assert_eq!(plain.out.lines().count(), 21, "as the shell does");
    let all = formatted("mongo", code).exits(0);
    assert_eq!(all.out.lines().count(), 45);
    assert!(all.out.ends_with("{ \"_id\" : 44 }\n"));
    let modern = formatted("mongosh", code).exits(0);
    assert!(
        modern.out.starts_with("[\n") && modern.out.ends_with("{ _id: 44 }\n]\n"),
        "{}",
        modern.out
    );
    assert!(!modern.out.contains("Type"), "{}", modern.out);
}

#[test]
fn what_is_no_document_is_never_silently_nothing() {
    formatted("json", "function f() { return 1 }; f")
        .prints("{\n  \"$code\": \"function f() { return 1 }\"\n}\n");
    formatted("json", "new Map([['a', 'x']])").prints("{\n  \"a\": \"x\"\n}\n");
    formatted("json", "Symbol('s')").prints("null\n");
    formatted("json", "db").prints("\"test\"\n");
    formatted("json", "db.t").prints("\"test.t\"\n");
    formatted("json", "var d = {}; d.d = d; d").exits(252).warns("circular");
}

#[test]
fn only_data_is_on_standard_output() {
    let script = "print(1); throw new Error('x')";
    let outcome = formatted("ndjson", script).exits(252).warns("Error: x");
    assert_eq!(outcome.out, "1\n");
    let dates = "db.t.insert({code: '20161103', s: '2016-11-03'}); db.t.findOne({}, {_id: 0})";
    formatted("ndjson", dates).prints("{\"code\":\"20161103\",\"s\":\"2016-11-03\"}\n");
    let all = quiet(["--eval", "for (var i = 0; i < 200000; i++) print(i); quit(0)"]).exits(0);
    assert!(all.out.ends_with("\n199999\n"));
    quiet(["--format", "xml", "--eval", "1"]).exits(2).warns("ndjson");
}

#[test]
fn json_of_mongosh_prints_the_value_or_the_error() {
    let json = |arguments: &[&str]| {
        let all = ["--quiet", "--norc", "--ephemeral", "--emulate", "mongosh"];
        tally(all.iter().chain(arguments)).run()
    };
    json(&["--json", "--eval", "({a: 1})"])
        .prints("{\n  \"a\": {\n    \"$numberInt\": \"1\"\n  }\n}\n");
    json(&["--json=relaxed", "--eval", "({a: 1})"]).prints("{\n  \"a\": 1\n}\n");
    json(&["--json", "--eval", "var x = 1", "--eval", "undefined"]).prints("");
    json(&["--json=relaxed", "--eval", "db.t.insertOne({_id: 1}); db.t.find().toArray()"])
        .prints("[\n  {\n    \"_id\": 1\n  }\n]\n");
    let cursor = json(&["--json", "--eval", "db.t.find()"]).exits(1);
    assert!(cursor.out.contains("Converting circular structure to EJSON"), "{cursor:?}");
    let thrown = json(&["--json", "--eval", "throw new TypeError('boom')"]).exits(1);
    let start = "{\n  \"message\": \"boom\",\n  \"stack\": \"TypeError: boom";
    assert!(thrown.out.starts_with(start), "{thrown:?}");
    assert!(thrown.out.ends_with("\",\n  \"name\": \"TypeError\"\n}\n"), "{thrown:?}");
    assert_eq!(thrown.err, "");
    let refused = json(&["--json", "--eval", "db.t.find({$nope: 1}).toArray()"]).exits(1);
    assert!(refused.out.contains("\"codeName\": \"BadValue\""), "{refused:?}");
    let words = "Cannot use --json without --eval or with --shell or with extra files";
    for arguments in
        [&["--json"][..], &["--json", "--eval", "1", "--shell"], &["--json", "--eval", "1", "a.js"]]
    {
        json(arguments).exits(2).warns(words);
    }
    json(&["--json=pretty", "--eval", "1"]).exits(2).warns("canonical or relaxed");
    json(&["--json", "--format", "json", "--eval", "1"]).exits(2).warns("--format");
}

#[test]
fn a_write_error_in_a_result_can_be_the_programs_failure() {
    let twice = "db.t.insert({_id: 1}); db.t.insert({_id: 1}); print('on')";
    quiet(["--eval", twice]).prints("on\n");
    let failed = quiet(["--fail-on-write-error", "--eval", twice]).exits(1);
    assert_eq!(failed.warns("1 write error in results").out, "on\n");
    let list = "db.t.insert([{_id: 1}, {_id: 1}, {_id: 2}], {ordered: false})";
    quiet(["--fail-on-write-error", "--eval", list]).exits(1);
    let bulk =
        "var b = db.t.initializeUnorderedBulkOp(); b.insert({_id: 1}); b.execute().nInserted";
    quiet(["--fail-on-write-error", "--eval", bulk]).prints("1\n");
    // What was caught is the script's own affair.
    let caught =
        "db.t.insertOne({_id: 1}); try { db.t.insertOne({_id: 1}) } catch (e) { 'caught' }";
    quiet(["--fail-on-write-error", "--eval", caught]).prints("caught\n");
}
