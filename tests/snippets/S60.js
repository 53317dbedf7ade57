db["counter-2024"].insertOne({ _id: "x", seq: 1 });
db.getCollection("my.counters").insertOne({ _id: "y", seq: 2 });
print(db["counter-2024"].findOne().seq + db.my.counters.findOne().seq);
// -> 3
print(db.getCollectionNames().sort().join());
// -> counter-2024,my.counters
