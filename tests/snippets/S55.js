db.counters.insertOne({ _id: "z", seq: 99 });
db.counters.updateOne({ _id: "z" }, { $set: { seq: 0 } });
db.counters.updateOne({ _id: "z" }, { $max: { seq: 17 } });
db.counters.updateOne({ _id: "z" }, { $max: { seq: 4 } });
print(db.counters.findOne({ _id: "z" }).seq);
// -> 17
