//! Which names there are, for completion and for telling the user's globals from the shell's.
(() => {
  "use strict";
  const { Function, Object, ReferenceError, Set, eval: evaluate } = shell.globals;
  const { before, make, unknown, worth } = shell;
  const { getOwnPropertyDescriptor, getPrototypeOf } = Object;

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

  // A text is read whole before the statement ahead of it throws, and nothing it declares outlives the function.
  const read = Function("text", "eval('throw 0;' + text)");
  const AsyncFunction = (async () => {}).constructor;

  return {
    isLexical,

    // Whether a text can be read as JavaScript; none of it runs.
    readable(text, awaits) {
      try {
        if (awaits) return AsyncFunction(text) !== undefined;
        read(text);
      } catch (error) {
        return error === 0;
      }
      return false;
    },

    defines(name) {
      if (Object.hasOwn(globalThis, name)) {
        return !before.has(name) || !Object.is(before.get(name), worth(globalThis, name));
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
  };
})()
