//! The core of the prelude: what Rust needs of JavaScript, and the proxies behind databases and collections.
(() => {
  "use strict";
  const { make } = shell;
  const { defineProperty, getOwnPropertyDescriptor, getPrototypeOf } = Object;
  const { get } = Reflect;
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

  return {
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

    fromMap(map) {
      const object = {};
      for (const [name, value] of map) {
        defineProperty(object, String(name), { value, writable: true, configurable: true, enumerable: true });
      }
      return object;
    },

    spin() { for (;;); },
  };
})()
