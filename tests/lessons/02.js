next
"after"
hint
reset
"before"
next
db.counters.findAndModify({query: {_id: "userid"}, update: {$inc: {seq: NumberLong(1)}}})
hint
reset
db.counters.findOneAndUpdate({_id: "userid"}, {$inc: {seq: NumberLong(1)}}, {returnNewDocument: true})
next
function getNextSequence(name) {
  return db.counters.findAndModify({query: {_id: name}, update: {$inc: {seq: NumberLong(1)}}}).seq;
}
getNextSequence("userid")
hint
reset
const getNextSequence = name =>
  db.counters.findOneAndUpdate({_id: name}, {$inc: {seq: NumberLong(1)}}, {returnDocument: "after"}).seq
getNextSequence("userid")
next
db.users.insert([{_id: 1, name: "Ada"}, {_id: 2, name: "Grace"}, {_id: 3, name: "Linus"}])
hint
reset
["Ada", "Grace", "Linus"].forEach(name => db.users.insert({_id: getNextSequence("userid"), name}))
bye
