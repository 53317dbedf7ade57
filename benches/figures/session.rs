//! The program under measurement: run once, or asked line by line.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::clock::Clock;

/// `tally` with these arguments, quiet and without anything of the user's.
pub(crate) fn tally(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tally"));
    command
        .args(["--quiet", "--norc"])
        .args(arguments)
        .env_remove("TALLY_DATA")
        .stdin(Stdio::null());
    command
}

/// A `tally` that is asked line by line.
pub(crate) struct Session {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Session {
    /// A session over the data in a directory.
    pub(crate) fn over(data: &Path) -> Self {
        let mut child = tally(&["--data", data.to_str().unwrap()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, input, output }
    }

    /// The one line that an input prints.
    pub(crate) fn ask(&mut self, input: &str) -> String {
        let pipe = self.input.as_mut().unwrap();
        writeln!(pipe, "{input}").unwrap();
        pipe.flush().unwrap();
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// The number that an input prints.
    pub(crate) fn number(&mut self, input: &str) -> f64 {
        let answer = self.ask(input);
        answer.parse().unwrap_or_else(|_| panic!("{input}\nanswered {answer:?}"))
    }

    /// How many seconds an input takes that answers with `expected`.
    pub(crate) fn seconds(&mut self, input: &str, expected: &str) -> f64 {
        let clock = Clock::start(&self.thread());
        assert_eq!(self.ask(input), expected, "{input}");
        clock.seconds()
    }

    /// How many times a second `body` runs, with the variable `i` counting its calls.
    pub(crate) fn rate(&mut self, body: &str, calls: u32) -> f64 {
        let input = format!(
            "(function () {{ for (var i = 0; i < {calls}; i++) {{ {body} }} return i }})()"
        );
        f64::from(calls) / self.seconds(&input, &calls.to_string())
    }

    /// The folder of the thread that runs scripts.
    fn thread(&self) -> PathBuf {
        let threads = self.process().join("task");
        let named = |folder: &PathBuf| {
            fs::read_to_string(folder.join("comm")).is_ok_and(|name| name.trim() == "session")
        };
        let mut folders = fs::read_dir(&threads).into_iter().flatten().flatten();
        folders.find_map(|folder| Some(folder.path()).filter(named)).unwrap_or(threads)
    }

    fn process(&self) -> PathBuf {
        Path::new("/proc").join(self.child.id().to_string())
    }

    /// The memory that it has now, in megabytes.
    pub(crate) fn memory(&self) -> Option<f64> {
        self.status("VmRSS")
    }

    /// The memory that it keeps, in megabytes: the least that it has within a second of doing next to nothing, when
    /// tables are merged and what that took is given back.
    pub(crate) fn kept(&mut self) -> Option<f64> {
        let looks = (0..20).filter_map(|_| {
            self.number("sleep(50); 0");
            self.memory()
        });
        looks.reduce(f64::min)
    }

    /// The most memory it has had so far, in megabytes.
    pub(crate) fn peak(&self) -> Option<f64> {
        self.status("VmHWM")
    }

    fn status(&self, field: &str) -> Option<f64> {
        let status = fs::read_to_string(self.process().join("status")).ok()?;
        let line = status.lines().find(|line| line.starts_with(field))?;
        let kilobytes: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
        Some(kilobytes / 1024.0)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // The end of its input ends it.
        drop(self.input.take());
        drop(self.child.wait());
    }
}
