//! Lessons as a learner meets them: whole ones in both languages, the words, progress, and what must stay untouched.

mod transcripts;

use std::cell::Cell;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use bson::RawDocumentBuf;
use tally::Interrupt;
use tally::backend::{Backend, Cursor, Embedded, Request, Topology};
use tally::engine::Location;
use tally::lesson::{Settings, Source, Tutor};
use tally::print::Options;
use tally::script::Limits;
use tally::session::{self, Session};
use tally::shell::{Emulate, Output, Shell};

use crate::program::{Outcome, root, tally};

/// Runs `tally learn ...` with this typed into it.
fn learn(arguments: &[&str], typed: &[&str]) -> Outcome {
    let fixed = ["learn", "--norc", "--quiet"];
    let arguments = fixed.iter().chain(arguments);
    tally(arguments).env("LANG", "C").input(typed.join("\n") + "\n").run()
}

/// The same, with nothing kept.
fn scratch(arguments: &[&str], typed: &[&str]) -> Outcome {
    learn(&[&["--ephemeral"], arguments].concat(), typed)
}

/// How many lessons there are.
fn lessons() -> usize {
    fs::read_dir(root().join("scripts/lessons/en")).unwrap().count()
}

/// Asserts that all of these were said, in this order.
#[track_caller]
fn says(outcome: &Outcome, texts: &[&str]) {
    let all = outcome.out.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut rest = all.as_str();
    for text in texts {
        let Some(at) = rest.find(text) else {
            panic!(
                "\"{text}\" is not said, or too early:\n{}\nstderr:\n{}",
                outcome.out, outcome.err
            )
        };
        rest = &rest[at + text.len()..];
    }
}

/// Asserts that this was not said.
#[track_caller]
fn does_not_say(outcome: &Outcome, text: &str) {
    let all = outcome.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(!all.contains(text), "\"{text}\" is said:\n{}", outcome.out);
}

#[test]
fn every_page_keeps_its_bargain() {
    let outcome = tally(["learn", "--check-all"]).run();
    assert_eq!((outcome.code, outcome.err.as_str()), (0, ""), "{}", outcome.out);
    for (language, said) in ["en", "es"].iter().zip(outcome.out.lines()) {
        assert!(said.starts_with(&format!("{language}: {} lessons, ", lessons())), "{said}");
        assert!(said.ends_with(" steps: all well"), "{said}");
    }
}

#[test]
fn the_transcript_of_the_first_lesson() {
    for language in ["en", "es"] {
        let folder = root().join("tests/lessons");
        let typed = fs::read_to_string(folder.join("first.js")).unwrap();
        let outcome = tally(["learn", "1", "--norc", "--quiet", "--ephemeral", "--lang", language])
            .input(typed)
            .run();
        let expected = fs::read_to_string(folder.join(format!("first.{language}.txt"))).unwrap();
        assert_eq!(outcome.out, expected, "{language}");
    }
}

#[test]
fn the_state_is_judged_and_not_the_text() {
    let three = "function getNextSequence(n) { return db.counters.findOneAndUpdate({_id: n}, \
                 {$inc: {seq: NumberLong(1)}}, {returnNewDocument: true}).seq }";
    let outcome = scratch(
        &["2.3"],
        &[
            three,
            "getNextSequence('userid')",
            "next",
            "for (const name of ['a', 'b', 'c']) db.users.insert({name, _id: getNextSequence('userid')})",
        ],
    );
    says(&outcome, &["Step 3 of 4", "Right!", "Step 4 of 4", "Right!", "Lesson 2 is done."]);
    let wrong = scratch(
        &["2.2"],
        &[
            "'db.counters.findAndModify({query: {_id: \"userid\"}, update: {$inc: {seq: NumberLong(1)}}, new: true})'",
        ],
    );
    does_not_say(&wrong, "Right!");
}

#[test]
fn a_mistake_is_told_once_and_again_when_it_is_asked_for() {
    let outcome = scratch(
        &["1"],
        &[
            "db.counters.insert({_id: 'userid', seq: 0})",
            "db.counters.find()",
            "check",
            "db.counters.remove({})",
            "db.counters.insert({_id: 'userid', seq: 0})",
        ],
    );
    let told = outcome.out.matches("is a double").count();
    assert_eq!(told, 3, "{}", outcome.out);
    let check = scratch(&["1.1"], &["check"]);
    says(&check, &["Your task:", "Not yet.", "Your task: Insert a document"]);
}

#[test]
fn hints_end_with_the_code_and_skip_shows_and_runs_it() {
    let outcome = scratch(&["1"], &["hint", "hint", "hint", "hint"]);
    let code = "db.counters.insert({_id: \"userid\", seq: NumberLong(0)})";
    says(&outcome, &["Hint 1 of 3:", "Hint 2 of 3:", "Hint 3 of 3:", code, "Hint 3 of 3:", code]);
    let skipped = scratch(&["1"], &["db.counters.insert({_id: 1})", "skip", "db.counters.find()"]);
    says(
        &skipped,
        &[
            "The solution:",
            code,
            "WriteResult({ \"nInserted\" : 1 })",
            "Why it works:",
            "{ \"_id\" : \"userid\", \"seq\" : NumberLong(0) }",
        ],
    );
    does_not_say(&skipped, "\"_id\" : 1,");
    let class = scratch(&["1", "--no-skip"], &["skip", "hint", "hint", "hint"]);
    says(&class, &["Skipping is switched off.", "Hint 3 of 3:"]);
    does_not_say(&class, code);
}

#[test]
fn words_of_a_lesson_are_never_in_the_way_of_names() {
    let outcome = scratch(
        &["1"],
        &[
            "var next = 1; next",
            "next",
            "var hint = {a: 'mine'}",
            "hint",
            "learn hint",
            "skip",
            "next + 1",
            "learn next",
        ],
    );
    says(&outcome, &["1 1 { \"a\" : \"mine\" } Hint 1 of 3:", "The solution:", "2", "Step 2 of 4"]);
    let outside =
        tally(["--norc", "--quiet", "--ephemeral"]).input("hint\nvar skip = 3\nskip\n").run();
    assert_eq!(outside.out, "3\n");
    assert!(outside.err.contains("ReferenceError: hint is not defined"), "{}", outside.err);
}

#[test]
fn a_check_leaves_no_trace_in_the_session() {
    let outcome = scratch(
        &["3.2"],
        &[
            "for (var i = 0; i < 30; i++) db.many.insert({_id: i})",
            "db.many.find()",
            "it",
            "var taken = 'mine', stored = 2, found = 3",
            "taken + stored + found",
            "typeof fives + typeof other + typeof asked",
        ],
    );
    says(
        &outcome,
        &[
            "Type \"it\" for more",
            "{ \"_id\" : 20 }",
            "{ \"_id\" : 29 }",
            "mine23",
            "undefinedundefinedundefined",
        ],
    );
}

#[test]
fn nothing_of_the_users_own_is_touched() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().to_str().unwrap();
    let own = ["--norc", "--quiet", "--data", data];
    tally(own).input("db.counters.insert({_id: 'userid', seq: 'mine'})\n").run().exits(0);
    let outcome = learn(
        &["2", "--data", data],
        &[
            "db.dropDatabase()",
            "use other",
            "db.x.insert({a: 1})",
            "skip",
            "next",
            "bye",
            "db",
            "db.counters.find()",
            "show dbs",
        ],
    );
    says(
        &outcome,
        &["You have left the lesson", "test { \"_id\" : \"userid\", \"seq\" : \"mine\" }"],
    );
    does_not_say(&outcome, "other 0.0");
}

#[test]
fn playing_is_in_a_copy() {
    let outcome = scratch(
        &["2.2"],
        &[
            "play",
            "db.counters.remove({})",
            "db.junk.insert({a: 1})",
            "check",
            "back",
            "db.counters.count({})",
            "db.junk.count({})",
            "back",
        ],
    );
    says(
        &outcome,
        &["This is a copy", "You are playing", "Back in the lesson", "2 0", "Step 1 of 4"],
    );
}

#[test]
fn all_data_is_the_same_after_playing() {
    let all = "db.getCollectionNames().sort().forEach(c => printjson([c, db[c].find().toArray(), db[c].getIndexes()]))";
    let mark = "print('----')";
    let outcome = scratch(
        &["8.1"],
        &[
            "db.own.createIndex({a: 1}); db.own.insert({_id: 1, a: [1, {b: NumberLong(2)}]})",
            mark,
            all,
            mark,
            "play",
            "db.own.update({}, {$set: {a: 2}}); db.own.dropIndexes(); db.counters.drop(); db.more.insert({})",
            "back",
            mark,
            all,
            mark,
        ],
    );
    let parts: Vec<&str> = outcome.out.split("----\n").collect();
    assert!(parts[1].contains("\"own\"") && parts[1].contains("a_1"), "{}", outcome.out);
    assert_eq!(parts[1], parts[3]);
}

#[test]
fn reset_begins_a_step_again() {
    let outcome =
        scratch(&["1"], &["db.counters.insert({_id: 'x'})", "reset", "db.counters.count({})"]);
    says(&outcome, &["nInserted", "Step 1 of 4", "0"]);
}

#[test]
fn a_lesson_that_is_not_there_is_wrong_usage() {
    tally(["learn", "99"]).run().exits(2).warns("no lesson 99");
    tally(["learn", "1.99"]).run().exits(2).warns("Lesson 1 has 4 steps");
}

#[test]
fn a_bare_translate_writes_every_language() {
    for word in ["translate", "translate all"] {
        let input = format!("db.t.find({{a: 1}})\n{word}\n");
        let outcome = tally(["--quiet", "--ephemeral"]).input(input).run();
        for language in tally::translate::LANGUAGES {
            let one = tally(["--quiet", "--ephemeral"])
                .input(format!("db.t.find({{a: 1}})\ntranslate {}\n", language.name))
                .run();
            assert!(!one.out.is_empty() && outcome.out.contains(&one.out), "{}", outcome.out);
        }
    }
}

#[test]
fn progress_is_kept_beside_the_data_and_outlives_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("new").to_str().unwrap().to_owned();
    let outcome = learn(&["1", "--data", &data], &["skip", "next", "db.counters.find()", "next"]);
    says(&outcome, &["Step 3 of 4"]);
    let file = fs::read_to_string(Path::new(&data).join("learn.toml")).unwrap();
    assert!(
        file.contains(
            "[lessons]\n01-sequences = [2]\n01-sequences_skipped = [1]\nat = \"01-sequences.3\"\n"
        ),
        "{file}"
    );
    // A process that is killed in the middle of a lesson.
    let mut child = Command::new(env!("CARGO_BIN_EXE_tally"))
        .args(["learn", "2", "--norc", "--data", &data])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    {
        use std::io::{BufRead, BufReader, Write};
        let mut stdin = child.stdin.take().unwrap();
        writeln!(stdin, "\"before\"\nnext\nprint('here')").unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap() == "here"));
        child.kill().unwrap();
    }
    child.wait().unwrap();
    let again = learn(&["--data", &data], &["next"]);
    says(
        &again,
        &["2 of 4 steps", "> 2", "1 of 4 steps", "to go on with 2.2", "Step 2 of 4: The new value"],
    );
    // The data directory is still one for data.
    tally(["--quiet", "--norc", "--data", &data]).input("db.a.insert({})\n").run().exits(0);
    let all = learn(&["--data", &data], &["learn reset all", "learn reset all", "learn"]);
    let none = format!("0 of {} lessons done", lessons());
    says(&all, &["Type `learn reset all` again", "Forgotten.", &none]);
}

#[test]
fn without_a_place_progress_lasts_for_the_session_and_says_so() {
    let outcome = scratch(&["1"], &["skip", "next", "learn"]);
    assert_eq!(outcome.err.matches("lasts for this session only").count(), 1, "{}", outcome.err);
    says(&outcome, &["1 of 4 steps"]);
}

#[test]
fn the_language_is_that_of_the_environment() {
    let list = |lang: &str| tally(["learn", "--list", "--ephemeral"]).env("LANG", lang).run();
    says(
        &list("es_MX.UTF-8"),
        &["lecciones hechas", "1 Una colección para las secuencias", "12 Habla como tu driver"],
    );
    says(&list("xx_YY"), &["lessons done", "1 A collection for sequences"]);
    let spoken = tally(["learn", "--list", "--ephemeral", "--lang", "es"]).env("LANG", "C").run();
    says(&spoken, &["Una colección"]);
}

#[test]
fn lessons_that_are_not_there_are_named() {
    let outcome = scratch(&[], &["learn 99", "learn 1.9", "learn fly", "learn help", "show task"]);
    says(
        &outcome,
        &[
            "There is no lesson 99.",
            "Lesson 1 has 4 steps",
            "`learn fly` is no word",
            "show task",
            "No lesson is running.",
        ],
    );
}

#[test]
fn authors_begin_with_a_page_that_is_well() {
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("pages").to_str().unwrap().to_owned();
    tally(["learn", "new", &pages]).run().exits(0);
    tally(["learn", "lint", &pages]).run().prints("nothing is missing\n");
    tally(["learn", "test", &pages]).run().prints("en: 1 lesson, 2 steps: all well\n");
    let taught = scratch(&["1", "--lessons", &pages], &["skip"]);
    says(&taught, &["Your first lesson", "nInserted"]);
    assert_eq!(tally(["learn", "new", &pages]).run().code, 1);
    // A page whose solution does not pass, and whose mistake is not recognised.
    let page = Path::new(&pages).join("en/01-first.md");
    let text = fs::read_to_string(&page).unwrap();
    let spoilt = text
        .replace("db.greetings.count({_id: \"mine\"}) === 1", "false")
        .replace("name !== \"greetings\"", "false");
    fs::write(&page, spoilt).unwrap();
    let outcome = tally(["learn", "test", &pages]).run();
    assert_eq!(outcome.code, 1);
    says(
        &outcome,
        &[
            "en 1.1: the check does not pass after the solution",
            "the mistake \"another collection\" is not recognised",
        ],
    );
    fs::write(&page, text.replace("### Check", "### Chuck")).unwrap();
    let outcome = tally(["learn", "lint", &pages]).run();
    assert_eq!(outcome.code, 1);
    says(
        &outcome,
        &["en/01-first.md:", "\"Chuck\" is no section of a step", "the step has no check"],
    );
}

#[test]
fn errors_name_lessons_that_are_there() {
    let list = tally(["learn", "--list", "--ephemeral"]).env("LANG", "C").run().out;
    let mut named = 0;
    for entry in fs::read_dir(root().join("src/shell/counter")).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        for (at, _) in text.match_indices("see: learn ") {
            let number: String = text[at + 11..].chars().take_while(char::is_ascii_digit).collect();
            let line = format!(" {number}  ");
            assert!(list.lines().any(|listed| listed.contains(&line)), "learn {number}: {list}");
            named += 1;
        }
    }
    assert!(named >= 4);
}

/// An engine that says it is a server.
struct Server(Embedded);

impl Backend for Server {
    fn describe(&self) -> Topology {
        Topology::Server { address: "db.example:27017".to_owned(), replica_set: None }
    }

    fn run(&self, request: Request) -> tally::Result<RawDocumentBuf> {
        self.0.run(request)
    }

    fn stream(&self, request: Request) -> tally::Result<Box<dyn Cursor>> {
        self.0.stream(request)
    }
}

/// What was written.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Lessons with nothing special about them.
fn settings(language: &str) -> Settings {
    Settings {
        source: Source::Embedded,
        language: language.to_owned(),
        skipping: true,
        folder: None,
        transcript: None,
        seed: 0,
        now: tick,
    }
}

thread_local! {
    /// How often the clock was asked.
    static TICKS: Cell<u64> = const { Cell::new(0) };
}

/// A clock that goes on by ten seconds each time it is asked, from 2026-12-01 09:30.
fn tick() -> SystemTime {
    let ticks = TICKS.replace(TICKS.get() + 1);
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_796_117_400 + 10 * ticks)
}

#[test]
fn a_transcript_for_the_teacher_holds_answers_mistakes_hints_and_times() {
    for language in ["en", "es"] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ann.md");
        TICKS.set(0);
        let output = Output::new(std::io::sink(), std::io::sink());
        let engine = Arc::new(Embedded::new(Location::Ephemeral));
        let shell = Shell::new(engine, Interrupt::new(), Emulate::Mongo, "shop", output);
        let quiet = session::Settings {
            limits: Limits::default(),
            options: Options::PROMPT,
            json: None,
            prompt: false,
        };
        let mut session = Session::new(shell, quiet).unwrap();
        let transcript = Some(file.clone());
        session.accompany(Box::new(Tutor::new(Settings { transcript, ..settings(language) })));
        for text in [
            "learn 1.1",
            "db.counters.insert({_id: \"userid\", seq: 0})",
            "hint",
            "db.counters.remove({})",
            "play",
            "\"this is no answer\"",
            "back",
            "db.counters.insert({_id: \"userid\", seq: NumberLong(0)})",
            "\"nor is this\"",
            "next",
            "skip",
        ] {
            session.paste(text);
        }
        let golden = root().join(format!("tests/lessons/transcript.{language}.md"));
        let (found, golden) =
            (fs::read_to_string(file).unwrap(), fs::read_to_string(golden).unwrap());
        assert_eq!(found.trim_end(), golden.trim_end(), "{language}");
    }
}

#[test]
fn a_transcript_that_cannot_be_written_ends_no_lesson() {
    let outcome = scratch(&["1", "--transcript", "/dev/null/ann.md"], &["skip", "next"]);
    assert_eq!(
        outcome.err.matches("The transcript cannot be written").count(),
        1,
        "{}",
        outcome.err
    );
    says(&outcome, &["Step 2 of 4"]);
}

#[test]
fn a_challenge_stands_for_the_lessons_before_it() {
    let solution = [
        "var take = () => db.counters.findOneAndUpdate({_id: 'invoices'}, {$inc: {n: NumberLong(1)}}, {returnNewDocument: true, upsert: true})",
        "function invoiceNumber() { return take().n }",
        "for (let i = 0; i < 3; i++) db.invoices.insert({_id: invoiceNumber()})",
        "learn",
        "next",
        "challenge",
    ];
    let outcome = scratch(&["challenge"], &solution);
    says(
        &outcome,
        &[
            "Step 5 of 5: Challenge: invoices",
            "Right!",
            "Lessons 1 to 3 are marked as done.",
            "3 of 12 lessons done",
            "Lesson 4:",
            "Challenge: a busy shop",
        ],
    );
    let skipped = scratch(&["challenge"], &["skip", "learn", "learn 8.1", "challenge"]);
    says(&skipped, &["Why it works:", "0 of 12 lessons done", "Challenge: tickets"]);
    does_not_say(&skipped, "marked as done");
}

#[test]
fn a_seed_makes_the_data() {
    let stands = |seed: &str| {
        let outcome = scratch(&["9.5", "--seed", seed], &["db.counters.findOne().seq.toNumber()"]);
        outcome.out.lines().rfind(|line| !line.is_empty()).unwrap_or_default().to_owned()
    };
    assert_eq!((stands("0"), stands("7"), stands("7")), ("100".into(), "107".into(), "107".into()));
}

#[test]
fn every_page_keeps_its_bargain_with_other_data() {
    let outcome = tally(["learn", "test", "--lang", "en", "--seed", "33"]).run();
    assert!(outcome.code == 0 && outcome.out.ends_with(" steps: all well\n"), "{}", outcome.out);
}

#[test]
fn on_a_server_it_asks_first_and_stays_in_databases_of_its_own() {
    let written = Written::default();
    let output = Output::new(written.clone(), std::io::sink());
    let server = Arc::new(Server(Embedded::new(Location::Ephemeral)));
    let shell = Shell::new(server, Interrupt::new(), Emulate::Mongo, "shop", output);
    let quiet = session::Settings {
        limits: Limits::default(),
        options: Options::PROMPT,
        json: None,
        prompt: false,
    };
    let mut session = Session::new(shell, quiet).unwrap();
    session.accompany(Box::new(Tutor::new(settings("en"))));
    let mut typed = |text: &str| {
        written.0.lock().unwrap().clear();
        session.paste(text);
        (String::from_utf8(written.0.lock().unwrap().clone()).unwrap(), session.standing())
    };
    typed("db.counters.insert({_id: 1})");
    let names = "db.getMongo().getDBNames().filter(name => /^learn|shop/.test(name)).join()";
    let (asked, standing) = typed("learn 1");
    assert!(asked.contains("learn_*") && asked.contains("db.example:27017"), "{asked}");
    assert_eq!(standing, "");
    assert_eq!(typed(names).0, "shop\n");
    // Anything in between and it asks again.
    assert_eq!(typed("learn 1").1, "");
    assert_eq!(typed("learn 1").1, "learn 1.1 ");
    assert_eq!(typed("db").0, "learn_1\n");
    typed("skip");
    assert_eq!(typed(names).0, "learn_1,shop\n");
    assert_eq!(typed("play").1, "learn 1.1 play ");
    assert_eq!(typed("db.counters.count({})").0, "1\n");
    assert_eq!(typed("db").0, "learn_1_play\n");
    typed("back");
    assert_eq!(typed("learn 2").1, "learn 2.1 ");
    assert_eq!(typed(names).0, "learn_2,shop\n");
    assert_eq!(typed("bye").1, "");
    assert_eq!(typed(&format!("db; {names}")).0, "shop\n");
    assert_eq!(typed("db.counters.count({_id: 1})").0, "1\n");
}
