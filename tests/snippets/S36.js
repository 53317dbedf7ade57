function next(name, first) {
  return db.counters.findOneAndUpdate(
    { _id: name },
    [{ $set: { seq: { $add: [{ $ifNull: ["$seq", first - 1] }, 1] } } }],
    { upsert: true, returnDocument: "after" }).seq;
}
print(next("p", 1000), next("p", 1000), next("q", 1));
// -> 1000 1001 1
