//! The clock: time that passes, or with `--cpu` the time that a thread ran.
//!
//! On a machine that has nothing else to do the two are the same but for waits. On one that has, time that passes mostly
//! tells how busy it is. A thread's time is read from `/proc` (nanoseconds, first number of `schedstat`), so `--cpu` works
//! on Linux only.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// A running measurement of one thread.
pub(crate) struct Clock {
    started: Instant,
    /// The thread's file and what it said at the start, with `--cpu`.
    thread: Option<(PathBuf, f64)>,
}

impl Clock {
    /// Starts to measure this thread.
    pub(crate) fn here() -> Self {
        Self::start(Path::new("/proc/thread-self"))
    }

    /// Starts to measure the thread whose folder in `/proc` this is.
    pub(crate) fn start(thread: &Path) -> Self {
        let file = thread.join("schedstat");
        let thread = by_thread().then(|| (file.clone(), ran(&file)));
        Self { started: Instant::now(), thread }
    }

    /// Seconds since the start.
    pub(crate) fn seconds(&self) -> f64 {
        match &self.thread {
            None => self.started.elapsed().as_secs_f64(),
            Some((file, before)) => ran(file) - before,
        }
    }
}

/// Whether the time that threads ran is asked for.
pub(crate) fn by_thread() -> bool {
    std::env::args().any(|argument| argument == "--cpu")
}

/// How many seconds a thread has run.
fn ran(file: &Path) -> f64 {
    let text = fs::read_to_string(file).unwrap();
    let nanoseconds: f64 = text.split_whitespace().next().unwrap().parse().unwrap();
    nanoseconds / 1e9
}
