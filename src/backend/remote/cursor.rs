//! A cursor at the server, read batch by batch and closed when it is dropped.

use std::sync::Arc;

use bson::{RawBsonRef, RawDocumentBuf};
use futures_util::StreamExt as _;
use mongodb::raw_batch_cursor::{RawBatch, RawBatchCursor};

use super::link::Link;
use super::unreadable;
use crate::backend::Cursor;
use crate::error::Result;
use crate::interrupt::Interrupt;

/// A cursor at the server, read batch by batch.
pub(super) struct ServerCursor {
    id: i64,
    /// `None` once it is exhausted or failed for good. Dropped before the link it lives on.
    batches: Option<RawBatchCursor>,
    first: Option<Vec<RawDocumentBuf>>,
    link: Arc<Link>,
    interrupt: Interrupt,
}

impl ServerCursor {
    /// A cursor that has just been opened. Its first batch came with the reply; only the id is read ahead.
    pub(super) fn new(
        batches: RawBatchCursor,
        link: Arc<Link>,
        interrupt: Interrupt,
    ) -> Result<Self> {
        let mut cursor = Self { id: 0, batches: Some(batches), first: None, link, interrupt };
        cursor.first = cursor.fetch()?;
        Ok(cursor)
    }

    /// The next batch from the driver, which asks the server for it when none is waiting.
    fn fetch(&mut self) -> Result<Option<Vec<RawDocumentBuf>>> {
        let Some(batches) = &mut self.batches else { return Ok(None) };
        let next = async { batches.next().await.transpose() };
        let next = self.link.wait(&self.interrupt, next)?;
        let Some(batch) = next.map_err(|error| self.link.failed(&error, "getMore"))? else {
            self.id = 0;
            self.batches = None;
            return Ok(None);
        };
        let (id, documents) = contents(&batch)?;
        self.id = id;
        Ok(Some(documents))
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
}

/// The id of the cursor and the documents of one batch.
fn contents(batch: &RawBatch) -> Result<(i64, Vec<RawDocumentBuf>)> {
    let cursor = batch.as_raw_document().get_document("cursor");
    let id = cursor.and_then(|cursor| cursor.get_i64("id")).map_err(|error| unreadable(&error))?;
    let documents = batch.doc_slices().map_err(|error| unreadable(&error))?;
    let documents = documents.into_iter().map(|element| match element {
        Ok(RawBsonRef::Document(document)) => Ok(document.to_owned()),
        Ok(_) => Err(unreadable(&"a batch holds what is no document")),
        Err(error) => Err(unreadable(&error)),
    });
    Ok((id, documents.collect::<Result<_>>()?))
}
