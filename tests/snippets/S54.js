db.items.insertMany([{ k: "x" }, { k: "y" }]);
db.items.find({ id: { $exists: false } }).sort({ k: 1 }).forEach(function (doc) {
    var nid = db.counters.findAndModify({ query: { _id: "items" }, update: { $inc: { SequenceID: 1 } }, new: true, upsert: true }).SequenceID;
    db.items.update({ _id: doc._id }, { "$set": { "id": nid } });
});
print(db.items.find({}, { _id: 0 }).sort({ id: 1 }).map(d => d.k + d.id).join());
// -> x1,y2
db.items.createIndex({ id: 1 }, { unique: true });
