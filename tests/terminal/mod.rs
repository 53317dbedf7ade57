//! The prompt as a person at a terminal meets it: a pseudo-terminal types and waits for what must appear.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::program::root;

/// What is done at the terminal.
enum Step {
    /// Types.
    Send(&'static str),
    /// Waits until this was shown.
    Expect(&'static str),
}

use Step::{Expect, Send};

const ENTER: &str = "\r";
const CTRL_C: &str = "\x03";
const CTRL_D: &str = "\x04";
const UP: &str = "\x1b[A";
const TAB: &str = "\t";

/// Runs `tally --ephemeral` at a terminal. Answers with what was shown and the exit code.
#[track_caller]
fn at_a_terminal(home: &Path, arguments: &[&str], steps: &[Step]) -> (String, i32) {
    with(home, &[("NO_COLOR", "1")], arguments, steps)
}

/// The same in this environment.
#[track_caller]
fn with(
    home: &Path,
    environment: &[(&str, &str)],
    arguments: &[&str],
    steps: &[Step],
) -> (String, i32) {
    let mut driver = Command::new("python3")
        .arg(root().join("tests/terminal/drive.py"))
        .args([env!("CARGO_BIN_EXE_tally"), "--ephemeral"])
        .args(arguments)
        .env("HOME", home)
        .env("TERM", "xterm")
        .env_remove("NO_COLOR")
        .env_remove("COLORFGBG")
        .env_remove("PAGER")
        .env_remove("LESS")
        .envs(environment.iter().copied())
        .env_remove("XDG_STATE_HOME")
        .env_remove("XDG_DATA_HOME")
        .env_remove("TALLY_DATA")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("python3 drives the terminal");
    let mut script = String::new();
    for step in steps {
        let (verb, text) = match step {
            Send(text) => ("send", text),
            Expect(text) => ("expect", text),
        };
        script.push_str(&format!("{{\"{verb}\": \"{}\"}}\n", escaped(text)));
    }
    driver.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
    let output = driver.wait_with_output().unwrap();
    let (shown, complaint) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(
        output.status.code() != Some(99) && complaint.is_empty(),
        "{complaint}\nshown:\n{shown}"
    );
    (shown.into_owned(), output.status.code().unwrap_or(-1))
}

/// A text inside the quotes of JSON.
fn escaped(text: &str) -> String {
    let escape = |letter: char| match letter {
        '"' | '\\' => format!("\\{letter}"),
        control if control < ' ' => format!("\\u{:04x}", control as u32),
        other => other.to_string(),
    };
    text.chars().map(escape).collect()
}

#[test]
fn a_banner_a_result_and_a_farewell() {
    let home = tempfile::tempdir().unwrap();
    let (shown, code) = at_a_terminal(
        home.path(),
        &[],
        &[
            Expect("emulating mongo. Type \"help\" for help"),
            Expect("embedded engine"),
            Expect("test> "),
            Send("1+1"),
            Send(ENTER),
            Expect("\r\n2\r\n"),
            Expect("test> "),
            Send("db.t.insert({"),
            Send(ENTER),
            Expect("... "),
            Send("_id: 1})"),
            Send(ENTER),
            Expect("WriteResult({ \"nInserted\" : 1 })"),
            Expect("test> "),
            Send(CTRL_D),
            Expect("bye"),
        ],
    );
    assert_eq!(code, 0, "{shown}");
}

#[test]
fn only_the_word_exit_takes_leave() {
    let home = tempfile::tempdir().unwrap();
    let leave = |arguments: &[&str], word: &'static str| {
        let steps = [Expect("test> "), Send(word), Send(ENTER)];
        let (shown, code) = at_a_terminal(home.path(), arguments, &steps);
        assert_eq!(code, 0, "{shown}");
        shown.contains("bye")
    };
    assert!(leave(&[], "exit"));
    assert!(!leave(&[], "exit;"));
    assert!(!leave(&[], "quit()"));
    assert!(!leave(&["--quiet"], "exit"));
    assert!(!leave(&["--emulate", "mongosh"], "exit"));
}

#[test]
fn a_paste_is_one_submission_and_comes_back_byte_for_byte() {
    let home = tempfile::tempdir().unwrap();
    let paste = [
        Expect("test> "),
        Send(
            "\x1b[200~var s = `a\n\n\tb`; // keep me\nvar n = s.length;\nprint(n + \"\\\\n\")\x1b[201~",
        ),
        Send(ENTER),
        Expect("\r\n5\\n\r\n"),
        Expect("test> "),
        Send(CTRL_D),
    ];
    let (shown, _) = at_a_terminal(home.path(), &["--quiet"], &paste);
    assert!(!shown.contains("... "), "{shown}");
    let history = fs::read_to_string(home.path().join(".local/state/tally/history")).unwrap();
    let entry = "var s = `a\\n\\n\tb`; // keep me\\nvar n = s.length;\\nprint(n + \"\\\\\\\\n\")";
    assert_eq!(history.lines().last(), Some(entry));
    // The next session runs it again.
    let recall = [
        Expect("test> "),
        Send(UP),
        Send(ENTER),
        Expect("\r\n5\\n\r\n"),
        Expect("test> "),
        Send(CTRL_D),
    ];
    at_a_terminal(home.path(), &["--quiet"], &recall);
}

#[test]
fn ctrl_c_clears_the_line_and_stops_what_runs() {
    let home = tempfile::tempdir().unwrap();
    let (shown, code) = at_a_terminal(
        home.path(),
        &["--quiet"],
        &[
            Expect("test> "),
            Send("var kept = 41"),
            Send(ENTER),
            Expect("test> "),
            Send("print('never')"),
            Send(CTRL_C),
            Expect("test> "),
            Send("print('begun'); while (true) {}"),
            Send(ENTER),
            Expect("\r\nbegun\r\n"),
            Send(CTRL_C),
            Expect("\r\ninterrupted\r\n"),
            Expect("test> "),
            Send("f("),
            Send(ENTER),
            Expect("... "),
            Send(CTRL_C),
            Expect("test> "),
            Send("kept + 1"),
            Send(ENTER),
            Expect("\r\n42\r\n"),
            Expect("test> "),
            Send(CTRL_C),
            Expect("Ctrl-D"),
            Expect("test> "),
            Send(CTRL_D),
        ],
    );
    assert!(!shown.contains("\nnever"), "{shown}");
    assert_eq!(code, 0, "{shown}");
}

#[test]
fn keys_typed_ahead_are_kept_and_two_empty_lines_give_up() {
    let home = tempfile::tempdir().unwrap();
    at_a_terminal(
        home.path(),
        &["--quiet"],
        &[
            Expect("test> "),
            Send("1+1\r2+2\r[\r\r\r3+3\r"),
            Expect("\r\n2\r\n"),
            Expect("\r\n4\r\n"),
            Expect("\r\n6\r\n"),
            Expect("test> "),
            Send(CTRL_D),
        ],
    );
}

#[test]
fn passwords_are_not_written_down() {
    let home = tempfile::tempdir().unwrap();
    at_a_terminal(
        home.path(),
        &["--quiet"],
        &[
            Expect("test> "),
            Send("var url = 'mongodb://ann:s3cret@db.example/shop'"),
            Send(ENTER),
            Expect("test> "),
            Send("'harmless'"),
            Send(ENTER),
            Expect("\r\nharmless\r\n"),
            Expect("test> "),
            Send(CTRL_D),
        ],
    );
    let history = fs::read_to_string(home.path().join(".local/state/tally/history")).unwrap();
    assert!(history.contains("harmless") && !history.contains("s3cret"), "{history}");
}

#[test]
fn ctrl_c_gives_up_the_whole_paste() {
    let home = tempfile::tempdir().unwrap();
    let (shown, _) = at_a_terminal(
        home.path(),
        &["--quiet"],
        &[
            Expect("test> "),
            Send("\x1b[200~print(40 + 1); for (;;) {}\nprint(\"ne\" + \"ver\")\n\x1b[201~"),
            Send(ENTER),
            Expect("\r\n41\r\n"),
            Send(CTRL_C),
            Expect("\r\ninterrupted\r\n"),
            Expect("test> "),
            Send("40 + 2"),
            Send(ENTER),
            Expect("\r\n42\r\n"),
            Expect("test> "),
            Send(CTRL_D),
        ],
    );
    assert!(!shown.contains("never"), "{shown}");
}

#[test]
fn tab_completes_collections_methods_and_operators() {
    let home = tempfile::tempdir().unwrap();
    at_a_terminal(
        home.path(),
        &["--quiet"],
        &[
            Expect("test> "),
            Send("db['my-coll'].insert({_id: 1, quantity: 5}).nInserted"),
            Send(ENTER),
            Expect("\r\n1\r\n"),
            Expect("test> "),
            Send("db.my"),
            Send(TAB),
            Expect("db[\"my-coll\"]"),
            Send(".findO"),
            Send(TAB),
            Expect("db[\"my-coll\"].findOne"),
            Send("({quan"),
            Send(TAB),
            Expect("({quantity"),
            Send(": {$gte: 1}})._id + 41"),
            Send(ENTER),
            Expect("\r\n42\r\n"),
            Expect("test> "),
            Send(CTRL_D),
        ],
    );
}

#[test]
fn a_home_that_cannot_be_written_is_no_hindrance() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "no folder").unwrap();
    let steps = [
        Expect("test> "),
        Send("1+1"),
        Send(ENTER),
        Expect("\r\n2\r\n"),
        Expect("test> "),
        Send(CTRL_D),
    ];
    at_a_terminal(&file, &["--quiet"], &steps);
}

#[test]
fn words_of_lessons_are_completed_where_they_can_be_typed() {
    let home = tempfile::tempdir().unwrap();
    let (shown, code) = at_a_terminal(
        home.path(),
        &["--quiet"],
        &[
            Expect("test> "),
            Send("learn 12"),
            Send(TAB),
            Send(TAB),
            Expect("12.1"),
            Expect("test> "),
            Send(CTRL_C),
            Expect("test> "),
            Send("trace o"),
            Send(TAB),
            Send("n\r"),
            Expect("test> "),
            Send("learn 1.1\r"),
            Expect("learn 1.1 test> "),
            Send("hin"),
            Send(TAB),
            Send(ENTER),
            Expect("Hint 1 of 3"),
            Send("learn reset "),
            Send(TAB),
            Expect("all"),
            Send(ENTER),
            Expect("Type `learn reset all` again"),
            Send("bye\r"),
            Expect("You have left the lesson"),
            Send("translate ja"),
            Send(TAB),
            Expect("va"),
            Send(ENTER),
            Expect("nothing to translate"),
            Expect("test> "),
            Send(CTRL_D),
        ],
    );
    assert_eq!(code, 0, "{shown}");
}

#[test]
fn earlier_inputs_are_suggested_and_the_right_arrow_takes_one() {
    let home = tempfile::tempdir().unwrap();
    let steps = [
        Expect("test> "),
        Send("40 + 2 // answer\r"),
        Expect("42"),
        Expect("test> "),
        Send("40"),
        // Dim, behind the cursor.
        Expect("\x1b[90m + 2 // answer"),
        Send("\x1b[C\r"),
        Expect("42"),
        Expect("test> "),
        Send("set hints off\r"),
        Expect("test> "),
        Send("history().length + 100\r"),
        Expect("103"),
        Expect("test> "),
        Send(CTRL_D),
    ];
    with(home.path(), &[], &["--quiet"], &steps);
    // Without colour a suggestion would look like what was typed.
    let steps = [
        Expect("test> "),
        Send("40"),
        Send(" + 5\r"),
        Expect("\r\n45\r\n"),
        Expect("test> "),
        Send(CTRL_D),
    ];
    let (shown, _) = at_a_terminal(home.path(), &["--quiet"], &steps);
    assert!(!shown.contains("answer"), "{shown}");
}

#[test]
fn ctrl_r_searches_and_vi_keys_edit() {
    let home = tempfile::tempdir().unwrap();
    at_a_terminal(
        home.path(),
        &["--quiet"],
        &[
            Expect("test> "),
            Send("print('needle', 6 * 7)\r"),
            Expect("needle 42"),
            Expect("test> "),
            Send("1\r"),
            Expect("test> "),
            Send("\x12need"),
            Expect("(reverse-i-search)"),
            Send(ENTER),
            Expect("needle 42"),
            Expect("test> "),
            Send("set editing vi\r"),
            Expect("set editing to vi"),
            Expect("test> "),
            // Escape, to the first column, three to the right, and another digit in its place.
            Send("10 + 1\x1b0r2A0\r"),
            Expect("\r\n30\r\n"),
            Expect("test> "),
            Send(CTRL_D),
        ],
    );
}

#[test]
fn a_pager_takes_what_is_longer_than_the_screen() {
    let home = tempfile::tempdir().unwrap();
    let (shown, _) = with(
        home.path(),
        &[("NO_COLOR", "1"), ("PAGER", "sed 's/^/paged: /'")],
        &["--quiet"],
        &[
            Expect("test> "),
            Send("set pager on\r"),
            Expect("test> "),
            Send("Array.from({length: 5}, (_, i) => i).join('\\n')\r"),
            Expect("\r\n4\r\n"),
            Expect("test> "),
            Send("Array.from({length: 50}, (_, i) => i).join('\\n')\r"),
            Expect("paged: 0\r\n"),
            Expect("paged: 49\r\n"),
            Expect("test> "),
            Send("set pager off\r"),
            Expect("test> "),
            Send(CTRL_D),
        ],
    );
    assert!(!shown.contains("paged: 4\r\n5"), "{shown}");
}

#[test]
fn operators_are_completed_where_they_can_stand() {
    let home = tempfile::tempdir().unwrap();
    at_a_terminal(
        home.path(),
        &["--quiet"],
        &[
            Expect("test> "),
            Send("db.t.insert({_id: 1, n: 5}).nInserted + 40\r"),
            Expect("\r\n41\r\n"),
            Expect("test> "),
            // `$in` is a filter's, `$inc` an update's.
            Send("db.t.update({_id: 1}, {$in"),
            Send(TAB),
            Send(": {n: 1}}).nModified + 41\r"),
            Expect("\r\n42\r\n"),
            Expect("test> "),
            Send("db.t.aggregate([{$matc"),
            Send(TAB),
            Send(": {n: {$gt"),
            Send(": 5}}}]).next().n + 37\r"),
            Expect("\r\n43\r\n"),
            Expect("test> "),
            Send(CTRL_D),
        ],
    );
}

#[test]
fn colours_suit_the_background() {
    let home = tempfile::tempdir().unwrap();
    let steps = [
        Expect("test> "),
        Send("({a: 1})\r"),
        Expect("{ \"a\" : \x1b[34m1\x1b[0m }"),
        Expect("test> "),
        Send(CTRL_D),
    ];
    with(home.path(), &[("COLORFGBG", "0;15")], &["--quiet"], &steps);
    let steps = [
        Expect("test> "),
        Send("({a: 1})\r"),
        Expect("{ \"a\" : \x1b[33m1\x1b[0m }"),
        Expect("test> "),
        Send("set background light\r"),
        Expect("test> "),
        Send("({a: 1})\r"),
        Expect("{ \"a\" : \x1b[34m1\x1b[0m }"),
        Expect("test> "),
        Send(CTRL_D),
    ];
    with(home.path(), &[("COLORFGBG", "15;0")], &["--quiet"], &steps);
}
