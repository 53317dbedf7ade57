db.r.insertMany([{ _id: 3 }, { _id: 11 }, { _id: 7 }]);
print(db.r.find().sort({ _id: -1 }).limit(1)[0]._id + 1);
// -> 12
print(db.r.find({}, { _id: 1 }).sort({ _id: -1 }).limit(1).next()._id + 1, db.r.aggregate([{ $group: { _id: null, m: { $max: "$_id" } } }]).toArray()[0].m + 1);
// -> 12 12
print(db.r.count() + 1, db.r.find().count() + 1);
// -> 4 4
