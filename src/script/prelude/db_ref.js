//! References: their parts by name, their text, their document.
(() => {
  const parts = reference => [reference.$ref, reference.$id, ...(reference.$db === undefined ? [] : [reference.$db])];
  return {
    collection() { return this.$ref; },
    db() { return this.$db; },
    oid() { return this.$id; },
    getCollection() { return this.$ref; },
    getRef() { return this.$ref; },
    getId() { return this.$id; },
    getDb() { return this.$db; },
    fetch() {
      const database = this.$db === undefined ? globalThis.db : globalThis.db.getSiblingDB(this.$db);
      return database.getCollection(this.$ref).findOne({ _id: this.$id });
    },
    toString() { return this.tojson(); },
    tojson() { return "DBRef(" + parts(this).map(part => shell.tojson(part)).join(", ") + ")"; },
  };
})()
