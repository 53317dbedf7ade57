const next = name => db.counters.findOneAndUpdate({ _id: name }, { $inc: { seq: 1 } }, { upsert: true, returnDocument: "after" }).seq;
const faqs = [{ q: "a" }, { q: "b" }, { q: "c" }];
faqs.forEach(f => { f._id = next("faq"); });
const { insertedCount = Object.keys(db.faq.insertMany(faqs).insertedIds).length } = {};
print(insertedCount, JSON.stringify(db.faq.find().sort({ _id: 1 }).toArray()));
// -> 3 [{"_id":1,"q":"a"},{"_id":2,"q":"b"},{"_id":3,"q":"c"}]
