//! Sending a command once more after a failure, so that nothing is lost with a connection and nothing is done twice.
//!
//! The driver's typed methods do that; it leaves raw commands alone. A read is simply sent again. A write is sent with
//! the number of a session (`txnNumber`) by which the server knows it again: if it was done already, the server answers
//! what it has answered before. The rules are those of MongoDB's retryable reads and retryable writes.

use bson::{Document, RawBsonRef, RawDocument};
use mongodb::error::{Error as DriverError, ErrorKind, NO_WRITES_PERFORMED, RETRYABLE_WRITE_ERROR};

/// Codes after which a read is sent again: the member steps down, shuts down, or has lost its own connection.
const READ_CODES: &[i32] = &[6, 7, 89, 91, 134, 189, 262, 9001, 10107, 11600, 11602, 13435, 13436];

/// Fields by which a script makes a command part of a session or transaction of its own.
const OWN_SESSION: &[&str] = &["autocommit", "lsid", "startTransaction", "txnNumber"];

/// How a command may be sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Again {
    /// Not at all.
    Never,
    /// As it is.
    Read,
    /// With the same number in the same session, where the server keeps such numbers.
    Write,
}

/// The commands that may be sent again, by name.
const COMMANDS: &[(&str, Again)] = &[
    ("aggregate", Again::Read),
    ("bulkWrite", Again::Write),
    ("count", Again::Read),
    ("delete", Again::Write),
    ("distinct", Again::Read),
    ("find", Again::Read),
    ("findAndModify", Again::Write),
    ("findandmodify", Again::Write),
    ("insert", Again::Write),
    ("listCollections", Again::Read),
    ("listDatabases", Again::Read),
    ("listIndexes", Again::Read),
    ("update", Again::Write),
];

impl Again {
    /// How `body` may be sent again. A write of many documents never is: the server cannot tell how far it came.
    pub(super) fn of(body: &RawDocument) -> Self {
        let name = super::command(body);
        let Ok(at) = COMMANDS.binary_search_by_key(&name, |(name, _)| name) else {
            return Self::Never;
        };
        let own = |field: &&str| matches!(body.get(field), Ok(Some(_)));
        match COMMANDS[at].1 {
            _ if OWN_SESSION.iter().any(own) => Self::Never,
            Self::Read if super::concern::stores(body) => Self::Never,
            Self::Write if is_unacknowledged(body) || writes_many(name, body) => Self::Never,
            again => again,
        }
    }
}

/// Whether the command asks for no answer.
fn is_unacknowledged(body: &RawDocument) -> bool {
    let concern = body.get_document("writeConcern");
    concern.is_ok_and(|concern| concern.get("w").ok().flatten().is_some_and(is_zero))
}

/// Whether a statement of the command may change more than one document.
fn writes_many(name: &str, body: &RawDocument) -> bool {
    let statements = match name {
        "bulkWrite" => "ops",
        "delete" => "deletes",
        "update" => "updates",
        _ => return false,
    };
    let Ok(statements) = body.get_array(statements) else { return false };
    statements.into_iter().flatten().filter_map(RawBsonRef::as_document).any(|statement| {
        let field = |name| statement.get(name).ok().flatten();
        let multi = field("multi").is_some_and(|multi| multi == RawBsonRef::Boolean(true));
        multi || field("limit").is_some_and(is_zero)
    })
}

fn is_zero(value: RawBsonRef<'_>) -> bool {
    match value {
        RawBsonRef::Int32(number) => number == 0,
        RawBsonRef::Int64(number) => number == 0,
        RawBsonRef::Double(number) => number == 0.0,
        _ => false,
    }
}

/// Whether a read that ended so is sent again.
pub(super) fn read_again(error: &DriverError) -> bool {
    match &*error.kind {
        ErrorKind::Command(refusal) => READ_CODES.contains(&refusal.code),
        _ => is_lost(error),
    }
}

/// Whether a write that ended so is sent again.
pub(super) fn write_again(outcome: &Result<Document, DriverError>) -> bool {
    match outcome {
        Ok(reply) => reply.get_array("errorLabels").is_ok_and(|labels| {
            labels.iter().any(|label| label.as_str() == Some(RETRYABLE_WRITE_ERROR))
        }),
        Err(error) => is_lost(error) || error.contains_label(RETRYABLE_WRITE_ERROR),
    }
}

/// What to report of two attempts at one write: the second, unless it tells less than the first, because it reached no
/// server or none that has touched a document.
pub(super) fn telling(
    first: Result<Document, DriverError>,
    second: Result<Document, DriverError>,
) -> Result<Document, DriverError> {
    match &second {
        Err(error)
            if matches!(&*error.kind, ErrorKind::ServerSelection { .. })
                || error.contains_label(NO_WRITES_PERFORMED) =>
        {
            first
        }
        _ => second,
    }
}

/// Whether the connection was lost, before or after the server has read the command.
pub(super) fn is_lost(error: &DriverError) -> bool {
    matches!(&*error.kind, ErrorKind::Io(_) | ErrorKind::ConnectionPoolCleared { .. })
}

/// Whether a server keeps the numbers of writes: members of a replica set and routers do, a standalone does not.
pub(super) fn keeps_numbers(hello: &Document) -> bool {
    let grown =
        hello.contains_key("setName") || hello.get_str("msg").is_ok_and(|text| text == "isdbgrid");
    grown
        && hello.get("logicalSessionTimeoutMinutes").is_some_and(|value| value.as_null().is_none())
}

#[cfg(test)]
mod tests {
    use bson::{doc, rawdoc};

    use super::*;

    #[test]
    fn one_document_may_be_written_again_and_many_may_not() {
        assert!(COMMANDS.is_sorted_by_key(|(name, _)| *name));
        let one = rawdoc! { "update": "t", "updates": [{ "q": {}, "u": {}, "multi": false }] };
        assert_eq!(Again::of(&one), Again::Write);
        let many = rawdoc! { "update": "t", "updates": [{ "q": {} }, { "q": {}, "multi": true }] };
        assert_eq!(Again::of(&many), Again::Never);
        let one = rawdoc! { "delete": "t", "deletes": [{ "q": {}, "limit": 1 }] };
        assert_eq!(Again::of(&one), Again::Write);
        let many = rawdoc! { "delete": "t", "deletes": [{ "q": {}, "limit": 0.0 }] };
        assert_eq!(Again::of(&many), Again::Never);
        let many =
            rawdoc! { "bulkWrite": 1, "ops": [{ "delete": 0, "filter": {}, "multi": true }] };
        assert_eq!(Again::of(&many), Again::Never);
        assert_eq!(Again::of(&rawdoc! { "insert": "t", "documents": [{}, {}] }), Again::Write);
        assert_eq!(Again::of(&rawdoc! { "findAndModify": "t" }), Again::Write);
        assert_eq!(Again::of(&rawdoc! { "drop": "t" }), Again::Never);
    }

    #[test]
    fn reads_are_sent_again_unless_they_store() {
        assert_eq!(Again::of(&rawdoc! { "find": "t" }), Again::Read);
        assert_eq!(Again::of(&rawdoc! { "getMore": 1_i64, "collection": "t" }), Again::Never);
        let stores = rawdoc! { "aggregate": "t", "pipeline": [{ "$out": "u" }] };
        assert_eq!(Again::of(&stores), Again::Never);
        assert_eq!(Again::of(&rawdoc! { "aggregate": "t", "pipeline": [] }), Again::Read);
    }

    #[test]
    fn a_script_with_a_session_of_its_own_and_an_unheard_write_are_left_alone() {
        let numbered = rawdoc! { "insert": "t", "lsid": {}, "txnNumber": 1_i64 };
        assert_eq!(Again::of(&numbered), Again::Never);
        let unheard = rawdoc! { "insert": "t", "writeConcern": { "w": 0 } };
        assert_eq!(Again::of(&unheard), Again::Never);
        let heard = rawdoc! { "insert": "t", "writeConcern": { "w": 1 } };
        assert_eq!(Again::of(&heard), Again::Write);
    }

    #[test]
    fn a_reply_may_ask_for_another_attempt() {
        let concern = doc! { "ok": 1.0, "writeConcernError": { "code": 91 }, "errorLabels": [RETRYABLE_WRITE_ERROR] };
        assert!(write_again(&Ok(concern)));
        assert!(!write_again(&Ok(doc! { "ok": 1.0 })));
        let lost = std::io::Error::from(std::io::ErrorKind::UnexpectedEof);
        assert!(write_again(&Err(lost.into())) && !write_again(&Err(DriverError::custom(""))));
    }

    #[test]
    fn a_standalone_keeps_no_numbers() {
        assert!(!keeps_numbers(&doc! { "logicalSessionTimeoutMinutes": 30 }));
        assert!(!keeps_numbers(&doc! { "setName": "rs0" }));
        assert!(keeps_numbers(&doc! { "setName": "rs0", "logicalSessionTimeoutMinutes": 30 }));
        assert!(keeps_numbers(&doc! { "msg": "isdbgrid", "logicalSessionTimeoutMinutes": 30 }));
    }
}
