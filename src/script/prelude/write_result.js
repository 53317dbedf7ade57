//! The result of one classic write.
(() => {
  const plain = result => Object.assign({}, result);
  return {
    getRawResponse() { return plain(this); },
    getUpsertedId() { return this._id === undefined ? undefined : { index: 0, _id: this._id }; },
    getWriteConcernError() { return this.writeConcernError; },
    getWriteError() {
      if (this.writeError === undefined) return undefined;
      return Object.assign(Object.create(globalThis.WriteError.prototype), this.writeError);
    },
    hasWriteConcernError() { return this.writeConcernError !== undefined; },
    hasWriteError() { return this.writeError !== undefined; },
    nInserted() { return 0; },
    nMatched() { return 0; },
    nModified() { return 0; },
    nRemoved() { return 0; },
    nUpserted() { return 0; },
    toString() { return this.tojson(); },
    tojson(indent, nolint) { return "WriteResult(" + shell.tojson(plain(this), indent, nolint) + ")"; },
  };
})()
