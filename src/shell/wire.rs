//! The wire: the one place where the shell sends commands, the last of them, and a trace of all.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bson::raw::CStr;
use bson::{RawBsonRef, RawDocument, RawDocumentBuf};

use super::waiting::Waiting;
use super::{LockStep, Output, Shell};
use crate::backend::{Cursor, Request};
use crate::error::{Error, Result};
use crate::interrupt::Interrupt;
use crate::value::brief::Line;

/// How wide a line of the trace gets where no terminal says.
const WIDTH: usize = 200;

/// No line of the trace is narrower, whatever the terminal.
const NARROWEST: usize = 40;

/// The commands that may take long with much data, and do not tell how far they are.
const LONG: &[&str] =
    &["aggregate", "convertToCapped", "createIndexes", "mapReduce", "reIndex", "validate"];

/// A command as it was sent for the user.
#[derive(Clone, Debug, PartialEq)]
pub struct Sent {
    /// The database it went to.
    pub db: String,
    /// The command document; its first key is the command's name.
    pub body: RawDocumentBuf,
}

/// What is known of the commands that were sent.
#[derive(Default)]
pub(super) struct Wire {
    /// The last command of the user's own.
    last: RefCell<Option<Sent>>,
    /// Whether the commands are told of.
    tracing: Arc<AtomicBool>,
    /// What is sent now is for the shell's own purposes: not told of, and not the last.
    aside: bool,
    /// The width of the terminal, where there is one.
    width: Option<usize>,
    /// What stands before each line of the trace.
    name: String,
    /// With whom commands are sent in lock step, and the own number there.
    turns: Option<(Arc<LockStep>, usize)>,
}

impl Wire {
    /// The wire of a shell for another thread.
    pub(super) fn sibling(&self, name: String, turns: Option<(Arc<LockStep>, usize)>) -> Self {
        Self {
            last: RefCell::default(),
            tracing: Arc::clone(&self.tracing),
            aside: self.aside,
            width: self.width,
            name,
            turns,
        }
    }
}

impl Shell {
    /// Sends one command and returns the reply.
    ///
    /// # Errors
    /// As [`Backend::run`](crate::backend::Backend::run).
    pub fn run(&self, db: &str, body: RawDocumentBuf) -> Result<RawDocumentBuf> {
        let request = self.request(db, body)?;
        let _waiting = self.waiting(&request);
        let Some(trace) = self.trace() else { return self.dispatch(request) };
        trace.sent(&request, &self.db);
        let start = Instant::now();
        let reply = self.dispatch(request);
        trace.replied(start.elapsed(), &reply);
        reply
    }

    /// Sends one command that answers with a cursor.
    ///
    /// # Errors
    /// As [`Backend::stream`](crate::backend::Backend::stream).
    pub(super) fn stream(&self, db: &str, body: RawDocumentBuf) -> Result<Box<dyn Cursor>> {
        let request = self.request(db, body)?;
        let tracing = Arc::clone(&self.wire.tracing);
        let watched = |source: Box<dyn Cursor>, name: String| Watched {
            first: None,
            source: Some(source),
            trace: self.teller(),
            tracing: Arc::clone(&tracing),
            name,
        };
        let name = target(&request.body).unwrap_or_default().to_owned();
        let Some(trace) = self.trace() else {
            let source = self.dispatch_stream(request)?;
            return Ok(Box::new(watched(source, name)));
        };
        trace.sent(&request, &self.db);
        let start = Instant::now();
        let opened = self.dispatch_stream(request).and_then(|source| {
            let mut watched = watched(source, name);
            let source = watched.source.as_mut().expect("it was given a moment ago");
            // The first batch came with the command, so it is part of what is told.
            watched.first = source.next_batch()?;
            Ok(watched)
        });
        match &opened {
            Ok(watched) => trace.batch(start.elapsed(), watched.first.as_deref(), watched.id()),
            Err(error) => trace.refused(start.elapsed(), error),
        }
        Ok(Box::new(opened?))
    }

    /// Ends a transaction, which sends a command that the backend makes.
    pub(super) fn told_transaction(
        &self,
        name: &CStr,
        end: impl FnOnce(&Interrupt) -> Result<()>,
    ) -> Result<()> {
        let Some(trace) = self.trace() else { return end(&self.interrupt) };
        let mut body = RawDocumentBuf::new();
        body.append(name, 1);
        let interrupt = self.interrupt.clone();
        trace.sent(&Request { db: "admin".to_owned(), body, interrupt }, &self.db);
        let start = Instant::now();
        let ended = end(&self.interrupt);
        trace.replied(start.elapsed(), &ended.clone().map(|()| RawDocumentBuf::new()));
        ended
    }

    /// The last command that was sent for the user: not what the shell asks for purposes of its own, such as the next
    /// batch of a cursor.
    pub fn last_sent(&self) -> Option<Sent> {
        self.wire.last.borrow().clone()
    }

    /// Whether each command is told of on stderr.
    pub fn is_tracing(&self) -> bool {
        self.wire.tracing.load(Ordering::Relaxed)
    }

    /// Begins or ends to tell of each command on stderr.
    pub fn set_tracing(&mut self, on: bool) {
        self.wire.tracing.store(on, Ordering::Relaxed);
    }

    /// With `true`, what is sent from now on is for the shell's own purposes: no trace tells of it, and it is not the
    /// last command. Answers with what it was before.
    pub fn set_aside(&mut self, aside: bool) -> bool {
        std::mem::replace(&mut self.wire.aside, aside)
    }

    /// Tells the width of the terminal, for texts that are cut to it.
    pub fn set_width(&mut self, width: Option<usize>) {
        self.wire.width = width;
    }

    /// Tells, while it is kept, how long a command is under way that may take long.
    fn waiting(&self, request: &Request) -> Option<Waiting> {
        let (name, value) = request.body.iter().next()?.ok()?;
        if !self.output.is_watched() || !LONG.contains(&name.as_str()) {
            return None;
        }
        let text = match value {
            RawBsonRef::String(target) => format!("{name} {}.{target}", request.db),
            _ => format!("{name} {}", request.db),
        };
        Some(Waiting::new(self.output.clone(), text))
    }

    /// What every command becomes before it is sent.
    fn request(&self, db: &str, mut body: RawDocumentBuf) -> Result<Request> {
        self.interrupt.check()?;
        self.tell_how_to_read(&mut body);
        if let Some((turns, own)) = &self.wire.turns {
            turns.step(*own, &self.interrupt)?;
        }
        if !self.wire.aside {
            *self.wire.last.borrow_mut() = Some(Sent { db: db.to_owned(), body: body.clone() });
        }
        Ok(Request { db: db.to_owned(), body, interrupt: self.interrupt.clone() })
    }

    fn trace(&self) -> Option<Trace> {
        (self.is_tracing() && !self.wire.aside).then(|| self.teller())
    }

    fn teller(&self) -> Trace {
        let (output, name) = (self.output.clone(), self.wire.name.clone());
        Trace { output, width: self.wire.width, name }
    }
}

/// The lines that tell of a command.
struct Trace {
    output: Output,
    width: Option<usize>,
    /// What stands before each line.
    name: String,
}

impl Trace {
    fn line(&self, start: &str) -> Line {
        // The rest of a line that was cut says how much is missing.
        const REST: usize = 24;
        let width = self.width.map_or(WIDTH, |width| width.saturating_sub(REST).max(NARROWEST));
        let mut line = Line::new(width);
        line.push(&self.name);
        line.push(start);
        line
    }

    /// `-> find users {filter: {a: 1}}`; the database is named unless it is the current one.
    fn sent(&self, request: &Request, current: &str) {
        let mut line = self.line("-> ");
        let mut fields = request.body.iter().flatten();
        let Some((name, value)) = fields.next() else { return self.tell(line) };
        line.push(name.as_str());
        line.push(" ");
        match value {
            RawBsonRef::String(target) => {
                if request.db != current {
                    line.push(&request.db);
                    line.push(".");
                }
                line.push(target);
                line.push(" ");
            }
            value => {
                if request.db != current {
                    line.push("(");
                    line.push(&request.db);
                    line.push(") ");
                }
                if value != RawBsonRef::Boolean(true) && !is_one(value) {
                    line.value(value);
                    line.push(" ");
                }
            }
        }
        line.document(&request.body, |key| key == name.as_str());
        self.tell(line);
    }

    /// `<- 0.08 ms  {n: 1, ok: 1}`; of findAndModify the document, of a query the documents.
    fn replied(&self, time: Duration, reply: &Result<RawDocumentBuf>) {
        let reply = match reply {
            Ok(reply) => reply,
            Err(error) => return self.refused(time, error),
        };
        let mut line = self.timed(time);
        match reply.get("value") {
            Ok(Some(value)) if reply.get("lastErrorObject").ok().flatten().is_some() => {
                line.value(value);
            }
            _ => {
                match reply.get_document("cursor").and_then(|cursor| cursor.get_array("firstBatch"))
                {
                    Ok(batch) => line.value(RawBsonRef::Array(batch)),
                    Err(_) => line.document(reply, |_| false),
                }
            }
        }
        self.tell(line);
    }

    /// `<- 0.20 ms  [{_id: 1}, {_id: 2}]`.
    fn batch(&self, time: Duration, batch: Option<&[RawDocumentBuf]>, id: i64) {
        let mut line = self.timed(time);
        let batch = batch.unwrap_or_default();
        if id != 0 {
            let plural = if batch.len() == 1 { "" } else { "s" };
            line.push(&format!("{} document{plural} and more to come ", batch.len()));
        }
        line.documents(batch.iter().map(|document| &**document));
        self.tell(line);
    }

    /// `<- 0.10 ms  error 11000 DuplicateKey: E11000 ...`.
    fn refused(&self, time: Duration, error: &Error) {
        let mut line = self.timed(time);
        if let Some(code) = error.code() {
            line.push(&format!("error {} {}: ", code.0, code.name()));
        }
        line.push(&error.to_string());
        self.tell(line);
    }

    fn timed(&self, time: Duration) -> Line {
        self.line(&format!("<- {:.2} ms  ", time.as_secs_f64() * 1000.0))
    }

    fn tell(&self, line: Line) {
        self.output.notice(line.finish().trim_end());
    }
}

/// A cursor whose further batches are told of.
struct Watched {
    /// The first batch, when it was looked at already.
    first: Option<Vec<RawDocumentBuf>>,
    /// There until the end.
    source: Option<Box<dyn Cursor>>,
    trace: Trace,
    tracing: Arc<AtomicBool>,
    /// The collection's name.
    name: String,
}

impl Watched {
    /// Tells of a command that the backend sends by itself.
    fn own(&self, command: &str) -> Option<Instant> {
        if self.id() == 0 || !self.tracing.load(Ordering::Relaxed) {
            return None;
        }
        let mut line = self.trace.line(&format!("-> {command} {} ", self.name));
        line.push(&format!("{{cursor: {}}}", self.id()));
        self.trace.tell(line);
        Some(Instant::now())
    }
}

impl Cursor for Watched {
    fn next_batch(&mut self) -> Result<Option<Vec<RawDocumentBuf>>> {
        if let Some(first) = self.first.take() {
            return Ok(Some(first));
        }
        let start = self.own("getMore");
        let Some(source) = &mut self.source else { return Ok(None) };
        let batch = source.next_batch();
        if let Some(start) = start {
            match &batch {
                Ok(batch) => self.trace.batch(start.elapsed(), batch.as_deref(), self.id()),
                Err(error) => self.trace.refused(start.elapsed(), error),
            }
        }
        batch
    }

    fn id(&self) -> i64 {
        self.source.as_ref().map_or(0, |source| source.id())
    }

    fn resume_token(&self) -> Option<RawDocumentBuf> {
        self.source.as_ref()?.resume_token()
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let start = self.own("killCursors");
        self.source = None;
        if let Some(start) = start {
            self.trace.tell(self.trace.timed(start.elapsed()));
        }
    }
}

/// The collection that a command names.
fn target(body: &RawDocument) -> Option<&str> {
    body.iter().next()?.ok()?.1.as_str()
}

fn is_one(value: RawBsonRef<'_>) -> bool {
    match value {
        RawBsonRef::Int32(number) => number == 1,
        RawBsonRef::Int64(number) => number == 1,
        RawBsonRef::Double(number) => number == 1.0,
        _ => false,
    }
}
