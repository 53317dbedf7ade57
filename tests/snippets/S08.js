> db.counters.insert({ _id: "k", seq: 0 })
> function nk() {
...   var r = db.counters.findAndModify({
...     query: { _id: "k" },
...     update: { $inc: { seq: 1 } },
...     new: true
...   });
...   return r.seq;
... }
> nk()
1
> nk()
2
