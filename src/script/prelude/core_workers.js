//! Workers: what a script gives to them, what they make of it, and what `parallel`, `race` and `startParallelShell` answer.
(() => {
  "use strict";
  const { Function, Object, Proxy, Set, TypeError, Error, eval: evaluate } = shell.globals;
  const { defineProperty, getOwnPropertyDescriptor, getOwnPropertyNames, getPrototypeOf } = Object;
  const toSource = Function.prototype.toString;

  // More threads than this are a mistake.
  const MOST_WORKERS = 100;
  const MOST_TIMES = 10000000;

  // The globals that this script was given itself, if it is a worker's.
  const furnished = new Set();

  const isPlain = value => typeof value === "object" && value !== null && getPrototypeOf(value) === Object.prototype;

  // The user's globals: those of the global object, and each `let`, `const` and `class` of a file that a function names.
  const gather = values => {
    const names = [], globals = [], queue = [];
    const seen = new Set(), read = new Set();
    const follow = value => {
      if (typeof value === "function") queue.push(value);
      else if (isPlain(value)) for (const field of Object.values(value)) if (typeof field === "function") queue.push(field);
    };
    const add = (name, value) => {
      names.push(name);
      globals.push(value);
      follow(value);
    };
    for (const name of getOwnPropertyNames(globalThis)) {
      if (!shell.defines(name)) continue;
      seen.add(name);
      const field = getOwnPropertyDescriptor(globalThis, name);
      if ("value" in field) add(name, field.value);
      else if (furnished.has(name)) {
        try { add(name, globalThis[name]); } catch { }
      }
    }
    for (const value of values) follow(value);
    while (queue.length > 0) {
      const source = toSource.call(queue.pop());
      if (read.has(source)) continue;
      read.add(source);
      for (const name of shell.identifiers(source)) {
        if (seen.has(name) || Object.hasOwn(globalThis, name)) continue;
        seen.add(name);
        if (!shell.isLexical(name)) continue;
        // One that is declared further down has no value yet.
        try { add(name, evaluate(name)); } catch { }
      }
    }
    return { names, globals };
  };

  const whole = (who, what, value, most) => {
    const number = Number(value);
    if (value === null || typeof value === "boolean" || !Number.isInteger(number) || number < 1 || number > most) {
      throw new TypeError(`${who}: ${what} must be a whole number from 1 to ${most}, not ${shell.said(value)}`);
    }
    return number;
  };

  // Takes in `{workers: 4, times: 200, interleave: true}`.
  const options = (who, settings, given) => {
    for (const [name, value] of Object.entries(given)) {
      if (name === "workers") settings.workers = whole(who, "workers", value, MOST_WORKERS);
      else if (name === "times") settings.times = whole(who, "times", value, MOST_TIMES);
      else if (name === "interleave") settings.interleave = Boolean(value);
      else throw new TypeError(`${who} has no option ${name}; it has workers, times and interleave`);
    }
  };

  const work = (settings, run, values) => {
    return shell.work({ ...settings, run, values, ...gather([run, ...values]) });
  };

  const isOptions = value => isPlain(value) && Object.keys(value).join() === "interleave";

  const grouped = number => String(number).replace(/\B(?=(\d{3})+$)/g, ",");

  // What two results have in common when they are the same number, whatever its type.
  const identity = value => shell.tojson(value).replace(/^Number(?:Long|Int|Decimal)\("?([^"]*)"?\)$/, "$1");

  // Rows below each other: texts to the left, numbers with their words to the right.
  const table = rows => {
    const widths = rows[0].map((_, at) => Math.max(...rows.map(row => row[at].length)));
    return rows.map(row => row.map((cell, at) => at === 0 ? cell.padEnd(widths[at]) + "  "
      : (at === 1 ? cell.padEnd(widths[at]) : cell.padStart(widths[at])) + "   ").join("").trimEnd());
  };

  return {
    parallel(given) {
      const who = "parallel";
      const at = given.findIndex(value => typeof value === "function");
      if (at < 0) {
        throw new TypeError("parallel needs a function: parallel(4, f) or parallel(4, 200, f, argument, ...)");
      }
      const settings = { workers: undefined, times: 1, interleave: false };
      const numbers = [];
      for (const value of given.slice(0, at)) {
        if (isPlain(value)) options(who, settings, value);
        else numbers.push(value);
      }
      if (numbers.length > 2) throw new TypeError("parallel takes two numbers before its function: workers and times");
      if (numbers.length > 0) settings.workers = whole(who, "the number of workers", numbers[0], MOST_WORKERS);
      if (numbers.length > 1) settings.times = whole(who, "the number of calls", numbers[1], MOST_TIMES);
      if (settings.workers === undefined) throw new TypeError("parallel needs a number of workers: parallel(4, f)");
      const values = given.slice(at + 1);
      if (values.length > 0 && isOptions(values[values.length - 1])) options(who, settings, values.pop());
      return work(settings, given[at], values).results.flat();
    },

    race(given) {
      const who = "race";
      const settings = { workers: 4, times: 200, interleave: false };
      const runners = [];
      for (const value of given) {
        if (typeof value === "function") {
          runners.push([value.name || `function ${runners.length + 1}`, value]);
        } else if (isPlain(value) && Object.values(value).some(field => typeof field === "function")) {
          for (const [name, field] of Object.entries(value)) {
            if (typeof field !== "function") throw new TypeError(`race: ${name} is no function`);
            runners.push([name, field]);
          }
        } else if (isPlain(value)) {
          options(who, settings, value);
        } else {
          throw new TypeError(`race takes functions, not ${shell.said(value)}`);
        }
      }
      if (runners.length === 0) {
        throw new TypeError("race needs functions: race(f, g) or race({naive: f, atomic: g}, {workers: 4, times: 200})");
      }
      const { workers, times, interleave } = settings;
      const rows = runners.map(([name, run]) => {
        const { results, millis } = work(settings, run, []);
        const all = results.flat().map(identity);
        const distinct = new Set(all).size;
        const numbers = all.every(text => /^-?\d/.test(text)) ? "numbers" : "results";
        const rate = Number((all.length / Math.max(millis, 0.001) * 1000).toPrecision(3));
        const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;
        return [
          name,
          `${plural(workers, "worker")} x ${plural(times, "call")}${interleave ? " in lock step" : ""}`,
          `${grouped(all.length)} ${numbers}`,
          `${grouped(distinct)} distinct`,
          `${grouped(all.length - distinct)} duplicates`,
          `${grouped(rate)} calls/s`,
        ];
      });
      for (const line of table(rows)) shell.print(line);
    },

    startParallelShell(code, values) {
      if (typeof code !== "string" && typeof code !== "function") {
        throw new TypeError("startParallelShell needs code: a text or a function");
      }
      const number = shell.startWorker({ run: code, values, ...gather([code, ...values]) });
      let exit;
      return function (options) {
        exit ??= shell.awaitWorker(number);
        if ((options === undefined || options.checkExitSuccess) && exit !== 0) {
          throw new Error(`[0] != [${exit}] are not equal : encountered an error in the parallel shell`);
        }
        return exit;
      };
    },

    // In a worker: what it was given becomes its globals. Each is made when it is asked for, so that they may need one
    // another in any order.
    furnish(names, number) {
      names.forEach((name, at) => {
        const become = value => {
          const field = getOwnPropertyDescriptor(globalThis, name);
          // A function declaration that was evaluated has made the global itself.
          if (field !== undefined && "value" in field) globalThis[name] = value;
          else defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: true });
        };
        furnished.add(name);
        defineProperty(globalThis, name, {
          get() {
            const value = shell.given(at);
            become(value);
            return value;
          },
          set: become,
          configurable: true,
          enumerable: true,
        });
      });
      defineProperty(globalThis, "worker", { value: number, writable: true, configurable: true, enumerable: true });
    },

    // What `this` is in a worker's function: nobody.
    nobody() {
      const refuse = () => {
        throw new Error("`this` is not known in a worker; pass what you need of it as an argument");
      };
      return new Proxy({}, { get: refuse, set: refuse, has: refuse, ownKeys: refuse, deleteProperty: refuse });
    },
  };
})()
