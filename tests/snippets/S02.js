function getNextSequence(name) {
  var ret = db.counters.findAndModify({
    query: { _id: name },
    update: { $inc: { seq: 1 } },
    new: true,
    upsert: true
  });
  return ret.seq;
}
print(getNextSequence("a"), getNextSequence("a"), getNextSequence("b"), getNextSequence("a"));
// -> 1 2 1 3
print(db.counters.count());
// -> 2
