next
for (var i = 0; i < 100; i++) {
  db.counters.findAndModify({query: {_id: "photos"}, update: {$inc: {seq: NumberLong(1)}}, new: true});
}
hint
reset
db.counters.findOneAndUpdate({_id: "photos"}, {$inc: {seq: NumberLong(100)}}, {returnDocument: "after"})
next
200
hint
reset
300 - 99
next
var low = 1, high = 0
function nextPhoto() {
  if (low > high) {
    high = db.counters.findAndModify({query: {_id: "photos"}, update: {$inc: {seq: NumberLong(100)}}, new: true}).seq.toNumber();
    low = high - 100;
  }
  return low++;
}
for (var i = 0; i < 250; i++) db.photos.insert({_id: nextPhoto()})
hint
reset
var block = []
function nextPhoto() {
  if (block.length === 0) {
    var range = counter("photos", {collection: "counters", field: "seq", count: 100});
    for (var n = Number(range.first); n <= Number(range.last); n++) block.push(n);
  }
  return block.shift();
}
var documents = []
for (var i = 0; i < 250; i++) documents.push({_id: nextPhoto()})
db.photos.insertMany(documents)
next
251
hint
reset
301
next
for (var i = 0; i < 40; i++) {
  var one = db.counters.findAndModify({query: {_id: "tickets"}, update: {$inc: {seq: NumberLong(1)}}, new: true});
  db.tickets.insert({_id: one.seq});
}
hint
reset
[40, 10].forEach(count => {
  var own = counter("tickets", {field: "seq", count: 50});
  for (var i = 0; i < count; i++) db.tickets.insertOne({_id: NumberLong(own.first + i)});
})
bye
