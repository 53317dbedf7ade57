//! Cursors of queries: what takes a function or answers with an iterator.
({
  [Symbol.iterator]() {
    return shell.iterate(this);
  },

  arrayAccess(index) {
    return this.toArray()[index];
  },

  csv() {
    return shell.csv(shell.all(this));
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

  table() {
    return shell.table(shell.all(this));
  },

  toArray() {
    return shell.all(this);
  },

  toString() {
    const { query, ...options } = this.modifiers();
    const rest = Object.keys(options).length === 0 ? "" : " " + shell.tojson(options, "", true);
    return `DBQuery: ${this.__namespace()} -> ${shell.tojson(query, "", true)}${rest}`;
  },

  constructor(mongo, db, collection, namespace, query, fields, limit, skip, batchSize) {
    let cursor = (typeof collection === "string" ? db.getCollection(collection) : collection).find(query, fields);
    if (limit) cursor = cursor.limit(limit);
    if (skip) cursor = cursor.skip(skip);
    if (batchSize) cursor = cursor.batchSize(batchSize);
    return cursor;
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
