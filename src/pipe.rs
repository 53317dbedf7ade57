//! Standard input that is no terminal: inputs run one by one as they arrive, without prompt or echo.

use std::io::{self, BufRead, Read};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;

use crate::dialect::Reader;
use crate::error::{Error, Result};
use crate::interrupt::{self, Interrupt};
use crate::session::{Outcome, Session};

/// The longest input, in bytes. A pipe may be of any length; one input may not.
const LONGEST: usize = 64 * 1024 * 1024;

/// How much is read at once.
const CHUNK: usize = 64 * 1024;

/// A stream that a thread of its own reads, so that Ctrl-C ends a wait for what never arrives.
pub struct Arriving {
    chunks: Receiver<io::Result<Vec<u8>>>,
    interrupt: Interrupt,
    chunk: Vec<u8>,
    /// How much of `chunk` was taken.
    taken: usize,
}

impl Arriving {
    /// Begins to read `stream`.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn new(mut stream: impl Read + Send + 'static, interrupt: Interrupt) -> Result<Self> {
        let (sender, chunks) = sync_channel(2);
        let read = move || {
            loop {
                let mut chunk = vec![0; CHUNK];
                let read = match stream.read(&mut chunk) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    read => read,
                };
                let ended = !matches!(read, Ok(1..));
                let read = read.map(|length| {
                    chunk.truncate(length);
                    chunk
                });
                if sender.send(read).is_err() || ended {
                    return;
                }
            }
        };
        thread::Builder::new()
            .name("standard input".to_owned())
            .spawn(read)
            .map_err(|error| Error::Usage(format!("cannot read standard input: {error}")))?;
        Ok(Self { chunks, interrupt, chunk: Vec::new(), taken: 0 })
    }
}

impl Read for Arriving {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(bytes)?;
        self.consume(read);
        Ok(read)
    }
}

impl BufRead for Arriving {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while self.taken == self.chunk.len() {
            match self.chunks.recv_timeout(interrupt::LOOK) {
                Ok(chunk) => {
                    self.chunk = chunk?;
                    self.taken = 0;
                    if self.chunk.is_empty() {
                        break;
                    }
                }
                Err(RecvTimeoutError::Timeout) if self.interrupt.is_raised() => {
                    return Err(io::Error::other(Error::Interrupted));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        Ok(&self.chunk[self.taken..])
    }

    fn consume(&mut self, amount: usize) {
        self.taken += amount;
    }
}

/// Runs everything that `input` holds. Answers how the last input ended, or the exit that a script asked for.
pub fn run(session: &mut Session, mut input: impl BufRead) -> Outcome {
    let mut reader = Reader::new();
    let mut last = Outcome::Done;
    let mut line = Vec::new();
    let mut pending = 0;
    loop {
        let read = match read_line(&mut input, &mut line) {
            Ok(read) => read,
            Err(error) => return session.fail(&error),
        };
        let entries = match read {
            Line::Whole => {
                let text = String::from_utf8_lossy(&line);
                pending = if reader.pending() { pending + text.len() } else { text.len() };
                if pending > LONGEST {
                    return session.fail(&too_long());
                }
                reader.push(text.trim_end_matches(['\n', '\r']))
            }
            // It is left out, unless an input that began before it would lose its middle.
            Line::TooLong => {
                last = session.fail(&too_long());
                if reader.pending() {
                    return last;
                }
                continue;
            }
            Line::End => reader.finish(),
        };
        for entry in &entries {
            last = session.submit(entry);
            if let Outcome::Exit(_) = last {
                return last;
            }
        }
        if read == Line::End {
            return last;
        }
    }
}

/// What reading a line came to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Line {
    /// There is one.
    Whole,
    /// It is longer than [`LONGEST`] and was not kept.
    TooLong,
    /// The stream is over.
    End,
}

/// Reads one line with its end into `line`. Never holds more than [`LONGEST`].
fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> Result<Line> {
    let mut too_long = false;
    loop {
        line.clear();
        let read =
            input.by_ref().take(LONGEST as u64 + 1).read_until(b'\n', line).map_err(unread)?;
        let whole = line.len() <= LONGEST || line.ends_with(b"\n");
        too_long |= line.len() > LONGEST;
        match (whole, too_long) {
            (false, _) => {}
            (true, true) => return Ok(Line::TooLong),
            (true, false) => return Ok(if read == 0 { Line::End } else { Line::Whole }),
        }
    }
}

/// Why the stream could not be read.
fn unread(error: io::Error) -> Error {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) {
        Some(Error::Interrupted) => Error::Interrupted,
        _ => Error::Usage(format!("cannot read standard input: {error}")),
    }
}

fn too_long() -> Error {
    Error::Usage("an input longer than 64 MB cannot be run".to_owned())
}
