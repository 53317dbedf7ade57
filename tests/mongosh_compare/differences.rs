//! Where mongosh and tally differ on purpose, by input.

/// mongosh rewrites what is typed before it runs; what comes of that shows.
const REWRITTEN: &str = "what mongosh's rewriting of code leaves behind";
/// The error is the same one in the words of another engine.
const ENGINE: &str = "QuickJS and V8 word errors differently; the class is the same";
/// Scripts lose nothing by it.
const MORE: &str = "tally has it where mongosh has nothing of that name";
/// The words differ.
const WORDS: &str = "tally says what was wrong or what would do";
/// A function or object of mongosh's own shows its inside.
const INSIDE: &str = "mongosh shows what its functions and objects are made of";

/// Inputs, each with the reason why the answers differ.
pub const DIFFERENCES: &[(&str, &str)] = &[
    ("new DataView(new ArrayBuffer(1))", "shown by its bytes"),
    ("(function () {})", REWRITTEN),
    ("() => 1", REWRITTEN),
    ("async () => 1", REWRITTEN),
    ("class L extends K {}", REWRITTEN),
    ("arguments_of = (function () { return arguments })(1, 2)", "shown as the object that it is"),
    ("new (class Foo extends Array {})(3)", "an array is shown as one, whatever its class"),
    ("BinData(0, \"YWJj\").hex()", MORE),
    (
        "UUID(\"3b241101-e2bb-4255-8caf-4136c566a962\").toString()",
        "its digits, not its bytes read as text",
    ),
    ("UUID(\"3b241101-e2bb-4255-8caf-4136c566a962\").toHexString()", MORE),
    ("UUID(\"3b241101-e2bb-4255-8caf-4136c566a962\").toBinary()", REWRITTEN),
    (
        "UUID(\"3b241101-e2bb-4255-8caf-4136c566a962\").equals(UUID(\"3b241101-e2bb-4255-8caf-4136c566a962\"))",
        ENGINE,
    ),
    ("EJSON.parse('{')", ENGINE),
    ("db.saved.save({_id: 1, s: 1})", MORE),
    ("db.t.bulkWrite([{nope: 1}])", WORDS),
    (
        "db.t.find().count()",
        "mongosh warns of the driver's own deprecation, with the number of its process",
    ),
    ("db.t.find().length", MORE),
    ("db.t.find().returnKey().limit(1)", "mongosh does not send it; the engine refuses it"),
    ("db.n.findOne({_id: 3})", "a regular expression keeps its option x"),
    ("db.d.createIndex({})", "the engine quotes the fields in the order that they were sent in"),
    ("db.getMongo() instanceof Mongo", "what is a Mongo is one"),
    ("db.fsyncLock", INSIDE),
    ("db.listCommands().ok", "tally answers with the server's reply"),
    ("config.get(\"enableTelemetry\")", "tally sends nothing to anybody"),
    ("config", INSIDE),
    ("DBQuery.shellBatchSize", "its value, although nobody has set it"),
    ("require('nope-nope')", WORDS),
    ("Mongo(\"mongodb://nope:1/?x=\")", WORDS),
    ("new Mongo(\"http://x\")", WORDS),
    ("convertShardKeyToHashed(\"x\")", "no engine here hashes shard keys"),
    ("(1)()", ENGINE),
    ("var a = ;", WORDS),
    ("JSON.parse(\"{\")", ENGINE),
    ("new Array(-1)", ENGINE),
    ("await 1", "a departure: await may stand at the top level"),
    ("db.t.find().help", INSIDE),
];
