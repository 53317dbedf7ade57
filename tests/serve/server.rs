//! `tally serve`, started for one test, and a client that sends whatever bytes it likes.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStderr, ChildStdout, Command, ExitStatus, Stdio};
use std::time::Duration;

use bson::{Document, RawDocumentBuf};

use crate::program::root;

/// A running server. Dropping it kills it.
pub struct Serving {
    pub child: Child,
    pub port: u16,
    /// What it says after it has said where it listens.
    pub out: BufReader<ChildStdout>,
    err: Option<ChildStderr>,
}

impl Serving {
    /// Starts one over scratch data.
    pub fn start() -> Self {
        Self::with(&["--ephemeral"])
    }

    /// Starts one with these arguments at a port that is free, and waits until it listens.
    pub fn with(arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_tally"))
            .args(["serve", "--port", "0"])
            .args(arguments)
            .current_dir(root())
            .env_remove("TALLY_DATA")
            .env("HOME", "/nonexistent")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let (mut said, mut port) = (String::new(), None);
        while port.is_none() && out.read_line(&mut said).unwrap() > 0 {
            let last = said.lines().last().unwrap_or_default();
            let address = last.strip_prefix("Waiting for connections at mongodb://127.0.0.1:");
            port = address.and_then(|rest| rest.split('/').next()?.parse().ok());
        }
        let Some(port) = port else {
            let mut complaint = String::new();
            child.stderr.take().unwrap().read_to_string(&mut complaint).unwrap();
            panic!("tally serve does not start:\n{said}{complaint}");
        };
        let err = child.stderr.take();
        Self { child, port, out, err }
    }

    /// The address of a database.
    pub fn address(&self, db: &str) -> String {
        format!("mongodb://127.0.0.1:{}/{db}", self.port)
    }

    /// A client that speaks in bytes.
    pub fn connect(&self) -> Wire {
        Wire::to(TcpStream::connect(("127.0.0.1", self.port)).unwrap())
    }

    /// Sends it a signal.
    pub fn signal(&self, name: &str) {
        let process = self.child.id().to_string();
        assert!(Command::new("kill").args([name, &process]).status().unwrap().success());
    }

    /// Waits for its end. Answers with how it ended, and what it said on standard output and on standard error.
    pub fn ended(mut self) -> (ExitStatus, String, String) {
        let status = self.child.wait().unwrap();
        let (mut out, mut err) = (String::new(), String::new());
        self.out.read_to_string(&mut out).unwrap();
        self.err.take().unwrap().read_to_string(&mut err).unwrap();
        (status, out, err)
    }

    /// What it takes of the memory, in bytes.
    pub fn memory(&self) -> u64 {
        let path = format!("/proc/{}/status", self.child.id());
        let status = std::fs::read_to_string(path).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        let kilobytes: u64 = line.trim().trim_end_matches(" kB").parse().unwrap();
        kilobytes * 1024
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// How long an answer may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A connection.
pub struct Wire<S = TcpStream> {
    pub stream: S,
}

/// A message with this content behind its header, number 77.
pub fn message(code: i32, content: &[u8]) -> Vec<u8> {
    let length = i32::try_from(16 + content.len()).unwrap();
    let header: Vec<u8> =
        [length, 77, 0, code].iter().flat_map(|number| number.to_le_bytes()).collect();
    [header, content.to_vec()].concat()
}

/// A command as an OP_MSG.
pub fn op_msg(flags: u32, command: &Document) -> Vec<u8> {
    let body = RawDocumentBuf::try_from(command).unwrap();
    message(2013, &[&flags.to_le_bytes()[..], &[0], body.as_bytes()].concat())
}

impl Wire<TcpStream> {
    fn to(stream: TcpStream) -> Self {
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Self { stream }
    }
}

impl<S: Read + Write> Wire<S> {
    /// Sends bytes. A server that has closed the connection takes none, which [`Wire::is_closed`] tells.
    pub fn send(&mut self, bytes: &[u8]) -> &mut Self {
        let _ = self.stream.write_all(bytes);
        self
    }

    /// The next message: its kind and its content, its header checked.
    pub fn receive(&mut self) -> Option<(i32, Vec<u8>)> {
        let mut header = [0; 16];
        self.stream.read_exact(&mut header).ok()?;
        let number = |at: usize| i32::from_le_bytes(header[at..at + 4].try_into().unwrap());
        assert_eq!(number(8), 77, "it answers the message that was sent");
        let mut content = vec![0; usize::try_from(number(0)).unwrap() - 16];
        self.stream.read_exact(&mut content).ok()?;
        Some((number(12), content))
    }

    /// The document of the next message, which is an OP_MSG.
    pub fn reply(&mut self) -> Option<Document> {
        let (code, content) = self.receive()?;
        assert_eq!((code, &content[..5]), (2013, &[0; 5][..]), "a plain OP_MSG");
        Some(Document::from_reader(&content[5..]).unwrap())
    }

    /// Runs a command on a database.
    pub fn run(&mut self, db: &str, mut command: Document) -> Document {
        command.insert("$db", db);
        self.send(&op_msg(0, &command)).reply().expect("an answer")
    }

    /// Whether the server has closed the connection.
    pub fn is_closed(&mut self) -> bool {
        let mut byte = [0];
        match self.stream.read(&mut byte) {
            Ok(read) => read == 0,
            Err(error) => error.kind() == std::io::ErrorKind::ConnectionReset,
        }
    }
}
