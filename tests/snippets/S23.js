db.seq.insertMany([{ _id: "i", v: NumberInt(0) }, { _id: "l", v: NumberLong("0") }, { _id: "d", v: 0 }]);
db.seq.updateMany({}, { $inc: { v: 1 } });
db.seq.aggregate([{ $sort: { _id: 1 } }, { $project: { t: { $type: "$v" } } }]).forEach(x => print(x._id, x.t));
// mongosh sends 0 and 1 as int32:
// -> d int
// -> i int
// -> l long
