//! `set`: what a user can choose, and what it changes.

use crate::program::tally;

fn piped(input: &str) -> crate::program::Outcome {
    tally(["--quiet", "--norc", "--ephemeral"]).input(input).run()
}

#[test]
fn verbose_tells_how_many_and_how_long_in_the_classic_words() {
    let told = |input: &str| {
        let err = piped(input).err;
        // The milliseconds differ from run to run.
        let lines = err.lines().map(|line| match line.rsplit_once(" in ") {
            Some((what, time)) if time.ends_with("ms") => what.to_owned(),
            _ => line.to_owned(),
        });
        lines.collect::<Vec<_>>().join("|")
    };
    let setup = "for (var i = 0; i < 25; i++) db.n.insert({_id: i}); 0\n";
    assert_eq!(
        told(&format!("{setup}set verbose true\ndb.n.find()\nit\n")),
        "Fetched 20 record(s)|Fetched 5 record(s)"
    );
    let writes = "setVerboseShell(true)\ndb.n.insert({_id: 1})\ndb.n.update({}, {a: 1})\ndb.n.update({_id: 9}, {}, true)\ndb.n.remove({})\n\
                  set verbose off\ndb.n.find()\n";
    assert_eq!(
        told(writes),
        "Inserted 1 record(s)|Updated 1 existing record(s)|Updated 1 new record(s)|Removed 2 record(s)"
    );
    assert_eq!(piped("set verbose true\n").out, "set verbose to true\n");
}

#[test]
fn settings_say_how_they_stand_and_what_they_take() {
    assert_eq!(
        piped("set pager\nset pager on\nset pager\n").out,
        "pager is off\nset pager to on\npager is on\n"
    );
    assert!(piped("set\n").out.contains(
        "\tset pager on|off        long results go through $PAGER, else less (now off)\n"
    ));
    piped("set pagr on\n").warns("pagr is nothing that can be set. Did you mean pager?").exits(1);
    piped("set editing nano\n").warns("set editing takes one of emacs|vi, not nano").exits(1);
    let timed = piped("set timing on\n1 + 1\n");
    assert_eq!(timed.out, "set timing to on\n2\n");
    assert!(timed.err.contains("took "), "{}", timed.err);
    // A name of the user's own is a name like any other.
    assert_eq!(piped("var set = new Set([1, 1]); set.size\nset = 5\nset\n").out, "1\n5\n5\n");
}

#[test]
fn an_rc_file_can_set() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join(".tallyrc.js"), "set timing on\nvar mine = 1\n").unwrap();
    let run = tally(["--quiet", "--ephemeral"]).env("HOME", home.path()).input("mine\n").run();
    assert!(run.err.contains("took "), "{}", run.err);
}
