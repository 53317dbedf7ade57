class Sequence {
  constructor(name, { start = 1, step = 1 } = {}) { Object.assign(this, { name, start, step }); }
  next() {
    const d = db.counters.findOneAndUpdate({ _id: this.name },
      [{ $set: { seq: { $add: [{ $ifNull: ["$seq", this.start - this.step] }, this.step] } } }], { upsert: true, returnDocument: "after" });
    return d.seq;
  }
  static of(...names) { return new Map(names.map(n => [n, new Sequence(n)])); }
}
const m = Sequence.of("a", "b");
print(m.get("a").next(), m.get("a").next(), new Sequence("even", { start: 2, step: 2 }).next());
// -> 1 2 2
