//! `EventEmitter`.
(() => {
  "use strict";
  const { Error, Map, Object, Promise, TypeError } = shell.globals;

  // The listeners of an emitter, by event; no listing shows them.
  const listeners = new globalThis.WeakMap();
  const of = emitter => {
    if (!listeners.has(emitter)) listeners.set(emitter, new Map());
    return listeners.get(emitter);
  };
  const add = (emitter, event, run, once, first) => {
    if (typeof run !== "function") {
      throw shell.wrong("The \"listener\" argument must be of type function", run);
    }
    const known = of(emitter);
    if (known.has("newListener") && event !== "newListener") emitter.emit("newListener", event, run);
    const list = known.get(event) ?? [];
    known.set(event, first ? [{ run, once }, ...list] : [...list, { run, once }]);
    return emitter;
  };

  function EventEmitter() { }
  const methods = {
    on(event, run) { return add(this, event, run, false, false); },
    once(event, run) { return add(this, event, run, true, false); },
    addListener(event, run) { return add(this, event, run, false, false); },
    prependListener(event, run) { return add(this, event, run, false, true); },
    prependOnceListener(event, run) { return add(this, event, run, true, true); },
    off(event, run) {
      const list = of(this).get(event) ?? [];
      const at = list.findLastIndex(listener => listener.run === run);
      if (at >= 0) of(this).set(event, list.toSpliced(at, 1));
      return this;
    },
    removeListener(event, run) { return this.off(event, run); },
    removeAllListeners(event) {
      if (event === undefined) of(this).clear();
      else of(this).delete(event);
      return this;
    },
    emit(event, ...given) {
      const list = of(this).get(event) ?? [];
      if (list.length === 0) {
        if (event !== "error") return false;
        if (given[0] instanceof Error) throw given[0];
        const error = new Error(`Unhandled error. (${shell.natives().shown(given[0])})`);
        error.code = "ERR_UNHANDLED_ERROR";
        throw error;
      }
      for (const { run, once } of list) {
        if (once) this.off(event, run);
        run.apply(this, given);
      }
      return true;
    },
    listenerCount(event) { return (of(this).get(event) ?? []).length; },
    listeners(event) { return (of(this).get(event) ?? []).map(listener => listener.run); },
    rawListeners(event) { return this.listeners(event); },
    eventNames() { return [...of(this).entries()].filter(([, list]) => list.length > 0).map(([event]) => event); },
    setMaxListeners() { return this; },
    getMaxListeners() { return EventEmitter.defaultMaxListeners; },
  };
  for (const [name, method] of Object.entries(methods)) Object.defineProperty(EventEmitter.prototype, name, shell.hidden(method));
  EventEmitter.EventEmitter = EventEmitter;
  EventEmitter.defaultMaxListeners = 10;
  EventEmitter.once = (emitter, event) => new Promise((settle, refuse) => {
    const failed = error => {
      emitter.off(event, done);
      refuse(error);
    };
    const done = (...given) => {
      emitter.off("error", failed);
      settle(given);
    };
    emitter.once(event, done);
    if (event !== "error") emitter.once("error", failed);
  });
  return EventEmitter;
})()
