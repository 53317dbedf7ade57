//! Globals that scripts use of Node.
(() => {
  "use strict";
  const { Object, TypeError } = shell.globals;
  const { defineProperty } = Object;
  const timers = () => shell.builtin("timers");
  // A global that is made when somebody asks for it; one that a script sets is the script's own.
  const lazily = (name, make) => function (...given) {
    if (given.length > 0) {
      defineProperty(globalThis, name, { value: given[0], writable: true, configurable: true, enumerable: true });
      return undefined;
    }
    return shell.provide(name, make());
  };
  // One that depends on who asks.
  const always = (name, tell) => function (...given) {
    if (given.length === 0) return tell();
    defineProperty(globalThis, name, { value: given[0], writable: true, configurable: true, enumerable: true });
    return undefined;
  };
  const web = name => lazily(name, () => shell.builtin("web")[name]);
  const module = name => lazily(name, () => shell.builtin(name));
  const file = () => shell.natives().calling();

  return {
    Buffer: lazily("Buffer", () => shell.builtin("buffer").Buffer),
    TextDecoder: web("TextDecoder"),
    TextEncoder: web("TextEncoder"),
    URL: lazily("URL", () => shell.builtin("url").URL),
    URLSearchParams: lazily("URLSearchParams", () => shell.builtin("url").URLSearchParams),
    __dirname: always("__dirname", () => {
      const path = file();
      return path === undefined ? undefined : shell.builtin("path").dirname(path);
    }),
    __filename: always("__filename", file),
    clearImmediate(timer) { timers().clearImmediate(timer); },
    clearInterval(timer) { timers().clearInterval(timer); },
    clearTimeout(timer) { timers().clearTimeout(timer); },
    crypto: lazily("crypto", () => shell.mongosh ? shell.builtin("crypto") : shell.builtin("crypto").webcrypto),
    events: module("events"),
    async fetch(address) {
      throw new TypeError(`tally speaks to no server but the one that you name: it does not fetch ${address}`);
    },
    fs: module("fs"),
    global: lazily("global", () => globalThis),
    module: lazily("module", () => shell.Module),
    os: module("os"),
    path: module("path"),
    process: module("process"),
    require: lazily("require", () => shell.requireIn(file)),
    setImmediate(run, ...given) { return timers().setImmediate(run, ...given); },
    setInterval(run, millis, ...given) { return timers().setInterval(run, millis, ...given); },
    setTimeout(run, millis, ...given) { return timers().setTimeout(run, millis, ...given); },
    structuredClone(value, options) { return shell.builtin("web").structuredClone(value, options); },
    url: module("url"),
    util: module("util"),
  };
})()
