//! `util`: showing values, format strings, promises of callbacks, what a value is.
(() => {
  "use strict";
  const { Array, ArrayBuffer, Date, Error, JSON, Map, Number, Object, Promise, Reflect, RegExp, Set, String, Symbol, TypeError, Uint8Array } = shell.globals;
  const { getOwnPropertyDescriptors, getPrototypeOf, hasOwn } = Object;
  const natives = shell.natives();
  const custom = Symbol.for("nodejs.util.inspect.custom");
  const promisified = Symbol.for("nodejs.util.promisify.custom");

  const inspect = (value, options, ...old) => {
    // The old order: showHidden, depth, colors.
    if (options === null || typeof options !== "object") options = { depth: old[0], colors: old[1] };
    const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
    const all = { ...inspect.defaultOptions, ...given };
    const number = value => value === null ? Infinity : Number(value);
    const own = value !== null && typeof value === "object" && all.customInspect !== false ? value[custom] : undefined;
    if (typeof own === "function" && !shell.isHeld(value)) {
      const told = own.call(value, all.depth, { ...all, stylize: text => String(text) }, inspect);
      if (typeof told === "string") return told;
      if (told !== value) return inspect(told, all);
    }
    if (typeof value === "object" && value !== null && number(all.depth) < 0) return Array.isArray(value) ? "[Array]" : "[Object]";
    return natives.inspect(value, {
      depth: number(all.depth),
      maxArrayLength: number(all.maxArrayLength),
      maxStringLength: number(all.maxStringLength),
      breakLength: number(all.breakLength),
      compact: all.compact !== false && all.compact !== 0,
      sorted: Boolean(all.sorted),
      colors: Boolean(all.colors),
    });
  };
  inspect.custom = custom;
  inspect.defaultOptions = {
    showHidden: false, depth: 2, colors: false, customInspect: true, showProxy: false, maxArrayLength: 100, maxStringLength: 10000,
    breakLength: 80, compact: 3, sorted: false, getters: false, numericSeparator: false,
  };

  const json = value => {
    try {
      return JSON.stringify(value);
    } catch (error) {
      if (/circular/i.test(error.message)) return "[Circular]";
      throw error;
    }
  };
  const plainText = value => {
    if (typeof value === "bigint") return `${value}n`;
    if (Object.is(value, -0)) return "-0";
    if (typeof value !== "object" || value === null) return String(value);
    // Classes that say what they are.
    const method = shell.isHeld(value) || value instanceof Error || value instanceof Date ? value.toString : shell.method(value, "toString");
    return typeof method === "function" ? String(value) : inspect(value, { depth: 0, compact: 3 });
  };
  const whole = value => {
    if (typeof value === "bigint") return `${value}n`;
    return typeof value === "symbol" || (typeof value === "object" && !shell.isHeld(value)) ? "NaN" : String(value);
  };
  // The first of some values as a format string for the next ones; what is left over is shown behind it.
  const formatWith = (show, [first, ...rest]) => {
    const say = value => typeof value === "string" ? value : show(value);
    if (typeof first !== "string") return [first, ...rest].map(say).join(" ");
    let at = 0;
    const text = rest.length === 0 ? first : first.replace(/%([sdifjoOc%])/g, (mark, kind) => {
      if (kind === "%") return "%";
      if (at >= rest.length) return mark;
      const value = rest[at++];
      switch (kind) {
        case "s": return plainText(value);
        case "d": return whole(value) === "NaN" ? "NaN" : typeof value === "bigint" ? `${value}n` : String(Number(value));
        case "i": return whole(value) === "NaN" ? "NaN" : typeof value === "bigint" ? `${value}n` : String(parseInt(value, 10));
        case "f": return typeof value === "symbol" ? "NaN" : String(parseFloat(value));
        case "j": return json(value);
        case "o": return inspect(value, { depth: 4 });
        case "O": return inspect(value, {});
        default: return "";
      }
    });
    return [text, ...rest.slice(at).map(say)].join(" ");
  };
  const formatWithOptions = (options, ...given) => given.length === 0 ? "" : formatWith(value => inspect(value, options), given);

  const promisify = run => {
    if (typeof run !== "function") throw shell.wrong("The \"original\" argument must be of type function", run);
    if (typeof run[promisified] === "function") return run[promisified];
    return Object.defineProperties(function (...given) {
      return new Promise((settle, refuse) => {
        run.call(this, ...given, (error, value) => error ? refuse(error) : settle(value));
      });
    }, getOwnPropertyDescriptors(run));
  };
  promisify.custom = promisified;

  const tag = value => typeof value === "object" && value !== null ? Object.prototype.toString.call(value).slice(8, -1) : "";
  const kind = value => value !== null && typeof value === "object" ? shell.kind(value) : "";
  const functionTag = value => typeof value === "function" ? Object.prototype.toString.call(value).slice(8, -1) : "";
  const Typed = getPrototypeOf(Uint8Array);
  const types = {
    isAnyArrayBuffer: value => value instanceof ArrayBuffer || tag(value) === "SharedArrayBuffer",
    isArrayBuffer: value => value instanceof ArrayBuffer,
    isArrayBufferView: value => ArrayBuffer.isView(value),
    isAsyncFunction: value => /^Async/.test(functionTag(value)),
    isBoxedPrimitive: value => ["Number", "String", "Boolean", "Symbol", "BigInt"].includes(tag(value)),
    isDataView: value => value instanceof DataView,
    isDate: value => kind(value) === "Date",
    isGeneratorFunction: value => /GeneratorFunction$/.test(functionTag(value)),
    isGeneratorObject: value => tag(value) === "Generator",
    isMap: value => kind(value) === "Map",
    isNativeError: value => value instanceof Error,
    isPromise: value => value instanceof Promise,
    isRegExp: value => value instanceof RegExp,
    isSet: value => kind(value) === "Set",
    isTypedArray: value => value instanceof Typed,
    isUint8Array: value => value instanceof Uint8Array,
    isWeakMap: value => tag(value) === "WeakMap",
    isWeakSet: value => tag(value) === "WeakSet",
  };

  // Whether two values are the same all through; `strict` minds prototypes and types.
  const same = (left, right, strict, seen = new Map()) => {
    if (strict ? Object.is(left, right) : left == right || (left !== left && right !== right)) return true;
    if (left === null || right === null || typeof left !== "object" || typeof right !== "object") return false;
    if (strict && getPrototypeOf(left) !== getPrototypeOf(right)) return false;
    if (shell.isHeld(left) || shell.isHeld(right)) {
      return shell.isHeld(left) && shell.isHeld(right) && natives.shown(left) === natives.shown(right);
    }
    const nature = shell.kind(left);
    if (nature !== shell.kind(right) || Array.isArray(left) !== Array.isArray(right)) return false;
    if (seen.get(left) === right) return true;
    seen.set(left, right);
    const inside = (one, other) => same(one, other, strict, seen);
    switch (nature) {
      case "Date": if (!Object.is(left.getTime(), right.getTime())) return false; break;
      case "RegExp": if (String(left) !== String(right) || left.lastIndex !== right.lastIndex) return false; break;
      case "Error": if (left.message !== right.message || left.name !== right.name) return false; break;
      case "Number": case "String": case "Boolean": if (!Object.is(left.valueOf(), right.valueOf())) return false; break;
      case "Bytes": {
        if (shell.bytes(left) !== shell.bytes(right)) return false;
        return true;
      }
      case "Set": {
        if (left.size !== right.size) return false;
        const rest = [...right];
        for (const one of left) {
          const at = rest.findIndex(other => inside(one, other));
          if (at < 0) return false;
          rest.splice(at, 1);
        }
        break;
      }
      case "Map": {
        if (left.size !== right.size) return false;
        const rest = [...right];
        for (const [name, value] of left) {
          const at = rest.findIndex(([other, held]) => inside(name, other) && inside(value, held));
          if (at < 0) return false;
          rest.splice(at, 1);
        }
        break;
      }
    }
    const own = object => Reflect.ownKeys(object).filter(name => Object.prototype.propertyIsEnumerable.call(object, name));
    const names = own(left);
    if (names.length !== own(right).length || (Array.isArray(left) && left.length !== right.length)) return false;
    return names.every(name => hasOwn(right, name) && inside(left[name], right[name]));
  };

  const told = new Set();
  const util = {
    TextDecoder: shell.builtin("web").TextDecoder,
    TextEncoder: shell.builtin("web").TextEncoder,
    callbackify: run => function (...given) {
      const done = given.pop();
      Reflect.apply(run, this, given).then(value => done(null, value), error => done(error));
    },
    debuglog: () => Object.assign(() => { }, { enabled: false }),
    deprecate: (run, text, code) => function (...given) {
      const name = code ?? text;
      if (!told.has(name)) {
        told.add(name);
        natives.write(2, `DeprecationWarning: ${text}\n`);
      }
      return new.target ? Reflect.construct(run, given, new.target) : Reflect.apply(run, this, given);
    },
    format: (...given) => formatWithOptions({}, ...given),
    formatWithOptions,
    inherits(Class, Above) {
      Class.super_ = Above;
      Object.setPrototypeOf(Class.prototype, Above.prototype);
    },
    inspect,
    isArray: value => Array.isArray(value),
    isDeepStrictEqual: (left, right) => same(left, right, true),
    promisify,
    stripVTControlCharacters: text => text.replace(/\x1b\[[0-?]*[ -/]*[@-~]/g, ""),
    toUSVString: text => String(text).toWellFormed(),
    types,
  };
  Object.defineProperty(util, "formatWith", shell.hidden(formatWith));
  Object.defineProperty(util, "same", shell.hidden(same));
  return util;
})()
