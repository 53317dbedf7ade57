function next(name) {
  var ret = db.counters.findAndModify({ query: { _id: name }, update: { $inc: { seq: 1 } }, new: true });
  if (ret === null) throw new Error("no such sequence: " + name);
  return ret.seq;
}
try { next("nope"); } catch (e) { print(e.message); }
// -> no such sequence: nope
try { db.counters.findAndModify({ query: { _id: "nope" }, update: { $inc: { seq: 1 } } }).seq; }
catch (e) { print(e instanceof TypeError); }
// -> true
print(db.counters.countDocuments());
// -> 0
