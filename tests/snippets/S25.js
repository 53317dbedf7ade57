db.seq.insertOne({ _id: "lc", seq: 9 });
var r = db.runCommand({ findandmodify: "seq", query: { _id: "lc" }, update: { $inc: { seq: 1 } }, new: true });
print(r.ok, r.value.seq);
// -> 1 10
