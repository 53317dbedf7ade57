next
"upsert"
hint
reset
"returnDocument: 'after'"
next
"new=True"
hint
reset
"return_document = True"
next
".value.seq"
hint
reset
"doc.seq"
next
function join() {
  var last = db.members.find().sort({number: -1}).limit(1).toArray()[0];
  db.members.insert({number: last ? last.number + 1 : 1});
}
parallel(4, 10, join, {interleave: true}).length
hint
reset
function join() {
  for (var tries = 0; tries < 100; tries++) {
    var last = db.members.find({}, {number: 1}).sort({number: -1}).limit(1).toArray()[0];
    var result = db.members.insert({number: NumberInt(last ? last.number + 1 : 1)});
    if (!result.hasWriteError()) return;
    if (result.getWriteError().code !== 11000) throw result;
  }
}
parallel(4, 10, join, {interleave: true}).length
next
bye
