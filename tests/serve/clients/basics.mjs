// What a script does with the Node driver: a sequence, a bulk of documents, cursors, errors.
import { createRequire } from "node:module";

const [, , address, tools, compressors] = process.argv;
const { MongoClient } = createRequire(tools + "/")("mongodb");
const client = new MongoClient(address, compressors === "none" ? {} : { compressors: [compressors] });
const db = client.db("basics");

async function counter(name) {
  const document = await db
    .collection("counters")
    .findOneAndUpdate({ _id: name }, { $inc: { next: 1 } }, { upsert: true, returnDocument: "after" });
  return document.next;
}

console.log(await counter("users"), await counter("users"), await counter("posts"));
const taken = await Promise.all(Array.from({ length: 200 }, () => counter("race")));
console.log(taken.sort((a, b) => a - b).every((number, at) => number === at + 1));
const t = db.collection("t");
await t.insertMany(Array.from({ length: 1000 }, (_, n) => ({ _id: n, even: n % 2 === 0, text: "x".repeat(100) })));
console.log(await t.countDocuments({ even: true }), await t.estimatedDocumentCount());
let sum = 0;
for await (const document of t.find().batchSize(7)) sum += document._id;
console.log(sum, await t.distinct("even"));
console.log(await t.createIndex({ even: 1 }), (await t.indexes()).map((index) => index.name));
console.log((await t.updateMany({ _id: { $lt: 10 } }, { $set: { new: true } })).modifiedCount);
console.log(await t.aggregate([{ $group: { _id: null, n: { $sum: 1 } } }]).toArray());
await t.insertOne({ _id: 1 }).catch((error) => console.log(error.code));
await db.command({ frobnicate: 1 }).catch((error) => console.log(error.code, error.codeName));
await client.withSession(async (session) => console.log(await t.findOne({ _id: 7 }, { session, projection: { _id: 1 } })));
await t.insertOne({ _id: "unasked" }, { writeConcern: { w: 0 } });
console.log((await db.listCollections().toArray()).map((one) => one.name).sort());
console.log(await db.dropDatabase(), await db.listCollections().toArray());
await client.close();
