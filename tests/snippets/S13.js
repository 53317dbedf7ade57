db.counters.insertOne({ _id: “cq”, seq: 0 })
db.counters.findAndModify({ query: { _id: “cq” }, update: { $inc: { seq: 1 } }, new: true })
