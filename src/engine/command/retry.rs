//! Writes that may be sent twice and are done once.
//!
//! A process that works with the engine of another one loses it when that one ends, and cannot know whether its last write
//! was done. So its writes bring a [`Retry`]; what comes of one is stored in the very batch that does it, and the same
//! [`Retry`] once more gets the same answer, or goes on where the first attempt ended.

use bson::raw::cstr;
use bson::{Bson, DateTime, Document, RawDocument, RawDocumentBuf, doc, rawdoc};

use super::context::Context;
use super::read::encode;
use crate::engine::storage::{Storage, Writing};
use crate::error::Result;
use crate::refuse;

/// Who sends a write, and which of its writes it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    /// Whoever sends one write after the other, each when the last one is answered.
    pub session: [u8; 16],
    /// The number of the write, never given twice.
    pub number: i64,
}

/// A write that may come again, and what is known of it.
pub(super) struct Retried {
    retry: Retry,
    /// What the first attempt has stored.
    found: Option<RawDocumentBuf>,
}

/// So many results at most are remembered of a command in progress. A longer one is not taken up again.
const LONGEST: usize = 1000;

impl Retried {
    pub(super) fn look_up(storage: &Storage, retry: Retry) -> Result<Self> {
        let found = storage.remembered(&retry.session)?;
        let found = found.filter(|found| found.get_i64("number").ok() == Some(retry.number));
        Ok(Self { retry, found })
    }

    /// The answer that the first attempt had.
    pub(super) fn reply(&self) -> Option<RawDocumentBuf> {
        Some(self.found.as_ref()?.get_document("reply").ok()?.to_owned())
    }

    fn start(&self) -> RawDocumentBuf {
        rawdoc! { "number": self.retry.number, "at": DateTime::now() }
    }
}

impl Context<'_> {
    /// Stores the reply in the batch that makes it true, if the command may come again.
    pub(super) fn remember(&self, writing: &mut Writing<'_>, reply: &RawDocument) {
        if let Some(retried) = &self.retried {
            let mut row = retried.start();
            row.append(cstr!("reply"), reply);
            writing.remember(&retried.retry.session, row.into_bytes());
        }
    }
}

/// How far the operations of an `update` or a `delete` have come.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Progress {
    /// The operation to go on with.
    pub(super) next: usize,
    pub(super) matched: i32,
    pub(super) modified: i32,
    pub(super) upserted: Vec<Document>,
    pub(super) failures: Vec<Document>,
}

impl Progress {
    /// Where an earlier attempt has come to; the start if there was none.
    ///
    /// # Errors
    /// 11601 when it ended within an operation.
    pub(super) fn of(context: &Context<'_>) -> Result<Self> {
        let found = context.retried.as_ref().and_then(|retried| retried.found.as_ref());
        let Some(progress) = found.and_then(|row| row.get_document("progress").ok()) else {
            return Ok(Self::default());
        };
        let progress = Document::try_from(progress).unwrap_or_default();
        let number = |field: &str| progress.get_i32(field).unwrap_or_default();
        let list = |field: &str| {
            let list = progress.get_array(field).map(Vec::as_slice).unwrap_or_default();
            list.iter().filter_map(Bson::as_document).cloned().collect()
        };
        match progress.get_i64("next").ok().and_then(|next| usize::try_from(next).ok()) {
            Some(next) => Ok(Self {
                next,
                matched: number("matched"),
                modified: number("modified"),
                upserted: list("upserted"),
                failures: list("failures"),
            }),
            None => Err(refuse!(
                INTERRUPTED,
                "the process that held the data ended in the middle of this: at least {} documents are changed",
                number("matched")
            )),
        }
    }

    /// Stores how far it has come, in the batch that gets it there, if the command may come again. `within` an operation
    /// nothing can be taken up.
    pub(super) fn remember(
        &self,
        context: &Context<'_>,
        writing: &mut Writing<'_>,
        within: bool,
    ) -> Result<()> {
        let Some(retried) = &context.retried else { return Ok(()) };
        let mut progress = doc! { "matched": self.matched, "modified": self.modified };
        if !within && self.upserted.len() + self.failures.len() <= LONGEST {
            progress.insert("next", i64::try_from(self.next).unwrap_or(i64::MAX));
            progress.insert("upserted", self.upserted.clone());
            progress.insert("failures", self.failures.clone());
        }
        let mut row = retried.start();
        row.append(cstr!("progress"), encode(&progress)?);
        writing.remember(&retried.retry.session, row.into_bytes());
        Ok(())
    }
}
