db.counters.insert({_id:"toolid",sequence_value:0})
function getNextSequenceValue(sequenceName){
   var sequenceDocument = db.counters.findAndModify(
      {
         query:{_id: sequenceName },
         update: {$inc:{sequence_value:1}},
         "new":true
      });
   return sequenceDocument.sequence_value;
}
db.tools.insert({
   "_id":getNextSequenceValue("toolid"),
   "tool_name":"saw",
   "category":"wood"})
db.tools.insert({
   "_id":getNextSequenceValue("toolid"),
   "tool_name":"file",
   "category":"metal"})
db.tools.find().sort({_id:1}).forEach(function(t){ print(t._id + " " + t.tool_name) })
// -> 1 saw
// -> 2 file
