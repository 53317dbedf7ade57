//! Cursors of commands: what takes a function or answers with an iterator.
({
  [Symbol.iterator]() {
    return shell.iterate(this);
  },

  forEach(f) {
    shell.each(this, f);
  },

  map(f) {
    return shell.map(this, f);
  },

  toArray() {
    return shell.all(this);
  },

  toString() {
    return "DBCommandCursor";
  },
})
