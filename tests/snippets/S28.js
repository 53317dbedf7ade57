db.counters.insertOne({ _id: "ro", seq: 0 });
const doc = db.counters.findOneAndUpdate({ _id: "ro" }, { $inc: { seq: 1 } }, { returnOriginal: false });
print(doc.seq);
// -> 1
