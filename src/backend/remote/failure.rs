//! What the driver says went wrong, as an [`Error`] of tally: a refused command exactly as the embedded engine refuses it.

use std::io::ErrorKind as Io;
use std::sync::{Arc, Mutex, PoisonError};

use bson::{Bson, Document, RawDocument};
use mongodb::error::{
    Error as DriverError, ErrorKind, TRANSIENT_TRANSACTION_ERROR, UNKNOWN_TRANSACTION_COMMIT_RESULT,
};

use super::Address;
use crate::error::{Code, CommandError, Error, Raised};

/// The fields of a refusal that [`CommandError`] holds apart, and those that every reply of a replica set carries.
const APART: &[&str] = &[
    "$clusterTime",
    "$configServerState",
    "$gleStats",
    "code",
    "codeName",
    "errmsg",
    "errorLabels",
    "ok",
    "operationTime",
    "topologyVersion",
];

/// Why the last attempt to reach a server failed, which the driver knows while it still waits for another.
#[derive(Clone, Default)]
pub(super) struct LastFailure(Arc<Mutex<Option<String>>>);

impl LastFailure {
    /// Remembers a failure to reach the server at `address`.
    pub(super) fn remember(&self, address: &str, failure: &DriverError) {
        let text = format!("Error connecting to {address} :: caused by :: {}", reason(failure));
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
    }

    fn text(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The error that a command ended with. A lost connection in a transaction tells by its labels whether to try again.
pub(super) fn error(
    error: &DriverError,
    command: &str,
    address: &Address,
    last: &LastFailure,
) -> Error {
    let told = plain(error, command, address, last);
    let labelled = [TRANSIENT_TRANSACTION_ERROR, UNKNOWN_TRANSACTION_COMMIT_RESULT];
    if !matches!(told, Error::Connection(_))
        || !labelled.iter().any(|label| error.contains_label(label))
    {
        return told;
    }
    let mut labels: Vec<&str> = error.labels().iter().map(String::as_str).collect();
    labels.sort_unstable();
    let fields = bson::doc! { "errorLabels": labels };
    let message = told.to_string();
    Error::Raised(Box::new(Raised { class: "Error", message, fields, ..Raised::default() }))
}

fn plain(error: &DriverError, command: &str, address: &Address, last: &LastFailure) -> Error {
    if let (ErrorKind::Command(_), Some(reply)) = (&*error.kind, error.server_response()) {
        return refused(reply, error);
    }
    let unconnected = |reason: &str| unconnected(address, reason);
    match &*error.kind {
        ErrorKind::Command(refusal) => refused_with(
            Code(refusal.code),
            refusal.message.clone(),
            Document::new(),
            error.labels().iter().cloned().collect(),
        ),
        ErrorKind::Authentication { message, .. } => {
            Error::command(Code::AUTHENTICATION_FAILED, message.clone())
        }
        ErrorKind::ServerSelection { message, .. } => {
            match message.contains("No available servers") && last.text().is_some() {
                true => unreachable(address, last),
                // The driver appends all it knows of all servers.
                false => unconnected(message.split(" Topology: ").next().unwrap_or(message)),
            }
        }
        ErrorKind::DnsResolve { .. } | ErrorKind::InvalidTlsConfig { .. } => {
            unconnected(&reason(error))
        }
        ErrorKind::InvalidArgument { message, .. } | ErrorKind::Transaction { message, .. } => {
            Error::Usage(message.clone())
        }
        ErrorKind::Io(_) | ErrorKind::ConnectionPoolCleared { .. } => Error::Connection(format!(
            "network error while attempting to run command '{command}' on host '{}': {}",
            address.hosts(),
            reason(error)
        )),
        _ => Error::Connection(format!("the command '{command}' failed: {}", reason(error))),
    }
}

/// No server was found in time.
pub(super) fn unreachable(address: &Address, last: &LastFailure) -> Error {
    match last.text() {
        Some(text) => unconnected(address, &format!("SocketException: {text}")),
        None => unconnected(address, "NetworkTimeout: the server does not answer"),
    }
}

fn unconnected(address: &Address, reason: &str) -> Error {
    Error::Connection(format!(
        "couldn't connect to server {}, connection attempt failed: {reason}",
        address.hosts()
    ))
}

/// A refused command from the server's whole reply.
fn refused(reply: &RawDocument, error: &DriverError) -> Error {
    let reply = Document::try_from(reply).unwrap_or_default();
    let code = match reply.get("code") {
        Some(Bson::Int32(code)) => *code,
        Some(Bson::Int64(code)) => i32::try_from(*code).unwrap_or_default(),
        #[allow(clippy::cast_possible_truncation)]
        Some(Bson::Double(code)) => *code as i32,
        _ => 0,
    };
    let code = Code(code);
    let message = reply.get_str("errmsg").unwrap_or("the server refused the command").to_owned();
    let labels = match reply.get_array("errorLabels") {
        Ok(labels) => labels.iter().filter_map(|one| one.as_str().map(ToOwned::to_owned)).collect(),
        Err(_) => error.labels().iter().cloned().collect(),
    };
    let keep = |(name, value): (String, Bson)| {
        // A name that the table of codes does not know, or knows otherwise, is the server's to say.
        let named = name == "codeName" && value.as_str().is_some_and(|own| own != code.name());
        (named || !APART.contains(&name.as_str())).then_some((name, value))
    };
    refused_with(code, message, reply.into_iter().filter_map(keep).collect(), labels)
}

fn refused_with(code: Code, message: String, details: Document, mut labels: Vec<String>) -> Error {
    labels.sort();
    Error::Command(Box::new(CommandError { code, message, details, labels }))
}

/// The driver's words, without its frame.
fn reason(error: &DriverError) -> String {
    match &*error.kind {
        ErrorKind::Io(error) => match error.kind() {
            Io::TimedOut => "the attempt took too long".to_owned(),
            Io::UnexpectedEof => "the server closed the connection".to_owned(),
            _ => error.to_string(),
        },
        // It quotes the error that cleared the pool, with all its frames.
        ErrorKind::ConnectionPoolCleared { .. } => "another connection failed".to_owned(),
        kind => kind.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use bson::rawdoc;

    use super::*;

    #[test]
    fn a_refusal_keeps_code_words_labels_and_further_fields() {
        let reply = rawdoc! {
            "ok": 0.0,
            "errmsg": "E11000 duplicate key error",
            "code": 11000,
            "codeName": "DuplicateKey",
            "keyPattern": { "_id": 1 },
            "errorLabels": ["Two", "One"],
            "operationTime": bson::Timestamp { time: 1, increment: 1 },
        };
        let Error::Command(error) = refused(&reply, &DriverError::custom("")) else {
            panic!("a refused command")
        };
        assert_eq!(error.code, Code::DUPLICATE_KEY);
        assert_eq!(error.message, "E11000 duplicate key error");
        assert_eq!(error.details, bson::doc! { "keyPattern": { "_id": 1 } });
        assert_eq!(error.labels, ["One", "Two"]);
    }

    #[test]
    fn a_name_that_only_the_server_knows_is_kept() {
        let reply = rawdoc! { "ok": 0, "code": 8000_i64, "codeName": "AtlasError" };
        let Error::Command(error) = refused(&reply, &DriverError::custom("")) else {
            panic!("a refused command")
        };
        assert_eq!(
            (error.code, error.details),
            (Code(8000), bson::doc! { "codeName": "AtlasError" })
        );
    }
}
