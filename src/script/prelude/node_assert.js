//! mongosh's `assert`, which is Node's.
(() => {
  "use strict";
  const { Object } = shell.globals;
  const node = () => shell.builtin("assert");
  const names = [
    "deepEqual", "deepStrictEqual", "doesNotMatch", "doesNotReject", "doesNotThrow", "equal", "fail", "ifError", "match",
    "notDeepEqual", "notDeepStrictEqual", "notEqual", "notStrictEqual", "ok", "rejects", "strictEqual", "throws",
  ];
  const bodies = Object.fromEntries(names.map(name => [name, (...given) => node()[name](...given)]));
  return { ...bodies, AssertionError: () => node().AssertionError, strict: () => node().strict };
})()
