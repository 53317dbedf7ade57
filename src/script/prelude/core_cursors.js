//! Cursors in the hands of functions: `forEach`, `map`, iteration, places.
(() => {
  "use strict";
  const { Map, Object, Promise, Symbol, TypeError, WeakMap } = shell.globals;
  const { hidden } = shell;
  const { defineProperty, getOwnPropertyDescriptor, getPrototypeOf } = Object;

  // While a batch of a cursor is being handed to a function, the cursor's own methods give back first what the function
  // has not seen: `hasNext()` inside `forEach` tells whether another document comes.
  const lent = Symbol("lent");
  const giveBack = cursor => {
    const { batch, at } = cursor[lent];
    if (at < batch.length) cursor.__unread(batch.splice(at));
  };
  const lending = new Map();
  const whileLending = prototype => {
    let guard = lending.get(prototype);
    if (guard === undefined) {
      guard = Object.create(prototype);
      for (const name of Object.getOwnPropertyNames(prototype)) {
        const field = getOwnPropertyDescriptor(prototype, name);
        if (name === "constructor" || name.startsWith("__") || typeof field.value !== "function") continue;
        defineProperty(guard, name, hidden(function (...values) {
          giveBack(this);
          return field.value.apply(this, values);
        }));
      }
      defineProperty(guard, Symbol.iterator, hidden(function () {
        giveBack(this);
        return prototype[Symbol.iterator].call(this);
      }));
      lending.set(prototype, guard);
    }
    return guard;
  };

  // Calls `f` with each document that a cursor has left; what it has not seen when it throws goes back.
  const each = (cursor, f) => {
    if (typeof f !== "function") throw new TypeError("forEach needs a function");
    const prototype = getPrototypeOf(cursor);
    const outer = cursor[lent];
    const lender = { batch: [], at: 0 };
    defineProperty(cursor, lent, hidden(lender));
    Object.setPrototypeOf(cursor, whileLending(prototype));
    try {
      for (;;) {
        const batch = lender.batch = cursor.__batch(100);
        lender.at = 0;
        if (batch.length === 0) return;
        while (lender.at < batch.length) {
          const result = f(batch[lender.at++]);
          if (result instanceof Promise) shell.wait(result);
        }
      }
    } finally {
      Object.setPrototypeOf(cursor, prototype);
      if (lender.at < lender.batch.length) giveBack(cursor);
      if (outer === undefined) delete cursor[lent];
      else defineProperty(cursor, lent, hidden(outer));
    }
  };

  function* iterate(cursor) {
    let document;
    while ((document = cursor.tryNext()) !== null) yield document;
  }

  // A cursor of what a function makes of another cursor's documents, as mongosh's `map` answers.
  class Mapped {
    #cursor;
    #f;

    constructor(cursor, f) {
      this.#cursor = cursor;
      this.#f = f;
    }

    #made(document) {
      const made = this.#f(document);
      return made instanceof Promise ? shell.wait(made) : made;
    }

    hasNext() { return this.#cursor.hasNext(); }
    tryNext() { return this.#cursor.hasNext() ? this.#made(this.#cursor.next()) : null; }
    next() { return this.tryNext(); }
    forEach(f) { for (const document of this) f(document); }
    map(f) { return new Mapped(this, f); }
    toArray() { return [...this]; }
    itcount() { return this.#cursor.itcount(); }
    close() { this.#cursor.close(); }
    isClosed() { return this.#cursor.isClosed(); }
    isExhausted() { return this.#cursor.isExhausted(); }
    pretty() { return this; }
    get [Symbol.toStringTag]() { return "Cursor"; }
    *[Symbol.iterator]() {
      while (this.#cursor.hasNext()) yield this.#made(this.#cursor.next());
    }
  }

  const arrays = new WeakMap();

  return {
    each,
    iterate,

    // `map` of a cursor: an array in the classic shell, a cursor in mongosh.
    map(cursor, f) {
      if (typeof f !== "function") throw new TypeError("map needs a function");
      if (shell.mongosh) return new Mapped(cursor, f);
      const made = [];
      each(cursor, document => {
        const result = f(document);
        made.push(result instanceof Promise ? shell.wait(result) : result);
      });
      return made;
    },

    // All documents that a cursor has left. The classic shell keeps the array: it is the answer ever after.
    all(cursor) {
      if (shell.mongosh) return cursor.__rest();
      let documents = arrays.get(cursor);
      if (documents === undefined) arrays.set(cursor, documents = cursor.__rest());
      return documents;
    },

    // What a prompt shows of a mapped cursor: the next page of it; undefined for any other object.
    page(object, size) {
      if (!(object instanceof Mapped)) return undefined;
      const page = [];
      while (page.length < size && object.hasNext()) page.push(object.next());
      return page;
    },
  };
})()
