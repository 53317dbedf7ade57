use other
db.t.insertOne({_id: 1}); exports.n = db.getName() + db.t.countDocuments()
