//! An example for each thing that people look up, as they would type it. `help NAME` shows it; a test runs them all.
//!
//! They are about a collection `users` of documents `{_id: 1, name: "Sarah C.", age: 31, tags: ["a"]}`.

/// Something to look up, and what to type.
pub struct Example {
    /// A topic, a method, a word, an operator.
    pub name: &'static str,
    /// One input.
    pub code: &'static str,
}

/// The examples, sorted. A name may have several.
pub const EXAMPLES: &[Example] = &[
    Example {
        name: "$addToSet",
        code: r#"db.users.updateOne({_id: 1}, {$addToSet: {tags: "new"}})"#,
    },
    Example { name: "$and", code: "db.users.find({$and: [{age: {$gt: 30}}, {age: {$lt: 40}}]})" },
    Example {
        name: "$elemMatch",
        code: r#"db.users.find({tags: {$elemMatch: {$in: ["a", "b"]}}})"#,
    },
    Example { name: "$exists", code: "db.users.find({age: {$exists: true}})" },
    Example { name: "$expr", code: r#"db.users.find({$expr: {$gt: [{$size: "$tags"}, 1]}})"# },
    Example {
        name: "$group",
        code: r#"db.users.aggregate([{$group: {_id: "$age", n: {$sum: 1}}}])"#,
    },
    Example { name: "$gt", code: "db.users.find({age: {$gt: 30}})" },
    Example { name: "$gte", code: "db.users.find({age: {$gte: 31}})" },
    Example { name: "$in", code: "db.users.find({age: {$in: [25, 31]}})" },
    Example { name: "$inc", code: "db.users.updateOne({_id: 1}, {$inc: {age: 1}})" },
    Example { name: "$limit", code: "db.users.aggregate([{$sort: {age: 1}}, {$limit: 2}])" },
    Example {
        name: "$lookup",
        code: r#"db.users.aggregate([{$lookup: {from: "users", localField: "age", foreignField: "age", as: "same"}}])"#,
    },
    Example { name: "$lt", code: "db.users.find({age: {$lt: 30}})" },
    Example { name: "$match", code: "db.users.aggregate([{$match: {age: {$gt: 30}}}])" },
    Example { name: "$max", code: "db.users.updateOne({_id: 1}, {$max: {age: 40}})" },
    Example { name: "$min", code: "db.users.updateOne({_id: 1}, {$min: {age: 18}})" },
    Example { name: "$ne", code: "db.users.find({age: {$ne: 31}})" },
    Example { name: "$not", code: "db.users.find({age: {$not: {$gt: 30}}})" },
    Example { name: "$or", code: r#"db.users.find({$or: [{age: 25}, {name: /^S/}]})"# },
    Example {
        name: "$project",
        code: r#"db.users.aggregate([{$project: {name: {$toUpper: "$name"}}}])"#,
    },
    Example { name: "$pull", code: r#"db.users.updateOne({_id: 1}, {$pull: {tags: "a"}})"# },
    Example {
        name: "$push",
        code: r#"db.users.updateOne({_id: 1}, {$push: {tags: {$each: ["x", "y"]}}})"#,
    },
    Example { name: "$regex", code: r#"db.users.find({name: {$regex: "^sarah", $options: "i"}})"# },
    Example { name: "$rename", code: r#"db.users.updateOne({_id: 1}, {$rename: {age: "years"}})"# },
    Example {
        name: "$set",
        code: r#"db.users.updateOne({_id: 1}, {$set: {"address.city": "Quito"}})"#,
    },
    Example { name: "$size", code: "db.users.find({tags: {$size: 1}})" },
    Example { name: "$sort", code: "db.users.aggregate([{$sort: {age: -1}}])" },
    Example {
        name: "$sum",
        code: r#"db.users.aggregate([{$group: {_id: null, years: {$sum: "$age"}}}])"#,
    },
    Example { name: "$type", code: r#"db.users.find({age: {$type: "number"}})"# },
    Example { name: "$unset", code: r#"db.users.updateOne({_id: 1}, {$unset: {age: ""}})"# },
    Example {
        name: "$unwind",
        code: r#"db.users.aggregate([{$unwind: "$tags"}, {$sortByCount: "$tags"}])"#,
    },
    Example { name: "BinData", code: r#"BinData(0, "AAEC").hex()"# },
    Example {
        name: "ISODate",
        code: r#"db.users.updateOne({_id: 1}, {$set: {born: ISODate("1990-05-01T12:00:00Z")}})"#,
    },
    Example {
        name: "NumberDecimal",
        code: r#"db.users.updateOne({_id: 1}, {$set: {price: NumberDecimal("9.99")}})"#,
    },
    Example {
        name: "NumberInt",
        code: "db.users.updateOne({_id: 1}, {$set: {age: NumberInt(32)}})",
    },
    Example {
        name: "NumberLong",
        code: r#"db.users.insert({_id: NumberLong("9007199254740993")})"#,
    },
    Example { name: "ObjectId", code: r#"ObjectId("507f191e810c19729de860ea").getTimestamp()"# },
    Example { name: "UUID", code: "UUID()" },
    Example { name: "admin", code: "pwd()" },
    Example {
        name: "aggregate",
        code: r#"db.users.aggregate([{$match: {age: {$gt: 20}}}, {$group: {_id: null, average: {$avg: "$age"}}}])"#,
    },
    Example {
        name: "bulkWrite",
        code: r#"db.users.bulkWrite([{insertOne: {document: {_id: 9}}}, {deleteOne: {filter: {_id: 1}}}])"#,
    },
    Example { name: "connect", code: r#"db = connect("localhost:27017/shop")"# },
    Example { name: "count", code: "db.users.count({age: {$gt: 30}})" },
    Example { name: "countDocuments", code: "db.users.countDocuments({age: {$gt: 30}})" },
    Example { name: "counter", code: r#"db.orders.insert({_id: counter("orders"), item: "tea"})"# },
    Example { name: "counters", code: r#"counter("orders", {start: 1000})"# },
    Example {
        name: "createCollection",
        code: r#"db.createCollection("log", {capped: true, size: 100000})"#,
    },
    Example { name: "createIndex", code: "db.users.createIndex({name: 1}, {unique: true})" },
    Example {
        name: "createView",
        code: r#"db.createView("adults", "users", [{$match: {age: {$gte: 18}}}])"#,
    },
    Example { name: "csv", code: "db.users.find({}, {name: 1, age: 1}).csv()" },
    Example { name: "deleteMany", code: "db.users.deleteMany({age: {$lt: 18}})" },
    Example { name: "deleteOne", code: "db.users.deleteOne({_id: 1})" },
    Example { name: "departures", code: "print({a: 1})" },
    Example { name: "distinct", code: r#"db.users.distinct("tags", {age: {$gt: 20}})"# },
    Example { name: "drop", code: "db.users.drop()" },
    Example { name: "dropDatabase", code: "db.dropDatabase()" },
    Example {
        name: "dropIndex",
        code: r#"db.users.createIndex({age: 1}); db.users.dropIndex("age_1")"#,
    },
    Example {
        name: "explain",
        code: "db.users.find({age: 31}).explain().queryPlanner.winningPlan",
    },
    Example { name: "find", code: "db.users.find({age: {$gt: 30}}, {name: 1}).sort({name: 1})" },
    Example {
        name: "findAndModify",
        code: r#"db.counters.findAndModify({query: {_id: "users"}, update: {$inc: {next: 1}}, new: true, upsert: true})"#,
    },
    Example { name: "findOne", code: "db.users.findOne({_id: 1})" },
    Example { name: "findOneAndDelete", code: "db.users.findOneAndDelete({_id: 1})" },
    Example {
        name: "findOneAndReplace",
        code: r#"db.users.findOneAndReplace({_id: 1}, {name: "Ann"}, {returnNewDocument: true})"#,
    },
    Example {
        name: "findOneAndUpdate",
        code: "db.users.findOneAndUpdate({_id: 1}, {$inc: {age: 1}}, {returnNewDocument: true})",
    },
    Example { name: "forEach", code: "db.users.find().forEach(user => print(user.name))" },
    Example { name: "getIndexes", code: "db.users.getIndexes()" },
    Example { name: "getSiblingDB", code: r#"db.getSiblingDB("shop").orders.count()"# },
    Example { name: "hint", code: "db.users.find({_id: 1}).hint({_id: 1})" },
    Example {
        name: "initializeOrderedBulkOp",
        code: "var bulk = db.users.initializeOrderedBulkOp(); bulk.insert({_id: 9}); bulk.find({_id: 1}).updateOne({$set: {age: 1}}); bulk.execute()",
    },
    Example {
        name: "initializeUnorderedBulkOp",
        code: "var bulk = db.users.initializeUnorderedBulkOp(); bulk.insert({_id: 9}); bulk.execute()",
    },
    Example { name: "insert", code: r#"db.users.insert({_id: 4, name: "Ann"})"# },
    Example {
        name: "insertMany",
        code: r#"db.users.insertMany([{_id: 4, name: "Ann"}, {_id: 5, name: "Ben"}])"#,
    },
    Example { name: "insertOne", code: r#"db.users.insertOne({_id: 4, name: "Ann"})"# },
    Example { name: "keys", code: "history().slice(-3)" },
    Example { name: "limit", code: "db.users.find().sort({age: -1}).limit(1)" },
    Example { name: "map", code: "db.users.find().map(user => user.name)" },
    Example { name: "misc", code: r#"HexData(0, "00010f")"# },
    Example { name: "mr", code: r#"db.users.aggregate([{$group: {_id: "$age", n: {$sum: 1}}}])"# },
    Example {
        name: "nextVal",
        code: r#"db.sequences.insert({_id: "posts", seq: 0}); nextVal("posts")"#,
    },
    Example { name: "node", code: r#"require("path").join("a", "b")"# },
    Example { name: "numbers", code: "db.users.find({age: 31}); db.users.findOne().age + 1" },
    Example { name: "parallel", code: r#"parallel(4, () => counter("users"))"# },
    Example { name: "pretty", code: "db.users.find().pretty()" },
    Example { name: "print", code: r#"print("so many:", db.users.count())"# },
    Example { name: "printjson", code: "printjson(db.users.findOne())" },
    Example { name: "race", code: r#"race(() => counter("users"))"# },
    Example { name: "remove", code: "db.users.remove({age: {$lt: 18}})" },
    Example { name: "renameCollection", code: r#"db.users.renameCollection("people")"# },
    Example { name: "replaceOne", code: r#"db.users.replaceOne({_id: 1}, {name: "Ann"})"# },
    Example { name: "rs", code: "rs.slaveOk()" },
    Example {
        name: "runCommand",
        code: r#"db.runCommand({count: "users", query: {age: {$gt: 30}}})"#,
    },
    Example { name: "save", code: r#"db.users.save({_id: 1, name: "Ann"})"# },
    Example { name: "set", code: "set timing on" },
    Example { name: "setVerboseShell", code: "setVerboseShell(true); db.users.find()" },
    Example { name: "sh", code: "sh.help()" },
    Example { name: "show", code: "show collections" },
    Example { name: "skip", code: "db.users.find().sort({_id: 1}).skip(1)" },
    Example { name: "sleep", code: "sleep(10)" },
    Example { name: "sort", code: "db.users.find().sort({age: -1, name: 1})" },
    Example { name: "stats", code: "db.users.stats().count" },
    Example { name: "table", code: "db.users.find({}, {tags: 0}).table()" },
    Example { name: "toArray", code: "db.users.find().toArray().length" },
    Example { name: "tojson", code: "tojson({a: NumberLong(1)})" },
    Example { name: "trace", code: "trace on" },
    Example { name: "translate", code: "translate python" },
    Example {
        name: "update",
        code: "db.users.update({age: {$lt: 30}}, {$set: {young: true}}, {multi: true})",
    },
    Example {
        name: "updateMany",
        code: "db.users.updateMany({age: {$lt: 30}}, {$set: {young: true}})",
    },
    Example {
        name: "updateOne",
        code: r#"db.users.updateOne({_id: 7}, {$set: {name: "Ann"}}, {upsert: true})"#,
    },
    Example { name: "use", code: "use shop" },
    Example { name: "validate", code: "db.users.validate().valid" },
    Example { name: "version", code: "version()" },
];

/// The examples of that name.
pub(super) fn of(name: &str) -> &'static [Example] {
    let start = EXAMPLES.partition_point(|example| example.name < name);
    let rest = &EXAMPLES[start..];
    &rest[..rest.partition_point(|example| example.name == name)]
}
