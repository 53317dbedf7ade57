print(db.counters.findOneAndUpdate({ _id: "old" }, { $inc: { seq: 1 } }, { upsert: true }));
// -> null
print(db.counters.findOneAndUpdate({ _id: "old" }, { $inc: { seq: 1 } }, { upsert: true }).seq);
// -> 1
print(db.counters.findAndModify({ query: { _id: "old" }, update: { $inc: { seq: 1 } } }).seq);
// -> 2
print(db.counters.findOne({ _id: "old" }).seq);
// -> 3
