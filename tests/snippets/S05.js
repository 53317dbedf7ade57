db.orders.createIndex({ no: 1 }, { unique: true });
db.orders.insertMany([{ no: 1 }, { no: 2 }]);
var no = 1, tries = 0, done = false;
do {
  tries++;
  try { db.orders.insertOne({ no: no, late: true }); done = true; }
  catch (err) { if (err.code != 11000) throw err; no++; }
} while (!done);
print("no=" + no + " tries=" + tries);
// -> no=3 tries=3
