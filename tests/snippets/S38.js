const next = n => db.counters.findAndModify({ query: { _id: n }, update: { $inc: { seq: 1 } }, new: true, upsert: true }).seq;
const year = ISODate("2024-05-06").getFullYear();
print(`INV-${String(next("inv")).padStart(5, "0")}`);
// -> INV-00001
print("ORD" + ("0000" + next("inv")).slice(-4) + "/" + year);
// -> ORD0002/2024
print((1000 + next("inv")).toString(36).toUpperCase());
// -> RV
