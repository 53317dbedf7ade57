book = { _id: 42, title: "Intro", available: 1, checkout: [ { by: "joe", date: ISODate("2012-10-15") } ] };
db.books.insert(book);
var before = db.books.findAndModify ( {
   query: { _id: 42, available: { $gt: 0 } },
   update: { $inc: { available: -1 }, $push: { checkout: { by: "abc", date: new Date() } } }
} )
print(before.available, db.books.findOne({ _id: 42 }).available, db.books.findOne().checkout.length);
// -> 1 0 2
print(db.books.findAndModify({ query: { _id: 42, available: { $gt: 0 } }, update: { $inc: { available: -1 } } }));
// -> null
