db.tickets.insertOne({ _id: 1, who: "early" });
function insertNext(doc) {
  for (let attempt = 0; attempt < 5; attempt++) {
    const last = db.tickets.find({}, { _id: 1 }).sort({ _id: -1 }).limit(1).toArray()[0];
    doc._id = last ? last._id + 1 : 1;
    if (attempt === 0) doc._id = 1;          // provoke one collision
    try {
      db.tickets.insertOne(doc);
      return doc._id;
    } catch (e) {
      if (e.code !== 11000) throw e;
      print("retry after", e.code);
    }
  }
  throw new Error("gave up");
}
print(insertNext({ who: "late" }));
// -> retry after 11000
// -> 2
