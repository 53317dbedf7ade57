  1. db.seq.insert({ _id: "n", v: 0 })
  2. db.seq.findAndModify({ query: { _id: "n" }, update: { $inc: { v: 1 } }, new: true })
  3. db.seq.find()
