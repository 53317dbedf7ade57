//! What scripts use of Node: modules by `require` and `import`, timers, `process`. `values.out` is what Node 20.20 prints.

use std::fs;

use crate::program::{Outcome, root, same, tally};

fn quiet<'a>(emulate: &'a str, arguments: impl IntoIterator<Item = &'a str>) -> Outcome {
    let before = ["--quiet", "--norc", "--ephemeral", "--emulate", emulate];
    tally(before.into_iter().chain(arguments)).inside(&root().join("tests/node/modules")).run()
}

/// A run of this code, which prints so much and ends with this code.
#[track_caller]
fn evaluates(emulate: &str, code: &str, expected: &str, ends_with: i32) -> Outcome {
    let outcome = quiet(emulate, ["--eval", code]).exits(ends_with);
    same("standard output", expected, &outcome.out, &outcome.err);
    outcome
}

#[test]
fn values_are_what_node_says() {
    let expected = fs::read_to_string(root().join("tests/node/values.out")).unwrap();
    let outcome = quiet("mongosh", ["../values.js"]).exits(0);
    same("standard output", &expected, &outcome.out, &outcome.err);
}

const MODULES: &str = "\
a true true 42 true true
7 X scoped
true true true
MODULE_NOT_FOUND Cannot find module './nope'
MODULE_NOT_FOUND Cannot find module 'http'. Of Node's modules tally has assert, assert/strict, buffer, console, \
crypto, events, fs, fs/promises, module, os, path, path/posix, perf_hooks, process, timers, timers/promises, url, \
util, util/types
SyntaxError expected a value after \"=\"
SyntaxError
switched to db other
true function other1
true true
";

#[test]
fn files_and_packages_are_required_by_the_rules_of_commonjs() {
    for (emulate, code) in [("mongo", 253), ("mongosh", 1)] {
        let outcome = quiet(emulate, ["main.js"]).exits(code);
        same("standard output", MODULES, &outcome.out, &outcome.err);
        outcome.warns("throws.js:2:9").warns("throw new Error(\"deep\");");
    }
}

#[test]
fn modules_import_those_of_node_and_packages() {
    let outcome = quiet("mongo", ["main.mjs"]).exits(0);
    let (most, last) = outcome.out.trim_end().rsplit_once('\n').unwrap();
    same(
        "standard output",
        "function true true y.z { a: 1 } 42 7 scoped esm a\nstring string",
        most,
        &outcome.err,
    );
    assert!(last.starts_with("cannot import \"http\" from main.mjs: it is no file"), "{last}");
}

#[test]
fn timers_run_before_the_end() {
    for emulate in ["mongo", "mongosh"] {
        evaluates(emulate, "setTimeout(() => print('later'), 20); 'now'", "now\nlater\n", 0);
        evaluates(
            emulate,
            "let n = 0; const t = setInterval(() => { print(++n); if (n == 3) clearInterval(t); }, 1); 0",
            "0\n1\n2\n3\n",
            0,
        );
        evaluates(
            emulate,
            "setTimeout(() => print('never'), 600000).unref(); setTimeout(() => quit(4), 1); 0",
            "0\n",
            4,
        );
        evaluates(
            emulate,
            "print(await new Promise(done => setTimeout(done, 1, 'waited'))); 0",
            "waited\n0\n",
            0,
        );
    }
    evaluates("mongo", "setTimeout(() => { throw new Error('late') }, 1); 0", "0\n", 252)
        .warns("Error: late");
    // A pipe goes on with the next input, and waits at its end.
    tally(["--quiet", "--norc", "--ephemeral"])
        .input("var t = setTimeout(() => print('late'), 500)\nprint('now')\n")
        .run()
        .prints("now\nlate\n");
    evaluates("mongosh", "setTimeout('code', 1)", "", 1)
        .warns("The \"callback\" argument must be of type function. Received type string ('code')");
}

#[test]
fn a_process_tells_of_its_end() {
    let listen = "process.on('exit', code => print('end', code));";
    evaluates("mongo", &format!("{listen} process.exitCode = 5; 'value'"), "value\nend 5\n", 5);
    evaluates("mongo", &format!("{listen} process.exit(3); print('no')"), "end 3\n", 3);
    evaluates("mongosh", &format!("{listen} quit()"), "end 0\n", 0);
    evaluates("mongosh", &format!("{listen} throw new Error('x')"), "end 1\n", 1);
    evaluates("mongo", &format!("{listen} throw new Error('x')"), "end 252\n", 252);
    let outcome = quiet("mongo", ["--eval", "print(process.argv.slice(2))", "--", "-a", "b"]);
    outcome.prints("-a,b\n");
    let outcome =
        quiet("mongo", ["--eval", "process.stderr.write('e'); process.stdout.write('o')"]);
    assert_eq!(outcome.err, "e");
    assert_eq!(outcome.out, "otrue\n");
}

#[test]
fn nodes_modules_are_globals_of_mongosh() {
    evaluates(
        "mongosh",
        "print(typeof fs, path.basename('/a/b'), util.format('%d', 1))",
        "object b 1\n",
        0,
    );
    evaluates(
        "mongo",
        "print(typeof fs, typeof path, typeof process)",
        "undefined undefined object\n",
        0,
    );
    evaluates("mongosh", "assert.strictEqual(1, 2)", "", 1)
        .warns("AssertionError: Expected values to be strictly equal:\n\n1 !== 2\n");
    evaluates("mongosh", "assert(0, 'zero')", "", 1).warns("AssertionError: zero");
    evaluates("mongosh", "assert.eq(1, 2)", "", 1).warns("[1] != [2] are not equal");
    evaluates("mongosh", "assert.throws(() => { throw new Error('x') }, /x/)", "", 0);
    evaluates("mongo", "assert.throws(() => { throw new Error('x') })", "Error: x\n", 0);
    // What a script calls so is its own.
    evaluates("mongo", "var process = 5; var Buffer = 6; process + Buffer", "11\n", 0);
    evaluates(
        "mongosh",
        "path = '/x'; function require() { return 1 } path + require()",
        "/x1\n",
        0,
    );
    evaluates("mongosh", "fetch('http://x')", "", 1).warns("it does not fetch http://x");
}

#[test]
fn errors_of_the_disk_are_nodes() {
    let code = "try { require('fs').readFileSync('nope') } catch (e) { print(e.code, e.errno, e.syscall, e.path) }";
    evaluates("mongo", code, "ENOENT -2 open nope\n", 0);
    evaluates("mongo", "require('fs').readFileSync('a\\0b')", "", 252).warns("without null bytes");
}
