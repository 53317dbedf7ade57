//! Several processes on one data directory: the first holds it, the others join it, and take it over when it ends.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use super::server::Serving;
use crate::program::{root, tally};

/// A shell on a data directory, fed line by line.
struct Shell {
    child: Child,
    input: Option<ChildStdin>,
    out: BufReader<ChildStdout>,
}

impl Shell {
    fn on(data: &Path) -> Self {
        Self::with(data, &[])
    }

    fn with(data: &Path, variables: &[(&str, &Path)]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_tally"))
            .args(["--quiet", "--norc", "--data"])
            .arg(data)
            .current_dir(root())
            .env("HOME", "/nonexistent")
            .envs(variables.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let input = child.stdin.take();
        let out = BufReader::new(child.stdout.take().unwrap());
        Self { child, input, out }
    }

    /// Sends a line of code.
    fn tell(&mut self, code: &str) {
        let mut input = self.input.as_ref().unwrap();
        writeln!(input, "{code}").unwrap();
    }

    /// The next line that it prints.
    fn line(&mut self) -> String {
        let mut line = String::new();
        self.out.read_line(&mut line).unwrap();
        if line.is_empty() {
            let mut err = String::new();
            self.child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
            panic!("it has ended: {err}");
        }
        line.trim_end().to_owned()
    }

    /// What an expression is.
    fn ask(&mut self, expression: &str) -> String {
        self.tell(&format!("print(tojson({expression}))"));
        self.line()
    }

    fn signal(&self, name: &str) {
        let process = self.child.id().to_string();
        assert!(Command::new("kill").args([name, &process]).status().unwrap().success());
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Ends it as the end of its input does. Answers with the rest of its output.
    fn end(mut self) -> String {
        self.input = None;
        let mut rest = String::new();
        self.out.read_to_string(&mut rest).unwrap();
        let mut err = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        assert!(self.child.wait().unwrap().success(), "{err}");
        rest
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The process that holds a directory.
fn holder(data: &Path) -> u32 {
    let text = std::fs::read_to_string(data.join("HOLDER")).unwrap();
    text.lines().next().unwrap().parse().unwrap()
}

#[test]
fn two_shells_see_what_the_other_one_does() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let mut one = Shell::on(&data);
    assert_eq!(one.ask("db.t.insert({_id: 1}).nInserted"), "1");
    let mut other = Shell::on(&data);
    assert_eq!(other.ask("db.t.find().toArray()"), r#"[ { "_id" : 1 } ]"#);
    assert_eq!(other.ask("counter('users')"), "1");
    assert_eq!(one.ask("counter('users')"), "2");
    assert_eq!(other.ask("db.t.insert({_id: 1}).getWriteError().code"), "11000");
    assert_eq!(other.ask("db.runCommand({frobnicate: 1}).codeName"), r#""CommandNotFound""#);
    assert_eq!(other.ask("db.t.update({_id: 1}, {$set: {n: NumberLong(5)}}).nModified"), "1");
    assert_eq!(one.ask("db.t.findOne()"), r#"{ "_id" : 1, "n" : NumberLong(5) }"#);
    assert_eq!(holder(&data), one.child.id());
    let socket = std::fs::metadata(data.join("SOCKET")).unwrap();
    assert_eq!(socket.permissions().mode() & 0o777, 0o600);
    let code = "db.t.count()";
    tally(["--quiet", "--norc", "--data", data.to_str().unwrap(), "--eval", code])
        .run()
        .prints("1\n");
    assert_eq!((one.end(), other.end()), (String::new(), String::new()));
    assert!(!data.join("SOCKET").exists());
}

#[test]
fn a_cursor_ends_with_the_process_whose_engine_it_is_in() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let mut one = Shell::on(&data);
    one.ask("db.t.insert([{_id: 1}, {_id: 2}, {_id: 3}, {_id: 4}]).nInserted");
    let mut other = Shell::on(&data);
    other.tell("c = db.t.find().batchSize(2); null");
    assert_eq!(other.line(), "null");
    assert_eq!(other.ask("c.next()"), r#"{ "_id" : 1 }"#);
    one.end();
    other.tell("try { c.next(); c.next() } catch (error) { print(error.code) }");
    assert_eq!(other.line(), "43");
    assert_eq!(other.ask("db.t.count()"), "4");
    assert_eq!(holder(&data), other.child.id());
}

/// Three processes: the first is killed, one of the others has the data, and then the last one.
#[test]
fn exactly_one_takes_the_directory_over() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let mut first = Shell::on(&data);
    assert_eq!(first.ask("counter('users')"), "1");
    let mut others = [Shell::on(&data), Shell::on(&data)];
    assert_eq!(others[0].ask("counter('users')"), "2");
    assert_eq!(others[1].ask("counter('users')"), "3");
    first.kill();
    others.iter_mut().for_each(|shell| shell.tell("print(counter('users'))"));
    let numbers: BTreeSet<String> = others.iter_mut().map(Shell::line).collect();
    assert_eq!(numbers, ["4", "5"].map(str::to_owned).into());
    let [one, other] = others;
    let second = holder(&data);
    let (second, mut last) = if one.child.id() == second { (one, other) } else { (other, one) };
    assert_eq!(holder(&data), second.child.id());
    second.kill();
    assert_eq!(last.ask("counter('users')"), "6");
    assert_eq!(holder(&data), last.child.id());
}

/// The holder is killed while others take numbers; each number is handed out once, and none is missing.
#[test]
fn killed_under_load_every_number_is_accounted_for() {
    const EACH: usize = 300;
    for round in 0..3 {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let mut first = Shell::on(&data);
        assert_eq!(first.ask("counter.peek('users')"), "null");
        let mut others: Vec<Shell> = (0..3).map(|_| Shell::on(&data)).collect();
        for shell in &mut others {
            shell.tell(&format!("for (let i = 0; i < {EACH}; i++) print(counter('users'))"));
        }
        let mut taken = Vec::new();
        // Another moment each time.
        for _ in 0..20 + round * 37 {
            taken.extend(others.iter_mut().map(Shell::line));
        }
        first.kill();
        for shell in &mut others {
            for _ in 20 + round * 37..EACH {
                taken.push(shell.line());
            }
        }
        let numbers: BTreeSet<usize> = taken.iter().map(|number| number.parse().unwrap()).collect();
        assert_eq!(numbers.len(), taken.len(), "a number was handed out twice");
        assert!(numbers.into_iter().eq(1..=3 * EACH), "a number is missing");
        assert_eq!(others[0].ask("counter.peek('users')"), (3 * EACH).to_string());
    }
}

/// Writes of all kinds while the holder is killed: each is done once, and answered as if nothing had happened.
#[test]
fn killed_under_load_every_write_is_done_once() {
    const EACH: usize = 100;
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let mut first = Shell::on(&data);
    let ready = "db.many.insert(Array.from({length: 50}, (_, n) => ({_id: n, n: 0}))).nInserted";
    assert_eq!(first.ask(ready), "50");
    let work = [
        "print(db.added.insert([{n: i}, {n: i}, {n: i}]).nInserted)",
        "print(db.many.update({}, {$inc: {n: 1}}, {multi: true}).nModified)",
        "print(db.one.update({_id: 1}, {$inc: {n: 1}}, {upsert: true}).nMatched)",
        "db.gone.insert([{i: i}, {i: i}]); print(db.gone.remove({i: i}).nRemoved)",
    ];
    let mut others: Vec<Shell> = work.iter().map(|_| Shell::on(&data)).collect();
    for (shell, code) in others.iter_mut().zip(work) {
        shell.tell(&format!("for (let i = 0; i < {EACH}; i++) {{ {code} }}"));
    }
    let mut said: Vec<Vec<String>> = vec![Vec::new(); work.len()];
    for lines in 0..EACH {
        if lines == 25 {
            first.signal("-KILL");
        }
        for (shell, said) in others.iter_mut().zip(&mut said) {
            said.push(shell.line());
        }
    }
    assert!(said[0].iter().all(|line| line == "3"), "{:?}", said[0]);
    assert!(said[1].iter().all(|line| line == "50"), "{:?}", said[1]);
    assert_eq!(said[2].iter().filter(|line| *line == "0").count(), 1, "{:?}", said[2]);
    assert!(said[3].iter().all(|line| line == "2"), "{:?}", said[3]);
    let shell = &mut others[0];
    assert_eq!(shell.ask("db.added.count()"), (3 * EACH).to_string());
    assert_eq!(shell.ask("db.many.distinct('n')"), format!("[ {EACH} ]"));
    assert_eq!(shell.ask("db.one.findOne().n"), EACH.to_string());
    assert_eq!(shell.ask("db.gone.count()"), "0");
}

#[test]
fn a_holder_that_does_not_answer_is_named_and_not_bypassed() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let mut first = Shell::on(&data);
    assert_eq!(first.ask("counter('users')"), "1");
    let mut other = Shell::on(&data);
    assert_eq!(other.ask("counter('users')"), "2");
    first.signal("-STOP");
    let words = format!(
        "process {} holds the data directory and does not answer for 5 s",
        first.child.id()
    );
    let path = data.to_str().unwrap();
    let third = || tally(["--quiet", "--norc", "--data", path, "--eval", "counter('users')"]).run();
    let waiting = std::thread::spawn({
        let path = path.to_owned();
        let code = "db.counters.count()";
        move || tally(["--quiet", "--norc", "--wait", "--data", &path, "--eval", code]).run()
    });
    let refused = third();
    assert!(refused.err.contains(&words), "{}", refused.err);
    // So is whoever has joined it already.
    other.tell("try { db.t.count() } catch (error) { print(error.message) }");
    let told = other.line();
    assert!(told.contains(&words) && !told.contains("may still do"), "{told}");
    other.tell("try { db.t.insert({}) } catch (error) { print(error.message) }");
    let told = other.line();
    assert!(told.contains(&words) && told.ends_with("It may still do `insert`."), "{told}");
    assert!(!waiting.is_finished(), "it waits");
    first.signal("-CONT");
    waiting.join().unwrap().prints("1\n");
    third().prints("3\n");
    assert_eq!(other.ask("counter('users')"), "4");
}

#[test]
fn a_long_path_is_joined_by_a_socket_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("x".repeat(110));
    let runtime = folder.path().join("run");
    std::fs::create_dir(&runtime).unwrap();
    let mut one = Shell::with(&data, &[("XDG_RUNTIME_DIR", &runtime)]);
    assert_eq!(one.ask("counter('users')"), "1");
    // Where it is stands in the directory: the others need no such variable.
    let mut other = Shell::on(&data);
    assert_eq!(other.ask("counter('users')"), "2");
    let folder = std::fs::read_dir(&runtime).unwrap().next().unwrap().unwrap();
    assert!(folder.file_name().to_str().unwrap().starts_with("tally-"));
    assert_eq!(folder.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_shell_joins_a_server_whose_data_it_wants() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = Serving::with(&["--data", data.to_str().unwrap(), "--auth"]);
    let mut shell = Shell::on(&data);
    assert_eq!(shell.ask("counter('users')"), "1");
    let mut stranger = server.connect();
    let refused = stranger.run("test", bson::doc! { "count": "counters" });
    assert_eq!(refused.get_i32("code").ok(), Some(13), "{refused}");
    server.signal("-TERM");
    assert_eq!(server.ended().0.code(), Some(0));
    assert_eq!(shell.ask("counter('users')"), "2");
}

#[test]
fn an_interrupted_command_leaves_nothing_running_at_the_holder() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let mut one = Shell::on(&data);
    one.ask("db.t.insert(Array.from({length: 1000}, (_, n) => ({_id: n}))).nInserted");
    let mut other = Shell::on(&data);
    assert_eq!(other.ask("1"), "1");
    let product = "{$lookup: {from: 't', pipeline: [], as: 'a'}}, {$unwind: '$a'}";
    other.tell(&format!("db.t.aggregate([{product}, {product}, {product}, {{$count: 'n'}}])"));
    let mut third = Shell::on(&data);
    let running = "db.currentOp().inprog.filter(one => one.ns === 'test.t').length";
    while third.ask(running) != "1" {}
    other.signal("-INT");
    while third.ask(running) != "0" {}
    assert_eq!(third.ask("db.t.count()"), "1000");
}
