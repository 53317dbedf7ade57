//! Where SecantusDB answers otherwise than MongoDB 7.0. What tally prints there is right; the server is not.

/// Transcript, input, and what the server does. A row that is not needed any more fails the test.
pub const DEVIATIONS: &[(&str, &str, &str)] = &[
    ("shell/find", "db.order.find().sort({$natural: -1})", "ignores the direction of $natural"),
    ("shell/insert", "db.t.insert({_id: /x/}).writeError.errmsg", "stores an _id that is a regex"),
    ("shell/insert", "db.t.insert({_id: [1]}).writeError.code", "stores an _id that is an array"),
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
