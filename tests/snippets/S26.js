var r = db.runCommand({ findAndModify: "seq", query: { _id: "up" }, update: { $inc: { seq: 1 } }, new: true, upsert: true });
print(r.value.seq, r.lastErrorObject.updatedExisting, r.lastErrorObject.upserted, r.lastErrorObject.n);
// -> 1 false up 1
r = db.runCommand({ findAndModify: "seq", query: { _id: "none" }, update: { $inc: { seq: 1 } } });
print(r.value);
// -> null
