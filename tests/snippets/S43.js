function reserve(name, n) {
  var hi = db.counters.findAndModify({ query: { _id: name }, update: { $inc: { seq: n } }, new: true, upsert: true }).seq;
  return { from: hi - n + 1, to: hi };
}
printjson(reserve("b", 100));
// -> { from: 1, to: 100 }
printjson(reserve("b", 50));
// -> { from: 101, to: 150 }
