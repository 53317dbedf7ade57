function next(tenant, name) {
  return db.counters.findAndModify({ query: { _id: { tenant: tenant, name: name } }, update: { $inc: { seq: 1 } }, upsert: true, new: true });
}
next("acme", "inv"); next("acme", "inv");
printjson(next("beta", "inv"));
// -> { _id: { tenant: "beta", name: "inv" }, seq: 1 }
print(db.counters.findOne({ "_id.tenant": "acme" }).seq, db.counters.findOne({ _id: { name: "inv", tenant: "acme" } }));
// -> 2 null
// (the order of keys in an embedded _id matters)
