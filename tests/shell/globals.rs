//! Globals of the classic shell.

use super::{mongo, mongosh};

#[test]
fn assertions_hold_or_throw_their_words() {
    mongo().talks(&[
        ("assert(true); assert.eq(1, 1); assert.eq(5, NumberInt(5)); assert.eq({a: 1}, {a: 1}); assert.neq(1, 2); 'fine'", "fine"),
        ("assert(false)", "Error: assert failed"),
        ("assert(false, 'why')", "Error: assert failed : why"),
        ("assert.eq(1, 2, 'msg')", "Error: [1] != [2] are not equal : msg"),
        ("assert.neq(1, 1)", "Error: [1] != [1] are equal"),
        ("assert.lt(2, 1)", "Error: 2 is not less than 1"),
        ("assert.throws(() => 1)", "Error: did not throw exception"),
        ("assert.throws(() => { throw new Error('x') }).message", "x"),
        ("assert.doesNotThrow(() => { throw new Error('x') })", "Error: threw unexpected exception: Error: x"),
        ("assert.commandWorked(db.runCommand({ping: 1})).ok", "1"),
        ("try { assert.commandWorked(db.runCommand({nope: 1}), 'm') } catch (e) { print(e.code, /command failed: \\{[^]*\\} : m$/.test(e.message)) }", "59 true"),
        ("assert.writeOK(db.t.insert({_id: 1})).nInserted", "1"),
        ("assert.writeError(db.t.insert({_id: 1})).nInserted", "0"),
        ("assert.contains(1, [2, 1]); assert.sameMembers([1, 2], [2, 1]); assert.docEq({a: 1, b: 2}, {b: 2, a: 1}); 0", "0"),
    ]);
}

#[test]
fn javascripts_own_objects_have_the_classic_additions() {
    mongo().talks(&[
        ("[Array.sum([1, 2, 3]), Array.sum([]), Array.avg([1, 2, 3]), Array.contains([1, 2], 2), Array.unique([1, 2, 1]).length]", "[ 6, null, 2, true, 2 ]"),
        ("Object.extend({a: 1}, {b: 2})", "{ \"a\" : 1, \"b\" : 2 }"),
        ("[Object.keySet({a: 1, b: 2}), Object.bsonsize({a: 1})]", "[ [ \"a\", \"b\" ], 16 ]"),
        ("'ab'.pad(5) + '|' + 'ab'.pad(4, true) + '|' + (0.256).toPercentStr() + '|' + (7).zeroPad(3)", "   ab|ab  |25.60%|007"),
        ("Random.rand()", "Error: The random number generator hasn't been seeded yet; call Random.setRandomSeed()"),
        ("Random.srand(7); var a = [Random.rand(), Random.randInt(10)]; Random.srand(7); tojson(a) == tojson([Random.rand(), Random.randInt(10)]) && a[0] >= 0 && a[0] < 1", "true"),
        ("Random.setRandomSeed(3)", "setting random seed: 3"),
        ("[Math.sigFig(1.2345, 3), RegExp.escape('a.b'), compare(1, 2), friendlyEqual({a: 1}, {a: 1})]", "[ 1.23, \"a\\\\.b\", -1, true ]"),
        ("[isNumber(1), isString('a'), isObject([]), hostname().length > 0, version()]", "[ true, true, true, true, \"4.4.6\" ]"),
        ("hex_md5('abc')", "900150983cd24fb0d6963f7d28e17f72"),
        ("bsonWoCompare({a: 1}, {b: 2})", "-1"),
        ("[1, 2, 3].toString(); for (var i in []) print(i); for (var i in 'a') print(i)", "0"),
    ]);
    // Names of one shell are in both emulations where nothing else has them.
    mongosh().talks(&[(
        "typeof tojson + typeof Random + typeof hostname + typeof cat",
        "functionobjectfunctionfunction",
    )]);
}

#[test]
fn files_of_a_scratch_directory() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().display().to_string();
    let mut shell = mongo();
    shell.says(&format!("var dir = {path:?}"));
    shell.talks(&[
        ("writeFile(dir + '/a.txt', 'hello'); cat(dir + '/a.txt')", "hello"),
        ("mkdir(dir + '/sub').created", "true"),
        ("ls(dir).map(n => n.slice(dir.length))", "[ \"/a.txt\", \"/sub/\" ]"),
        ("listFiles(dir).map(f => f.baseName + f.isDirectory + f.size)", "[ \"a.txtfalse5\", \"subtrueundefined\" ]"),
        ("[fileExists(dir + '/a.txt'), removeFile(dir + '/a.txt'), fileExists(dir + '/a.txt'), removeFile(dir + '/a.txt')]", "[ true, true, false, false ]"),
    ]);
    let said = shell.says("cat(dir + '/nope')");
    assert!(said.starts_with("Error: cat: ") && said.contains("/nope"), "{said}");
}

#[test]
fn connections_to_this_machine_are_the_session_itself() {
    let mut shell = mongo();
    shell.talks(&[
        ("connect('localhost:27017/shop').getName()", "shop"),
        ("new Mongo().getDB('x').getName()", "x"),
        ("db.getMongo()", "connection to the embedded engine"),
        ("db.getSisterDB('x').getName() + db.getSiblingDB('y').getName()", "xy"),
    ]);
    assert_eq!(
        shell.noticed(),
        "note: localhost means this session's own embedded engine; --localhost=server makes it mean a server\n"
    );
    let said = shell.says("new Mongo('db.invalid:27017/?serverSelectionTimeoutMS=100')");
    assert!(said.starts_with("Error: couldn't connect to server db.invalid:27017, "), "{said}");
    assert_eq!(shell.says("rs.slaveOk(); db.getMongo().setSlaveOk(); 1"), "1");
}

#[test]
fn a_mistyped_method_has_a_suggestion() {
    mongo().talks(&[
        (
            "db.users.insret({})",
            "TypeError: db.users.insret is not a function. Did you mean insert?",
        ),
        ("db.t.nofunc()", "TypeError: db.t.nofunc is not a function"),
    ]);
}
