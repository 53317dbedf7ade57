//! Cursors of commands: what takes a function or answers with an iterator.
({
  [Symbol.iterator]() {
    return shell.iterate(this);
  },

  constructor(db, reply, batchSize) {
    return db.__resumed(reply, batchSize);
  },

  csv() {
    return shell.csv(shell.all(this));
  },

  forEach(f) {
    shell.each(this, f);
  },

  map(f) {
    return shell.map(this, f);
  },

  table() {
    return shell.table(shell.all(this));
  },

  toArray() {
    return shell.all(this);
  },

  toString() {
    return "DBCommandCursor";
  },

  shellPrint() {
    const { documents, more, pretty } = this.__page();
    if (shell.mongosh) {
      print(documents);
    } else {
      for (const document of documents) shell.print(pretty ? shell.tojson(document) : shell.tojson(document, "", true));
    }
    if (more) shell.print('Type "it" for more');
  },
})
