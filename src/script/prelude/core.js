//! The core of the prelude: what every session needs, small because it is read at each start.
//!
//! Further files of it are read when one of their functions is asked for; they see this one's as `shell`.
(() => {
  "use strict";
  // A script may give any global another meaning; the prelude keeps to what they are now.
  const globals = Object.fromEntries([
    "Array", "ArrayBuffer", "Boolean", "Date", "Error", "Function", "JSON", "Map", "Math", "Number", "Object", "Promise",
    "Proxy", "ReferenceError", "Reflect", "RegExp", "Set", "String", "Symbol", "TypeError", "Uint8Array", "WeakMap", "eval",
  ].map(name => [name, globalThis[name]]));
  const { make } = shell;
  const { assign, defineProperty, getOwnPropertyDescriptor, getOwnPropertyNames, hasOwn } = Object;
  const { get, ownKeys } = Reflect;
  const isWellFormed = String.prototype.toWellFormed;
  const hidden = value => ({ value, writable: true, configurable: true, enumerable: false });
  const before = new Map();
  // Stacks in the engine's words; what a script reads of them is in the user's positions.
  const engine = getOwnPropertyDescriptor(Error.prototype, "stack");
  const settled = new globals.WeakMap();
  const stackOf = error => settled.get(error) ?? engine.get.call(error);
  const told = Error.prototype.toString;
  defineProperty(Error.prototype, "stack", {
    ...engine,
    get() {
      const stack = stackOf(this);
      if (typeof stack !== "string") return stack;
      return shell.mongosh ? told.call(this) + "\n" + shell.stack(stack) : shell.stack(stack);
    },
  });
  const written = getOwnPropertyDescriptor(Error.prototype, "stack");
  const { captureStackTrace: capture } = Error;
  defineProperty(Error, "captureStackTrace", hidden(function captureStackTrace(object, ...above) {
    capture.call(Error, object, ...above);
    settled.set(object, getOwnPropertyDescriptor(object, "stack")?.value ?? "");
    // An error has the accessor from its prototype.
    if (object instanceof Error) delete object.stack;
    else defineProperty(object, "stack", written);
  }));
  if (!shell.mongosh) {
    for (const name of ["fileName", "lineNumber", "columnNumber"]) {
      defineProperty(Error.prototype, name, {
        get() {
          const stack = stackOf(this);
          return typeof stack === "string" ? shell.place(stack, name) : undefined;
        },
        set(value) { defineProperty(this, name, hidden(value)); },
        configurable: true,
      });
    }
  }
  const worth = (object, name) => {
    const field = getOwnPropertyDescriptor(object, name);
    return field && (field.get || field.value);
  };

  const core = {
    ...shell,
    globals,
    hidden,
    before,
    worth,

    // The stack of an error as the engine wrote it, or as a script or `settle` has changed it.
    engineStack(error) {
      const own = getOwnPropertyDescriptor(error, "stack");
      return own ? own.value : stackOf(error);
    },

    settle(error, stack) { settled.set(error, stack); },

    // Takes in the functions of a further file.
    adopt(functions) {
      assign(core, functions);
    },

    // A message as it is said: a text as it stands, anything else as JSON.
    said: message => typeof message === "string" ? message : shell.tojson(message),

    // Behind the methods of databases and collections: any other name is a collection. It is remembered as a hidden
    // field of its object, so that only the first look-up comes here.
    unknown: new Proxy({}, {
      get(target, name, receiver) {
        if (typeof name === "symbol" || name in target) return get(target, name, receiver);
        if (name[0] === "_" || name === "then" || name === "toJSON") return undefined;
        const collection = make(receiver, name);
        if (collection !== undefined) defineProperty(receiver, name, hidden(collection));
        return collection;
      },
    }),

    // Behind the methods of classic cursors: `cursor[0]`.
    indexed: new Proxy({}, {
      get(target, name, receiver) {
        const index = typeof name === "string" ? name >>> 0 : -1;
        if (`${index}` !== name) return get(target, name, receiver);
        return typeof receiver.arrayAccess === "function" ? receiver.arrayAccess(index) : undefined;
      },
    }),

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
      const body = bodies[name];
      if (!found || !shell.isRow(found.value) || !body) return;
      // Functions on a function, such as `assert.eq`, move with it.
      for (const key of ownKeys(found.value)) {
        if (!hasOwn(body, key)) defineProperty(body, key, getOwnPropertyDescriptor(found.value, key));
      }
      defineProperty(target, name, hidden(body));
      if (target === globalThis) before.set(name, body);
    },

    wellFormed: text => isWellFormed.call(text),

    // Remembers the globals of the shell's own making: whatever is there later, or is another by then, is the user's.
    remember() {
      for (const name of getOwnPropertyNames(globalThis)) before.set(name, worth(globalThis, name));
    },

    spin() { for (;;); },
  };
  return core;
})()
