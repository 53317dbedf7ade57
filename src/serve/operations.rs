//! What is running: for `currentOp`, for `killOp`, and so that a client that went away leaves nothing behind.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use bson::{DateTime, Document, RawBsonRef, RawDocument, doc};

use super::connection::Client;
use crate::engine::Request;

/// A command that runs.
struct Operation {
    client: Arc<Client>,
    request: Arc<Request>,
    since: Instant,
}

/// The commands that run, by number.
#[derive(Default)]
pub(super) struct Operations {
    running: Mutex<Running>,
}

#[derive(Default)]
struct Running {
    last: i32,
    operations: BTreeMap<i32, Operation>,
}

/// A command runs as long as it lives.
pub(super) struct Ticket<'a> {
    operations: &'a Operations,
    number: i32,
}

impl Operations {
    fn lock(&self) -> MutexGuard<'_, Running> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A command begins.
    pub(super) fn begin(&self, client: &Arc<Client>, request: &Arc<Request>) -> Ticket<'_> {
        let mut running = self.lock();
        running.last = running.last.checked_add(1).unwrap_or(1);
        let number = running.last;
        let (client, request) = (Arc::clone(client), Arc::clone(request));
        running.operations.insert(number, Operation { client, request, since: Instant::now() });
        Ticket { operations: self, number }
    }

    /// How many run.
    pub(super) fn len(&self) -> usize {
        self.lock().operations.len()
    }

    /// Stops one.
    pub(super) fn kill(&self, number: i32) {
        if let Some(operation) = self.lock().operations.get(&number) {
            operation.request.interrupt.raise();
        }
    }

    /// All of them, as `currentOp` has them.
    pub(super) fn list(&self, host: &str) -> Vec<Document> {
        self.lock().operations.iter().map(|(number, one)| one.describe(*number, host)).collect()
    }
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        self.operations.lock().operations.remove(&self.number);
    }
}

/// The commands that `currentOp` has another word for than `command`.
fn kind(name: &str) -> &'static str {
    match name {
        "find" => "query",
        "getMore" => "getmore",
        "insert" => "insert",
        "update" => "update",
        "delete" => "remove",
        _ => "command",
    }
}

/// A command as others may see it: without passwords.
fn shown(name: &str, body: &RawDocument) -> Document {
    match name {
        "createUser" | "updateUser" | "saslStart" | "saslContinue" => doc! { name: 1 },
        _ => Document::try_from(body).unwrap_or_default(),
    }
}

impl Operation {
    fn describe(&self, number: i32, host: &str) -> Document {
        let body = &self.request.body;
        let (name, collection) = match body.iter().next() {
            Some(Ok((name, RawBsonRef::String(collection)))) => (name.as_str(), collection),
            Some(Ok((name, _))) => (name.as_str(), "$cmd"),
            Some(Err(_)) | None => ("", "$cmd"),
        };
        let running = self.since.elapsed();
        doc! {
            "type": "op",
            "host": host,
            "desc": format!("conn{}", self.client.number),
            "connectionId": self.client.number,
            "client": &self.client.peer,
            "active": true,
            "currentOpTime": DateTime::now().try_to_rfc3339_string().unwrap_or_default(),
            "opid": number,
            "secs_running": i64::try_from(running.as_secs()).unwrap_or(i64::MAX),
            "microsecs_running": i64::try_from(running.as_micros()).unwrap_or(i64::MAX),
            "op": kind(name),
            "ns": format!("{}.{collection}", self.request.db),
            "command": shown(name, body),
        }
    }
}
