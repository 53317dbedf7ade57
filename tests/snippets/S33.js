function next(name, step) {
  return db.counters.findAndModify({ query: { _id: name }, update: { $inc: { seq: step || 1 } }, new: true, upsert: true }).seq;
}
print([next("s", 10), next("s", 10), next("s"), next("s", -5)].join(" "));
// -> 10 20 21 16
