function next(n) {
  var d = db.counters.findAndModify({ query: { _id: n }, update: { $inc: { seq: 1 } }, new: true, upsert: true, });
  return d.seq;
};
if (true) { print(next("sc")); };
for (var i = 0; i < 2; i++) { next("sc"); };;
print(next("sc"));;
// -> 1
// -> 4
