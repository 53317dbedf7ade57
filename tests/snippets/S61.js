var ret = db.counters.findAndModify({ query: { _id: "e" }, update: { $inc: { seq: 1 } }, new: true, upsert: true });
ret
ret.seq
ret.seq + 1;
db.counters.find().pretty()
