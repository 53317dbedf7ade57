//! The two streams a session writes to, and what happens when one of them is closed or full.

use std::io::{self, ErrorKind, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use crate::error::{Error, Result};

/// The exit code of a program whose reader went away, as if SIGPIPE had ended it.
const READER_GONE: i32 = 141;

/// How long a line may wait in the buffer.
const PACE: Duration = Duration::from_millis(50);

/// Results and notices. Results and what scripts print share one stream, so their order is kept.
///
/// A clone writes to the same streams, from another thread perhaps; a line is written as a whole.
#[derive(Clone)]
pub struct Output {
    results: Stream,
    notices: Stream,
}

type Stream = Arc<Mutex<Box<dyn Write + Send>>>;

fn stream(writer: impl Write + Send + 'static) -> Stream {
    Arc::new(Mutex::new(Box::new(writer)))
}

/// What a thread that panicked held is as good as any: bytes are written or not.
fn lock(stream: &Stream) -> MutexGuard<'_, Box<dyn Write + Send>> {
    stream.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Output {
    /// An output over two writers: `results` for what scripts print and inputs answer, `notices` for everything else.
    pub fn new(results: impl Write + Send + 'static, notices: impl Write + Send + 'static) -> Self {
        Self { results: stream(results), notices: stream(notices) }
    }

    /// Writes one line (or several) of results; the line end is added.
    ///
    /// # Errors
    /// [`Error::Exit`] when the reader is gone, [`Error::Storage`] when the disk behind the stream is full.
    pub fn line(&self, text: &str) -> Result<()> {
        let mut results = lock(&self.results);
        results
            .write_all(text.as_bytes())
            .and_then(|()| results.write_all(b"\n"))
            .map_err(|error| closed(&error))
    }

    /// Tells the user something that is no result: a warning, a notice, an error where there is no terminal.
    ///
    /// A notice that cannot be written is lost; the work goes on.
    pub fn notice(&self, text: &str) {
        let _ = self.flush();
        let mut notices = lock(&self.notices);
        let _ = writeln!(notices, "{text}").and_then(|()| notices.flush());
    }

    /// Hands everything over to the reader.
    ///
    /// # Errors
    /// As [`Output::line`].
    pub fn flush(&self) -> Result<()> {
        lock(&self.results).flush().map_err(|error| closed(&error))
    }
}

fn closed(error: &io::Error) -> Error {
    match error.kind() {
        ErrorKind::BrokenPipe => Error::Exit(READER_GONE),
        _ => Error::Storage(format!("cannot write the output: {error}")),
    }
}

/// A buffered writer that does not sit on what it has: a line leaves after 50 ms at the latest.
///
/// A script that prints a million lines is not slowed by a system call for each, and one that prints "starting" into a
/// pipe and then works for an hour is seen to have started. A thread, begun with the first line, sees to that.
pub struct Paced<W: Write + Send + 'static> {
    shared: Arc<Shared<W>>,
    begun: bool,
}

struct Shared<W: Write> {
    held: Mutex<Held<W>>,
    wake: Condvar,
}

struct Held<W: Write> {
    inner: io::BufWriter<W>,
    /// Something was written since the thread last looked.
    fresh: bool,
    ended: bool,
}

impl<W: Write> Shared<W> {
    /// What a thread that panicked held is as good as any: bytes are written or not.
    fn lock(&self) -> MutexGuard<'_, Held<W>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands over what waits, until the writer is gone.
    fn pace(&self) {
        let mut held = self.lock();
        while !held.ended {
            if !held.fresh {
                held = self.wake.wait(held).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            let waited = self.wake.wait_timeout_while(held, PACE, |held| !held.ended);
            held = waited.unwrap_or_else(PoisonError::into_inner).0;
            held.fresh = false;
            // What could not be written stays, and the next write meets the same error.
            let _ = held.inner.flush();
        }
    }
}

impl<W: Write + Send + 'static> Paced<W> {
    /// A paced writer over `inner`.
    pub fn new(inner: W) -> Self {
        let inner = io::BufWriter::with_capacity(64 * 1024, inner);
        let held = Mutex::new(Held { inner, fresh: false, ended: false });
        Self { shared: Arc::new(Shared { held, wake: Condvar::new() }), begun: false }
    }
}

impl<W: Write + Send + 'static> Write for Paced<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.begun {
            self.begun = true;
            let shared = Arc::clone(&self.shared);
            // Without the thread lines wait for the buffer to fill or the input to end.
            let _ = thread::Builder::new().name("output".to_owned()).spawn(move || shared.pace());
        }
        let mut held = self.shared.lock();
        let written = held.inner.write(bytes)?;
        if !held.fresh {
            held.fresh = true;
            self.shared.wake.notify_one();
        }
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.shared.lock().inner.flush()
    }
}

impl<W: Write + Send + 'static> Drop for Paced<W> {
    fn drop(&mut self) {
        self.shared.lock().ended = true;
        self.shared.wake.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Closed(ErrorKind);

    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_line_leaves_though_nothing_follows_it() {
        let (reader, writer) = io::pipe().expect("a pipe");
        let mut output = Paced::new(writer);
        output.write_all(b"starting\n").expect("room in the pipe");
        let mut line = String::new();
        io::BufRead::read_line(&mut io::BufReader::new(reader), &mut line).expect("a line");
        assert_eq!(line, "starting\n");
    }

    #[test]
    fn a_closed_reader_ends_the_program_and_a_full_disk_is_an_error() {
        let gone = Output::new(Closed(ErrorKind::BrokenPipe), io::sink());
        assert_eq!(gone.line("1"), Err(Error::Exit(141)));
        let full = Output::new(Closed(ErrorKind::StorageFull), io::sink());
        assert!(matches!(full.line("1"), Err(Error::Storage(_))));
    }
}
