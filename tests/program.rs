//! Running the built program: arguments, standard input, and what came out.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// One run of `tally`, to be described and then started.
#[must_use]
pub struct Program {
    command: Command,
    input: Vec<u8>,
}

/// What a run left behind.
#[derive(Debug)]
pub struct Outcome {
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
    /// The exit code; -1 when a signal ended it.
    pub code: i32,
}

/// A run of `tally` with these arguments, in the project's folder, with nothing of the user's own settings.
pub fn tally<I: AsRef<std::ffi::OsStr>>(arguments: impl IntoIterator<Item = I>) -> Program {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tally"));
    command
        .args(arguments)
        .current_dir(root())
        .env_remove("TALLY_DATA")
        .env_remove("NO_COLOR")
        .env_remove("EDITOR")
        .env("HOME", "/nonexistent")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    Program { command, input: Vec::new() }
}

impl Program {
    /// Feeds standard input.
    pub fn input(mut self, input: impl Into<Vec<u8>>) -> Self {
        self.input = input.into();
        self
    }

    /// Sets an environment variable.
    pub fn env(mut self, name: &str, value: impl AsRef<std::ffi::OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Runs it in another folder.
    pub fn inside(mut self, folder: &Path) -> Self {
        self.command.current_dir(folder);
        self
    }

    /// Runs it to its end.
    pub fn run(mut self) -> Outcome {
        let mut child = self.command.spawn().expect("the program was built by cargo");
        let mut stdin = child.stdin.take().expect("standard input is piped");
        let input = std::mem::take(&mut self.input);
        // A program that ends before it has read everything closes the pipe; that is its right.
        let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
        let output = child.wait_with_output().expect("a child can be waited for");
        writer.join().expect("writing does not panic");
        Outcome {
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
            code: output.status.code().unwrap_or(-1),
        }
    }
}

impl Outcome {
    /// Asserts what came out on standard output, and that the exit code is 0.
    #[track_caller]
    pub fn prints(self, expected: &str) -> Self {
        same("standard output", expected, &self.out, &self.err);
        assert_eq!(self.code, 0, "exit code; standard error:\n{}", self.err);
        self
    }

    /// Asserts the exit code.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(
            self.code, code,
            "exit code; standard output:\n{}\nstandard error:\n{}",
            self.out, self.err
        );
        self
    }

    /// Asserts that standard error holds this text somewhere.
    #[track_caller]
    pub fn warns(self, text: &str) -> Self {
        assert!(self.err.contains(text), "standard error lacks {text:?}:\n{}", self.err);
        self
    }
}

/// The project's folder.
pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Panics with expected and got between rulers unless they are the same.
#[track_caller]
pub fn same(what: &str, expected: &str, got: &str, err: &str) {
    assert!(expected == got, "{}", difference(what, expected, got, err));
}

/// Expected and got between rulers.
pub fn difference(what: &str, expected: &str, got: &str, err: &str) -> String {
    let ruler = |title: &str| format!("{:-^72}", format!(" {title} "));
    let mut text = format!("{what} differs\n{}\n{expected}", ruler("expected"));
    let mut part = |title: &str, body: &str| {
        if !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&ruler(title));
        text.push('\n');
        text.push_str(body);
    };
    part("got", got);
    if !err.is_empty() {
        part("standard error", err);
    }
    part("end", "");
    text
}

/// What appears on a terminal when a text is typed at the prompt, without the control sequences.
pub fn typed(text: &Path) -> String {
    let output = Command::new("python3")
        .arg(root().join("tests/terminal.py"))
        .arg(text)
        .arg(env!("CARGO_BIN_EXE_tally"))
        .args(["--quiet", "--norc", "--ephemeral"])
        .env("TERM", "xterm")
        .env("NO_COLOR", "1")
        .env("HOME", "/nonexistent")
        .stdin(Stdio::null())
        .output()
        .expect("python3 is installed by scripts/check");
    let screen = String::from_utf8_lossy(&output.stdout).replace('\r', "");
    let mut plain = String::new();
    let mut characters = screen.chars();
    while let Some(character) = characters.next() {
        if character != '\u{1b}' {
            plain.push(character);
        } else if characters.next() == Some('[') {
            // A control sequence ends with its first letter or tilde.
            characters.by_ref().find(|c| c.is_ascii_alphabetic() || *c == '~');
        }
    }
    plain
}
