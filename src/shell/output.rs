//! The two streams a session writes to, and what happens when one of them is closed or full.

use std::io::{self, ErrorKind, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use unicode_width::UnicodeWidthChar;

use crate::error::{Error, Result};

/// The exit code of a program whose reader went away, as if SIGPIPE had ended it.
const READER_GONE: i32 = 141;

/// How long a line may wait in the buffer.
const PACE: Duration = Duration::from_millis(50);

/// Work that takes less long does not tell how far it is.
const PATIENCE: Duration = Duration::from_secs(1);

/// How often it does.
const BEAT: Duration = Duration::from_millis(100);

/// What a narrow terminal shows in one line.
const COLUMNS: usize = 80;

/// Begins the line again and empties it (ECMA-48).
const ERASE: &str = "\r\x1b[K";

/// Results and notices. Results and what scripts print share one stream, so their order is kept.
///
/// A clone writes to the same streams, from another thread perhaps; a line is written as a whole.
#[derive(Clone)]
pub struct Output {
    results: Stream,
    notices: Stream,
    /// What is under way, where somebody watches.
    progress: Option<Arc<Progress>>,
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
        Self { results: stream(results), notices: stream(notices), progress: None }
    }

    /// The same, where notices go to a terminal: long work tells there how far it is.
    #[must_use]
    pub fn watched(self) -> Self {
        Self { progress: Some(Arc::default()), ..self }
    }

    /// Whether long work tells how far it is.
    pub fn is_watched(&self) -> bool {
        self.progress.is_some()
    }

    /// Says how far a long piece of work is, on one line that the next word of anything replaces. It is asked often and
    /// says something ten times a second, of what has gone on for a second.
    pub fn progress(&self, text: impl FnOnce() -> String) {
        let Some(progress) = &self.progress else { return };
        if !progress.is_due() {
            return;
        }
        let shown = fitted(&text());
        let mut notices = lock(&self.notices);
        progress.shown.store(true, Ordering::Relaxed);
        let _ = write!(notices, "{ERASE}{shown}").and_then(|()| notices.flush());
    }

    /// The work is done, or the next one begins: the line of progress is gone.
    pub fn settle(&self) {
        if let Some(progress) = &self.progress {
            self.erase();
            progress.rest();
        }
    }

    /// Takes the line of progress away before something else is written.
    fn erase(&self) {
        let shown = |progress: &Arc<Progress>| progress.shown.swap(false, Ordering::Relaxed);
        if self.progress.as_ref().is_some_and(shown) {
            let mut notices = lock(&self.notices);
            let _ = write!(notices, "{ERASE}").and_then(|()| notices.flush());
        }
    }

    /// Writes one line (or several) of results; the line end is added.
    ///
    /// # Errors
    /// [`Error::Exit`] when the reader is gone, [`Error::Storage`] when the disk behind the stream is full.
    pub fn line(&self, text: &str) -> Result<()> {
        self.write(text.as_bytes(), b"\n")
    }

    /// Writes bytes of results as they are.
    ///
    /// # Errors
    /// As [`Output::line`].
    pub fn bytes(&self, bytes: &[u8]) -> Result<()> {
        self.write(bytes, b"")
    }

    fn write(&self, bytes: &[u8], end: &[u8]) -> Result<()> {
        self.erase();
        let mut results = lock(&self.results);
        results
            .write_all(bytes)
            .and_then(|()| results.write_all(end))
            .map_err(|error| closed(&error))
    }

    /// Writes results as they stand, without a line end.
    ///
    /// # Errors
    /// As [`Output::line`].
    pub fn text(&self, text: &str) -> Result<()> {
        lock(&self.results).write_all(text.as_bytes()).map_err(|error| closed(&error))
    }

    /// Writes to the stream of notices as it stands, as [`Output::notice`] does.
    pub fn notice_text(&self, text: &str) {
        let _ = self.flush();
        let mut notices = lock(&self.notices);
        let _ = write!(notices, "{text}").and_then(|()| notices.flush());
    }

    /// Tells the user something that is no result: a warning, a notice, an error where there is no terminal.
    ///
    /// A notice that cannot be written is lost; the work goes on.
    pub fn notice(&self, text: &str) {
        let _ = self.flush();
        self.erase();
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

/// When the line of progress is due, and whether there is one.
#[derive(Default)]
struct Progress {
    shown: AtomicBool,
    /// When it is due next; `None` while nothing is under way.
    due: Mutex<Option<Instant>>,
}

impl Progress {
    fn due(&self) -> MutexGuard<'_, Option<Instant>> {
        self.due.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_due(&self) -> bool {
        let now = Instant::now();
        let mut due = self.due();
        match *due {
            Some(moment) if now < moment => false,
            Some(_) => {
                *due = Some(now + BEAT);
                true
            }
            None => {
                *due = Some(now + PATIENCE);
                false
            }
        }
    }

    fn rest(&self) {
        *self.due() = None;
    }
}

/// What fits on a line of most terminals; a longer one could not be taken back.
fn fitted(text: &str) -> String {
    let mut width = 0;
    let fits = |character: &char| {
        width += character.width().unwrap_or(0);
        width < COLUMNS
    };
    text.chars().filter(|character| !character.is_control()).take_while(fits).collect()
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

    /// A writer whose text can be looked at.
    #[derive(Clone, Default)]
    struct Seen(Arc<Mutex<Vec<u8>>>);

    impl Write for Seen {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().expect("not poisoned").extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn progress_is_one_line_that_makes_way() {
        let seen = Seen::default();
        let text =
            || String::from_utf8(seen.0.lock().expect("not poisoned").clone()).expect("text");
        let output = Output::new(io::sink(), seen.clone()).watched();
        output.progress(|| unreachable!("it has just begun"));
        *output.progress.as_ref().expect("watched").due() = Some(Instant::now());
        output.progress(|| "half\nway".to_owned());
        assert_eq!(text(), "\r\x1b[Khalfway");
        output.line("a result").expect("a sink");
        output.notice("a notice");
        output.settle();
        assert_eq!(text(), "\r\x1b[Khalfway\r\x1b[Ka notice\n");
        assert_eq!(fitted(&"日".repeat(60)).chars().count(), 39);
        let unseen = Seen::default();
        Output::new(io::sink(), unseen.clone()).progress(|| unreachable!("nobody watches"));
    }

    #[test]
    fn a_closed_reader_ends_the_program_and_a_full_disk_is_an_error() {
        let gone = Output::new(Closed(ErrorKind::BrokenPipe), io::sink());
        assert_eq!(gone.line("1"), Err(Error::Exit(141)));
        let full = Output::new(Closed(ErrorKind::StorageFull), io::sink());
        assert!(matches!(full.line("1"), Err(Error::Storage(_))));
    }
}
