//! The command line beside the plain run: arguments for scripts, rc files, options of both shells, generated texts.

use std::fs;
use std::process::Command;

use crate::program::{Outcome, tally};

/// A run with scratch data and this home; rc files are read.
fn at_home<'a>(
    home: &tempfile::TempDir,
    arguments: impl IntoIterator<Item = &'a str>,
    input: &str,
) -> Outcome {
    let arguments = ["--quiet", "--ephemeral"].into_iter().chain(arguments);
    tally(arguments).env("HOME", home.path()).input(input).run()
}

fn quiet<const N: usize>(arguments: [&str; N]) -> Outcome {
    tally(["--quiet", "--norc", "--ephemeral"].into_iter().chain(arguments)).run()
}

/// A folder with these files.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

#[test]
fn what_stands_behind_two_dashes_is_the_scripts() {
    let files = folder(&[("s.js", "print(scriptArgs.join(), scriptArgs.length)\n")]);
    let script = files.path().join("s.js").display().to_string();
    quiet([&script, "--", "--n", "5", "users"]).prints("--n,5,users 3\n");
    quiet(["shop", &script, "--", "--", "-x"]).prints("--,-x 2\n");
    quiet([&script]).prints(" 0\n");
    quiet(["--eval", "scriptArgs.push('b'); scriptArgs.join()", "--", "a"]).prints("a,b\n");
    quiet(["--eval", "db.getName()", "--", "shop"]).prints("test\n");
    // The form that scripts of the old shell used shares its globals with the file.
    let uses = folder(&[("u.js", "print(c)\n")]);
    quiet(["--eval", "var c = 'users'", &uses.path().join("u.js").display().to_string()])
        .prints("users\n");
}

#[test]
fn set_makes_globals_for_everything_that_runs() {
    let files = folder(&[("s.js", "print(city + '|' + typeof n + '|' + n)\n")]);
    let script = files.path().join("s.js").display().to_string();
    quiet(["--set", "city=New York=NY", "--set", "n=5", &script]).prints("New York=NY|string|5\n");
    quiet(["--set", "version=mine", "--eval", "version"]).prints("mine\n");
    quiet(["--set", "x=1", "--eval", "x = x + 1; x"]).prints("11\n");
    for wrong in ["city", "a-b=1", "db=shop", "let=1"] {
        quiet(["--set", wrong, "--eval", "1"]).exits(2).warns("--set");
    }
}

#[test]
fn the_users_file_runs_before_the_first_prompt_only() {
    let home = folder(&[(".mongorc.js", "var hello = 1; print('rc')\n")]);
    at_home(&home, [], "hello\n").prints("rc\n1\n");
    at_home(&home, ["--norc"], "typeof hello\n").prints("undefined\n");
    at_home(&home, ["--eval", "typeof hello"], "").prints("undefined\n");
    at_home(&home, ["--eval", "var before = typeof hello", "--shell"], "before + hello\n")
        .prints("rc\nundefined1\n");
    let script = folder(&[("s.js", "print(typeof hello)\n")]);
    at_home(&home, [&*script.path().join("s.js").display().to_string()], "").prints("undefined\n");
    // mongosh does not read the old shell's file, and says so.
    at_home(&home, ["--emulate", "mongosh"], "typeof hello\n")
        .prints("undefined\n")
        .warns("Found ~/.mongorc.js, but not ~/.mongoshrc.js. ~/.mongorc.js will not be loaded.");
    let own = folder(&[
        (".mongorc.js", "print('classic')\n"),
        (".mongoshrc.js", "print('modern')\n"),
        (".tallyrc.js", "print('own')\n"),
    ]);
    at_home(&own, [], "").prints("own\n");
    fs::remove_file(own.path().join(".tallyrc.js")).unwrap();
    at_home(&own, [], "").prints("classic\n");
    at_home(&own, ["--emulate", "mongosh"], "").prints("modern\n");
}

#[test]
fn a_users_file_that_throws_ends_the_classic_shell_alone() {
    let broken = "print('begun')\nthrow new Error('in rc')\n";
    let home = folder(&[(".mongorc.js", broken), (".mongoshrc.js", broken)]);
    let classic = at_home(&home, [], "1 + 1\n").exits(251).warns("Error: in rc");
    let words = "The \".mongorc.js\" file located in your home folder could not be executed\n\
                 exiting with code -5\n";
    assert_eq!(classic.warns(words).out, "begun\n");
    at_home(&home, ["--emulate", "mongosh"], "1 + 1\n")
        .prints("begun\n2\n")
        .warns("Error while running ~/.mongoshrc.js:\nError: in rc");
    at_home(&home, ["--eval", "1"], "").prints("1\n");
    at_home(&home, ["--norc"], "1\n").prints("1\n");
    // Without a database a file that uses one is no reason to stop.
    let uses = folder(&[(".mongorc.js", "db.getMongo()\n")]);
    at_home(&uses, ["--nodb"], "1 + 1\n").prints("2\n").warns(".mongorc.js");
    let own = folder(&[(".tallyrc.js", broken)]);
    at_home(&own, [], "1 + 1\n").prints("begun\n2\n").warns(".tallyrc.js");
    let quits = folder(&[(".mongorc.js", "quit(7)\n")]);
    at_home(&quits, [], "1\n").exits(7);
}

#[test]
fn options_of_the_other_shells_are_accepted_or_refused_in_words() {
    quiet([
        "--ipv6",
        "--disableImplicitSessions",
        "--disableJavaScriptJIT",
        "--enableJavaScriptProtection",
        "--skipStartupWarnings",
        "--idleSessionTimeout",
        "60",
        "--jsHeapLimitMB",
        "64",
        "--writeMode",
        "commands",
        "--readMode=compatibility",
        "--deep-inspect=false",
        "--eval",
        "1 + 1",
    ])
    .prints("2\n");
    quiet(["--setShellParameter", "ocspEnabled=false", "--eval", "1"])
        .prints("1\n")
        .warns("--setShellParameter does nothing: tally has no shell parameters");
    for (flags, words) in [
        (&["--gssapiServiceName", "mongodb"][..], "Kerberos"),
        (&["--awsSecretAccessKey", "x"], "AWS"),
        (&["--oidcFlows=auth-code"], "OIDC"),
        (&["--keyVaultNamespace", "a.b"], "encryption"),
        (&["--tlsCRLFile", "f"], "--tlsCAFile"),
        (&["--writeMode", "legacy"], "--writeMode legacy"),
        (&["--apiVersion", "1"], "--apiVersion is for a MongoDB server"),
        (&["--networkMessageCompressors", "snappy"], "is for a MongoDB server"),
        (&["--networkMessageCompressors", "lzo"], "snappy, zlib or zstd"),
        (&["--apiStrict"], "--apiVersion"),
        (&["--quiet", "--verbose"], "--verbose"),
        (&["--username", "ann"], "give its address, or --host"),
        (&["--badopt"], "--badopt"),
    ] {
        let all = ["--ephemeral"].iter().chain(flags).chain(&["--eval", "print('ran')"]);
        let refused = tally(all).run().exits(2).warns(words).warns("Usage: tally");
        assert_eq!(refused.out, "", "{flags:?}");
    }
}

#[test]
fn files_are_announced_as_the_emulated_shell_does() {
    let files = folder(&[("a.js", "print(1)\n"), ("b.js", "print(2)\n")]);
    let run = |arguments: &[&str]| {
        tally(["--norc", "--ephemeral"].iter().chain(arguments)).inside(files.path()).run()
    };
    let said = |arguments: &[&str]| run(arguments).exits(0).err;
    assert_eq!(said(&["--quiet", "a.js", "b.js"]), "loading file: a.js\nloading file: b.js\n");
    assert_eq!(said(&["a.js"]), "");
    assert_eq!(said(&["--emulate", "mongosh", "a.js", "b.js"]), "");
    assert_eq!(said(&["--emulate", "mongosh", "--shell", "a.js"]), "Loading file: a.js\n");
    assert_eq!(said(&["--emulate", "mongosh", "--shell", "--quiet", "a.js"]), "");
    let verbose = run(&["--verbose", "--eval", "3", "a.js"]).prints("3\n1\n");
    verbose.warns("--eval 3 took ").warns("loading file: a.js\n").warns("a.js took ");
}

#[test]
fn a_missing_or_unreadable_file_is_told_with_its_code() {
    let home = folder(&[]);
    let run = |arguments: &[&str]| {
        let all = ["--quiet", "--norc", "--ephemeral"].iter().chain(arguments);
        tally(all).inside(home.path()).run()
    };
    let classic = run(&["missing.js"]).exits(253).warns("failed to load: missing.js");
    classic.warns("exiting with code -3");
    let absolute = home.path().join("missing.js");
    run(&["--emulate", "mongosh", "missing.js"]).exits(1).warns(&format!(
        "Error: ENOENT: no such file or directory, open '{}'",
        absolute.canonicalize().unwrap_or(absolute).display()
    ));
}

#[test]
#[cfg(unix)]
fn under_the_name_of_a_shell_the_version_is_that_shells() {
    let place = tempfile::tempdir().unwrap();
    let run = |name: &str, arguments: &[&str]| {
        let link = place.path().join(name);
        if !link.exists() {
            std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_tally"), &link).unwrap();
        }
        let output = Command::new(link).args(arguments).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(run("mongosh", &["--version"]), "2.12.0\n");
    assert!(run("mongo", &["--version"]).starts_with("MongoDB shell version v4.4.6\n"));
    let eval = ["--quiet", "--ephemeral", "--eval", "version()"];
    assert_eq!(run("mongo", &eval), "4.4.6\n");
    assert_eq!(run("mongosh", &eval), "2.12.0\n");
    let info = tally(["--build-info"]).run().exits(0).out;
    assert!(info.starts_with("{\n  \"version\": \"0.1.0\",\n"), "{info}");
}

#[test]
fn completions_and_the_manual_come_from_the_same_table() {
    for shell in ["bash", "zsh", "fish"] {
        let text = tally(["completions", shell]).run().exits(0).out;
        for word in ["emulate", "ephemeral", "learn", "mongosh"] {
            assert!(text.contains(word), "{shell} lacks {word}");
        }
    }
    tally(["completions", "tcsh"]).run().exits(2);
    let manual = tally(["man"]).run().exits(0).out;
    assert!(manual.contains(".TH tally 1"), "{:.300}", manual);
    for flag in ["\\-\\-emulate", "\\-\\-ephemeral", "Exit codes"] {
        assert!(manual.contains(flag), "the manual lacks {flag}");
    }
}
