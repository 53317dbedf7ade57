next
db.counters.insert({_id: "orderid", seq: NumberLong(0)})
hint
reset
db.counters.findOneAndUpdate({_id: "orderid"}, {$inc: {seq: NumberLong(1)}}, {returnDocument: "after"})
next
db.counters.insert({_id: "orderid", seq: NumberLong(0)})
hint
reset
db.counters.findOneAndUpdate({_id: "orderid"}, {$inc: {seq: NumberLong(1)}}, {upsert: true, returnDocument: "after"})
next
db.counters.insert({_id: "invoiceid", seq: NumberLong(0)})
hint
reset
var getNextSequence = name => db.counters.findOneAndUpdate({_id: name}, {$inc: {seq: NumberLong(1)}},
  {upsert: true, returnNewDocument: true}).seq;
[getNextSequence("invoiceid"), getNextSequence("invoiceid")]
next
db.sequences.insert({_id: "posts", seq: 1})
nextVal("posts")
hint
reset
db.sequences.insert({_id: "posts", seq: NumberLong(0)})
nextVal("posts")
next
db.counters.insert({_id: "invoices", seq: NumberLong(0)})
hint
reset
const invoiceNumber = () => db.counters.findOneAndUpdate({_id: "invoices"}, {$inc: {next: NumberLong(1)}},
  {upsert: true, returnDocument: "after"}).next;
db.invoices.insertMany([1, 2, 3].map(() => ({_id: invoiceNumber()})))
bye
