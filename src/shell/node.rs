//! What scripts use of Node: `require`, timers, `process`, `Buffer`, `console`. The bodies are code of the prelude.

use super::rows::prelude;
use super::{Class, Shells};

/// `console`: what scripts of other JavaScript worlds print with.
pub(super) const CONSOLE: Class = Class::functions(
    "Console",
    "console",
    "prints, as print does, with format strings",
    &[
        prelude("assert", "(condition, value, ...)", "prints unless the condition holds"),
        prelude("clear", "()", "does nothing; see cls"),
        prelude("count", "(label)", "prints how often it was called"),
        prelude("countReset", "(label)", "begins to count again"),
        prelude("debug", "(value, ...)", "prints values"),
        prelude("dir", "(value, options)", "prints a value as util.inspect shows it"),
        prelude("dirxml", "(value, ...)", "prints values"),
        prelude("error", "(value, ...)", "prints values"),
        prelude("group", "(value, ...)", "prints values, and indents what follows"),
        prelude("groupCollapsed", "(value, ...)", "prints values, and indents what follows"),
        prelude("groupEnd", "()", "ends the indentation"),
        prelude("info", "(value, ...)", "prints values"),
        prelude("log", "(value, ...)", "prints values"),
        prelude("table", "(rows, columns)", "prints rows as a table"),
        prelude("time", "(label)", "starts a clock"),
        prelude("timeEnd", "(label)", "prints the time of a clock, and stops it"),
        prelude("timeLog", "(label, value, ...)", "prints the time of a clock"),
        prelude("trace", "(value, ...)", "prints values and where the script is"),
        prelude("warn", "(value, ...)", "prints values"),
    ],
);

/// The globals. What a script gives another meaning is the script's own.
pub(super) const NODE: Class = Class::functions(
    "Node",
    "globalThis",
    "what scripts use of Node",
    &[
        prelude("Buffer", "", "bytes"),
        prelude("TextDecoder", "", "texts of bytes"),
        prelude("TextEncoder", "", "bytes of texts"),
        prelude("URL", "", "an address and its parts"),
        prelude("URLSearchParams", "", "the parameters of an address"),
        prelude("__dirname", "", "the directory of the running script"),
        prelude("__filename", "", "the file of the running script"),
        prelude("clearImmediate", "(timer)", "takes a timer back"),
        prelude("clearInterval", "(timer)", "takes a timer back"),
        prelude("clearTimeout", "(timer)", "takes a timer back"),
        prelude("crypto", "", "digests and random bytes"),
        prelude("events", "", "Node's events").only(Shells::Mongosh),
        prelude("fetch", "(address)", "says that tally fetches nothing").only(Shells::Mongosh),
        prelude("fs", "", "Node's files").only(Shells::Mongosh),
        prelude("global", "", "the object of all globals"),
        prelude("module", "", "Node's modules").only(Shells::Mongosh),
        prelude("os", "", "Node's computer").only(Shells::Mongosh),
        prelude("path", "", "Node's paths").only(Shells::Mongosh),
        prelude("process", "", "the running program: argv, env, exit(), stdout..."),
        prelude("require", "", "a function that gives a module of Node, a file or a package"),
        prelude("setImmediate", "(function, ...arguments)", "runs a function next"),
        prelude(
            "setInterval",
            "(function, millis, ...arguments)",
            "runs a function again and again",
        ),
        prelude("setTimeout", "(function, millis, ...arguments)", "runs a function later"),
        prelude("structuredClone", "(value)", "a copy of a value with all that it holds"),
        prelude("url", "", "Node's addresses").only(Shells::Mongosh),
        prelude("util", "", "Node's inspect, format, promisify...").only(Shells::Mongosh),
    ],
);

/// mongosh's `assert`, which is Node's.
pub(super) const NODE_ASSERT: Class = Class::functions(
    "NodeAssert",
    "assert",
    "Node's checks that throw",
    &[
        prelude("AssertionError", "", "what the checks throw"),
        prelude("deepEqual", "(actual, expected, message)", "checks for equality all through"),
        prelude("deepStrictEqual", "(actual, expected, message)", "as deepEqual, types and all"),
        prelude("doesNotMatch", "(text, pattern, message)", "checks that a text does not match"),
        prelude("doesNotReject", "(promise, message)", "checks that a promise is kept"),
        prelude("doesNotThrow", "(function, message)", "checks that a function does not throw"),
        prelude("equal", "(actual, expected, message)", "checks with =="),
        prelude("fail", "(message)", "throws"),
        prelude("ifError", "(value)", "throws what is neither null nor undefined"),
        prelude("match", "(text, pattern, message)", "checks that a text matches"),
        prelude("notDeepEqual", "(actual, expected, message)", "the opposite of deepEqual"),
        prelude("notDeepStrictEqual", "(actual, expected, message)", "that of deepStrictEqual"),
        prelude("notEqual", "(actual, expected, message)", "checks with !="),
        prelude("notStrictEqual", "(actual, expected, message)", "checks with !=="),
        prelude("ok", "(condition, message)", "checks that a condition holds"),
        prelude("rejects", "(promise, error, message)", "checks that a promise is broken"),
        prelude("strict", "", "the same checks, all of them strict"),
        prelude("strictEqual", "(actual, expected, message)", "checks with ==="),
        prelude("throws", "(function, error, message)", "checks that a function throws"),
    ],
)
.only(Shells::Mongosh);
