db.counters.insertOne({ _id: "dv", seq: 0 });
var res = db.counters.findOneAndUpdate({ _id: "dv" }, { $inc: { seq: 1 } }, { returnDocument: "after" });
print("value" in res, res.seq);
// -> false 1
try { print(res.value.seq); } catch (e) { print(e.name); }
// -> TypeError
