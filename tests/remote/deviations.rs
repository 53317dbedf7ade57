//! Where SecantusDB answers otherwise than MongoDB 7.0. What tally prints there is right; the server is not.

const FINDANDMODIFY: &str =
    "db.runCommand({findandmodify: \"w\", query: {_id: 1}, update: {$set: {b: 1}}}).ok";
const KILL_CURSORS: &str =
    "db.runCommand({killCursors: \"w\", cursors: [NumberLong(1234)]}).cursorsNotFound";
const UNKNOWN_FIELD: [&str; 2] = [
    "db.runCommand({insert: \"t\", documents: [{_id: 1}], bogus: 1}).code",
    "db.runCommand({insert: \"t\", documents: [{_id: 1}], bogus: 1}).errmsg",
];
const VERSION: &str =
    "db.version() == db.runCommand({buildInfo: 1}).version && db.version().slice(0, 4)";

/// Transcript, input, and what the server does. A row that is not needed any more fails the test.
pub const DEVIATIONS: &[(&str, &str, &str)] = &[
    ("shell/commands", "db.renamed.renameCollection(\"w\").errmsg", "adds the name to the words"),
    ("shell/commands", "db.ring.find()", "does not drop the oldest of a capped collection"),
    ("shell/commands", FINDANDMODIFY, "does not know findandmodify in lower case"),
    ("shell/commands", "db.runCommand({hello: 1}).maxWireVersion", "is an 8.2"),
    ("shell/commands", KILL_CURSORS, "answers cursor ids as int32"),
    ("shell/commands", "db.runCommand({listDatabases: 1}).code", "answers in any database"),
    ("shell/commands", "db.runCommand({listDatabases: 1}).errmsg", "answers in any database"),
    ("shell/commands", UNKNOWN_FIELD[0], "ignores an unknown field"),
    ("shell/commands", UNKNOWN_FIELD[1], "ignores an unknown field"),
    ("shell/commands", "db.t.count()", "has stored what MongoDB refuses"),
    ("shell/commands", VERSION, "is an 8.2"),
    ("shell/errors", "db.t.count({$and: 1})", "does not read a filter where no document is"),
    (
        "shell/errors",
        "db.t.distinct(\"a\", {$and: 1})",
        "does not read a filter where no document is",
    ),
    ("shell/find", "db.order.find().sort({$natural: -1})", "ignores the direction of $natural"),
    (
        "shell/indexes",
        "db.m.insert({_id: 3, tags: \"d\", x: [1], y: [2]}).writeError.code",
        "indexes parallel arrays",
    ),
    ("shell/indexes", "db.t.createIndex({a: 1})", "answers in the order of 4.4"),
    ("shell/indexes", "db.t.createIndex({a: 1}, {name: \"\"}).code", "takes an empty name"),
    ("shell/indexes", "db.t.dropIndexes()", "answers without msg"),
    ("shell/insert", "db.t.insert({_id: /x/}).writeError.errmsg", "stores an _id that is a regex"),
    ("shell/insert", "db.t.insert({_id: [1]}).writeError.code", "stores an _id that is an array"),
    (
        "shell/views_and_rules",
        "db.runCommand({insert: \"v\", documents: [{_id: 3}]}).code",
        "writes into a view",
    ),
    (
        "shell/views_and_rules",
        "db.runCommand({insert: \"v\", documents: [{_id: 3}]}).errmsg",
        "writes into a view",
    ),
    ("shell/words", "db.dropDatabase()", "names the database, as servers before 5.0 did"),
    ("update/fields", "db.f.find()", "adds new fields in the order of $set, not of their names"),
    ("update/fields", "db.x.find()", "has stored a field named $x"),
    ("update/fields", "why({$set: \"text\"})", "internal server error"),
    ("update/fields", "why({$set: {\"a.b\": 1}})", "puts the words of 8.x in front"),
    ("update/fields", "why({$set: {$x: 1}})", "stores a field named $x"),
    ("update/fields", "why({$set: {_id: 2}})", "puts the words of 8.x in front"),
    ("update/fields", "why({_id: 2, b: 1})", "puts the words of 8.x in front"),
];

/// Examples that it cannot run.
pub const EXAMPLES: &[(&str, &str)] = &[(
    "06-findandmodify-command",
    "MongoDB knows `findandmodify` in lower case, too; it answers \"internal server error\"",
)];
