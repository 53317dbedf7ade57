test> db.counters.insertOne({ _id: 'k2', seq: 41 })
{ acknowledged: true, insertedId: 'k2' }
test> db.counters.findOneAndUpdate(
...   { _id: 'k2' },
...   { $inc: { seq: 1 } },
...   { returnDocument: 'after' }
... )
{ _id: 'k2', seq: 42 }
test> exit
