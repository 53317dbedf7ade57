>db.createCollection("counters")
{ "ok" : 1 }
> db.counters.insert({
	"_id":"partid",
	"sequence_value": 0
})
WriteResult({ "nInserted" : 1 })
>
>function nextPart(sequenceName){
   var sequenceDocument = db.counters.findAndModify({
      query:{_id: sequenceName },
      update: {$inc:{sequence_value:1}},
      new:true
   });
   return sequenceDocument.sequence_value;
}
>db.parts.insert({"_id":nextPart("partid"),"name":"bolt"})
>db.parts.find()
