next
ObjectId("507f1f77bcf86cd799439011").getTimestamp()
hint
reset
ObjectId("507f1f77bcf86cd799439011").getTimestamp().getTime() / 1000
next
function decode(id) {
  var hex = id.str;
  return {seconds: parseInt(hex.substring(0, 8), 16) | 0, counter: parseInt(hex.substring(18), 16)};
}
hint
reset
var decode = id => {
  var bytes = id.toString().match(/[0-9a-f]{24}/)[0].match(/../g).map(hex => parseInt(hex, 16));
  var number = list => list.reduce((sum, byte) => sum * 256 + byte, 0);
  return {counter: number(bytes.slice(9)), seconds: number(bytes.slice(0, 4))};
}
next
true
hint
reset
"false"
next
db.sessions.insert({_id: "018f4e5a-7c3b-4a2d-9c1e-2b3d4f5a6b7c"})
hint
reset
db.sessions.insertOne({_id: UUID("018f4e5a-7c3b-7a2d-9c1e-2b3d4f5a6b7c"), note: "version 7"})
bye
