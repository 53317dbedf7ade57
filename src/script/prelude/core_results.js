//! What the results of many writes, failed or not, have in common.
(() => {
  "use strict";
  const { Object } = shell.globals;
  const { assign, create } = Object;
  const plain = result => assign({}, result);
  const error = fields => assign(create(globalThis.WriteError.prototype), fields);

  return {
    // The methods of a result that calls itself `name`.
    results: name => ({
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
      toString() { return this.tojson(); },
      tojson(indent, nolint) { return `${name}(${shell.tojson(plain(this), indent, nolint)})`; },
    }),
  };
})()
