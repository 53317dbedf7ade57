//! A write concern that was not met.
({
  getOperation() { return this.op; },
  toString() { return this.tojson(); },
  tojson(indent, nolint) { return "WriteConcernError(" + shell.tojson(Object.assign({}, this), indent, nolint) + ")"; },
})
