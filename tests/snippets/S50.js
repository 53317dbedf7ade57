var seqno = db.sequences.findAndModify({
    query:{_id:'objectSeq'},
    upsert:true,
    new:true,
    update:{$inc:{count:1}},
    fields:{count:1}
}).count
print("can#" + seqno)
// -> can#1
