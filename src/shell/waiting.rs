//! A thread that tells how long a command is under way, where somebody watches.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::Output;

/// How often it tells.
const BEAT: Duration = Duration::from_millis(200);

/// Tells as long as it lives.
pub(super) struct Waiting {
    /// Dropped to end the thread.
    ends: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Waiting {
    pub(super) fn new(output: Output, text: String) -> Self {
        let (ends, ended) = channel();
        let start = Instant::now();
        let tell = move || {
            while ended.recv_timeout(BEAT) == Err(RecvTimeoutError::Timeout) {
                output.progress(|| format!("{text}: {} s", start.elapsed().as_secs()));
            }
            output.settle();
        };
        // Without the thread nothing is told.
        let thread = thread::Builder::new().name("waiting".to_owned()).spawn(tell).ok();
        Self { ends: Some(ends), thread }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.ends = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
