next
db.orders.insert({_id: 6, item: "lemon"})
hint
reset
var max = db.orders.aggregate([{$group: {_id: null, max: {$max: "$_id"}}}]).toArray()[0].max
db.orders.insert({_id: max + 1, item: "lemon"})
next
db.orders.remove({_id: 3})
var newest = db.orders.find().sort({_id: -1}).limit(1).next()
db.orders.insert({_id: newest._id + 1, item: "nut"})
hint
reset
db.orders.deleteOne({_id: 6})
var number = db.orders.find().sort({_id: -1}).limit(1).toArray()[0]._id + 1
db.orders.insertOne({_id: number, item: "nut"})
db.letters.insertOne({item: "nut", order: number})
next
var a = db.orders.find().sort({_id: -1}).limit(1).next()._id + 1
db.orders.insert({_id: a, item: "melon"})
var b = db.orders.find().sort({_id: -1}).limit(1).next()._id + 1
db.orders.insert({_id: b, item: "grape"})
hint
reset
var next = () => db.orders.find().sort({_id: -1}).limit(1).toArray()[0]._id + 1
var [a, b] = [next(), next()]
db.orders.insertOne({_id: a, item: "melon"})
db.orders.insertOne({_id: b, item: "grape"})
bye
