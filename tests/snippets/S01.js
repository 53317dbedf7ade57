db.counters.insert( { _id: "uid", seq: 0 } );
function getNextSequence(key) {
    var bumped = db.counters.findAndModify( {
        query: { _id: key },
        update: { $inc: { seq: 1 } },
        new: true
    } );
    return bumped.seq;
}
db.people.insert({ _id: getNextSequence("uid"), name: "Ada L." });
db.people.insert({ _id: getNextSequence("uid"), name: "Bob D." });
db.people.find().forEach(printjson);
// -> { "_id" : 1, "name" : "Ada L." }
// -> { "_id" : 2, "name" : "Bob D." }
print(db.counters.findOne({ _id: "uid" }).seq);
// -> 2
