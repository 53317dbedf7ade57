//! Workers as whole programs have them: scripts, modules and pipes, a hundred races, errors and Ctrl-C at any time.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::program::tally;

/// What every program here begins with.
const RACERS: &str = "
function naive() {
  var found = db.naive.findOne({_id: 'n'});
  var next = found ? found.seq + 1 : 1;
  db.naive.update({_id: 'n'}, {$set: {seq: next}}, {upsert: true});
  return next;
}
function atomic() {
  return db.atomic.findAndModify({query: {_id: 'n'}, update: {$inc: {seq: 1}}, upsert: true, new: true}).seq;
}
function duplicates(numbers) { return numbers.length - new Set(numbers).size; }
";

/// Runs a text over scratch data.
#[track_caller]
fn prints(text: &str, expected: &str) {
    let code = format!("{RACERS}{text}");
    tally(["--quiet", "--ephemeral", "--eval", &code]).run().prints(expected);
}

#[test]
fn a_hundred_races_in_lock_step_all_come_out_the_same() {
    prints(
        "var lost = 0, shared = 0
        for (var i = 0; i < 100; i++) {
          if (duplicates(parallel(2, 2, {interleave: true}, naive)) === 2) lost++
          shared += duplicates(parallel(2, 2, {interleave: true}, atomic))
        }
        print(lost, shared)
        ",
        "100 0\n",
    );
}

#[test]
fn find_and_modify_hands_out_each_number_once_however_the_threads_run() {
    prints(
        "print(duplicates(parallel(4, 100, atomic)), duplicates(parallel(4, 100, counter, 'c')))",
        "0 0\n",
    );
}

#[test]
fn whoever_fails_whenever_nobody_hangs() {
    prints(
        "var failed = 0
        function fails(last) {
          for (var i = 0; ; i++) {
            if (worker === 1 + last % 3 && i === last) throw new Error('enough')
            db.t.findOne({_id: i})
          }
        }
        for (var i = 0; i < 12; i++) {
          try { parallel(3, {interleave: i % 2 === 0}, fails, i) }
          catch (e) { if (e.message === 'worker ' + (1 + i % 3) + ': enough') failed++ }
        }
        print(failed)
        ",
        "12\n",
    );
}

#[test]
fn what_a_worker_prints_is_printed_line_by_line_and_quit_quits() {
    let program = tally(["--quiet", "--ephemeral", "--eval"].into_iter().chain([
        "parallel(3, {interleave: true}, () => print('worker', worker)); parallel(2, () => quit(7)); print('never')",
    ]));
    let outcome = program.run();
    assert_eq!(outcome.out, "worker 1\nworker 2\nworker 3\n");
    outcome.exits(7);
}

#[test]
fn files_give_their_lexical_globals_and_modules_their_functions() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("script.js");
    fs::write(
        &script,
        "const step = 10;\nlet later;\nclass Adder { add(n) { return n + step } }\nconst add = n => new Adder().add(n);\n\
         later = [1, 2];\nprint(tojson(parallel(2, () => add(worker) + later[1])));\n\
         function outer() { const secret = 1; return parallel(1, () => secret) }\nouter();\n",
    )
    .unwrap();
    let outcome = tally(["--quiet", "--ephemeral", script.to_str().unwrap()]).run();
    assert_eq!(outcome.out, "[ 13, 14 ]\n", "{}", outcome.err);
    let expected = "worker 1: `secret` is a local variable of `outer`; pass it as an argument";
    outcome.warns(expected).exits(253);

    let module = folder.path().join("module.mjs");
    fs::write(folder.path().join("other.mjs"), "export const other = n => n * 100;\n").unwrap();
    fs::write(
        &module,
        "import { other } from './other.mjs';\nconst step = 10;\nfunction helper(n) { return twice(n) }\n\
         function twice(n) { return 2 * n }\nfunction work(f) { return f(helper(worker)) }\n\
         print(tojson(parallel(2, work, other)));\n\
         try { parallel(1, () => step) } catch (e) { print(e.message) }\n\
         function fails() {\n  throw new Error('here');\n}\nparallel(1, fails);\n",
    )
    .unwrap();
    let outcome = tally(["--quiet", "--ephemeral", module.to_str().unwrap()]).run();
    let name = module.to_str().unwrap();
    let expected = format!(
        "[ 200, 400 ]\nworker 1: `step` is a variable of the module {name}; pass it as an argument\n"
    );
    assert_eq!(outcome.out, expected, "{}", outcome.err);
    outcome.warns(&format!("fails@{name}:9:9\n")).warns("  throw new Error('here');\n").exits(253);
}

/// A program that runs until it is interrupted.
fn started(code: &str) -> Child {
    Command::new(env!("CARGO_BIN_EXE_tally"))
        .args(["--quiet", "--norc", "--ephemeral", "--eval", code])
        .env("HOME", "/nonexistent")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// The exit code of a program that must end by itself, soon.
fn ends(child: &mut Child) -> Option<i32> {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(20) {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    None
}

#[test]
fn ctrl_c_ends_all_workers() {
    let endless = [
        "parallel(4, () => { print('busy'); for (;;) db.t.findOne() })",
        "parallel(4, {interleave: true}, () => { print('busy'); for (;;) db.t.findOne() })",
        "parallel(3, {interleave: true}, () => { if (worker === 2) { print('busy'); for (;;) {} } db.t.findOne() })",
        "parallel(2, () => { print('busy'); sleep(1e6) })",
        "var w = startParallelShell(() => { try { print('busy'); for (;;) {} } finally { for (;;) {} } }); w()",
        "startParallelShell(() => { print('busy'); for (;;) db.t.insert({}) }); for (;;) {}",
    ];
    for code in endless {
        let mut child = started(code);
        let mut line = String::new();
        let mut out = std::io::BufReader::new(child.stdout.take().unwrap());
        std::io::BufRead::read_line(&mut out, &mut line).unwrap();
        assert_eq!(line, "busy\n", "{code}");
        let status = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
        assert!(status.unwrap().success());
        assert_eq!(ends(&mut child), Some(130), "{code}");
    }
}

#[test]
fn a_parallel_shell_that_nobody_waits_for_ends_with_the_program() {
    let mut child = started("startParallelShell(() => { for (;;) db.t.findOne() }); print(1)");
    assert_eq!(ends(&mut child), Some(0));
}
