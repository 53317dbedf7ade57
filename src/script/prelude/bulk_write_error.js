//! What a classic bulk throws: its result, as an error.
(() => {
  const plain = result => Object.assign({}, result);
  const error = fields => Object.assign(Object.create(globalThis.WriteError.prototype), fields);
  return {
    code() { return this.writeErrors.length > 0 ? this.writeErrors[0].code : undefined; },
    getRawResponse() { return plain(this); },
    getUpsertedIdAt(index) { return this.upserted[index]; },
    getUpsertedIds() { return this.upserted; },
    getWriteConcernError() { return this.writeConcernErrors[0]; },
    getWriteErrorAt(index) {
      return index < this.writeErrors.length ? error(this.writeErrors[index]) : undefined;
    },
    getWriteErrorCount() { return this.writeErrors.length; },
    getWriteErrors() { return this.writeErrors.map(error); },
    hasWriteConcernError() { return this.writeConcernErrors.length > 0; },
    hasWriteErrors() { return this.writeErrors.length > 0; },
    toResult() { return Object.assign(Object.create(globalThis.BulkWriteResult.prototype), this); },
    toString() { return this.tojson(); },
    tojson(indent, nolint) { return "BulkWriteError(" + shell.tojson(plain(this), indent, nolint) + ")"; },
  };
})()
