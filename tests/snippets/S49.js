db.jobs.insertMany([{ _id: 1, p: 5 }, { _id: 2, p: 9 }, { _id: 3, p: 7 }]);
print(db.jobs.findAndModify({ query: { taken: { $exists: false } }, sort: { p: -1 }, update: { $set: { taken: true } }, fields: { p: 1, _id: 0 } }).p);
// -> 9
print(db.jobs.findAndModify({ query: {}, sort: { p: 1 }, remove: true })._id, db.jobs.countDocuments());
// -> 1 2
