//! Cursors of queries: what takes a function or answers with an iterator.
({
  [Symbol.iterator]() {
    return shell.iterate(this);
  },

  arrayAccess(index) {
    return this.toArray()[index];
  },

  forEach(f) {
    shell.each(this, f);
  },

  length() {
    return this.toArray().length;
  },

  map(f) {
    return shell.map(this, f);
  },

  toArray() {
    return shell.all(this);
  },

  toString() {
    const { query, ...options } = this.modifiers();
    const rest = Object.keys(options).length === 0 ? "" : " " + shell.tojson(options, "", true);
    return "DBQuery: " + shell.tojson(query, "", true) + rest;
  },
})
