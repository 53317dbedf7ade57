//! Collections: their text.
({
  toString() { return this.getFullName(); },
})
