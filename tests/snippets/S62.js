use seqshop
db.counters.insertOne({ _id: "u", seq: 0 })
show collections
db.counters.updateOne({ _id: "u" }, { $inc: { seq: 1 } });
db.counters.find()
