// Logs in, and with a wrong password does not.
import { createRequire } from "node:module";

const [, , address, tools] = process.argv;
const { MongoClient } = createRequire(tools + "/")("mongodb");

async function count(address) {
  const client = new MongoClient(address);
  try {
    return await client.db("shop").collection("t").countDocuments();
  } finally {
    await client.close();
  }
}

console.log(await count(address));
await count(address.replace("s3cret", "wrong")).catch((error) => console.log(error.code));
