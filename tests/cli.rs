//! The command line: flags, exit codes, files, pipes, and what must never happen whatever comes in.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::program::{Outcome, tally};

/// A run that needs no data and says nothing of itself.
fn quiet<const N: usize>(arguments: [&str; N]) -> Outcome {
    tally(["--quiet", "--norc", "--ephemeral"].into_iter().chain(arguments)).run()
}

/// A run with this text on standard input.
fn piped(input: impl Into<Vec<u8>>) -> Outcome {
    tally(["--quiet", "--norc", "--ephemeral"]).input(input).run()
}

/// A folder with these files.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

/// The path of a file in a folder, as an argument.
fn at(folder: &tempfile::TempDir, name: &str) -> String {
    folder.path().join(name).to_str().unwrap().to_owned()
}

#[test]
fn it_says_its_version_and_its_flags() {
    tally(["--version"]).run().prints("tally 0.1.0\n");
    let help = tally(["--help"]).run().exits(0);
    for flag in [
        "--eval",
        "--file",
        "--quiet",
        "--data",
        "--ephemeral",
        "--emulate",
        "--nodb",
        "--shell",
        "--wait",
    ] {
        assert!(help.out.contains(flag), "--help lacks {flag}:\n{}", help.out);
    }
}

#[test]
fn wrong_usage_is_exit_code_2() {
    tally(["--no-such-flag"]).run().exits(2).warns("--no-such-flag");
    tally(["--emulate", "bash"]).run().exits(2).warns("bash");
    tally(["--eval"]).run().exits(2);
    tally(["--ephemeral", "--data", "x"]).run().exits(2);
    tally(["--js-memory", "0"]).run().exits(2);
}

#[test]
fn eval_prints_the_last_value() {
    quiet(["--eval", "1 + 1"]).prints("2\n");
    quiet(["--eval", "print(1)", "--eval", "2"]).prints("1\n2\n");
    quiet(["--eval", "1", "--eval", "2"]).prints("2\n");
    quiet(["--eval", "var x = 1"]).prints("");
    quiet(["--eval", "'text'"]).prints("text\n");
    quiet(["--eval", "db.t.insert({_id: 1}); db.t.find()"]).prints("{ \"_id\" : 1 }\n");
    quiet(["--eval", "-1"]).prints("-1\n");
    quiet(["shop", "--eval", "db"]).prints("shop\n");
}

#[test]
fn what_fails_has_its_exit_code() {
    quiet(["--eval", "throw new Error('boom')"]).exits(252).warns("Error: boom");
    quiet(["--eval", "("]).exits(252).warns("SyntaxError");
    let files = folder(&[
        ("throws.js", "print(1)\nthrow new Error('boom')\n"),
        ("after.js", "print('after')\n"),
    ]);
    let thrown =
        quiet([&at(&files, "throws.js"), &at(&files, "after.js")]).exits(253).warns("Error: boom");
    assert!(thrown.out.contains("1\n") && !thrown.out.contains("after"), "{}", thrown.out);
    assert!(thrown.err.contains("throws.js:2:"), "it says where:\n{}", thrown.err);
    quiet([&at(&files, "missing.js")]).exits(253).warns("missing.js");
    quiet(["--emulate", "mongosh", "--eval", "throw new Error('boom')"])
        .exits(1)
        .warns("Error: boom");
    quiet(["--emulate", "mongosh", &at(&files, "throws.js")]).exits(1).warns("Error: boom");
    quiet(["--emulate", "mongosh", &at(&files, "missing.js")]).exits(1).warns("missing.js");
}

#[test]
fn a_pipe_ends_with_the_status_of_its_last_input() {
    piped("1 + 1\nnope\n").exits(1).warns("ReferenceError: nope is not defined");
    let mended = piped("nope\n1 + 1\n").exits(0);
    assert_eq!(mended.out, "2\n");
    piped("").prints("");
    piped("\n\n").prints("");
    piped("1 +").exits(1).warns("SyntaxError");
    let newer = tally(["--quiet", "--norc", "--ephemeral", "--emulate", "mongosh"]);
    newer.input("nope\n").run().exits(0).warns("ReferenceError");
}

#[test]
fn quit_ends_with_its_number() {
    piped("print(1)\nquit(3)\nprint(2)\n").exits(3);
    piped("print(1)\nquit()\nnope\n").prints("1\n");
    piped("print(1)\nexit\nnope\n").prints("1\n");
    quiet(["--eval", "quit(4)"]).exits(4);
    let files =
        folder(&[("quits.js", "try { quit(5) } finally { print('no') }\nprint('never')\n")]);
    let outcome = quiet([&at(&files, "quits.js")]).exits(5);
    assert!(!outcome.out.contains("never"));
}

#[test]
fn a_file_prints_only_what_it_prints() {
    let files = folder(&[
        ("plain.js", "1 + 1\nprint('x')\ndb.t.find()\n"),
        (
            "words.js",
            "use shop\ndb.items.insert({_id: 1});\nshow collections\nprint(db)\nif (true) { print(db.items.count()) }\n",
        ),
        ("empty.js", ""),
        ("bom.js", "\u{feff}print('bom')\r\nprint('crlf')\r\n"),
        ("hash.js", "#!/usr/bin/env tally\nprint('hash')\n"),
        ("script.txt", "print('named')\n"),
    ]);
    quiet([&at(&files, "plain.js")]).prints("x\n");
    quiet([&at(&files, "words.js")]).prints("switched to db shop\nitems\nshop\n1\n");
    quiet([&at(&files, "empty.js")]).prints("");
    quiet([&at(&files, "bom.js")]).prints("bom\ncrlf\n");
    quiet([&at(&files, "hash.js")]).prints("hash\n");
    quiet(["--file", &at(&files, "script.txt")]).prints("named\n");
    quiet(["--nodb", &at(&files, "script.txt")]).prints("named\n");
    let both = quiet([&at(&files, "plain.js"), &at(&files, "bom.js")]).exits(0);
    let both = both.prints("x\nbom\ncrlf\n").warns("loading file: ").warns("bom.js");
    assert!(both.err.find("plain.js") < both.err.find("bom.js"), "in their order");
}

#[test]
fn without_a_database_db_is_an_error_until_one_is_chosen() {
    let classic = quiet(["--nodb", "--eval", "db.t.find()"]).exits(252);
    classic.warns("ReferenceError: db is not defined");
    let modern = quiet(["--nodb", "--emulate", "mongosh", "--eval", "db.t.find()"]).exits(1);
    modern.warns("MongoshInvalidInputError: [SHAPI-10004] No connected database");
    quiet(["--nodb", "--eval", "1 + 1"]).prints("2\n");
    let chosen = "db = connect('localhost/shop'); db.t.insert({_id: counter('t')}); db.t.count()";
    quiet(["--nodb", "--eval", chosen]).prints("1\n");
}

#[test]
fn a_file_that_is_a_paste_runs_input_by_input() {
    let listing = "1. var x = 1\n2. {a: x, b: 2}\n3. print(x + 1)\n";
    let session = "> use shop\nswitched to db shop\n> function f() {\n... return db.getName() }\n\
                   > print(f())\nshop\n";
    let page = "print(&quot;one&quot;);\nprint\u{ff08}2\u{ff09}\u{ff1b}\n{a: 1, b: 2}\n";
    let files = folder(&[
        ("listing.js", listing),
        ("session.js", session),
        ("page.js", page),
        ("loads.js", "load('page.js')\n"),
        ("throws.js", "> print(1)\n1\n> {a: 1, b: 2}\n> nope\n"),
        ("wrong.js", "1. print(1)\n2. print(2))\n"),
        ("returns.js", "{a: 1, b: 2}\nprint(1)\nreturn 1\n"),
        ("waits.js", "{a: 1, b: 2}\nvar x = await Promise.resolve(3)\nprint(x)\n"),
    ]);
    let run = |name: &str| quiet([&at(&files, name)]);
    run("listing.js").prints("2\n");
    run("session.js").prints("switched to db shop\nshop\n");
    run("page.js").prints("one\n2\n").warns("repaired: 2 HTML entities");
    run("loads.js").prints("one\n2\n").warns("repaired: 3 full-width signs");
    run("waits.js").prints("3\n");
    // Places are the file's.
    let thrown = run("throws.js").exits(253).warns("throws.js:4:3");
    assert_eq!(thrown.out, "1\n");
    // Nothing runs of a file with a mistake in it.
    assert_eq!(run("wrong.js").exits(253).warns("SyntaxError").out, "");
    assert_eq!(run("returns.js").exits(253).warns("returns.js:1:9").out, "");
}

#[test]
fn files_load_each_other_and_modules_import() {
    let files = folder(&[
        ("a.js", "load('b.js'); print(b)\n"),
        ("b.js", "var b = 'from b'\n"),
        ("m.mjs", "import { n, twice } from './lib.mjs'\nprint(twice(n))\n"),
        ("lib.mjs", "export const n = 21\nexport function twice(x) { return 2 * x }\n"),
        ("broken.mjs", "import { none } from './absent.mjs'\n"),
        ("one.mjs", "import { a } from './two.mjs'\nexport const n = a\n"),
        ("two.mjs", "import { b } from './one.mjs'\nexport const a = 1\n"),
    ]);
    tally(["--quiet", "--norc", "--ephemeral", "a.js"])
        .inside(files.path())
        .run()
        .prints("from b\n");
    quiet([&at(&files, "m.mjs")]).prints("42\n");
    quiet([&at(&files, "broken.mjs")]).exits(253).warns("absent.mjs");
    let cyclic = quiet([&at(&files, "one.mjs")]).exits(253).warns("one.mjs', from ");
    assert!(cyclic.err.contains("two.mjs"), "{}", cyclic.err);
}

#[test]
fn bad_files_are_errors_with_their_name() {
    let files = folder(&[("nul.js", "print(1)\0\n")]);
    fs::write(files.path().join("binary.js"), (0..=255).cycle().take(5000).collect::<Vec<u8>>())
        .unwrap();
    fs::write(files.path().join("latin.js"), b"print('ok') // caf\xe9\n").unwrap();
    fs::create_dir(files.path().join("folder.js")).unwrap();
    quiet([&at(&files, "binary.js")]).exits(253).warns("binary.js");
    quiet([&at(&files, "latin.js")]).prints("ok\n");
    quiet([&at(&files, "folder.js")]).exits(253).warns("folder.js");
    let nul = quiet([&at(&files, "nul.js")]);
    assert!(nul.code == 253 || nul.code == 0, "{nul:?}");
    let binary = piped((0..=255).cycle().take(5000).collect::<Vec<u8>>());
    assert!(!binary.err.contains("panicked") && binary.code != 101, "{binary:?}");
}

#[test]
fn no_input_ends_the_program_badly() {
    let deep =
        |open: &str, close: &str| format!("{}{}\n1\n", open.repeat(100_000), close.repeat(100_000));
    let inputs = [
        deep("[", "]"),
        deep("(", ")"),
        deep("<a: ", ">"),
        format!("{}1\n1\n", "-".repeat(100_000)),
        "1e999999\n1\n".to_owned(),
        format!("{}\n1\n", "9".repeat(100_000)),
        format!("'{}'.length\n1\n", "x".repeat(1_000_000)),
        "var d = {}; for (var i = 0; i < 100000; i++) d = {d: d}; d\n1\n".to_owned(),
        "var d = {}; for (var i = 0; i < 100000; i++) d = {d: d}; db.t.insert(d)\n1\n".to_owned(),
        "var d = {}; d.d = d; db.t.insert(d)\n1\n".to_owned(),
        "var d = {}; d.d = d; d\n1\n".to_owned(),
        "(function f() { f() })()\n1\n".to_owned(),
        "db.t.insert({'': 1, 'a.b': 2, $c: 3})\n1\n".to_owned(),
        "db.t.find().limit(-9223372036854775808).skip(NaN)\n1\n".to_owned(),
        "NumberLong('x')\n1\n".to_owned(),
        "\u{0}\n1\n".to_owned(),
    ];
    for input in inputs {
        let start: String = input.chars().take(60).collect();
        let outcome = piped(input);
        assert!(!outcome.err.contains("panicked") && outcome.code == 0, "{start}: {outcome:.500?}");
        assert!(outcome.out.ends_with("1\n"), "{start}: the next input runs: {outcome:.500?}");
    }
}

#[test]
fn data_stays_where_it_was_put() {
    let data = tempfile::tempdir().unwrap();
    let directory = at(&data, "kept");
    tally(["--quiet", "--norc", "--data", &directory, "--eval", "db.t.insert({_id: 1})"])
        .run()
        .exits(0);
    tally(["--quiet", "--norc", "--data", &directory, "--eval", "db.t.find()"])
        .run()
        .prints("{ \"_id\" : 1 }\n");
    let other =
        tally(["--quiet", "--norc", "--eval", "db.t.count()"]).env("TALLY_DATA", &directory);
    other.run().prints("1\n");
}

#[test]
fn nothing_is_written_that_nobody_asked_for() {
    let home = tempfile::tempdir().unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let entries = |folder: &Path| fs::read_dir(folder).unwrap().count();
    let run = |arguments: &[&str]| {
        let arguments = arguments.iter().copied();
        tally(arguments)
            .env("HOME", home.path())
            .env("XDG_DATA_HOME", home.path())
            .env("TMPDIR", scratch.path())
    };
    run(&["--quiet", "--eval", "1 + 1"]).run().prints("2\n");
    run(&["--quiet", "--ephemeral", "--eval", "db.t.insert({}).nInserted"]).run().prints("1\n");
    run(&["--quiet", "--ephemeral", "--eval", "db.t.insert({}); throw 1"]).run().exits(252);
    run(&["--quiet", "--ephemeral", "--eval", "db.t.insert({}); quit(1)"]).run().exits(1);
    assert_eq!((entries(home.path()), entries(scratch.path())), (0, 0));
}

#[test]
fn a_data_directory_that_cannot_be_used_is_named() {
    let files = folder(&[("file", "not a directory")]);
    let path = at(&files, "file");
    tally(["--quiet", "--norc", "--data", &path, "--eval", "1 + 1"]).run().prints("2\n");
    tally(["--quiet", "--norc", "--data", &path, "--eval", "db.t.count()"])
        .run()
        .exits(252)
        .warns(&path);
    let below = at(&files, "file/below");
    tally(["--quiet", "--norc", "--data", &below, "--eval", "db.t.count()"])
        .run()
        .exits(252)
        .warns(&below);
    assert_eq!(fs::read_to_string(&path).unwrap(), "not a directory");
}

#[test]
fn a_reader_that_goes_away_ends_the_program_quietly() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_tally"))
        .args(["--quiet", "--norc", "--ephemeral", "--eval", "for (;;) print('again and again')"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "again and again\n");
    let started = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if started.elapsed() > Duration::from_secs(20) {
            child.kill().unwrap();
            panic!("it goes on writing to nobody");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let mut said = String::new();
    std::io::Read::read_to_string(&mut child.stderr.take().unwrap(), &mut said).unwrap();
    assert_eq!(said, "");
}

#[test]
#[cfg(unix)]
fn a_name_decides_the_shell() {
    let place = tempfile::tempdir().unwrap();
    let link = place.path().join("mongosh");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_tally"), &link).unwrap();
    let output = Command::new(link)
        .args(["--quiet", "--norc", "--ephemeral", "--eval", "[{a: 1}]"])
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "[ { a: 1 } ]\n");
}

#[test]
fn a_pipe_has_no_prompt_no_colour_and_no_banner_of_its_own() {
    let outcome = piped("db.t.insert({_id: 1})\ndb.t.find()\nvar x\nx\n");
    assert_eq!(outcome.out, "WriteResult({ \"nInserted\" : 1 })\n{ \"_id\" : 1 }\n");
    assert_eq!(outcome.err, "");
}
