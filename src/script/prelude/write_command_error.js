//! A write command that was refused.
({
  getOperation() { return this.op; },
  toString() { return this.tojson(); },
  tojson(indent, nolint) { return "WriteCommandError(" + shell.tojson(Object.assign({}, this), indent, nolint) + ")"; },
})
