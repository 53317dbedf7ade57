//! Standard input that is no terminal: inputs run one by one as they arrive, without prompt or echo.

use std::io::{BufRead, Read};

use crate::dialect::Reader;
use crate::error::{Error, Result};
use crate::session::{Outcome, Session};

/// The longest input, in bytes. A pipe may be of any length; one input may not.
const LONGEST: usize = 64 * 1024 * 1024;

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
        let entries = if read {
            let text = String::from_utf8_lossy(&line);
            pending = if reader.pending() { pending + text.len() } else { text.len() };
            if pending > LONGEST {
                return session.fail(&too_long());
            }
            reader.push(text.trim_end_matches(['\n', '\r']))
        } else {
            reader.finish()
        };
        for entry in &entries {
            last = session.submit(entry);
            if let Outcome::Exit(_) = last {
                return last;
            }
        }
        if !read {
            return last;
        }
    }
}

/// Reads one line with its end into `line`; `false` at the end of the stream. Never holds more than [`LONGEST`].
fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> Result<bool> {
    line.clear();
    let read = input
        .by_ref()
        .take(LONGEST as u64 + 1)
        .read_until(b'\n', line)
        .map_err(|error| Error::Usage(format!("cannot read standard input: {error}")))?;
    if line.len() > LONGEST {
        return Err(too_long());
    }
    Ok(read > 0)
}

fn too_long() -> Error {
    Error::Usage("an input longer than 64 MB cannot be run".to_owned())
}
