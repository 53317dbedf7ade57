//! Writes: a list of operations becomes as few commands as the protocol allows, and their replies one outcome.

use std::time::Instant;

use bson::raw::{CString, cstr};
use bson::spec::ElementType;
use bson::{RawArrayBuf, RawBson, RawBsonRef, RawDocument, RawDocumentBuf};

use super::command::{Command, count, field, owned, whole};
use super::{Emulate, Shell};
use crate::error::{Error, Result};

/// The most operations that one command may carry (`maxWriteBatchSize`).
const MOST_OPERATIONS: usize = 100_000;

/// The most bytes that one command may carry (`maxMessageSizeBytes`).
const MOST_BYTES: usize = 48_000_000;

/// One write operation.
pub(super) enum Operation {
    /// A document to insert.
    Insert(RawDocumentBuf),
    /// An update statement: `{q, u, multi, upsert, ...}`.
    Update(RawDocumentBuf),
    /// A delete statement: `{q, limit, ...}`.
    Delete(RawDocumentBuf),
}

/// Which command an operation belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    Insert,
    Update,
    Delete,
}

impl Operation {
    /// Which command it belongs to.
    pub(super) fn verb(&self) -> Verb {
        match self {
            Self::Insert(_) => Verb::Insert,
            Self::Update(_) => Verb::Update,
            Self::Delete(_) => Verb::Delete,
        }
    }

    /// The document or statement.
    pub(super) fn document(&self) -> &RawDocument {
        match self {
            Self::Insert(document) | Self::Update(document) | Self::Delete(document) => document,
        }
    }
}

/// How a list of operations is to be written.
pub(super) struct Orders<'a> {
    /// Stop at the first error.
    pub(super) ordered: bool,
    /// The write concern, if one was given.
    pub(super) concern: Option<RawBson>,
    /// Further options of the command, such as `bypassDocumentValidation` and `let`.
    pub(super) options: Option<&'a RawDocument>,
}

impl Default for Orders<'_> {
    fn default() -> Self {
        Self { ordered: true, concern: None, options: None }
    }
}

/// One operation that failed.
#[derive(Clone, Debug)]
pub(super) struct Failure {
    /// Its place in the list.
    pub(super) index: usize,
    /// The server's code.
    pub(super) code: i32,
    /// The server's words.
    pub(super) message: String,
    /// `errInfo`, where validation says why.
    pub(super) info: Option<RawBson>,
    /// `keyPattern` and `keyValue` of a duplicate key.
    pub(super) key: Vec<(&'static str, RawBson)>,
    /// The document or statement.
    pub(super) operation: RawDocumentBuf,
}

/// What came of a list of operations.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// Nobody answered: the write concern was `w: 0`.
    pub(super) unacknowledged: bool,
    /// A failure was the end of it.
    pub(super) ordered: bool,
    pub(super) inserted: i64,
    pub(super) matched: i64,
    pub(super) modified: i64,
    pub(super) removed: i64,
    /// Place in the list and `_id` of each upserted document.
    pub(super) upserted: Vec<(usize, RawBson)>,
    pub(super) failures: Vec<Failure>,
    pub(super) concern_errors: Vec<RawDocumentBuf>,
}

/// Writes `operations` to a collection. Ordered, neighbours of one kind share a command; unordered, all of one kind do.
///
/// # Errors
/// When a command as a whole is refused; failures of single operations are part of the outcome.
pub(super) fn write(
    shell: &Shell,
    (db, collection): (&str, &str),
    operations: &[Operation],
    orders: &Orders<'_>,
) -> Result<Outcome> {
    let concern = orders.concern.clone().or_else(|| shell.concern(db, collection));
    let mut outcome = Outcome {
        unacknowledged: concern.as_ref().is_some_and(is_unacknowledged),
        ordered: orders.ordered,
        ..Outcome::default()
    };
    let start = Instant::now();
    let mut sent = 0;
    for batch in batches(operations, orders.ordered) {
        let verb = operations[batch[0]].verb();
        let body = command(verb, collection, operations, &batch, orders, concern.as_ref());
        let reply = shell.run(db, body)?;
        outcome.add(verb, &reply, operations, &batch);
        sent += batch.len();
        if sent < operations.len() {
            shell
                .output
                .progress(|| format!("{collection}: {sent} of {} written", operations.len()));
        }
        if orders.ordered && !outcome.failures.is_empty() {
            break;
        }
    }
    outcome.failures.sort_by_key(|failure| failure.index);
    let failure = outcome.failures.last();
    *shell.last_error.borrow_mut() = failure.map(|failure| (failure.code, failure.message.clone()));
    if let (true, Some(first)) = (shell.verbose, operations.first()) {
        let (action, count, kind) = match first.verb() {
            Verb::Insert => ("Inserted", outcome.inserted, ""),
            Verb::Delete => ("Removed", outcome.removed, ""),
            Verb::Update if outcome.upserted.is_empty() => {
                ("Updated", outcome.matched, "existing ")
            }
            Verb::Update => ("Updated", outcome.upserted.len() as i64, "new "),
        };
        shell.tell_time(action, usize::try_from(count).unwrap_or(0), kind, start);
    }
    Ok(outcome)
}

/// The places of the operations, one list a command.
pub(super) fn batches(operations: &[Operation], ordered: bool) -> Vec<Vec<usize>> {
    let mut places: Vec<usize> = (0..operations.len()).collect();
    if !ordered {
        places.sort_by_key(|at| operations[*at].verb() as u8);
    }
    let mut batches: Vec<Vec<usize>> = Vec::new();
    let mut bytes = 0;
    for at in places {
        let size = operations[at].document().as_bytes().len();
        match batches.last_mut() {
            Some(batch)
                if operations[batch[0]].verb() == operations[at].verb()
                    && batch.len() < MOST_OPERATIONS
                    && bytes + size <= MOST_BYTES =>
            {
                batch.push(at);
                bytes += size;
            }
            _ => {
                batches.push(vec![at]);
                bytes = size;
            }
        }
    }
    batches
}

fn command(
    verb: Verb,
    collection: &str,
    operations: &[Operation],
    batch: &[usize],
    orders: &Orders<'_>,
    concern: Option<&RawBson>,
) -> RawDocumentBuf {
    let list: RawArrayBuf = batch.iter().map(|at| operations[*at].document()).collect();
    let (name, field) = match verb {
        Verb::Insert => (cstr!("insert"), cstr!("documents")),
        Verb::Update => (cstr!("update"), cstr!("updates")),
        Verb::Delete => (cstr!("delete"), cstr!("deletes")),
    };
    let command = Command::new(name, collection)
        .with(field, list)
        .with(cstr!("ordered"), orders.ordered)
        .maybe(cstr!("writeConcern"), concern.cloned());
    match orders.options {
        // The server's `delete` knows no validation to bypass.
        Some(options) if verb == Verb::Delete => {
            command.options(options, &["bypassDocumentValidation"]).body()
        }
        Some(options) => command.options(options, &[]).body(),
        None => command.body(),
    }
}

/// Whether a write concern asks for no answer.
fn is_unacknowledged(concern: &RawBson) -> bool {
    let RawBson::Document(concern) = concern else { return false };
    field(concern, "w").and_then(whole) == Some(0) && field(concern, "j").is_none()
}

impl Outcome {
    /// Adds the reply to the operations at `batch`.
    fn add(&mut self, verb: Verb, reply: &RawDocument, operations: &[Operation], batch: &[usize]) {
        let n = count(reply, "n");
        match verb {
            Verb::Insert => self.inserted += n,
            Verb::Delete => self.removed += n,
            Verb::Update => {
                let before = self.upserted.len();
                for entry in documents(reply, "upserted") {
                    let at = place(entry, batch);
                    self.upserted.push((at, owned(entry, "_id").unwrap_or(RawBson::Null)));
                }
                self.matched += n - i64::try_from(self.upserted.len() - before).unwrap_or(0);
                self.modified += count(reply, "nModified");
            }
        }
        for entry in documents(reply, "writeErrors") {
            let index = place(entry, batch);
            let key = |key: &'static str| owned(entry, key).map(|value| (key, value));
            self.failures.push(Failure {
                index,
                code: i32::try_from(count(entry, "code")).unwrap_or(0),
                message: entry.get_str("errmsg").unwrap_or_default().to_owned(),
                info: owned(entry, "errInfo"),
                key: ["keyPattern", "keyValue"].into_iter().filter_map(key).collect(),
                operation: operations[index].document().to_owned(),
            });
        }
        if let Ok(error) = reply.get_document("writeConcernError") {
            self.concern_errors.push(error.to_owned());
        }
    }
}

/// The documents in the array `key` of a reply.
fn documents<'a>(reply: &'a RawDocument, key: &str) -> impl Iterator<Item = &'a RawDocument> {
    let list = reply.get_array(key).ok();
    list.into_iter().flatten().filter_map(|element| match element {
        Ok(RawBsonRef::Document(document)) => Some(document),
        _ => None,
    })
}

/// The place in the whole list of what a reply calls `index`.
fn place(entry: &RawDocument, batch: &[usize]) -> usize {
    let index = usize::try_from(count(entry, "index")).unwrap_or(0);
    batch.get(index).or(batch.last()).copied().unwrap_or(0)
}

/// The document with an `_id` - a new ObjectId in front if it has none - and that `_id`.
///
/// mongosh replaces a null `_id` too; the classic shell keeps it.
pub(super) fn with_id(
    document: &RawDocument,
    emulate: Emulate,
) -> Result<(RawDocumentBuf, RawBson)> {
    let broken = |error: bson::error::Error| Error::Usage(error.to_string());
    let id = document.get("_id").map_err(broken)?;
    let kept = id.filter(|id| match id.element_type() {
        ElementType::Undefined => false,
        ElementType::Null => emulate == Emulate::Mongo,
        _ => true,
    });
    if let Some(id) = kept {
        return Ok((document.to_owned(), RawBson::from(id)));
    }
    let new = bson::oid::ObjectId::new();
    let mut whole = RawDocumentBuf::new();
    whole.append(cstr!("_id"), new);
    if id.is_none() {
        // The elements of a document are its bytes but for the length in front and the zero at the end.
        return Ok((spliced(whole, document).unwrap_or_default(), RawBson::ObjectId(new)));
    }
    for entry in document.iter() {
        let (key, value) = entry.map_err(broken)?;
        if key.as_str() != "_id" {
            whole.append(CString::from(key), value);
        }
    }
    Ok((whole, RawBson::ObjectId(new)))
}

/// `head` followed by the elements of `tail`.
fn spliced(head: RawDocumentBuf, tail: &RawDocument) -> Option<RawDocumentBuf> {
    let mut bytes = head.into_bytes();
    bytes.pop();
    bytes.extend_from_slice(tail.as_bytes().get(4..)?);
    let length = i32::try_from(bytes.len()).ok()?;
    bytes.get_mut(..4)?.copy_from_slice(&length.to_le_bytes());
    RawDocumentBuf::from_bytes(bytes).ok()
}

#[cfg(test)]
mod tests {
    use bson::rawdoc;

    use super::*;

    #[test]
    fn a_missing_id_comes_in_front_and_the_rest_is_untouched() {
        let document = rawdoc! { "a": 1.0, "b": { "c": [1, "x"] } };
        let (whole, id) = with_id(&document, Emulate::Mongo).expect("a document");
        let mut fields = whole.iter().flatten().map(|(key, _)| key.as_str().to_owned());
        assert_eq!(fields.next().as_deref(), Some("_id"));
        assert_eq!(fields.collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(whole.get("b").ok().flatten(), document.get("b").ok().flatten());
        assert!(matches!(id, RawBson::ObjectId(_)));
    }

    #[test]
    fn a_null_id_is_kept_by_the_classic_shell_only() {
        let document = rawdoc! { "a": 1, "_id": null };
        assert_eq!(with_id(&document, Emulate::Mongo).expect("a document").1, RawBson::Null);
        let (whole, id) = with_id(&document, Emulate::Mongosh).expect("a document");
        assert!(matches!(id, RawBson::ObjectId(_)));
        assert_eq!(whole.iter().count(), 2);
    }

    #[test]
    fn ordered_neighbours_share_a_command_and_unordered_ones_of_a_kind_do() {
        let insert = || Operation::Insert(rawdoc! {});
        let delete = || Operation::Delete(rawdoc! { "q": {}, "limit": 1 });
        let list = [insert(), insert(), delete(), insert()];
        assert_eq!(batches(&list, true), [vec![0, 1], vec![2], vec![3]]);
        assert_eq!(batches(&list, false), [vec![0, 1, 3], vec![2]]);
    }

    #[test]
    fn a_long_list_is_split_at_the_protocols_limit() {
        let list: Vec<_> = (0..100_001).map(|_| Operation::Insert(RawDocumentBuf::new())).collect();
        let lengths: Vec<_> = batches(&list, true).iter().map(Vec::len).collect();
        assert_eq!(lengths, [100_000, 1]);
    }
}
