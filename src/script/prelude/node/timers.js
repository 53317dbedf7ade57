//! Timers: what runs later.
(() => {
  "use strict";
  const { Error, Number, Object, Promise, Symbol, TypeError } = shell.globals;
  const natives = shell.natives();

  const checked = run => {
    if (typeof run === "function") return run;
    throw shell.wrong("The \"callback\" argument must be of type function", run);
  };

  class Timeout {
    #number;
    #again;
    constructor(again) {
      this.#again = again;
      this.#number = again();
    }
    ref() { natives.hold(this.#number, true); return this; }
    unref() { natives.hold(this.#number, false); return this; }
    hasRef() { return natives.hold(this.#number, true); }
    refresh() {
      natives.forget(this.#number);
      this.#number = this.#again();
      return this;
    }
    close() { natives.forget(this.#number); return this; }
    [Symbol.toPrimitive]() { return this.#number; }
  }
  class Immediate extends Timeout { }

  const millis = given => Math.max(1, Math.trunc(Number(given)) || 1);
  const clear = timer => {
    if (timer instanceof Timeout) timer.close();
    else if (timer !== null && timer !== undefined) natives.forget(Math.max(0, Number(timer)) || 0);
  };
  const timers = {
    setTimeout(run, wait, ...given) {
      checked(run);
      return new Timeout(() => natives.later(run, millis(wait), false, ...given));
    },
    setInterval(run, wait, ...given) {
      checked(run);
      return new Timeout(() => natives.later(run, millis(wait), true, ...given));
    },
    setImmediate(run, ...given) {
      checked(run);
      return new Immediate(() => natives.later(run, 0, false, ...given));
    },
    clearTimeout: clear,
    clearInterval: clear,
    clearImmediate: clear,
    promises: {
      setTimeout: (wait, value) => new Promise(settle => timers.setTimeout(settle, wait, value)),
      setImmediate: value => new Promise(settle => timers.setImmediate(settle, value)),
    },
  };
  const promisified = Symbol.for("nodejs.util.promisify.custom");
  Object.defineProperty(timers.setTimeout, promisified, shell.hidden(timers.promises.setTimeout));
  Object.defineProperty(timers.setImmediate, promisified, shell.hidden(timers.promises.setImmediate));
  return timers;
})()
