db.counters.insertOne({ _id: "nb", seq: 0 });
  var r = db.counters.findAndModify({ query: { _id: "nb" }, update: { $inc: { seq: 1 } }, new: true });
print(r.seq);
// -> 1
