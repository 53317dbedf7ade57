db.stock.insertOne({ _id: "bolt", n: 2 });
var take = function () {
  return db.stock.findAndModify({ query: { _id: "bolt", n: { $gt: 0 } }, update: { $inc: { n: -1 } }, new: true });
};
for (var r; (r = take()); ) print("left", r.n);
print(r, db.stock.findOne().n);
// -> left 1
// -> left 0
// -> null 0
