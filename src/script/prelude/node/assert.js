//! `assert`, in Node's words.
(() => {
  "use strict";
  const { Array, Error, Math, Object, Reflect, RegExp, String, TypeError } = shell.globals;
  const { inspect, same } = shell.builtin("util");

  const whole = value => inspect(value, { compact: false, sorted: true, depth: 1000, maxArrayLength: Infinity, maxStringLength: null, breakLength: Infinity });

  // What changed from the expected lines to the actual ones, `+` for the actual, `-` for the expected.
  const difference = (actual, expected) => {
    const MOST = 500;
    const [left, right] = [whole(actual).split("\n"), whole(expected).split("\n")];
    if (left.length > MOST || right.length > MOST) return [...left.map(line => `+ ${line}`), ...right.map(line => `- ${line}`)].join("\n");
    // The comma behind an entry says only that another one follows.
    const alike = (one, other) => one === other || one === `${other},` || `${one},` === other;
    const common = Array.from({ length: left.length + 1 }, () => new Array(right.length + 1).fill(0));
    for (let one = left.length - 1; one >= 0; one--) {
      for (let other = right.length - 1; other >= 0; other--) {
        common[one][other] = alike(left[one], right[other]) ? common[one + 1][other + 1] + 1 : Math.max(common[one + 1][other], common[one][other + 1]);
      }
    }
    const lines = [];
    let [one, other] = [0, 0];
    while (one < left.length || other < right.length) {
      if (one < left.length && other < right.length && alike(left[one], right[other])) {
        const [mine, yours] = [left[one++], right[other++]];
        lines.push(`  ${mine.length > yours.length ? mine : yours}`);
      } else if (one < left.length && (other >= right.length || common[one + 1][other] >= common[one][other + 1])) {
        lines.push(`+ ${left[one++]}`);
      } else {
        lines.push(`- ${right[other++]}`);
      }
    }
    return lines.join("\n");
  };

  const HEADS = {
    deepStrictEqual: "Expected values to be strictly deep-equal:",
    strictEqual: "Expected values to be strictly equal:",
    deepEqual: "Expected values to be loosely deep-equal:",
    notDeepStrictEqual: "Expected \"actual\" not to be strictly deep-equal to:",
    notStrictEqual: "Expected \"actual\" to be strictly unequal to:",
    notDeepEqual: "Expected \"actual\" not to be loosely deep-equal to:",
  };
  const isSimple = value => value === null || (typeof value !== "object" && typeof value !== "function");
  const isShort = (actual, expected) => {
    if (!isSimple(actual) || !isSimple(expected) || (actual === 0 && expected === 0)) return false;
    return inspect(actual).length + inspect(expected).length <= 12;
  };
  const words = (operator, actual, expected) => {
    const head = HEADS[operator];
    switch (operator) {
      case "strictEqual":
        if (isShort(actual, expected)) return `${head}\n\n${inspect(actual)} !== ${inspect(expected)}\n`;
        if (!isSimple(actual) && !isSimple(expected)) {
          if (whole(actual) === whole(expected)) {
            return `Values have same structure but are not reference-equal:\n\n${whole(actual)}\n`;
          }
          return `Expected "actual" to be reference-equal to "expected":\n+ actual - expected\n\n${difference(actual, expected)}`;
        }
        return `${head}\n+ actual - expected\n\n${difference(actual, expected)}`;
      case "deepStrictEqual":
        if (isShort(actual, expected)) return `${head}\n\n${inspect(actual)} !== ${inspect(expected)}\n`;
        return `${head}\n+ actual - expected\n\n${difference(actual, expected)}`;
      case "deepEqual": return `${head}\n\n${whole(actual)}\n\nshould loosely deep-equal\n\n${whole(expected)}`;
      case "notStrictEqual": case "notDeepStrictEqual": {
        const shown = whole(actual);
        return shown.includes("\n") || !isSimple(actual) ? `${head}\n\n${shown}\n` : `${head.replace(/:$/, "")}: ${shown}`;
      }
      case "notDeepEqual": return `${head}\n\n${whole(actual)}\n\nshould not loosely deep-equal\n\n${whole(expected)}`;
      default: return `${inspect(actual)} ${operator} ${inspect(expected)}`;
    }
  };

  class AssertionError extends Error {
    constructor({ message, actual, expected, operator, stackStartFn } = {}) {
      super(message === undefined ? words(operator, actual, expected) : String(message));
      this.generatedMessage = message === undefined;
      this.code = "ERR_ASSERTION";
      this.actual = actual;
      this.expected = expected;
      this.operator = operator;
      Error.captureStackTrace(this, stackStartFn ?? AssertionError);
    }
    get name() { return "AssertionError"; }
    set name(value) { Object.defineProperty(this, "name", shell.hidden(value)); }
    toString() { return `${this.name} [${this.code}]: ${this.message}`; }
  }

  const fail = (operator, actual, expected, message, caller) => {
    if (message instanceof Error) throw message;
    throw new AssertionError({ message, actual, expected, operator, stackStartFn: caller });
  };
  const check = (operator, holds) => function checked(actual, expected, message) {
    if (!holds(actual, expected)) fail(operator, actual, expected, message, checked);
  };
  const truth = (name, given, caller) => {
    if (given.length === 0) fail("==", undefined, true, "No value argument passed to `assert.ok()`", caller);
    if (!given[0]) fail("==", given[0], true, given[1], caller);
  };

  // Whether an error is what was expected: a class, a pattern, fields, or a function that says so.
  const suits = (error, expected, message, caller) => {
    if (expected === undefined) return;
    if (expected instanceof RegExp) {
      if (expected.test(String(error))) return;
      fail("throws", error, expected, message ?? `The input did not match the regular expression ${inspect(expected)}. Input:\n\n${inspect(String(error))}\n`, caller);
    }
    if (typeof expected === "function") {
      if (expected.prototype !== undefined && error instanceof expected) return;
      const isClass = expected === Error || Error.isPrototypeOf(expected);
      if (isClass) fail("throws", error, expected, message ?? `The error is expected to be an instance of "${expected.name}". Received "${error?.constructor?.name}"\n\nError message:\n\n${error?.message}`, caller);
      if (Reflect.apply(expected, {}, [error]) === true) return;
      fail("throws", error, expected, message ?? `The ${expected.name ? `"${expected.name}" ` : ""}validation function is expected to return "true". Received ${inspect(false)}\n\nCaught error:\n\n${error}`, caller);
    }
    const names = Object.keys(expected);
    if (expected instanceof Error) names.push("name", "message");
    for (const name of names) {
      const wanted = expected[name];
      const found = error?.[name];
      if (wanted instanceof RegExp && typeof found === "string" ? wanted.test(found) : same(found, wanted, true)) continue;
      const picked = source => Object.fromEntries(names.map(name => [name, source?.[name]]));
      fail("throws", error, expected, message ?? words("deepStrictEqual", picked(error), picked(expected)), caller);
    }
  };
  const split = (expected, message) => typeof expected === "string" ? [undefined, expected] : [expected, message];
  const absent = (what, expected, message) => {
    const name = expected?.name ? ` (${expected.name})` : "";
    return `Missing expected ${what}${name}${message ? `: ${message}` : "."}`;
  };
  const unwanted = (what, error, message) => `Got unwanted ${what}${message ? `: ${message}` : "."}\nActual message: "${error?.message}"`;
  const settled = async run => {
    const promise = typeof run === "function" ? run() : run;
    if (typeof promise?.then !== "function") {
      throw new TypeError("Expected instance of Promise to be returned from the \"promiseFn\" function");
    }
    try {
      await promise;
    } catch (error) {
      return { error };
    }
    return undefined;
  };

  function assert(...given) { truth("assert", given, assert); }
  const methods = {
    AssertionError,
    ok(...given) { truth("assert.ok", given, methods.ok); },
    equal: check("==", (left, right) => left == right || (left !== left && right !== right)),
    notEqual: check("!=", (left, right) => !(left == right || (left !== left && right !== right))),
    strictEqual: check("strictEqual", (left, right) => Object.is(left, right)),
    notStrictEqual: check("notStrictEqual", (left, right) => !Object.is(left, right)),
    deepEqual: check("deepEqual", (left, right) => same(left, right, false)),
    notDeepEqual: check("notDeepEqual", (left, right) => !same(left, right, false)),
    deepStrictEqual: check("deepStrictEqual", (left, right) => same(left, right, true)),
    notDeepStrictEqual: check("notDeepStrictEqual", (left, right) => !same(left, right, true)),
    match(text, pattern, message) {
      if (typeof text === "string" && pattern.test(text)) return;
      fail("match", text, pattern, message ?? `The input did not match the regular expression ${inspect(pattern)}. Input:\n\n${inspect(text)}\n`, methods.match);
    },
    doesNotMatch(text, pattern, message) {
      if (typeof text === "string" && !pattern.test(text)) return;
      fail("doesNotMatch", text, pattern, message ?? `The input was expected to not match the regular expression ${inspect(pattern)}. Input:\n\n${inspect(text)}\n`, methods.doesNotMatch);
    },
    fail(message = "Failed") { fail("fail", undefined, undefined, message, methods.fail); },
    ifError(value) {
      if (value !== null && value !== undefined) {
        fail("ifError", value, null, `ifError got unwanted exception: ${value?.message ?? inspect(value)}`, methods.ifError);
      }
    },
    throws(run, expected, message) {
      [expected, message] = split(expected, message);
      let error;
      try {
        run();
      } catch (thrown) {
        error = { thrown };
      }
      if (!error) fail("throws", undefined, expected, absent("exception", expected, message), methods.throws);
      suits(error.thrown, expected, message, methods.throws);
    },
    doesNotThrow(run, expected, message) {
      [expected, message] = split(expected, message);
      try {
        run();
      } catch (error) {
        fail("doesNotThrow", error, expected, unwanted("exception", error, message), methods.doesNotThrow);
      }
    },
    async rejects(run, expected, message) {
      [expected, message] = split(expected, message);
      const refused = await settled(run);
      if (!refused) fail("rejects", undefined, expected, absent("rejection", expected, message), methods.rejects);
      suits(refused.error, expected, message, methods.rejects);
    },
    async doesNotReject(run, expected, message) {
      [expected, message] = split(expected, message);
      const refused = await settled(run);
      if (refused) fail("doesNotReject", refused.error, expected, unwanted("rejection", refused.error, message), methods.doesNotReject);
    },
  };
  Object.assign(assert, methods);
  const strict = function strict(...given) { truth("assert", given, strict); };
  Object.assign(strict, methods, {
    equal: methods.strictEqual, notEqual: methods.notStrictEqual, deepEqual: methods.deepStrictEqual, notDeepEqual: methods.notDeepStrictEqual,
  });
  assert.strict = strict.strict = strict;
  return assert;
})()
