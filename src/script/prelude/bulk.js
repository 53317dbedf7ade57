//! Bulk builders: how much was collected, as text.
({
  toString() { return this.tojson(); },
  tojson(indent, nolint) { return shell.tojson(this.toJSON(), indent, nolint); },
})
