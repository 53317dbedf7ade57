//! Who is logged in on a connection, and the commands by which that changes.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bson::spec::BinarySubtype;
use bson::{Binary, Bson, Document, RawBsonRef, RawDocument, RawDocumentBuf, doc};

use super::rights::Role;
use super::scram::{Exchange, First, Mechanism, failed};
use super::users::{self, User};
use crate::bad_value;
use crate::engine::Request;
use crate::error::{Code, Error, Result};
use crate::refuse;
use crate::serve::connection::Client;
use crate::serve::server::Server;

/// The only conversation that a connection has at a time.
const CONVERSATION: i32 = 1;

/// Who is logged in on a connection.
#[derive(Default)]
pub(in crate::serve) struct Session {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    user: Option<User>,
    /// How often users had changed when this one was read.
    read_at: u64,
    pending: Option<Pending>,
}

/// A login under way.
enum Pending {
    /// The client has to prove that it knows the password.
    Proof(Box<Exchange>, User, Finish),
    /// All is said; an empty message ends it.
    Empty,
}

/// Whether the last, empty, message is left out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Finish {
    AtOnce,
    ByEmptyMessage,
}

impl Session {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the client may do; `None` when nobody is logged in. A user that was changed is read again, and one that was
    /// dropped is nobody.
    pub(super) fn roles(&self, server: &Server) -> Result<Option<Vec<Role>>> {
        let mut state = self.lock();
        let now = server.access.load(Ordering::Acquire);
        if state.read_at != now
            && let Some(user) = &state.user
        {
            state.user = users::lookup(&server.engine, &user.db, &user.name)?;
            state.read_at = now;
        }
        Ok(state.user.as_ref().map(|user| user.roles.clone()))
    }
}

fn encode(reply: &Document) -> Result<RawDocumentBuf> {
    RawDocumentBuf::try_from(reply).map_err(|error| bad_value!("{error}"))
}

fn answer(payload: &str, done: bool) -> Document {
    let payload = Binary { subtype: BinarySubtype::Generic, bytes: payload.as_bytes().to_vec() };
    doc! { "conversationId": CONVERSATION, "done": done, "payload": payload, "ok": 1.0 }
}

/// The bytes that a message of a login carries.
fn payload(body: &RawDocument) -> Result<&[u8]> {
    match body.get("payload") {
        Ok(Some(RawBsonRef::Binary(payload))) => Ok(payload.bytes),
        Ok(Some(RawBsonRef::String(payload))) => Ok(payload.as_bytes()),
        Ok(_) | Err(_) => Err(failed()),
    }
}

/// The command `saslStart`.
pub(in crate::serve) fn start_login(
    client: &Arc<Client>,
    request: &Request,
) -> Result<RawDocumentBuf> {
    encode(&start(client, &request.body, &request.db)?)
}

fn start(client: &Client, body: &RawDocument, db: &str) -> Result<Document> {
    let name = body.get_str("mechanism").unwrap_or_default();
    let mechanism = Mechanism::named(name).ok_or_else(|| {
        refuse!(
            MECHANISM_UNAVAILABLE,
            "Received authentication for mechanism {name} which is unknown or not enabled"
        )
    })?;
    let first = First::read(payload(body)?)?;
    let user = users::lookup(&client.server.engine, db, &first.user)?.ok_or_else(failed)?;
    let credential = user.credential(mechanism).ok_or_else(failed)?;
    let (exchange, words) = Exchange::begin(credential, &first)?;
    let short = body.get_document("options").is_ok_and(|options| {
        matches!(options.get("skipEmptyExchange"), Ok(Some(RawBsonRef::Boolean(true))))
    });
    let finish = if short { Finish::AtOnce } else { Finish::ByEmptyMessage };
    client.session.lock().pending = Some(Pending::Proof(Box::new(exchange), user, finish));
    Ok(answer(&words, false))
}

/// The command `saslContinue`.
pub(in crate::serve) fn continue_login(
    client: &Arc<Client>,
    request: &Request,
) -> Result<RawDocumentBuf> {
    let mut state = client.session.lock();
    let reply = match state.pending.take() {
        Some(Pending::Proof(exchange, user, finish)) => {
            let words = exchange.finish(payload(&request.body)?)?;
            // Who was logged in before is not any more: one user a connection.
            state.user = Some(user);
            // Whatever changed while it went on is read with the next command.
            state.read_at = u64::MAX;
            if finish == Finish::ByEmptyMessage {
                state.pending = Some(Pending::Empty);
            }
            answer(&words, finish == Finish::AtOnce)
        }
        Some(Pending::Empty) => answer("", true),
        None => {
            return Err(Error::command(Code::PROTOCOL_ERROR, "No SASL session state found"));
        }
    };
    encode(&reply)
}

/// The command `logout`.
pub(in crate::serve) fn log_out(client: &Arc<Client>, _: &Request) -> Result<RawDocumentBuf> {
    let mut state = client.session.lock();
    (state.user, state.pending) = (None, None);
    encode(&doc! { "ok": 1.0 })
}

/// The fields of a greeting that help to log in.
pub(in crate::serve) fn greet(client: &Client, body: &RawDocument, reply: &mut Document) {
    if let Ok(asked) = body.get_str("saslSupportedMechs")
        && let Some((db, name)) = asked.split_once('.')
        && let Ok(Some(user)) = users::lookup(&client.server.engine, db, name)
    {
        reply.insert("saslSupportedMechs", user.mechanisms().collect::<Vec<_>>());
    }
    // A client may begin to log in with its greeting; what goes wrong with that is told when it begins properly.
    if let Ok(begun) = body.get_document("speculativeAuthenticate")
        && let Ok(mut begun) = start(client, begun, begun.get_str("db").unwrap_or("admin"))
    {
        begun.remove("ok");
        reply.insert("speculativeAuthenticate", begun);
    }
}

/// Who is logged in, for `connectionStatus`.
pub(in crate::serve) fn who(client: &Client, reply: &mut Document) {
    // A user who was dropped is nobody.
    let _ = client.session.roles(&client.server);
    let state = client.session.lock();
    let (Some(user), Ok(info)) = (&state.user, reply.get_document_mut("authInfo")) else { return };
    let roles = user.roles.iter().map(|role| doc! { "role": role.name(), "db": &role.db }.into());
    info.insert("authenticatedUsers", vec![doc! { "user": &user.name, "db": &user.db }]);
    info.insert("authenticatedUserRoles", roles.collect::<Vec<Bson>>());
}
