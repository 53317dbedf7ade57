//! The result of a classic bulk of writes.
({
  ...shell.results("BulkWriteResult"),
  getInsertedIds() { return this.insertedIds ?? []; },
})
