//! The engine of another process: a second `tally` on one data directory works with the engine of the first one.
//!
//! A [`Link`] is the process that holds the directory, by its private socket; a [`Lane`] is whoever sends one command after
//! the other, on a connection of its own. When the holder ends, the lane stays, and goes on with the next one.

use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use bson::{Document, RawBsonRef, RawDocument, RawDocumentBuf, rawdoc};
use uuid::Uuid;

use super::Request;
use crate::engine::{Engine, Location, Retry};
use crate::error::{Code, CommandError, Error, Result};
use crate::interrupt::Interrupt;
use crate::serve::Envelope;
use crate::serve::wire::{self, Answer, HEADER, Header, LARGEST_MESSAGE, Message};

/// How long the holder may be silent.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

/// How often whoever waits looks around.
const LOOK: Duration = Duration::from_millis(50);

/// The writes that are done once, however often they are sent.
const WRITES: &[&str] = &["delete", "findAndModify", "findandmodify", "insert", "update"];

/// What changes nothing, and may be sent again for that reason. A cursor has died with its engine, which says so.
const READS: &[&str] = &[
    "aggregate",
    "buildInfo",
    "buildinfo",
    "collStats",
    "collstats",
    "connectionStatus",
    "count",
    "currentOp",
    "dataSize",
    "datasize",
    "dbStats",
    "dbstats",
    "distinct",
    "endSessions",
    "explain",
    "find",
    "fsync",
    "getCmdLineOpts",
    "getLog",
    "getMore",
    "getParameter",
    "hello",
    "hostInfo",
    "isMaster",
    "ismaster",
    "killCursors",
    "listCollections",
    "listCommands",
    "listDatabases",
    "listIndexes",
    "ping",
    "serverStatus",
    "top",
    "usersInfo",
    "validate",
    "whatsmyuri",
];

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum Lost {
    /// The holder has gone. `sent` says that it may have done what it was sent.
    Gone { sent: bool },
    /// The command has failed.
    Failed(Error),
}

/// The process that holds the directory.
#[derive(Debug)]
pub(super) struct Link {
    socket: PathBuf,
    /// Its number.
    pub(super) process: String,
    /// Counts the holders that this process has seen.
    pub(super) generation: u64,
}

/// Whoever sends one command after the other.
pub(super) struct Lane {
    session: [u8; 16],
    /// The number of its last command.
    number: i64,
    stream: Option<(UnixStream, u64)>,
}

impl Default for Lane {
    fn default() -> Self {
        Self { session: Uuid::new_v4().into_bytes(), number: 0, stream: None }
    }
}

/// The name of a command.
pub(super) fn name(body: &RawDocument) -> &str {
    body.iter().next().and_then(|first| first.ok()).map_or("", |(name, _)| name.as_str())
}

/// Whether it does no harm to send a command again.
pub(super) fn is_read(body: &RawDocument) -> bool {
    let name = name(body);
    READS.binary_search(&name).is_ok() && !(name == "aggregate" && writes(body))
}

/// Whether a pipeline ends in a stage that writes.
fn writes(body: &RawDocument) -> bool {
    let Ok(stages) = body.get_array("pipeline") else { return true };
    stages
        .into_iter()
        .flatten()
        .filter_map(RawBsonRef::as_document)
        .any(|stage| matches!(name(stage), "$out" | "$merge"))
}

fn is_blocked(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

fn gone(_: std::io::Error) -> Lost {
    Lost::Gone { sent: false }
}

fn frame(db: &str, command: &RawDocument, retry: Option<Retry>) -> Result<Vec<u8>> {
    let envelope = Envelope::fold(db, command, retry);
    let bare = Message {
        request: 0,
        body: RawDocumentBuf::new(),
        database: None,
        answer: Answer::Message,
        compressor: None,
    };
    let bytes = wire::encode(&bare, 1, &envelope).unwrap_or_default();
    if bytes.len() > LARGEST_MESSAGE {
        return Err(Error::command(
            Code::BSON_OBJECT_TOO_LARGE,
            format!(
                "a command of {} bytes is too large for the process that holds the data: it takes {LARGEST_MESSAGE}",
                bytes.len()
            ),
        ));
    }
    Ok(bytes)
}

/// Sends everything; `wait` is asked now and then whether to go on.
fn send(
    stream: &mut UnixStream,
    mut bytes: &[u8],
    wait: &mut dyn FnMut() -> std::result::Result<(), Lost>,
) -> std::result::Result<(), Lost> {
    while !bytes.is_empty() {
        match stream.write(bytes) {
            Ok(0) => return Err(Lost::Gone { sent: false }),
            Ok(sent) => bytes = &bytes[sent..],
            Err(error) if is_blocked(&error) => wait()?,
            Err(error) => return Err(gone(error)),
        }
    }
    Ok(())
}

/// The next message's document; `wait` is asked now and then whether to go on.
fn receive(
    stream: &mut UnixStream,
    wait: &mut dyn FnMut() -> std::result::Result<(), Lost>,
) -> std::result::Result<RawDocumentBuf, Lost> {
    let lost = || Lost::Gone { sent: true };
    let (mut bytes, mut read) = (vec![0; HEADER], 0);
    loop {
        match stream.read(&mut bytes[read..]) {
            Ok(0) => return Err(lost()),
            Ok(more) => read += more,
            Err(error) if is_blocked(&error) => wait()?,
            Err(_) => return Err(lost()),
        }
        if read == HEADER && bytes.len() == HEADER {
            let header = Header::parse(&bytes).ok().flatten().ok_or_else(lost)?;
            bytes.resize(header.length, 0);
        }
        if read == bytes.len() {
            return wire::decode(&bytes).map(|message| message.body).map_err(|_| lost());
        }
    }
}

/// The answer in a reply, which may be a refusal.
fn answer(reply: RawDocumentBuf) -> std::result::Result<RawDocumentBuf, Lost> {
    if matches!(reply.get_f64("ok"), Ok(ok) if ok != 0.0) {
        return Ok(reply);
    }
    let refusal = CommandError::of_reply(Document::try_from(&*reply).unwrap_or_default());
    match refusal.code {
        // It is about to go, and has done only what is remembered.
        Code::INTERRUPTED_AT_SHUTDOWN => Err(Lost::Gone { sent: true }),
        _ => Err(Lost::Failed(Error::Command(Box::new(refusal)))),
    }
}

impl Link {
    /// The process that holds the directory at `location`, if it says where its socket is.
    pub(super) fn find(location: &Location, generation: u64) -> Option<Self> {
        let holder = Engine::holder(location)?;
        Some(Self { socket: holder.socket?, process: holder.process, generation })
    }

    fn connect(&self) -> std::result::Result<UnixStream, Lost> {
        let stream = UnixStream::connect(&self.socket).map_err(gone)?;
        stream.set_read_timeout(Some(LOOK)).map_err(gone)?;
        stream.set_write_timeout(Some(LOOK)).map_err(gone)?;
        Ok(stream)
    }

    /// Asks whether it is there; it has so long to say so.
    ///
    /// # Errors
    /// [`Lost::Gone`] when it is not, with `sent` when it is silent; [`Lost::Failed`] when interrupted.
    pub(super) fn greet(
        &self,
        patience: Duration,
        interrupt: &Interrupt,
    ) -> std::result::Result<(), Lost> {
        let until = Instant::now() + patience;
        let mut wait = || {
            interrupt.check().map_err(Lost::Failed)?;
            if Instant::now() < until { Ok(()) } else { Err(Lost::Gone { sent: true }) }
        };
        let mut stream = self.connect()?;
        let ping = frame("admin", &rawdoc! { "ping": 1 }, None).map_err(Lost::Failed)?;
        send(&mut stream, &ping, &mut wait)?;
        receive(&mut stream, &mut wait).map(drop)
    }

    /// What a user is told of a holder that was sent this command and does not answer.
    fn silent(&self, body: &RawDocument) -> Error {
        match silent(&self.process) {
            Error::Held(text) if !is_read(body) => {
                Error::Held(format!("{text} It may still do `{}`.", name(body)))
            }
            error => error,
        }
    }
}

/// What a user is told of a process that holds a directory and does not answer.
pub(super) fn silent(process: &str) -> Error {
    Error::Held(format!(
        "process {process} holds the data directory and does not answer for {} s. If it is stopped, let it go on (fg) or \
         end it; or use another directory with --data DIR, or a scratch one with --ephemeral.",
        PATIENCE.as_secs()
    ))
}

impl Lane {
    /// Begins the next command. A write gets what tells that it has come before.
    pub(super) fn next(&mut self, body: &RawDocument) -> Option<Retry> {
        self.number += 1;
        let known = WRITES.contains(&name(body));
        known.then_some(Retry { session: self.session, number: self.number })
    }

    /// Sends a command to the holder and waits for its answer, as long as the holder is there.
    pub(super) fn run(
        &mut self,
        link: &Link,
        request: &Request,
        retry: Option<Retry>,
    ) -> std::result::Result<RawDocumentBuf, Lost> {
        let bytes = frame(&request.db, &request.body, retry).map_err(Lost::Failed)?;
        let mut stream = match self.stream.take() {
            Some((stream, generation)) if generation == link.generation => stream,
            Some(_) | None => link.connect()?,
        };
        let mut heard = Instant::now();
        let mut wait = || {
            request.interrupt.check().map_err(Lost::Failed)?;
            if heard.elapsed() >= PATIENCE {
                match link.greet(PATIENCE, &request.interrupt) {
                    Err(Lost::Gone { sent: true }) => {
                        return Err(Lost::Failed(link.silent(&request.body)));
                    }
                    Err(Lost::Failed(error)) => return Err(Lost::Failed(error)),
                    // Its end is told by the connection.
                    Ok(()) | Err(Lost::Gone { sent: false }) => heard = Instant::now(),
                }
            }
            Ok(())
        };
        send(&mut stream, &bytes, &mut wait)?;
        let reply = receive(&mut stream, &mut wait)?;
        self.stream = Some((stream, link.generation));
        answer(reply)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_sent_again_is_known() {
        assert!(READS.is_sorted() && WRITES.is_sorted());
        assert!(is_read(&rawdoc! { "aggregate": "t", "pipeline": [{ "$match": {} }] }));
        assert!(!is_read(&rawdoc! { "aggregate": "t", "pipeline": [{ "$out": "u" }] }));
        assert!(!is_read(&rawdoc! { "drop": "t" }));
        let mut lane = Lane::default();
        let one = lane.next(&rawdoc! { "insert": "t" }).expect("a write");
        assert_eq!(lane.next(&rawdoc! { "find": "t" }), None);
        let other = lane.next(&rawdoc! { "findandmodify": "t" }).expect("a write");
        assert_eq!((one.session, one.number < other.number), (other.session, true));
    }
}
