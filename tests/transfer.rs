//! `tally import`, `tally export` and `tally copy`: files, exit codes, what is kept when something goes wrong.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::program::{Outcome, tally};
use crate::serve::server::Serving;

/// A folder of files, with data in `data`.
struct Place(tempfile::TempDir);

impl Place {
    fn new(files: &[(&str, &str)]) -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        for (name, text) in files {
            fs::write(place.path().join(name), text).unwrap();
        }
        place
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// A run of tally over the data.
    fn run<const N: usize>(&self, arguments: [&str; N]) -> Outcome {
        self.fed(arguments, "")
    }

    fn fed<const N: usize>(&self, arguments: [&str; N], input: &str) -> Outcome {
        let arguments = arguments.into_iter().chain(["--data", "data"]);
        tally(arguments).inside(self.path()).input(input).run()
    }

    /// What code prints.
    fn says(&self, code: &str) -> String {
        self.run(["--quiet", "--norc", "--eval", code]).exits(0).out
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path().join(name)).unwrap()
    }
}

/// The types of the fields of the documents in `t`, one line for each.
const TYPES: &str = "db.t.aggregate([{$sort: {_id: 1}}, {$project: {x: {$objectToArray: '$$ROOT'}}}, {$project: {x: \
                     {$map: {input: '$x', in: {$concat: ['$$this.k', ':', {$type: '$$this.v'}]}}}}}])\
                     .forEach(d => print(d.x.join(' ')))";

#[test]
fn json_keeps_the_types_of_extended_json() {
    let text = "{\"_id\":1,\"i\":5,\"d\":1.0,\"l\":8031591796700279859}\n\
                {\"_id\":2,\"o\":{\"$oid\":\"5f2b6c3e8f1d4a2b3c4d5e6f\"},\"t\":{\"$date\":\"2020-01-02T03:04:05.678Z\"},\
                \"n\":{\"$numberDecimal\":\"1.50\"},\"b\":{\"$binary\":{\"base64\":\"AAEC\",\"subType\":\"00\"}}}\n";
    let place = Place::new(&[("t.ndjson", text)]);
    let told = place.run(["import", "t.ndjson"]).prints("");
    assert_eq!(told.err, "2 documents imported into test.t\n");
    assert_eq!(
        place.says(TYPES),
        "_id:int i:int d:double l:long\n_id:int o:objectId t:date n:decimal b:binData\n"
    );
    // What is written is what was read.
    let told = place.run(["export", "-c", "t"]).prints(text);
    assert_eq!(told.err, "2 documents exported from test.t\n");
    place
        .run(["export", "-c", "t", "--quiet", "--jsonArray", "--limit", "1", "--fields", "d"])
        .prints("[{\"_id\":1,\"d\":1.0}]\n");
    place
        .run(["export", "-c", "t", "--quiet", "--jsonFormat", "canonical", "-q", "{\"i\": {\"$gt\": 4}}"])
        .prints(
            "{\"_id\":{\"$numberInt\":\"1\"},\"i\":{\"$numberInt\":\"5\"},\"d\":{\"$numberDouble\":\"1.0\"},\
             \"l\":{\"$numberLong\":\"8031591796700279859\"}}\n",
        );
    place.run(["export", "-c", "t", "-q", "{i: 5}"]).exits(2).warns("with names in quotes");
}

#[test]
fn json_comes_in_arrays_and_over_several_lines_and_from_standard_input() {
    let place = Place::new(&[("a.json", "[{\"_id\": 1},\n {\n  \"_id\": 2}]\n")]);
    place.run(["import", "a.json", "-c", "t", "-d", "shop", "--jsonArray"]).exits(0);
    place.fed(["import", "-c", "t", "--db", "shop"], "{\n\"_id\":\n3}\n{\"_id\":4}").exits(0);
    place.fed(["import", "-", "--collection", "t", "--db=shop"], "").exits(0);
    assert_eq!(place.says("db.getSiblingDB('shop').t.distinct('_id').join()"), "1,2,3,4\n");
    place.run(["import"]).exits(2).warns("Give --collection NAME").warns("Usage: tally import");
    place.run(["import", "missing.json"]).exits(1).warns("cannot read missing.json: no such file");
    place.run(["import", "a.json", "--uri", "shop"]).exits(2).warns("mongodb://");
    place.run(["--host", "h", "import", "a.json"]).exits(2).warns("go behind import");
}

#[test]
fn a_bad_line_is_named_and_what_stands_before_it_is_kept() {
    let lines =
        "{\"_id\":1}\n{\"_id\":2,\n{\"_id\":3}\n{\"_id\":4,\"x\":{\"$oid\":\"1\"}}\n{\"_id\":5}\n";
    let place = Place::new(&[("t.ndjson", lines)]);
    let told = place.run(["import", "t.ndjson"]).exits(1);
    assert_eq!(
        told.err,
        "t.ndjson, line 2, column 10: the line ends before the document does\n\
         1 document imported into test.t, nothing behind this (--skip-bad goes on over what is bad)\n"
    );
    assert_eq!(place.says("db.t.distinct('_id').join()"), "1\n");
    let told = place.run(["import", "t.ndjson", "--skip-bad", "--drop"]).exits(1);
    assert_eq!(
        told.err,
        "t.ndjson, line 2, column 10: the line ends before the document does\n\
         t.ndjson, line 4, column 1: $oid needs 24 hexadecimal digits, not \"1\" (in x)\n\
         3 documents imported into test.t; left out: 2 bad\n"
    );
    assert_eq!(place.says("db.t.distinct('_id').join()"), "1,3,5\n");
    // A file of which nothing can be read drops nothing.
    place.fed(["import", "-c", "t", "--drop"], "nonsense\n").exits(1);
    assert_eq!(place.says("db.t.count()"), "3\n");
}

#[test]
fn what_the_database_refuses_is_named_and_left_out() {
    let place = Place::new(&[("t.json", "{\"_id\":1}\n{\"_id\":2}\n{\"_id\":1}\n{\"_id\":3}\n")]);
    let told = place.run(["import", "t.json"]).exits(1);
    let refused = "t.json, line 3, column 1: E11000 duplicate key error collection: test.t index: _id_ dup key: { _id: 1 }\n";
    assert_eq!(
        told.err,
        format!("{refused}3 documents imported into test.t; left out: 1 refused\n")
    );
    let told = place.run(["import", "t.json", "--drop", "--stopOnError"]).exits(1);
    assert_eq!(
        told.err,
        format!("{refused}2 documents imported into test.t, nothing behind this\n")
    );
}

#[test]
fn documents_replace_others_or_are_merged_into_them_or_delete_them() {
    let place = Place::new(&[
        ("new.json", "{\"_id\":1,\"a\":2}\n{\"_id\":3,\"a\":3}\n"),
        ("names.json", "{\"name\":\"x\",\"n\":5}\n{\"name\":\"new\",\"n\":6}\n"),
    ]);
    let again = |flags: &[&str], file: &str| {
        place.says("db.t.drop(); db.t.insert([{_id: 1, name: 'x', a: 1}, {_id: 2, name: 'y'}]); 0");
        let own = ["import", file, "-c", "t", "--data", "data"];
        let flags = own.iter().chain(flags);
        tally(flags).inside(place.path()).run().exits(0);
        place.says("db.t.find({}, {_id: 0}).sort({_id: 1}).forEach(d => print(EJSON.stringify(d)))")
    };
    let replaced = "{\"a\":2}\n{\"name\":\"y\"}\n{\"a\":3}\n";
    assert_eq!(again(&["--upsert"], "new.json"), replaced);
    assert_eq!(again(&["--mode", "upsert"], "new.json"), replaced);
    let merged = "{\"name\":\"x\",\"a\":2}\n{\"name\":\"y\"}\n{\"a\":3}\n";
    assert_eq!(again(&["--mode=merge"], "new.json"), merged);
    assert_eq!(again(&["--mode=delete"], "new.json"), "{\"name\":\"y\"}\n");
    let by_name = again(&["--mode=merge", "--upsertFields", "name"], "names.json");
    assert!(by_name.starts_with("{\"name\":\"x\",\"a\":1,\"n\":5}\n"), "{by_name}");
    place.run(["import", "new.json", "--upsertFields", "a"]).exits(2).warns("--mode upsert");
}

#[test]
fn csv_has_paths_and_guesses_no_number_away() {
    let rows =
        "_id,zip,n,address.city,note\n1,01234,5,\"New York, NY\",\"say \"\"hi\"\"\"\n2,99,1.5,,\n";
    let place =
        Place::new(&[("t.csv", rows), ("plain.csv", "7,x\n"), ("bad.csv", "a,b\n1,2\n1,2,3\n")]);
    place.run(["import", "t.csv", "--headerline"]).exits(0);
    assert_eq!(
        place.says("db.t.find().forEach(d => print(EJSON.stringify(d)))"),
        "{\"_id\":1,\"zip\":\"01234\",\"n\":5,\"address\":{\"city\":\"New York, NY\"},\"note\":\"say \\\"hi\\\"\"}\n\
         {\"_id\":2,\"zip\":99,\"n\":1.5,\"address\":{\"city\":\"\"},\"note\":\"\"}\n"
    );
    place.run(["export", "-c", "t", "--type", "csv", "--quiet"]).prints(rows);
    place
        .run([
            "export",
            "-c",
            "t",
            "--type=csv",
            "--quiet",
            "--fields",
            "address.city,_id",
            "--sort",
            "{\"_id\":-1}",
        ])
        .prints("address.city,_id\n,2\n\"New York, NY\",1\n");
    place
        .run(["export", "-c", "t", "--type=csv", "--quiet", "--noHeaderLine", "-f", "zip"])
        .prints("01234\n99\n");
    place
        .run([
            "import",
            "plain.csv",
            "-c",
            "u",
            "--fields",
            "_id.int64(),s.string()",
            "--columnsHaveTypes",
        ])
        .exits(0);
    assert_eq!(
        place.says("tojson(db.u.findOne())"),
        "{ \"_id\" : NumberLong(7), \"s\" : \"x\" }\n"
    );
    place
        .run(["import", "bad.csv"])
        .exits(1)
        .warns("bad.csv, line 3, column 1: the row has 3 cells, but there are 2 columns");
    place
        .run(["import", "t.csv", "--type", "json"])
        .exits(1)
        .warns("t.csv, line 1, column 1: a document begins with {");
    place.run(["import", "t.csv", "--ignoreBlanks", "--drop"]).exits(0);
    assert_eq!(
        place.says("EJSON.stringify(db.t.findOne({_id: 2}))"),
        "{\"_id\":2,\"zip\":99,\"n\":1.5}\n"
    );
}

#[test]
fn a_dump_has_its_indexes_beside_it() {
    let place = Place::new(&[]);
    place.says(
        "db.t.insert([{_id: 1, n: NumberInt(5), d: 2, u: undefined}, {_id: 2, l: NumberLong(3)}]); \
         db.t.createIndex({n: 1}, {unique: true, sparse: true}); 0",
    );
    place.run(["export", "-c", "t", "--out", "t.bson"]).exits(0);
    assert!(place.read("t.metadata.json").contains("\"name\":\"n_1\""));
    place.run(["import", "t.bson", "--db", "two"]).exits(0);
    let same = "var two = db.getSiblingDB('two'); print(EJSON.stringify(db.t.find().toArray()) == \
                EJSON.stringify(two.t.find().toArray()), two.t.getIndexes()[1].unique, two.t.getIndexes()[1].name)";
    assert_eq!(place.says(same), "true true n_1\n");
    let bytes = fs::read(place.path().join("t.bson")).unwrap();
    fs::write(place.path().join("cut.bson"), &bytes[..bytes.len() - 3]).unwrap();
    let told = place.run(["import", "cut.bson"]).exits(1);
    let first = i32::from_le_bytes(bytes[..4].try_into().unwrap());
    assert_eq!(
        told.err,
        format!(
            "cut.bson, document 2, at byte {first}: the file ends within a document\n\
             1 document imported into test.cut, nothing behind this (--skip-bad goes on over what is bad)\n"
        )
    );
}

#[test]
fn a_file_appears_once_it_is_whole() {
    let place = Place::new(&[("out.json", "before\n")]);
    place
        .run(["export", "-c", "t", "--out", "no/such/folder.json"])
        .exits(1)
        .warns("cannot write no/such/folder.json");
    place
        .run(["export", "-c", "t", "--out", "out.json", "-q", "{\"$no\": 1}"])
        .exits(1)
        .warns("unknown top level operator");
    assert_eq!(place.read("out.json"), "before\n");
    let told = place.run(["export", "-c", "t", "--out", "out.json"]).exits(0);
    assert_eq!(told.err, "0 documents exported from test.t (there is no such collection)\n");
    assert_eq!(place.read("out.json"), "");
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 2, "nothing is left behind");
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_and_a_reader_that_leaves_are_told_apart() {
    let place = Place::new(&[]);
    place.says(
        "for (var i = 0; i < 20000; i++) db.t.insert({_id: i, text: 'a text of some length'})",
    );
    place
        .run(["export", "-c", "t", "--out", "/dev/full"])
        .exits(1)
        .warns("no space left on device");
    let mut child = Command::new(env!("CARGO_BIN_EXE_tally"))
        .args(["export", "-c", "t", "--data", "data"])
        .current_dir(place.path())
        .env("HOME", "/nonexistent")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with("{\"_id\":0.0,"), "{line}");
    let mut err = String::new();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    assert_eq!((child.wait().unwrap().code(), err.as_str()), (Some(141), ""));
}

#[test]
#[cfg(unix)]
fn ctrl_c_ends_a_wait_for_more_and_what_came_is_kept() {
    let place = Place::new(&[]);
    let mut child = Command::new(env!("CARGO_BIN_EXE_tally"))
        .args(["import", "-c", "t", "--data", "data", "--skip-bad"])
        .current_dir(place.path())
        .env("HOME", "/nonexistent")
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // A bad line is told once what stands before it is in.
    stdin.write_all(b"{\"_id\": 1}\nx\n").unwrap();
    let mut err = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    err.read_line(&mut line).unwrap();
    assert_eq!(line, "standard input, line 2, column 1: a document begins with {\n");
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let mut rest = String::new();
    err.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "1 document imported into test.t, up to line 1, column 1\n");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    drop(stdin);
    assert_eq!(place.says("db.t.count()"), "1\n");
}

#[test]
fn databases_go_to_a_server_and_back_and_a_second_copy_sends_what_is_missing() {
    let place = Place::new(&[]);
    place.says(
        "db = db.getSiblingDB('shop'); db.createCollection('c', {capped: true, size: 4096}); db.c.insert({_id: 1}); \
         for (var i = 20; i > 0; i--) db.users.insert({_id: counter('users'), n: i}); \
         db.users.insert([{_id: 's', l: NumberLong(5)}, {_id: ObjectId('5f2b6c3e8f1d4a2b3c4d5e6f')}]); \
         db.users.createIndex({n: 1}, {unique: true, sparse: true}); db.createView('v', 'users', [{$match: {n: {$gt: 18}}}]); \
         db.createCollection('strict', {validator: {a: 1}}); 0",
    );
    let server = Serving::start();
    let address = format!("mongodb://127.0.0.1:{}", server.port);
    let copy =
        |arguments: &[&str]| tally(["copy"].iter().chain(arguments)).inside(place.path()).run();
    let told = copy(&["data", &address]).exits(0);
    for line in
        ["shop.c: 1 document\n", "shop.counters: 1 document\n", "shop.users: 22 documents\n"]
    {
        assert!(told.err.contains(line), "{}", told.err);
    }
    assert!(told.err.ends_with("4 collections copied: 24 documents, 1 index\n"), "{}", told.err);
    let at = |code: &str| {
        tally(["--quiet", "--norc", &server.address("shop"), "--eval", code]).run().exits(0).out
    };
    assert_eq!(
        at(
            "print(counter('users'), db.users.getIndexes()[1].unique, db.c.isCapped(), db.v.count())"
        ),
        "21 true true 2\n"
    );
    assert_eq!(at("db.getCollectionInfos({name: 'strict'})[0].options.validator.a"), "1\n");
    assert_eq!(at("db.users.find({}, {_id: 0, n: 1}).limit(2).map(d => d.n).join()"), "20,19\n");
    // The copy goes on where it is not whole, and does not undo what was done since.
    at("db.users.deleteMany({n: {$lt: 6}})");
    let told = copy(&["data", &address]).exits(1);
    assert!(told.err.contains("shop.users: 5 documents, 17 there already\n"), "{}", told.err);
    let differs = "shop.counters: _id \"users\" is there and differs: it is left as it is (--overwrite takes the source's)\n";
    assert!(told.err.contains(differs), "{}", told.err);
    assert_eq!(at("print(db.users.count(), counter.peek('users'))"), "22 21\n");
    copy(&["data", &address, "--overwrite"]).exits(0);
    assert_eq!(at("counter.peek('users')"), "20\n");
    // Back, one database, by another name.
    let from = server.address("shop");
    copy(&[&from, "other", "--into", "store"]).exits(0);
    let there = tally([
        "--quiet",
        "--norc",
        "--data",
        "other",
        "store",
        "--eval",
        "print(counter('users'), db.users.count())",
    ]);
    there.inside(place.path()).run().prints("21 22\n");
    copy(&["other", "other"]).exits(2).warns("FROM and TO are the same");
    copy(&["none", "other"]).exits(2).warns("there is no data directory none");
    copy(&["other", &address, "--db", "shop"])
        .exits(1)
        .warns("there is no database shop to copy; there are");
}
