// Two sequences as a module. Each call is one findAndModify, so no two callers ever get the same number.

/** The next number of `name` in db.counters, which is created by its first use. */
export function counter(name) {
  const ret = db.counters.findAndModify({
    query: { _id: name },
    update: { $inc: { next: 1 } },
    new: true,
    upsert: true,
  });
  return ret.next;
}

/** The next number of `name` in db.sequences, which somebody must have created: a misspelt name is no new sequence. */
export function nextVal(name) {
  const ret = db.sequences.findAndModify({
    query: { _id: name },
    update: { $inc: { seq: 1 } },
    new: true,
  });
  if (ret === null) throw new Error("there is no sequence " + name);
  return ret.seq;
}
