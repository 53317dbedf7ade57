//! `console`: prints as `print` does, with Node's format strings, groups, counts and clocks.
(() => {
  "use strict";
  const { Date, Error, Map, Math, Object, Set, String } = shell.globals;
  const counts = new Map();
  const clocks = new Map();
  let indent = "";

  const say = (...given) => {
    const [first] = given;
    const formatted = typeof first === "string" && given.length > 1 && first.includes("%");
    if (indent === "" && !formatted) return shell.print(...given);
    const { formatWith } = shell.builtin("util");
    const text = formatted ? formatWith(value => shell.natives().shown(value), given)
      : given.map(value => shell.natives().shown(value)).join(" ");
    shell.print(indent + text.replaceAll("\n", "\n" + indent));
  };

  const group = (...given) => {
    if (given.length > 0) say(...given);
    indent += "  ";
  };

  // A table in Node's frame: a row for each field or element, a column for each field of those.
  const table = (data, wanted) => {
    if (data === null || typeof data !== "object") return say(data);
    const inspect = value => shell.builtin("util").inspect(value, { depth: value !== null && typeof value === "object" && Object.keys(value).length > 2 ? -1 : 0 });
    const rows = data instanceof Map || data instanceof Set ? [...data].entries() : Object.entries(data);
    const names = [];
    const lines = [];
    let values = false;
    for (const [index, row] of rows) {
      const cells = new Map();
      if (row !== null && typeof row === "object") {
        for (const name of wanted ?? Object.keys(row)) {
          if (!names.includes(name)) names.push(name);
          if (Object.hasOwn(row, name)) cells.set(name, inspect(row[name]));
        }
      } else {
        values = true;
        cells.set(lines, inspect(row));
      }
      lines.push([String(index), cells]);
    }
    const head = ["(index)", ...names, ...values ? ["Values"] : []];
    const body = lines.map(([index, cells]) => {
      return [index, ...names.map(name => cells.get(name) ?? ""), ...values ? [cells.get(lines) ?? ""] : []];
    });
    const widths = head.map((name, at) => Math.max(name.length, ...body.map(cells => cells[at].length)) + 2);
    const rule = (left, between, right) => left + widths.map(width => "─".repeat(width)).join(between) + right;
    const line = cells => "│" + cells.map((cell, at) => ` ${cell}`.padEnd(widths[at])).join("│") + "│";
    say([rule("┌", "┬", "┐"), line(head), rule("├", "┼", "┤"), ...body.map(line), rule("└", "┴", "┘")].join("\n"));
  };

  const elapsed = (label, given) => {
    const start = clocks.get(label);
    if (start === undefined) return say(`Warning: No such label '${label}' for console.time()`);
    const millis = Date.now() - start;
    return say(`${label}: ${millis >= 1000 ? `${(millis / 1000).toFixed(3)}s` : `${millis}ms`}`, ...given);
  };

  return {
    assert(condition, ...given) {
      if (condition) return;
      if (typeof given[0] === "string") given[0] = `Assertion failed: ${given[0]}`;
      else given.unshift("Assertion failed");
      say(...given);
    },
    clear() { },
    count(label = "default") {
      counts.set(label, (counts.get(label) ?? 0) + 1);
      say(`${label}: ${counts.get(label)}`);
    },
    countReset(label = "default") { counts.delete(label); },
    debug: say,
    dir(value, options) { say(shell.builtin("util").inspect(value, { customInspect: false, ...options })); },
    dirxml: say,
    error: say,
    group,
    groupCollapsed: group,
    groupEnd() { indent = indent.slice(2); },
    info: say,
    log: say,
    table,
    time(label = "default") { clocks.set(label, Date.now()); },
    timeEnd(label = "default") {
      elapsed(label, []);
      clocks.delete(label);
    },
    timeLog(label = "default", ...given) { elapsed(label, given); },
    trace(...given) {
      const { formatWith } = shell.builtin("util");
      const text = formatWith(value => shell.natives().shown(value), given);
      const stack = String(new Error("").stack).split("\n").filter(line => /^\s+at |@/.test(line));
      say([text === "" ? "Trace" : `Trace: ${text}`, ...stack].join("\n"));
    },
    warn: say,
  };
})()
