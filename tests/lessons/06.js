next
db.counters.update({_id: "visits"}, {$inc: {seq: NumberLong(1)}})
hint
reset
db.counters.findAndModify({query: {_id: "visits"}, update: {$inc: {seq: 1}}, new: true})
db.counters.find({_id: "visits"})
next
db.counters.findAndModify({query: {_id: "big"}, update: {$inc: {seq: 1}}})
hint
reset
var take = () => db.counters.findOneAndUpdate({_id: "big"}, {$inc: {seq: 1}}, {returnNewDocument: true}).seq;
[take(), take()]
next
db.counters.update({_id: "big"}, {$set: {seq: 9007199254740992}})
hint
reset
db.counters.updateOne({_id: "big"}, [{$set: {seq: {$toLong: "$seq"}}}])
db.counters.updateOne({_id: "big"}, {$inc: {seq: NumberInt(1)}})
next
db.counters.insert({_id: "exact", seq: NumberLong(9007199254740993)})
hint
reset
db.counters.save({seq: NumberLong("9007199254740993"), _id: "exact"})
next
db.counters.insert({_id: "orders", seq: NumberLong(0)})
function takeOrder() {
  var sequence = db.counters.findAndModify({query: {_id: "orders"}, update: {$inc: {seq: NumberLong(1)}}, new: true});
  db.orders.insert({_id: sequence.seq});
}
parallel(4, 25, takeOrder, {interleave: true}).length
hint
reset
var largest = db.orders.aggregate([{$group: {_id: null, number: {$max: "$_id"}}}]).next().number
db.counters.insertOne({_id: "orders", seq: largest})
var takeOrder = () => db.orders.insertOne({_id: db.counters.findOneAndUpdate({_id: "orders"},
  {$inc: {seq: NumberLong(1)}}, {returnDocument: "after"}).seq})
parallel(4, 25, takeOrder, {interleave: true}).length
bye
