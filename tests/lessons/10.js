next
function insertTicket() {
  var number = Number(counter("tickets"));
  db.tickets.insert({_id: number});
  return number;
}
insertTicket()
insertTicket()
insertTicket()
hint
reset
const insertTicket = (attempts = 500) => {
  const [last] = db.tickets.find().sort({_id: -1}).limit(1).toArray();
  const _id = last ? last._id + 1 : 1;
  try {
    db.tickets.insertOne({_id});
    return _id;
  } catch (error) {
    if (error.code !== 11000 || attempts === 1) throw error;
    return insertTicket(attempts - 1);
  }
};
[insertTicket(), insertTicket(), insertTicket()]
next
function insertTicket() {
  var last = db.tickets.find().sort({_id: -1}).limit(1).toArray()[0];
  var number = last ? last._id + 1 : 1;
  db.tickets.insert({_id: number});
  return number;
}
parallel(4, 25, insertTicket, {interleave: true}).length
hint
reset
var numbers = parallel({workers: 4, times: 25, interleave: true}, insertTicket)
next
1
hint
reset
2
bye
