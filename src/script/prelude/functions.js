//! What runs the functions of commands: `$where`, `$function`, `$accumulator`, mapReduce. It is called once in a world of
//! its own, with the names that stay; everything else that is the shell's goes.
(function (kept, scope) {
  const evaluate = eval;
  const known = new Set(kept);
  for (const name of Object.getOwnPropertyNames(globalThis)) {
    if (!known.has(name)) delete globalThis[name];
  }
  // A server's functions print to its log, which there is none of here.
  for (const name of ["print", "printjson", "printjsononeline"]) globalThis[name] = function () {};
  let emitted = [];
  globalThis.emit = function emit(key, value) {
    if (arguments.length !== 2) throw new Error("emit takes 2 args");
    emitted.push([key, value]);
  };
  for (const name of Object.keys(scope)) globalThis[name] = scope[name];

  // A text is a function, or an expression, or statements with a `return`, as the server reads it.
  function read(text) {
    if (/^\s*(?:\/\*[^]*?\*\/\s*|\/\/.*\n\s*)*(?:function\b|\([^()]*\)\s*=>|[\w$]+\s*=>)/.test(text)) {
      // A `;` after a function is none of it.
      const value = evaluate("(" + text.replace(/[;\s]+$/, "") + "\n)");
      if (typeof value === "function") return value;
    }
    try {
      return evaluate("(function () { return (" + text.replace(/[;\s]+$/, "") + "\n) })");
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      return evaluate("(function () {" + text + "\n})");
    }
  }

  const functions = new Map();
  return function (text, self, given, test) {
    let body = functions.get(text);
    if (body === undefined) functions.set(text, (body = read(text)));
    emitted = [];
    globalThis.obj = self;
    const value = body.apply(self, given);
    return [test ? !!value : value, emitted];
  };
})
