//! What a classic bulk throws: its result, as an error.
({
  ...shell.results("BulkWriteError"),
  code() { return this.writeErrors.length > 0 ? this.writeErrors[0].code : undefined; },
  toResult() { return Object.assign(Object.create(globalThis.BulkWriteResult.prototype), this); },
})
