db.counters.createIndex({ tenant: 1, name: 1 }, { unique: true });
const next = (tenant, name) => db.counters.findOneAndUpdate({ tenant, name }, { $inc: { n: 1 } }, { upsert: true, returnNewDocument: true }).n;
print(next("a", "x"), next("a", "x"), next("b", "x"));
// -> 1 2 1
try { db.counters.insertOne({ tenant: "a", name: "x" }); } catch ({ code, name }) { print(code, name); }
// -> 11000 MongoServerError
