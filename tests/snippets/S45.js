db.counters.insertOne({ _id: "rr", n: 0 });
var out = [];
for (var i = 0; i < 5; i++)
  out.push(db.counters.findOneAndUpdate({ _id: "rr" }, [{ $set: { n: { $mod: [{ $add: ["$n", 1] }, 3] } } }], { returnDocument: "after" }).n);
print(out.join(" "));
// -> 1 2 0 1 2
