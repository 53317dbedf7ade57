next
function naive() {
  return db.counters.findAndModify({query: {_id: "tickets"}, update: {$inc: {seq: NumberInt(1)}}, new: true}).seq;
}
naive()
naive()
hint
reset
var naive = () => {
  const next = db.counters.find({_id: "tickets"}).toArray()[0].seq + 1;
  db.counters.updateOne({_id: "tickets"}, {$set: {seq: next}});
  return next;
};
[naive(), naive()]
next
var numbers = parallel(1, 800, naive, {interleave: true})
db.results.insert({_id: "naive", numbers: numbers.length, distinct: new Set(numbers).size})
hint
reset
var all = parallel({workers: 4, times: 200, interleave: true}, naive), seen = {}
all.forEach(n => { seen[n] = true; })
db.results.insert({_id: "naive", numbers: all.length, distinct: Object.keys(seen).length})
next
var numbers = parallel(4, 200, naive, {interleave: true})
db.results.insert({_id: "atomic", numbers: numbers.length, distinct: new Set(numbers).size})
hint
reset
const atomic = () => Number(counter("tickets", {field: "seq"}))
var all = parallel(4, 200, atomic, {interleave: true})
db.results.insertOne({_id: "atomic", distinct: all.filter((n, at) => all.indexOf(n) === at).length, numbers: all.length})
bye
