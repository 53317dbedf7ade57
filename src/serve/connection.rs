//! One connection: a message, its command, its answer, and the next one.

use std::io::Write;
use std::pin::pin;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};

use bson::{RawDocument, RawDocumentBuf, doc};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::about;
use super::access::Session;
use super::memory::Share;
use super::private::Envelope;
use super::reader::{Ended, PATIENCE, Reader};
use super::server::{Server, add};
use super::wire::{self, Answer, Header, Malformed, Message, OpCode};
use crate::engine::Request;
use crate::error::{Code, CommandError, Error, Result};
use crate::interrupt::Interrupt;
use crate::refuse;

/// Longer messages are read on a thread of the pool, not between other connections.
const SHORT: usize = 64 * 1024;

/// Whoever is at the other end of a connection.
pub(super) struct Client {
    /// The number of the connection.
    pub(super) number: i32,
    /// Where the client is.
    pub(super) peer: String,
    /// What the client's program calls itself.
    pub(super) application: OnceLock<String>,
    /// It is on this machine.
    pub(super) local: bool,
    /// It is another process of this user, which came by the private socket and may do everything.
    pub(super) joined: bool,
    /// Who is logged in.
    pub(super) session: Session,
    pub(super) server: Arc<Server>,
}

impl Client {
    pub(super) fn new(server: &Arc<Server>, peer: String, local: bool) -> Self {
        let statistics = &server.statistics;
        statistics.connections.fetch_add(1, Ordering::Relaxed);
        let number = statistics.created.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        let (application, session) = (OnceLock::new(), Session::default());
        let server = Arc::clone(server);
        Self { number, peer, application, local, joined: false, session, server }
    }

    /// Another process of this user.
    pub(super) fn joined(server: &Arc<Server>, peer: String) -> Self {
        let mut client = Self::new(server, peer, true);
        client.joined = true;
        client
    }

    /// Notes why the connection is closed, unless the client has done that itself.
    fn note(&self, ended: &Ended) {
        let reason: &dyn std::fmt::Display = match ended {
            Ended::Gone => return,
            Ended::Malformed(malformed) => malformed,
            Ended::Stalled => &"a message has stopped in the middle",
            Ended::Crowded => &"too many large messages are on their way",
        };
        if !self.server.quiet {
            let Self { number, peer, .. } = self;
            let line = format!("connection {number} from {peer} is closed: {reason}\n");
            // Nobody to read it is no reason to end.
            let _ = std::io::stderr().write_all(line.as_bytes());
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.server.statistics.connections.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A message to be run, read already or not.
enum Work {
    Message(Message),
    Bytes(Vec<u8>),
}

/// Answers a client until it goes, sends what is no message, or the server ends.
pub(super) async fn attend<S>(client: Arc<Client>, mut stream: S)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let server = Arc::clone(&client.server);
    let mut stopped = pin!(server.stopped());
    let mut reader = Reader::default();
    let mut answers = 0_i32;
    loop {
        let next = tokio::select! {
            biased;
            () = &mut stopped => break,
            next = reader.next(&mut stream, &server.memory) => next,
        };
        let (header, mut share) = match next {
            Ok(next) => next,
            Err(ended) => {
                client.note(&ended);
                break;
            }
        };
        add(&server.statistics.received, header.length);
        answers = answers.wrapping_add(1);
        let turn = Turn { client: &client, header, answer: answers };
        let Some(answer) = turn.take(&mut reader, &mut stream, &mut share).await else { break };
        if answer.is_empty() {
            continue;
        }
        drop(share);
        let Some(_share) = server.memory.of_answer(answer.len()).await else {
            client.note(&Ended::Crowded);
            break;
        };
        if send(&mut stream, &answer).await.is_none() {
            break;
        }
        add(&server.statistics.sent, answer.len());
    }
    // The client is told that nothing more comes.
    let _ = timeout(PATIENCE, stream.shutdown()).await;
}

/// Sends everything, to a client that takes it.
async fn send<S: AsyncWrite + Unpin>(stream: &mut S, mut bytes: &[u8]) -> Option<()> {
    while !bytes.is_empty() {
        match timeout(PATIENCE, stream.write(bytes)).await {
            Ok(Ok(sent)) if sent > 0 => bytes = &bytes[sent..],
            Ok(Ok(_) | Err(_)) | Err(_) => return None,
        }
    }
    timeout(PATIENCE, stream.flush()).await.ok()?.ok()
}

/// A message and its answer.
struct Turn<'a> {
    client: &'a Arc<Client>,
    header: Header,
    /// The number of the answer.
    answer: i32,
}

impl Turn<'_> {
    /// Runs the message that `reader` has. Answers with what is to be sent, which is nothing for a message that wants no
    /// answer; `None` ends the connection.
    async fn take<S: AsyncRead + Unpin>(
        self,
        reader: &mut Reader,
        stream: &mut S,
        share: &mut Share,
    ) -> Option<Vec<u8>> {
        let Self { client, header, answer } = self;
        let unfolded = wire::unfolded(&header, reader.first(header.length));
        if !client.server.memory.grow(share, unfolded).await {
            client.note(&Ended::Crowded);
            return None;
        }
        // A client that goes away wants no answer any more. One that never wanted any may go at once; of a compressed
        // message it is not known yet.
        let mut watching = header.code != OpCode::Compressed
            && !wire::is_unanswered(&header, reader.first(header.length));
        let work = if header.code != OpCode::Compressed && header.length <= SHORT {
            match wire::decode(reader.first(header.length)) {
                Ok(message) => {
                    reader.forget(header.length);
                    Work::Message(message)
                }
                Err(malformed) => {
                    client.note(&Ended::Malformed(malformed));
                    return None;
                }
            }
        } else {
            Work::Bytes(reader.take(header.length))
        };
        let interrupt = client.server.interrupt.child();
        let mut job = spawn_blocking({
            let (client, interrupt) = (Arc::clone(client), interrupt.clone());
            move || perform(&client, work, interrupt, answer)
        });
        let mut gone = false;
        let done = loop {
            tokio::select! {
                biased;
                done = &mut job => break done,
                more = reader.more(stream), if watching && !reader.is_ahead() => {
                    if matches!(more, Ok(0) | Err(_)) {
                        interrupt.raise();
                        (watching, gone) = (false, true);
                    }
                }
            }
        };
        match done {
            Ok(Ok(answer)) => (!gone).then_some(answer),
            Ok(Err(malformed)) => {
                client.note(&Ended::Malformed(malformed));
                None
            }
            // A thread that panicked has said so; its connection ends with it.
            Err(_) => None,
        }
    }
}

/// Runs a message on a thread that may wait. Answers with the bytes to send.
fn perform(
    client: &Arc<Client>,
    work: Work,
    interrupt: Interrupt,
    answer: i32,
) -> std::result::Result<Vec<u8>, Malformed> {
    let mut message = match work {
        Work::Message(message) => message,
        Work::Bytes(bytes) => wire::decode(&bytes)?,
    };
    let body = std::mem::take(&mut message.body);
    let reply = match run(client, &message, body, interrupt) {
        Ok(reply) => reply,
        Err(Error::Connection(reason)) => return Err(Malformed(reason)),
        Err(error) => refusal(&client.server, error),
    };
    Ok(wire::encode(&message, answer, &reply).unwrap_or_default())
}

/// Runs the command of a message.
fn run(
    client: &Arc<Client>,
    message: &Message,
    body: RawDocumentBuf,
    interrupt: Interrupt,
) -> Result<RawDocumentBuf> {
    let server = &client.server;
    add(&server.statistics.requests, 1);
    if client.joined {
        let Envelope { db, command, retry } = Envelope::unfold(&body)?;
        let request = Arc::new(Request { db, body: command, interrupt });
        let _running = server.operations.begin(client, &request);
        return about::run(client, &request, retry);
    }
    let db = match &message.database {
        Some(db) => db.clone(),
        None => database(&body)?,
    };
    if message.answer == Answer::Reply {
        about::check_old(&body)?;
    }
    let request = Arc::new(Request { db, body, interrupt });
    let _running = server.operations.begin(client, &request);
    about::run(client, &request, None)
}

/// The database that a command is for.
fn database(body: &RawDocument) -> Result<String> {
    match body.get("$db") {
        Ok(Some(name)) => match name.as_str() {
            Some(name) => Ok(name.to_owned()),
            None => Err(refuse!(
                TYPE_MISMATCH,
                "BSON field 'OpMsgRequest.$db' is the wrong type, expected type 'string'"
            )),
        },
        Ok(None) => Err(Error::command(Code(40571), "OP_MSG requests require a $db argument")),
        Err(error) => Err(refuse!(INVALID_BSON, "{error}")),
    }
}

/// What is answered to a command that failed.
fn refusal(server: &Server, error: Error) -> RawDocumentBuf {
    let error = match error {
        Error::Command(error) => *error,
        Error::Interrupted if server.is_stopping() => {
            plain(Code::INTERRUPTED_AT_SHUTDOWN, "interrupted at shutdown")
        }
        Error::Interrupted => plain(Code::INTERRUPTED, "operation was interrupted"),
        Error::Storage(message)
        | Error::Held(message)
        | Error::Connection(message)
        | Error::Usage(message) => plain(Code::INTERNAL_ERROR, &message),
        other @ (Error::Syntax(_) | Error::Thrown(_) | Error::Raised(_) | Error::Exit(_)) => {
            plain(Code::INTERNAL_ERROR, &other.to_string())
        }
    };
    let reply = RawDocumentBuf::try_from(error.reply());
    reply.unwrap_or_else(|_| RawDocumentBuf::try_from(doc! { "ok": 0.0 }).unwrap_or_default())
}

fn plain(code: Code, message: &str) -> CommandError {
    CommandError { code, message: message.to_owned(), details: doc! {}, labels: Vec::new() }
}
