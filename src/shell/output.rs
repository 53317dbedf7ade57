//! The two streams a session writes to, and what happens when one of them is closed or full.

use std::io::{self, ErrorKind, Write};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};

/// The exit code of a program whose reader went away, as if SIGPIPE had ended it.
const READER_GONE: i32 = 141;

/// How long a line may wait in the buffer while more are being written.
const PACE: Duration = Duration::from_millis(50);

/// Results and notices. Results and what scripts print share one stream, so their order is kept.
pub struct Output {
    results: Box<dyn Write + Send>,
    notices: Box<dyn Write + Send>,
}

impl Output {
    /// An output over two writers: `results` for what scripts print and inputs answer, `notices` for everything else.
    pub fn new(results: impl Write + Send + 'static, notices: impl Write + Send + 'static) -> Self {
        Self { results: Box::new(results), notices: Box::new(notices) }
    }

    /// Writes one line (or several) of results; the line end is added.
    ///
    /// # Errors
    /// [`Error::Exit`] when the reader is gone, [`Error::Storage`] when the disk behind the stream is full.
    pub fn line(&mut self, text: &str) -> Result<()> {
        self.results
            .write_all(text.as_bytes())
            .and_then(|()| self.results.write_all(b"\n"))
            .map_err(|error| closed(&error))
    }

    /// Tells the user something that is no result: a warning, a notice, an error where there is no terminal.
    ///
    /// A notice that cannot be written is lost; the work goes on.
    pub fn notice(&mut self, text: &str) {
        let _ = self.flush();
        let _ = writeln!(self.notices, "{text}").and_then(|()| self.notices.flush());
    }

    /// Hands everything over to the reader.
    ///
    /// # Errors
    /// As [`Output::line`].
    pub fn flush(&mut self) -> Result<()> {
        self.results.flush().map_err(|error| closed(&error))
    }
}

fn closed(error: &io::Error) -> Error {
    match error.kind() {
        ErrorKind::BrokenPipe => Error::Exit(READER_GONE),
        _ => Error::Storage(format!("cannot write the output: {error}")),
    }
}

/// A buffered writer that does not sit on what it has: lines leave after 50 ms at the latest while more are written.
///
/// A script that prints a million lines is not slowed by a system call for each, and one that prints its progress every
/// second into a pipe is seen to do so.
pub struct Paced<W: Write> {
    inner: io::BufWriter<W>,
    flushed: Instant,
}

impl<W: Write> Paced<W> {
    /// A paced writer over `inner`.
    pub fn new(inner: W) -> Self {
        Self { inner: io::BufWriter::with_capacity(64 * 1024, inner), flushed: Instant::now() }
    }
}

impl<W: Write> Write for Paced<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        if bytes.ends_with(b"\n") && self.flushed.elapsed() >= PACE {
            self.flush()?;
        }
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.flushed = Instant::now();
        self.inner.flush()
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
    fn a_closed_reader_ends_the_program_and_a_full_disk_is_an_error() {
        let mut gone = Output::new(Closed(ErrorKind::BrokenPipe), io::sink());
        assert_eq!(gone.line("1"), Err(Error::Exit(141)));
        let mut full = Output::new(Closed(ErrorKind::StorageFull), io::sink());
        assert!(matches!(full.line("1"), Err(Error::Storage(_))));
    }
}
