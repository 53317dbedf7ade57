//! Globals that take any JavaScript value.
({
  __word(verb, ...words) {
    if (verb === "show" && words[0] === "types") shell.recall();
    const said = __speak(verb, ...words);
    if (shell.mongosh && said !== undefined) print(said);
    else for (const document of said ?? []) printjson(document);
  },

  assert(...given) {
    if (shell.mongosh) return shell.builtin("assert")(...given);
    let [condition, message] = given;
    if (typeof condition === "function") condition = condition();
    if (!condition) doassert(message === undefined ? "assert failed" : "assert failed : " + shell.said(message));
  },

  compare(left, right) { return left == right ? 0 : left < right ? -1 : 1; },
  compareOn(field) { return (left, right) => compare(left[field], right[field]); },

  doassert(message, reply) {
    const error = new Error(typeof message === "function" ? message() : shell.said(message));
    if (reply && typeof reply === "object" && "code" in reply) error.code = reply.code;
    throw error;
  },

  friendlyEqual(left, right) {
    if (left == right) return true;
    if (typeof left === "object" && typeof right === "object") return tojson(left) === tojson(right);
    return left === right || (typeof left === typeof right && String(left) === String(right));
  },

  isNumber(value) { return typeof value === "number"; },
  isObject(value) { return typeof value === "object"; },
  isString(value) { return typeof value === "string"; },

  jsTestLog(message) {
    const text = shell.said(message);
    shell.print(["", "", "----", text, "----", "", ""].join("\n"));
  },

  load(...files) {
    for (const file of files) shell.load(file);
    return true;
  },

  parallel(...given) { return shell.parallel(given); },
  race(...given) { shell.race(given); },

  show(...words) { __word("show", ...words); },

  startParallelShell(code, port, noConnect, ...values) { return shell.startParallelShell(code, values); },

  tostrictjson(value) {
    // What `toJSON` of a date says is no extended JSON; everything else of BSON has a `toJSON` that is.
    return JSON.stringify(value, function (key, json) {
      const own = this[key];
      return own instanceof Date && json !== null ? { $date: own.toISOString() } : json;
    });
  },

  printStackTrace() { shell.print(new Error("Printing Stack Trace").stack); },
})
