//! SecantusDB, a MongoDB-compatible server that nobody here wrote, started for one test.

use std::fs::File;
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

use tempfile::TempDir;

use crate::program::root;

/// How long it may take to start on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// A running server over scratch data. Dropping it ends it.
pub struct Secantus {
    child: Child,
    port: u16,
    /// Its log, and whatever else it writes.
    _folder: TempDir,
}

impl Secantus {
    /// Starts one with further arguments and waits until it accepts connections.
    pub fn start(arguments: &[&str]) -> Self {
        Self::start_over(":memory:", arguments)
    }

    /// As [`Secantus::start`], with its data in a folder.
    pub fn start_over(storage: &str, arguments: &[&str]) -> Self {
        let program = root().join("target/tools/secantus/bin/secantusd-py");
        assert!(program.is_file(), "SecantusDB is missing: `scripts/check tests` installs it");
        // Another program may take a port between its choice and its use.
        let mut log = String::new();
        for _ in 0..3 {
            let port = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("log");
            let written = File::create(&path).unwrap();
            let child = Command::new(&program)
                .args(["--host", "127.0.0.1", "--storage-path", storage, "--port"])
                .arg(port.to_string())
                .args(arguments)
                .current_dir(folder.path())
                // Killed, it cannot remove its scratch data; the folder goes with the server.
                .env("TMPDIR", folder.path())
                .stdin(Stdio::null())
                .stdout(written.try_clone().unwrap())
                .stderr(written)
                .spawn()
                .unwrap();
            let mut server = Self { child, port, _folder: folder };
            if server.accepts() {
                return server;
            }
            log = fs::read_to_string(path).unwrap();
        }
        panic!("SecantusDB does not start:\n{log}");
    }

    /// Waits until it accepts connections; false when it ended instead.
    fn accepts(&mut self) -> bool {
        let started = Instant::now();
        while started.elapsed() < PATIENCE {
            if self.child.try_wait().unwrap().is_some() {
                return false;
            }
            if TcpStream::connect(("127.0.0.1", self.port)).is_ok() {
                return true;
            }
            thread::sleep(Duration::from_millis(50));
        }
        false
    }

    /// The address of a database.
    pub fn address(&self, db: &str) -> String {
        format!("mongodb://127.0.0.1:{}/{db}", self.port)
    }

    /// Ends it as its administrator would, so that its data is complete.
    pub fn stop(mut self) {
        let process = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &process]).status().unwrap().success());
        self.child.wait().unwrap();
    }

    /// Where it listens.
    pub fn port(&self) -> u16 {
        self.port
    }
}

impl Drop for Secantus {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
