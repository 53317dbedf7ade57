//! Documents on their way: the batches of a backend's cursor, taken one by one or a handful at a time.

use std::collections::VecDeque;

use bson::RawDocumentBuf;

use crate::backend::{Cursor, change_token};
use crate::error::Result;

/// Documents that arrive in batches, with what has arrived and was not asked for yet.
pub(in crate::shell) struct Stream {
    source: Option<Box<dyn Cursor>>,
    waiting: VecDeque<RawDocumentBuf>,
    /// How many were handed out in batches.
    handed: usize,
    /// Of a change stream, the token of the last change that was handed out.
    last: Option<RawDocumentBuf>,
    /// It is a change stream.
    follows: bool,
}

impl Stream {
    /// The documents of `source`, from its first batch on.
    pub(in crate::shell) fn new(source: Box<dyn Cursor>) -> Self {
        Self {
            source: Some(source),
            waiting: VecDeque::new(),
            handed: 0,
            last: None,
            follows: false,
        }
    }

    /// The same, as a change stream: it remembers how far it was read.
    pub(in crate::shell) fn following(self) -> Self {
        Self { follows: true, ..self }
    }

    /// Of a change stream, the place behind the last change that was handed out.
    pub(in crate::shell) fn resume_token(&self) -> Option<RawDocumentBuf> {
        let behind = self.source.as_ref().filter(|_| self.waiting.is_empty());
        behind.and_then(|source| source.resume_token()).or_else(|| self.last.clone())
    }

    fn handed_out(&mut self, last: Option<&RawDocumentBuf>) {
        if let Some(last) = last.filter(|_| self.follows) {
            self.last = change_token(last);
        }
    }

    /// Documents that are all here already.
    pub(in crate::shell) fn of(documents: Vec<RawDocumentBuf>) -> Self {
        Self { source: None, waiting: documents.into(), handed: 0, last: None, follows: false }
    }

    /// Whether another document is here or can be fetched. A tailable cursor that waited in vain says no, and may be
    /// asked again.
    pub(in crate::shell) fn has_next(&mut self) -> Result<bool> {
        while self.waiting.is_empty() {
            let Some(source) = &mut self.source else { return Ok(false) };
            match source.next_batch()? {
                Some(batch) if batch.is_empty() && source.id() != 0 => return Ok(false),
                Some(batch) => self.waiting.extend(batch),
                None => self.source = None,
            }
        }
        Ok(true)
    }

    /// The next document.
    pub(in crate::shell) fn next(&mut self) -> Result<Option<RawDocumentBuf>> {
        self.has_next()?;
        let next = self.waiting.pop_front();
        self.handed_out(next.as_ref());
        Ok(next)
    }

    /// The next documents: at most `most`, and no more than have arrived together, but at least one unless there is
    /// none.
    pub(in crate::shell) fn some(&mut self, most: usize) -> Result<Vec<RawDocumentBuf>> {
        self.has_next()?;
        let count = most.min(self.waiting.len());
        self.handed += count;
        let some: Vec<_> = self.waiting.drain(..count).collect();
        self.handed_out(some.last());
        Ok(some)
    }

    /// How many documents [`Stream::some`] has handed out.
    pub(in crate::shell) fn handed(&self) -> usize {
        self.handed
    }

    /// All documents that are left.
    pub(in crate::shell) fn rest(&mut self) -> Result<Vec<RawDocumentBuf>> {
        let mut all = Vec::new();
        while self.has_next()? {
            all.extend(self.waiting.drain(..));
        }
        Ok(all)
    }

    /// Puts documents back in front: they were handed out, and nobody looked at them.
    pub(in crate::shell) fn unread(&mut self, documents: Vec<RawDocumentBuf>) {
        for document in documents.into_iter().rev() {
            self.waiting.push_front(document);
        }
    }

    /// How many documents are left, reading them all.
    pub(in crate::shell) fn count(&mut self) -> Result<i64> {
        let mut count = 0;
        while self.has_next()? {
            count += i64::try_from(self.waiting.len()).unwrap_or(i64::MAX);
            self.waiting.clear();
        }
        Ok(count)
    }

    /// How many documents are here already.
    pub(in crate::shell) fn arrived(&self) -> usize {
        self.waiting.len()
    }

    /// Closes the cursor at the server; what has arrived is forgotten.
    pub(in crate::shell) fn close(&mut self) {
        self.source = None;
        self.waiting.clear();
    }

    /// Whether the server has nothing more to send.
    pub(in crate::shell) fn is_closed(&self) -> bool {
        self.source.as_ref().is_none_or(|source| source.id() == 0)
    }

    /// The server's cursor id, 0 when it is drained.
    pub(in crate::shell) fn id(&self) -> i64 {
        self.source.as_ref().map_or(0, |source| source.id())
    }
}
