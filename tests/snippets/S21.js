var c = db.counters;
c.save ? print("has save") : c.replaceOne({ _id: "cm" }, { seq: 0 }, { upsert: true });
// WriteResult({ "nMatched" : 0, "nUpserted" : 1, "nModified" : 0, "_id" : "cm" })
/* { "_id" : "cm", "seq" : 0 } */
print(tojson(c.findOne({ _id: "cm" })).replace(/\s+/g, ""));   // => {"_id":"cm","seq":0}
