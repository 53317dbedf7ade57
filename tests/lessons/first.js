next
hint
db.counters.insert({_id: "userid", seq: 0})
db.counters.remove({})
db.counters.insert({_id: "userid", seq: NumberLong(0)})
next
db.counters.findOne({_id: "users"})
db.counters.find()
next
"double"
check
skip
next
db.counters.insert(<_id: “articleid”, seq: NumberLong(999)>)
bye
