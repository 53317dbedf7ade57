//! What users of MongoDB's shells and of tools around them have reported, each with the value that is right.

use std::fs;

use crate::program::{Outcome, tally};

/// Code of `--eval` in the classic shell, over scratch data.
fn eval(code: &str) -> Outcome {
    tally(["--quiet", "--norc", "--ephemeral", "--eval", code]).run()
}

fn piped(input: &str) -> Outcome {
    tally(["--quiet", "--norc", "--ephemeral"]).input(input).run()
}

#[test]
fn input_may_have_any_line_ends_and_words_are_names_where_the_user_says_so() {
    piped("var a = 1\r\nvar b = 2\r\nprint(a + b)\r\n").prints("3\n");
    piped("\u{feff}var fn = function () {\n\n  return 1\n}\n\nfn()\n").prints("1\n");
    piped("function use(x) { return 'mine:' + x }\nuse ('a')\nvar it = 5; it\n")
        .prints("mine:a\n5\n");
    piped("db.o.insert({status: 'A', n: 1}); 0\ndb.o.aggregate([\n  { $match: { status: 'A' } },\n  { $project: { _id: 0 } }\n])\n")
        .prints("0\n{ \"status\" : \"A\", \"n\" : 1 }\n");
}

#[test]
fn documents_are_shown_whole_and_cursors_say_what_they_are() {
    let deep = "{ \"a\" : { \"b\" : { \"c\" : { \"d\" : { \"e\" : { \"f\" : { \"g\" : { \"h\" : [ 1, { \"i\" : 2 } ] } } } } } } } }";
    let insert = "db.d.insert({a: {b: {c: {d: {e: {f: {g: {h: [1, {i: 2}]}}}}}}}})";
    piped(&format!("{insert}; 0\ndb.d.find({{}}, {{_id: 0}})\n")).prints(&format!("0\n{deep}\n"));
    let indented = eval(&format!("{insert}; printjson(db.d.findOne())")).exits(0).out;
    assert!(indented.contains("\"i\" : 2") && !indented.contains("[Object]"), "{indented}");
    eval("print({ a: 1 }); print(ObjectId('57342ed596dec38b6e60b535')); print(NumberLong(1)); print(tojson({ a: 1 }))")
        .prints("{ \"a\" : 1 }\nObjectId(\"57342ed596dec38b6e60b535\")\nNumberLong(1)\n{ \"a\" : 1 }\n");
    eval("db.t.insert({ a: 1 }); print(db.t.find()); print(db.t.find({a: 1}).sort({a: 1}))")
        .prints("DBQuery: test.t -> {  }\nDBQuery: test.t -> { \"a\" : 1 } { \"sort\" : { \"a\" : 1 } }\n");
}

#[test]
fn results_are_data_and_nothing_else_and_all_of_it() {
    let run = eval("printjson({a:1}); throw new Error('x')").exits(252);
    assert_eq!(run.out, "{ \"a\" : 1 }\n");
    let run = eval("for (var i=0;i<200000;i++) print(i); quit(0)").exits(0);
    assert!(run.out.ends_with("\n199999\n") && run.out.lines().count() == 200_000);
    let docs = "for (var i = 0; i < 25; i++) db.t.insert({_id: i}); ";
    let json = tally([
        "--quiet",
        "--norc",
        "--ephemeral",
        "--emulate=mongosh",
        "--json",
        "--eval",
        &format!("{docs} db.t.find().toArray().length"),
    ]);
    json.run().prints("{\n  \"$numberInt\": \"25\"\n}\n");
}

#[test]
fn texts_stay_texts_and_dates_can_be_pasted_back() {
    eval("db.t.insert({ code: '20161103', s: '2016-11-03' }); print(EJSON.stringify(db.t.findOne({}, { _id: 0 })))")
        .prints("{\"code\":\"20161103\",\"s\":\"2016-11-03\"}\n");
    eval("var d = ISODate('2020-01-02T03:04:05.678Z'); print(tojson({ d: d })); print(eval(tojson(d)).getTime() === d.getTime())")
        .prints("{ \"d\" : ISODate(\"2020-01-02T03:04:05.678Z\") }\ntrue\n");
    eval("print(tojson([ISODate('20200101T101010Z'), ISODate('2020-01-01'), ISODate(0)])); try { ISODate('nonsense') } catch (e) { print(e.message) }")
        .prints("[\n\tISODate(\"2020-01-01T10:10:10Z\"),\n\tISODate(\"2020-01-01T00:00:00Z\"),\n\tISODate(\"1970-01-01T00:00:00Z\")\n]\ninvalid ISO date: nonsense\n");
}

#[test]
fn tables_and_csv_flatten_what_the_query_asked_for() {
    let users = "db.users.insert([{name:'a', x: 1, a:{b:1}}, {name:'b,c', a:{b:[1]}}]); var found = db.users.find({}, { _id: 0, name: 1, 'a.b': 1 });";
    eval(&format!("{users} found.table()")).prints("name  a.b\n----  ---\na       1\nb,c   [1]\n");
    eval(&format!("{users} found.csv()")).prints("name,a.b\na,1\n\"b,c\",[1]\n");
}

#[test]
fn no_digit_of_a_long_is_lost() {
    eval(
        "db.t.insert({ _id: 1, l: NumberLong('8031591796700279859') }); var s = tojson(db.t.findOne()); print(s); \
         db.t.save(eval('(' + s + ')')); print(db.t.find({ l: { $type: 18 } }).count())",
    )
    .prints("{ \"_id\" : 1, \"l\" : NumberLong(\"8031591796700279859\") }\n1\n");
    eval(
        "db.t.insert({ _id: NumberLong('295953231447769116') }); print(db.t.find({ _id: NumberLong('295953231447769116') }).count()); \
         print(db.t.find({ _id: 295953231447769116 }).count())",
    )
    .prints("1\n0\n")
    .warns("NumberLong(\"295953231447769116\")");
    eval("db.i.insert([{ v: NumberLong('9007199254740993') }, { v: NumberLong('9007199254740992') }]); print(db.i.find({ v: { $gt: NumberLong('9007199254740992') } }).count())")
        .prints("1\n");
    eval("var n = NumberLong(5); print(n + 1, n == 5, n === 5, NumberLong(5) == NumberLong(5), n.toNumber(), typeof n); print(NumberLong('9007199254740993').compare(NumberLong('9007199254740992')), Object.keys(n).length)")
        .prints("6 true false false 5 object\n1 0\n");
    eval("print([NumberLong('123'), NumberLong(123), NumberLong(), NumberInt('7'), NumberInt(3.9), NumberDecimal('0.1'), NumberDecimal(1)].map(tojson).join()); try { NumberLong('abc') } catch (e) { print('refused') }")
        .prints("NumberLong(123),NumberLong(123),NumberLong(0),NumberInt(7),NumberInt(3),NumberDecimal(\"0.1\"),NumberDecimal(\"1\")\nrefused\n");
}

#[test]
fn numbers_have_the_type_of_the_emulated_shell_and_do_not_wrap() {
    let types = "db.t.insertOne({ n: 1, m: 1.5 }); print(db.t.countDocuments({ n: { $type: 1 } }), db.t.countDocuments({ n: { $type: 16 } }))";
    eval(types).prints("1 0\n");
    tally(["--quiet", "--norc", "--ephemeral", "--emulate", "mongosh", "--eval", types])
        .run()
        .prints("0 1\n");
    eval(
        "db.t.insert({ _id: 1, i: NumberInt(2147483647), l: NumberLong('9223372036854775807') }); db.t.update({ _id: 1 }, { $inc: { i: NumberInt(1) } }); \
         print(tojson(db.t.findOne().i), db.t.update({ _id: 1 }, { $inc: { l: NumberLong(1) } }).hasWriteError(), tojson(db.t.findOne().l))",
    )
    .prints("NumberLong(\"2147483648\") true NumberLong(\"9223372036854775807\")\n");
}

#[test]
fn ids_are_random_and_old_helpers_are_there() {
    let ids: Vec<String> =
        (0..3).map(|_| eval("print(ObjectId().str.slice(8, 18))").exits(0).out).collect();
    assert!(ids[0] != ids[1] && ids[1] != ids[2] && ids[0] != ids[2], "{ids:?}");
    eval("print(UUID('0123456789abcdef0123456789abcdef').subtype(), UUID().subtype(), BinData(3, 'AAECAwQFBgcICQoLDA0ODw==').length())")
        .prints("3 4 16\n");
    eval("print(tojson({ a: 1 }), tojsononeline([1]), hostname().length > 0, version(), isNumber(1), tostrictjson({ d: ISODate('1970-01-01') }))")
        .prints("{ \"a\" : 1 } [ 1 ] true 4.4.6 true {\"d\":{\"$date\":\"1970-01-01T00:00:00.000Z\"}}\n");
    let run =
        eval("rs.slaveOk(); db.getMongo().setSlaveOk(); db.getMongo().setSecondaryOk()").prints("");
    assert_eq!(run.err.lines().count(), 1, "one notice: {}", run.err);
    eval("print(db.getSisterDB('x').getName(), db.getSiblingDB('y').getName())").prints("x y\n");
    let run = eval(
        "db.t.insert({ _id: 1 }); db.t.save({ _id: 1, a: 2 }); db.t.update({ _id: 1 }, { $set: { b: 1 } }, true, false); db.t.remove({ _id: 9 }, true); print(db.t.count(), db.t.find().count())",
    );
    assert_eq!(run.prints("1 1\n").err, "");
}

#[test]
fn scripts_get_what_they_need_and_nothing_fails_in_silence() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    let run = |arguments: &[&str]| {
        let all = ["--quiet", "--norc", "--ephemeral"].iter().chain(arguments);
        tally(all).inside(folder.path()).env("DB_USER", "ada").run()
    };
    run(&["-e", "print(process.env.DB_USER, _getEnv('DB_USER'), process.env.NO_SUCH_VARIABLE)"])
        .prints("ada ada undefined\n");
    write("s.js", "print(process.argv.slice(2).join() || typeof c)\n");
    run(&["shop", "s.js", "--", "--n", "5", "users"]).prints("--n,5,users\n");
    run(&["--eval", "var c='users'", "s.js"]).prints("string\n");
    run(&["-e", "var a=1", "-e", "a+1", "-f", "s.js", "-e", "a+2"]).prints("3\nundefined\n");
    write("words.js", "use shop\ndb.t.insert({a: 1})\nshow collections\nprint(db.getName())\n");
    run(&["words.js"]).prints("switched to db shop\nt\nshop\n");
    write("m.mjs", "export const k = 41; export default () => k + 1\n");
    write("i.mjs", "import f, {k} from './m.mjs'; print(k, f())\n");
    run(&["i.mjs"]).prints("41 42\n");
    let absolute = folder.path().join("missing.js");
    run(&["missing.js"])
        .exits(253)
        .warns(absolute.file_name().unwrap().to_str().unwrap())
        .warns("(there is no /");
    run(&["--eval", "db.t.update({},{:{a:1}})"]).exits(252).warns("single quotes");
    run(&["--eval", "db.t.update({},{\"\":{a:1}})"]).exits(0).warns("single quotes");
    assert_eq!(run(&["--eval", "1 ? 2 : 3"]).prints("2\n").err, "");
    let run = run(&[
        "--eval",
        "var c = new Mongo('mongodb://localhost:27018'); db = c.getDB('films'); print(db.getName())",
    ]);
    run.prints("films\n");
}

#[test]
fn find_and_modify_has_its_options_and_its_shapes() {
    eval("db.c.insert({ _id: 'a', seq: 1, junk: 1 }); print(tojson(db.c.findAndModify({ query: { _id: 'a' }, update: { $inc: { seq: 1 } }, new: true, fields: { seq: 1 } })))")
        .prints("{ \"_id\" : \"a\", \"seq\" : 2 }\n");
    eval("db.c.findAndModify({query: {}, updat: {}})").exits(252).warns("findAndModify.updat");
    eval("print(db.c.findAndModify({ query: { _id: 'zz' }, update: { $inc: { n: 1 } } })); print(tojson(Object.keys(db.runCommand({ findAndModify: 'c', query: { _id: 'zz' }, update: { $inc: { n: 1 } } }))))")
        .prints("null\n[ \"lastErrorObject\", \"value\", \"ok\" ]\n");
    eval("db.counters.findAndModify({ query: { _id: 'nope' }, update: { $inc: { seq: 1 } }, new: true }).seq")
        .exits(252)
        .warns("of null")
        .warns("findAndModify returned null: no document matched {\"_id\":\"nope\"}; upsert: true creates one");
    eval("nextVal('nope')").exits(252).warns("there is no sequence \"nope\"");
    eval("db.f.insert({ _id: 1, v: 1 }); print(db.f.findOneAndUpdate({ _id: 1 }, { $set: { v: 2 } }, { returnNewDocument: true }).v)").prints("2\n");
    eval("var b = db.t.initializeUnorderedBulkOp(); b.insert({ _id: 7 }); b.find({ _id: 7 }).upsert().updateOne({ $inc: { n: 1 } }); b.find({ _id: 7 }).remove(); var r = b.execute(); print(r.nInserted, r.nUpserted, r.nMatched, r.nModified, r.nRemoved)")
        .prints("1 0 1 1 1\n");
}

#[test]
fn sequences_give_no_number_twice_and_say_what_they_are() {
    let race = "db.c.insert({ _id: 'a', seq: 0 }); var r = parallel(4, {interleave: true}, () => { var out = []; for (var i = 0; i < 50; i++) { \
                var s = db.c.findOne({ _id: 'a' }).seq; db.c.update({ _id: 'a' }, { $set: { seq: s + 1 } }); out.push(s + 1) } return out }); \
                var all = [].concat.apply([], r); print(all.length, new Set(all).size)";
    eval(race).prints("200 50\n");
    eval("print(new Set([].concat.apply([], parallel(4, 50, () => Number(counter('n'))))).size)")
        .prints("200\n");
    eval("db.u.ensureIndex({ mail: 1 }, { unique: true }); ['x', 'x', 'y'].forEach(m => db.u.insert({ _id: counter('u'), mail: m })); print(db.u.distinct('_id').map(Number).join())")
        .prints("1,3\n");
    eval("print(tojson(counter('p', { count: 3 })), Number(counter('p')))")
        .prints("{ \"first\" : 1, \"last\" : 3 } 4\n");
    eval("counter('p', { count: 0 })").exits(252).warns("count must be at least 1");
    eval("for (var i = 0; i < 3; i++) counter('h', {count: 100}); print(counter.peek('h'))")
        .prints("300\n");
    eval("counter('q'); db.q.drop(); print(counter('q')); counter.reset('q', 0); print(counter('q'))").prints("2\n1\n");
    eval("print(Number(counter('s', { start: 1000, step: 5 })), Number(counter('s', { start: 1000, step: 5 })))").prints("1000 1005\n");
    eval("db.m.insertMany([{ _id: 1 }, { _id: 2 }, { _id: 3 }]); db.m.deleteOne({ _id: 3 }); print(db.m.find().sort({ _id: -1 }).next()._id + 1)").prints("3\n");
    eval("db.counters.insert({ _id: 'w', next: '9474' }); try { counter('w') } catch (e) { print(e.message.includes('holds a string')) } print(db.counters.findOne().next, db.counters.update({ _id: 'w' }, { $inc: { next: 1 } }).getWriteError().code)")
        .prints("true\n9474 14\n");
    let sent = piped("counter('x')\nshow command\n").exits(0).out;
    assert!(
        sent.contains("\"findAndModify\" : \"counters\"")
            && sent.contains("\"query\" : {\n\t\t\"_id\" : \"x\"\n\t}"),
        "{sent}"
    );
    eval("parallel(8, () => db.k.update({ name: 'n' }, { $inc: { c: 1 } }, { upsert: true })); print(db.k.count({ name: 'n' }), db.k.findOne().c)").prints("1 8\n");
    eval("var s = db.getMongo().startSession(); s.startTransaction(); s.getDatabase('test').o.insert({_id: 1})")
        .exits(252)
        .warns("Transaction numbers are only allowed on a replica set member or mongos");
}

#[test]
fn the_engine_answers_what_a_server_answers() {
    eval("db.g.insert({ _id: 'a' }); printjson(db.g.update({ _id: 'b' }, { _id: 'b', c: 1 })); var w = db.g.insert({ _id: 'a' }); print(w.getWriteError().code, db.g.count())")
        .prints("{ \"nMatched\" : 0, \"nUpserted\" : 0, \"nModified\" : 0 }\n11000 1\n");
    eval("db.h.insert({ _id: 1 }); print(db.h.update({ _id: 1 }, { $inc: { v: 'x' } }).getWriteError().code, tojson(db.h.findOne())); print(db.h.update({ _id: 2 }, { $inc: { v: 1 }, $setOnInsert: { v: 0 } }, { upsert: true }).getWriteError().code)")
        .prints("14 { \"_id\" : 1 }\n40\n");
}

#[test]
fn nothing_is_left_in_a_home_and_none_is_needed() {
    let home = tempfile::tempdir().unwrap();
    let run = tally(["--quiet", "--ephemeral", "--eval", "db.t.insert({a: 1}); db.t.count()"])
        .env("HOME", home.path())
        .run();
    run.prints("1\n");
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0, "no log, no history, no settings");
    for home in ["/nonexistent", "/proc"] {
        let run = tally(["--ephemeral", "--eval", "print(1 + 1)"]).env("HOME", home).run();
        assert_eq!(run.prints("2\n").err, "", "{home}");
    }
}
