async function next(name) {
  const d = await db.counters.findOneAndUpdate({ _id: name }, { $inc: { seq: 1 } }, { upsert: true, returnDocument: 'after' })
  return d.seq
}
print(await next('aw'))
print(await next('aw'), await Promise.all([1, 2].map(async x => x * 2)))
