next
db.users.insert({_id: counter("users"), name: "Grace", mail: "grace@example.org"})
hint
reset
db.runCommand({insert: "users", documents: [<_id: counter("users"), name: "A", mail: "ada@example.org">]})
db.users.save({_id: counter("users"), name: "Grace", mail: "g@example.org"})
next
var first = counter("users")
db.counters.update({_id: "users"}, {$inc: {next: -1}})
db.users.insert({_id: counter("users"), name: "Linus", mail: "linus@example.org"})
hint
reset
var first = counter("users"), second = counter("users")
db.users.insert({_id: second, name: "Linus", mail: "linus@example.org"})
db.counters.findAndModify({query: {_id: "users"}, update: {$inc: {next: NumberLong(-1)}}})
db.users.insert({_id: counter("users"), name: "Barbara", mail: "barbara@example.org"})
next
bye
