//! A cursor at the server, read batch by batch and closed when it is dropped.

use std::sync::Arc;

use bson::{RawBsonRef, RawDocumentBuf};
use futures_util::StreamExt as _;
use mongodb::error::Result as DriverResult;
use mongodb::raw_batch_cursor::{RawBatch, RawBatchCursor, SessionRawBatchCursor};

use super::link::Link;
use super::session::Shared;
use super::unreadable;
use crate::backend::Cursor;
use crate::error::Result;
use crate::interrupt::Interrupt;

/// Where batches come from.
pub(super) enum Batches {
    /// A cursor of its own.
    Own(RawBatchCursor),
    /// A cursor in a session of a script's.
    In(SessionRawBatchCursor, Arc<Shared>),
}

/// A cursor at the server, read batch by batch.
pub(super) struct ServerCursor {
    id: i64,
    /// `None` once it is exhausted or failed for good. Dropped before the link it lives on.
    batches: Option<Batches>,
    first: Option<Vec<RawDocumentBuf>>,
    token: Option<RawDocumentBuf>,
    link: Arc<Link>,
    interrupt: Interrupt,
}

impl ServerCursor {
    /// A cursor that has just been opened. Its first batch came with the reply; only the id is read ahead.
    pub(super) fn new(batches: Batches, link: Arc<Link>, interrupt: Interrupt) -> Result<Self> {
        let batches = Some(batches);
        let mut cursor = Self { id: 0, batches, first: None, token: None, link, interrupt };
        cursor.first = cursor.fetch()?;
        Ok(cursor)
    }

    /// The next batch from the driver, which asks the server for it when none is waiting.
    fn fetch(&mut self) -> Result<Option<Vec<RawDocumentBuf>>> {
        let next: DriverResult<Option<RawBatch>> = match &mut self.batches {
            None => return Ok(None),
            Some(Batches::Own(batches)) => {
                let next = async { batches.next().await.transpose() };
                self.link.wait(&self.interrupt, next)?
            }
            Some(Batches::In(batches, session)) => session.with_driver(|driver| {
                let mut batches = batches.stream(driver);
                let next = async { batches.next().await.transpose() };
                self.link.wait(&self.interrupt, next)
            })?,
        };
        let Some(batch) = next.map_err(|error| self.link.failed(&error, "getMore"))? else {
            self.id = 0;
            self.batches = None;
            return Ok(None);
        };
        let contents = contents(&batch)?;
        self.id = contents.id;
        self.token = contents.token.or(self.token.take());
        Ok(Some(contents.documents))
    }
}

impl Cursor for ServerCursor {
    fn next_batch(&mut self) -> Result<Option<Vec<RawDocumentBuf>>> {
        match self.first.take() {
            Some(batch) => Ok(Some(batch)),
            None => self.fetch(),
        }
    }

    fn id(&self) -> i64 {
        self.id
    }

    fn resume_token(&self) -> Option<RawDocumentBuf> {
        self.token.clone()
    }
}

/// What a batch holds.
struct Contents {
    /// The cursor's id.
    id: i64,
    documents: Vec<RawDocumentBuf>,
    /// The place behind the batch, in a change stream.
    token: Option<RawDocumentBuf>,
}

fn contents(batch: &RawBatch) -> Result<Contents> {
    let cursor = batch.as_raw_document().get_document("cursor");
    let cursor = cursor.map_err(|error| unreadable(&error))?;
    let id = cursor.get_i64("id").map_err(|error| unreadable(&error))?;
    let token = cursor.get_document("postBatchResumeToken").ok().map(ToOwned::to_owned);
    let documents = batch.doc_slices().map_err(|error| unreadable(&error))?;
    let documents = documents.into_iter().map(|element| match element {
        Ok(RawBsonRef::Document(document)) => Ok(document.to_owned()),
        Ok(_) => Err(unreadable(&"a batch holds what is no document")),
        Err(error) => Err(unreadable(&error)),
    });
    Ok(Contents { id, documents: documents.collect::<Result<_>>()?, token })
}
