//! One write that failed.
({
  getOperation() { return this.op; },
  toString() { return this.tojson(); },
  tojson(indent, nolint) { return "WriteError(" + shell.tojson(Object.assign({}, this), indent, nolint) + ")"; },
})
