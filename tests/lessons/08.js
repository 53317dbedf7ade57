next
for (var i = 1; i <= 3; i++) {
  for (var k = 0; k < 4; k++) db.ids.insert({_id: counter("server" + i), server: i});
}
hint
reset
function take(i) {
  var query = {_id: "server" + i};
  if (db.counters.count(query) === 0) db.counters.insert({_id: "server" + i, next: NumberLong(i - 3)});
  return db.counters.findAndModify({query, update: {$inc: {next: NumberLong(3)}}, new: true}).next;
}
[1, 2, 3].forEach(i => { for (var k = 0; k < 4; k++) db.ids.insert({_id: take(i)}); })
next
11
hint
reset
10
next
true
hint
reset
"false"
bye
