function getNextSequence(name) {
  const result = db.counters.findOneAndUpdate(
    { _id: name },
    { $inc: { seq: 1 } },
    { returnDocument: "after", upsert: true }
  );
  return result.seq;
}
const userId = getNextSequence("uid3");
db.users3.insertOne({ _id: userId, name: "Alice", created_at: new Date() });
print(userId, db.users3.countDocuments({ _id: 1 }));
// -> 1 1
