//! Test files as MongoDB's own are written - `assert`, `startParallelShell`, `load` of libraries - run unchanged.

use crate::program::{root, tally};

#[test]
fn test_files_of_either_age_run_in_the_classic_shell() {
    let files = root().join("tests");
    for (name, prints) in [("vocabulary", "{ \"a\" : 1 }"), ("old_style", "passed")] {
        let file = format!("jstests/{name}.js");
        let run = tally(["--quiet", "--norc", "--ephemeral", &file]).inside(&files).run();
        assert_eq!((run.code, run.err.as_str()), (0, ""), "{name}:\n{}{}", run.out, run.err);
        assert!(run.out.ends_with("passed\n") && run.out.contains(prints), "{name}:\n{}", run.out);
    }
}

#[test]
fn what_fails_says_where_and_ends_with_the_code_of_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("fails.js");
    std::fs::write(&file, "assert.eq(jsTestName(), 'fails');\nassert.eq(1, 2, 'numbers');\n")
        .unwrap();
    let run = tally(["--quiet", "--norc", "--ephemeral", file.to_str().unwrap()]).run().exits(253);
    run.warns("[1] != [2] are not equal : numbers").warns("fails.js:2:");
    let code = "print(ErrorCodes.DuplicateKey, ErrorCodes.NamespaceNotFound); \
                assert.commandFailedWithCode(db.runCommand({nope: 1}), ErrorCodes.BadValue)";
    let run = tally(["--quiet", "--norc", "--ephemeral", "--eval", code]).run().exits(252);
    assert_eq!(run.out, "11000 26\n");
}
