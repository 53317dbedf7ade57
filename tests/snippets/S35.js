for (var i = 0; i < 2; i++)
  var d = db.counters.findAndModify({
    query: { _id: "inv" },
    update: { $inc: { seq: 1 }, $setOnInsert: { prefix: "INV", created: ISODate("2024-01-01T00:00:00Z") } },
    upsert: true, new: true
  });
print(d.seq, d.prefix, d.created.toISOString());
// -> 2 INV 2024-01-01T00:00:00.000Z
