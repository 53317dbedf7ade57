//! `help` in every object and topic, and its examples, each of which runs.

use std::fmt::Write as _;

use tally::shell::examples::EXAMPLES;

use crate::program::tally;

/// What is there before each example.
const SETUP: &str = "db = db.getSiblingDB('test'); db.dropDatabase(); db.users.insert([{_id: 1, name: 'Sarah C.', age: 31, tags: \
                     ['a', 'b']}, {_id: 2, name: 'Bob D.', age: 25, tags: ['b']}, {_id: 3, name: 'Cy', age: 60, tags: []}]); 0";

#[test]
fn every_example_runs_in_both_emulations() {
    for emulate in ["mongo", "mongosh"] {
        let mut input = String::new();
        for example in EXAMPLES {
            writeln!(input, "{SETUP}\nprint('=== {}')\n{}", example.name, example.code).unwrap();
        }
        let run =
            tally(["--quiet", "--norc", "--ephemeral", "--emulate", emulate]).input(input).run();
        let complaints = ["Error", "exception", "SyntaxError"];
        let wrong = run.err.lines().find(|line| complaints.iter().any(|word| line.contains(word)));
        assert_eq!(wrong, None, "{emulate}:\n{}", run.err);
        let refused = run.out.lines().find(|line| line.contains("errmsg"));
        assert_eq!(refused, None, "{emulate}:\n{}", run.out);
        assert_eq!(run.out.matches("=== ").count(), EXAMPLES.len());
    }
}

#[test]
fn help_knows_topics_methods_operators_words_and_classes() {
    let help = |name: &str| {
        tally(["--quiet", "--norc", "--ephemeral"])
            .input(format!("help {name}\n"))
            .run()
            .exits(0)
            .out
    };
    let find = help("find");
    assert!(find.contains("\tdb.mycoll.find("), "{find}");
    assert!(
        find.ends_with("\n\t> db.users.find({age: {$gt: 30}}, {name: 1}).sort({name: 1})\n"),
        "{find}"
    );
    let min = help("$min");
    assert!(min.contains("$min in an update - ") && min.contains("$min in $group - "), "{min}");
    assert!(help("set").contains("set pager"), "settings are listed");
    assert!(help("show").contains("show counters"), "nouns are listed");
    assert!(
        help("NumberLong")
            .contains("\t> db.users.insert({_id: NumberLong(\"9007199254740993\")})\n")
    );
    assert!(help("Bulk").contains("\t.execute("));
    assert_eq!(help("fnd"), "unknown help option. Did you mean help find?\n");
    assert_eq!(help("qqqqqqqqqqqq"), "unknown help option\n");
    for topic in ["admin", "connect", "counters", "keys", "misc", "mr", "numbers", "parallel"] {
        assert!(help(topic).contains("\n\t> "), "{topic} has an example");
    }
}

#[test]
fn every_object_has_help() {
    let objects = [
        "db",
        "db.users",
        "db.users.find()",
        "db.users.aggregate()",
        "db.users.initializeOrderedBulkOp()",
        "db.users.initializeOrderedBulkOp().find({})",
        "db.users.explain()",
        "db.users.getPlanCache()",
        "db.getMongo()",
        "db.getMongo().startSession()",
        "rs",
        "sh",
    ];
    for object in objects {
        let run =
            tally(["--quiet", "--norc", "--ephemeral", "--eval", &format!("{object}.help()")])
                .run()
                .exits(0);
        assert!(run.out.lines().count() > 2, "{object}:\n{}", run.out);
    }
}
