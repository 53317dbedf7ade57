//! The core of the prelude: what Rust needs of JavaScript, and the proxies behind databases and collections.
(() => {
  "use strict";
  // A script may give any global another meaning; the core keeps to what they are now.
  const {
    Array, ArrayBuffer, Boolean, Date, Error, Function, Map, Number, Object, Promise, Proxy, ReferenceError, Reflect,
    RegExp, Set, String, Symbol, TypeError, Uint8Array, WeakMap, eval: evaluate,
  } = globalThis;
  const { make } = shell;
  const { defineProperty, getOwnPropertyDescriptor, getPrototypeOf } = Object;
  const { get, ownKeys } = Reflect;
  const toSource = Function.prototype.toString;
  const mapForEach = Map.prototype.forEach;
  const setForEach = Set.prototype.forEach;
  const builtIns = new Set([
    Object, Array, Date, RegExp, Error, Map, Set, Promise, Number, String, Boolean, Function,
  ].map(global => global.prototype.toString));
  const toStringTag = Object.prototype.toString;
  const isWellFormed = String.prototype.toWellFormed;
  const hidden = value => ({ value, writable: true, configurable: true, enumerable: false });

  // Behind the methods of databases and collections: any other name is a collection. It is remembered as a hidden
  // field of its object, so that only the first look-up comes here.
  const unknown = new Proxy({}, {
    get(target, name, receiver) {
      if (typeof name === "symbol" || name in target) return get(target, name, receiver);
      if (name[0] === "_" || name === "then" || name === "toJSON") return undefined;
      const collection = make(receiver, name);
      if (collection !== undefined) defineProperty(receiver, name, hidden(collection));
      return collection;
    },
  });

  const before = new Map();
  const worth = (object, name) => {
    const field = getOwnPropertyDescriptor(object, name);
    return field && (field.get || field.value);
  };

  // Whether a `let`, `const` or `class` of that name is in the global scope, initialised or not.
  const isLexical = name => {
    if (!/^[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*$/u.test(name)) return false;
    try {
      evaluate(name);
      return true;
    } catch (error) {
      return error instanceof ReferenceError && error.message.includes("initialized");
    }
  };

  // The value of a field without calling a getter; any other name of a database or collection is a collection.
  const member = (object, name) => {
    for (let above = Object(object); above; above = getPrototypeOf(above)) {
      if (above === unknown) return make(object, name);
      const field = getOwnPropertyDescriptor(above, name);
      if (field) return field.value;
    }
    return undefined;
  };

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
    forEach(f) { each(this.#cursor, document => f(this.#made(document))); }
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

  const arrivals = new WeakMap();

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

    // All documents that a cursor has left, which it keeps: `cursor[0]` and `cursor.length()` read them again and again.
    arrived(cursor) {
      let documents = arrivals.get(cursor);
      if (documents === undefined) {
        documents = cursor.toArray();
        cursor.__unread(documents);
        arrivals.set(cursor, documents);
      }
      return documents;
    },

    // What a prompt shows of a mapped cursor: the next page of it; undefined for any other object.
    page(object, size) {
      if (!(object instanceof Mapped)) return undefined;
      const page = [];
      while (page.length < size && object.hasNext()) page.push(object.next());
      return page;
    },

    // Behind the methods of classic cursors: `cursor[0]`.
    indexed: new Proxy({}, {
      get(target, name, receiver) {
        if (typeof name !== "string" || !/^(?:0|[1-9][0-9]*)$/.test(name)) return get(target, name, receiver);
        return typeof receiver.arrayAccess === "function" ? receiver.arrayAccess(+name) : undefined;
      },
    }),

    // For the bodies of prelude rows: the classic text of a value, a printed line, a script file.
    tojson: shell.tojson,

    // A message as it is said: a text as it stands, anything else as JSON.
    said: message => typeof message === "string" ? message : shell.tojson(message),

    print: shell.print,
    load: shell.load,

    unknown,

    // A property row: a getter, and a setter that calls the row (on a global) or shadows it (on an object).
    property(target, name, row, calls) {
      defineProperty(target, name, {
        get: row,
        set(value) {
          if (calls) row.call(this, value);
          else defineProperty(this, name, { value, writable: true, configurable: true, enumerable: true });
        },
        configurable: true,
        enumerable: false,
      });
    },

    // Puts the body of a prelude's row in the place of the function that stood for it.
    replace(target, name, bodies) {
      const found = getOwnPropertyDescriptor(target, name);
      if (found && shell.isRow(found.value) && bodies[name]) defineProperty(target, name, hidden(bodies[name]));
    },

    wellFormed: text => isWellFormed.call(text),

    // What an object is at heart, whatever its prototype says.
    kind(object) {
      if (ArrayBuffer.isView(object) || object instanceof ArrayBuffer) return "Bytes";
      try { Date.prototype.getTime.call(object); return "Date"; } catch { }
      try { Map.prototype.has.call(object); return "Map"; } catch { }
      try { Set.prototype.has.call(object); return "Set"; } catch { }
      return toStringTag.call(object).slice(8, -1);
    },

    // The bytes of a buffer or a view of one, as a string of characters below 256.
    bytes(buffer) {
      const bytes = buffer instanceof ArrayBuffer
        ? new Uint8Array(buffer)
        : new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength);
      let text = "";
      for (let at = 0; at < bytes.length; at += 8192) {
        text += String.fromCharCode.apply(null, bytes.subarray(at, at + 8192));
      }
      return text;
    },

    // A method that an object has by the user's making, not by its nature.
    method(object, name) {
      const method = object[name];
      if (typeof method !== "function" || builtIns.has(method)) return undefined;
      return method;
    },

    // The fields of an object, three entries each: name, whether it has a getter (1) or a setter (2), value.
    fields(object, inherited) {
      const fields = [];
      const add = (owner, name) => {
        const field = getOwnPropertyDescriptor(owner, name);
        if (!field || !field.enumerable) return;
        const accessor = (field.get ? 1 : 0) | (field.set ? 2 : 0);
        fields.push(name, accessor, field.value);
      };
      for (const name of ownKeys(object)) add(object, name);
      if (inherited) {
        for (let above = getPrototypeOf(object); above; above = getPrototypeOf(above)) {
          if (above === Object.prototype || above === unknown) break;
          for (const name of Object.keys(above)) {
            if (!Object.hasOwn(object, name)) add(above, name);
          }
        }
      }
      return fields;
    },

    // What an inspector says of a function.
    describe(f) {
      const name = getOwnPropertyDescriptor(f, "name");
      const text = name && typeof name.value === "string" ? name.value : "";
      return [toStringTag.call(f).slice(8, -1), text, toSource.call(f)];
    },

    // The name of an object's class; null for a plain object.
    className(object) {
      for (let above = object; above; above = getPrototypeOf(above)) {
        const found = getOwnPropertyDescriptor(above, "constructor");
        if (!found || typeof found.value !== "function") continue;
        const name = getOwnPropertyDescriptor(found.value, "name");
        if (name && typeof name.value === "string" && name.value !== "") {
          return name.value === "Object" && above === Object.prototype ? null : name.value;
        }
      }
      return null;
    },

    pairs(map) {
      const pairs = [];
      mapForEach.call(map, (value, key) => { pairs.push(key, value); });
      return pairs;
    },

    elements(set) {
      const elements = [];
      setForEach.call(set, element => { elements.push(element); });
      return elements;
    },

    fromMap(map) {
      const object = {};
      for (const [name, value] of map) {
        defineProperty(object, String(name), { value, writable: true, configurable: true, enumerable: true });
      }
      return object;
    },

    // Remembers the globals of the shell's own making: whatever is there later, or is another by then, is the user's.
    remember() {
      for (const name of Object.getOwnPropertyNames(globalThis)) before.set(name, worth(globalThis, name));
    },

    defines(name) {
      if (Object.hasOwn(globalThis, name)) {
        return !before.has(name) || before.get(name) !== worth(globalThis, name);
      }
      return isLexical(name);
    },

    // The names that can follow a path, for completion.
    members(path) {
      let value = globalThis;
      for (const [at, name] of path.entries()) {
        if (at === 0 && !Object.hasOwn(globalThis, name)) {
          if (!isLexical(name)) return [];
          value = evaluate(name);
        } else {
          value = at === 0 && name === "db" ? globalThis.db : member(value, name);
        }
        if (value === undefined || value === null) return [];
      }
      const names = new Set();
      for (let above = Object(value); above && above !== unknown; above = getPrototypeOf(above)) {
        if (above === Object.prototype && value !== globalThis && names.size > 0) break;
        for (const name of Object.getOwnPropertyNames(above)) names.add(name);
      }
      return [...names];
    },

    spin() { for (;;); },
  };
})()
