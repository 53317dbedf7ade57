function nextOfDay(day) {
  var key = "order:" + day.toISOString().substring(0, 10);
  var n = db.counters.findAndModify({ query: { _id: key }, update: { $inc: { seq: 1 } }, new: true, upsert: true }).seq;
  return key.replace(/\D/g, "").replace(/^/, "#") + "-" + n;
}
var d1 = new Date("2024-02-28T23:59:59Z"), d2 = ISODate("2024-02-29T00:00:00Z");
print(nextOfDay(d1), nextOfDay(d1), nextOfDay(d2));
// -> #20240228-1 #20240228-2 #20240229-1
