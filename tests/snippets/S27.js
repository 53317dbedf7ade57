db.counters.insertOne({ _id: "rn", seq: 0 });
const doc = db.counters.findOneAndUpdate({ _id: "rn" }, { $inc: { seq: 1 } }, { returnNewDocument: true });
print(doc.seq);
// -> 1
