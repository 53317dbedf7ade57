db.seq.insertOne({ _id: "nl", v: new NumberLong(0) });
var r = db.seq.findAndModify({ query: { _id: "nl" }, update: { $inc: { v: new NumberLong(1) } }, new: true });
print(r.v);                 // differs, see the remark
print(typeof r.v);          // -> object
print(r.v.toNumber() + 1);  // -> 2
print(r.v == 1);            // -> true
print(r.v + 1);             // differs, see the remark
