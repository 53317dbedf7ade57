//! Tailable cursors that wait: a `getMore` at the end of one stays open until something is added, or for a while.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use bson::{Document, RawBsonRef, RawDocument, RawDocumentBuf};

use super::connection::Client;
use crate::bad_value;
use crate::engine::Request;
use crate::error::Result;

/// How long a client waits that does not say so.
const WAIT: Duration = Duration::from_secs(1);

/// How often the collection is looked at.
const LOOK: Duration = Duration::from_millis(10);

/// The most cursors of that kind. Others answer at once.
const MOST: usize = 10_000;

/// A cursor that nobody asked for so long is gone at the engine, too.
const IDLE: Duration = Duration::from_secs(10 * 60);

/// The most clients that wait at the same time: each has a thread of the pool, and others need some.
const MOST_WAITING: usize = super::THREADS / 2;

/// The cursors that wait.
#[derive(Default)]
pub(super) struct Awaiting {
    /// Since when each has not been asked.
    cursors: Mutex<HashMap<i64, Instant>>,
    waiting: AtomicUsize,
}

impl Awaiting {
    fn lock(&self) -> MutexGuard<'_, HashMap<i64, Instant>> {
        self.cursors.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a field of a command is true.
fn is_set(body: &RawDocument, field: &str) -> bool {
    matches!(body.get(field), Ok(Some(RawBsonRef::Boolean(true))))
}

/// The cursor's number in a reply, and whether it came without documents.
fn cursor(reply: &RawDocument) -> Option<(i64, bool)> {
    let cursor = reply.get_document("cursor").ok()?;
    let batch = cursor.get_array("nextBatch").or_else(|_| cursor.get_array("firstBatch")).ok()?;
    Some((cursor.get_i64("id").ok()?, batch.is_empty()))
}

/// The command `find`.
pub(super) fn find(client: &Arc<Client>, request: &Request) -> Result<RawDocumentBuf> {
    let reply = client.server.engine.run(request)?;
    if is_set(&request.body, "awaitData")
        && is_set(&request.body, "tailable")
        && let Some((id, _)) = cursor(&reply)
    {
        let mut cursors = client.server.awaiting.lock();
        if cursors.len() >= MOST {
            cursors.retain(|_, since| since.elapsed() < IDLE);
        }
        if id != 0 && cursors.len() < MOST {
            cursors.insert(id, Instant::now());
        }
    }
    Ok(reply)
}

/// The command `getMore`.
pub(super) fn get_more(client: &Arc<Client>, request: &Request) -> Result<RawDocumentBuf> {
    let (server, awaiting) = (&client.server, &client.server.awaiting);
    let id = request.body.get_i64("getMore").unwrap_or_default();
    match awaiting.lock().get_mut(&id) {
        Some(since) => *since = Instant::now(),
        None => return server.engine.run(request),
    }
    // The time is one to wait for, here, and not one after which it is too late.
    let mut body = Document::try_from(&*request.body).map_err(|error| bad_value!("{error}"))?;
    body.remove("maxTimeMS");
    let body = RawDocumentBuf::try_from(&body).map_err(|error| bad_value!("{error}"))?;
    let again = Request { body, ..request.clone() };
    let crowded = awaiting.waiting.fetch_add(1, Ordering::AcqRel) >= MOST_WAITING;
    let until = Instant::now() + if crowded { Duration::ZERO } else { patience(&request.body) };
    let reply = loop {
        let reply = server.engine.run(&again);
        let waits = matches!(reply.as_deref().map(cursor), Ok(Some((id, true))) if id != 0);
        if !waits || Instant::now() >= until || server.is_stopping() {
            break reply;
        }
        if let Err(interrupted) = request.interrupt.check() {
            break Err(interrupted);
        }
        thread::sleep(LOOK);
    };
    awaiting.waiting.fetch_sub(1, Ordering::AcqRel);
    if !matches!(reply.as_deref().map(cursor), Ok(Some((id, _))) if id != 0) {
        awaiting.lock().remove(&id);
    }
    reply
}

/// How long a client wants to wait.
fn patience(body: &RawDocument) -> Duration {
    let millis = match body.get("maxTimeMS") {
        Ok(Some(RawBsonRef::Int32(millis))) => u64::try_from(millis).ok(),
        Ok(Some(RawBsonRef::Int64(millis))) => u64::try_from(millis).ok(),
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        Ok(Some(RawBsonRef::Double(millis))) if millis > 0.0 => Some(millis as u64),
        Ok(_) | Err(_) => None,
    };
    millis.filter(|millis| *millis > 0).map_or(WAIT, Duration::from_millis)
}
