//! Cursors: what a read has still to give, between a command and its `getMore`s.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use bson::raw::cstr;
use bson::{RawDocument, RawDocumentBuf};

use super::context::Context;
use super::fields::decode;
use super::reply::Batch;
use super::scan::{Flow, Scan};
use super::spool::Unspooled;
use crate::engine::expr::Scope;
use crate::engine::query::{Filter, Projection};
use crate::engine::storage::{self, Bytes};
use crate::error::Result;
use crate::refuse;

/// A cursor that nobody asked for so long is forgotten.
const IDLE: Duration = Duration::from_secs(10 * 60);

/// How many documents a first batch has when nobody says.
const FIRST_BATCH: u64 = 101;

/// What a read has still to give.
pub(super) struct Cursor {
    pub(super) namespace: String,
    pub(super) feed: Feed,
    /// Documents to leave out first.
    pub(super) skip: u64,
    /// Documents to give at most.
    pub(super) limit: Option<u64>,
    /// Whether it outlives [`IDLE`].
    pub(super) keep: bool,
    /// Whether it waits at the end for what is added.
    pub(super) tailable: bool,
}

/// Where a cursor's documents come from.
pub(super) enum Feed {
    /// Documents as they are stored, asked a filter.
    Scan(Box<Scan>, Box<View>),
    /// Documents made already.
    Spool(Unspooled),
    /// Stored documents that match, sorted already.
    Sorted(VecDeque<(u64, Bytes)>, Box<View>),
}

/// What is seen of stored documents.
pub(super) struct View {
    /// Which; all when there is none.
    pub(super) filter: Option<Filter>,
    /// What of them; everything when there is none.
    pub(super) projection: Option<Projection>,
    pub(super) scope: Scope,
    /// Whether the number of its record is added to each document.
    pub(super) numbered: bool,
}

impl View {
    /// What is seen of a document; `None` when nothing is, `Some(None)` when it is seen as it is.
    fn of(&self, record: u64, document: &RawDocument) -> Result<Option<Option<RawDocumentBuf>>> {
        if !self.numbered {
            return self.shown(document);
        }
        let Some(shown) = self.shown(document)? else { return Ok(None) };
        let mut shown = shown.unwrap_or_else(|| document.to_owned());
        shown.append(cstr!("$recordId"), record.cast_signed());
        Ok(Some(Some(shown)))
    }

    fn shown(&self, document: &RawDocument) -> Result<Option<Option<RawDocumentBuf>>> {
        if self.filter.is_none() && self.projection.is_none() {
            return Ok(Some(None));
        }
        let decoded = decode(document)?;
        let matched = match &self.filter {
            None => None,
            Some(filter) => match filter.matches_at(&decoded)? {
                None => return Ok(None),
                Some(matched) => matched.index,
            },
        };
        let Some(projection) = &self.projection else { return Ok(Some(None)) };
        let shown = projection.apply_owned(decoded, matched, &self.scope).map_err(|error| {
            error.prefixed("Executor error during find command :: caused by :: ")
        })?;
        Ok(Some(Some(super::read::encode(&shown)?)))
    }
}

impl Cursor {
    /// A cursor over documents that are all there already.
    pub(super) fn listing(namespace: String, documents: VecDeque<RawDocumentBuf>) -> Self {
        let feed = Feed::Spool(documents.into());
        Self { namespace, feed, skip: 0, limit: None, keep: false, tailable: false }
    }

    /// Puts documents into `batch` until it is full; true when there are no more.
    fn fill(
        &mut self,
        context: &Context<'_>,
        batch: &mut Batch,
        size: Option<u64>,
    ) -> Result<bool> {
        let size = size.unwrap_or(u64::MAX);
        let (skip, limit) = (&mut self.skip, &mut self.limit);
        // Answers what to do after a document.
        let mut give = |document: &RawDocument, batch: &mut Batch| {
            if *skip > 0 {
                *skip -= 1;
                return Flow::On;
            }
            if !batch.fits(document.as_bytes().len()) {
                return Flow::Back;
            }
            batch.push(document);
            if let Some(limit) = limit {
                *limit = limit.saturating_sub(1);
            }
            if *limit == Some(0) || batch.len() as u64 >= size { Flow::Stop } else { Flow::On }
        };
        if size == 0 {
            return Ok(false);
        }
        match &mut self.feed {
            Feed::Scan(scan, view) => {
                let reading = context.storage().reading()?;
                scan.run(&reading, &context.interrupt, &mut |record, bytes| {
                    let document = storage::document(bytes)?;
                    Ok(match view.of(record, document)? {
                        None => Flow::On,
                        Some(seen) => give(seen.as_deref().unwrap_or(document), batch),
                    })
                })?;
                Ok((scan.is_done() && !self.tailable) || *limit == Some(0))
            }
            Feed::Spool(documents) => {
                while let Some(document) = documents.peek()? {
                    let flow = give(document, batch);
                    if flow != Flow::Back {
                        documents.pop();
                    }
                    if flow != Flow::On {
                        break;
                    }
                }
                Ok(documents.is_empty() || *limit == Some(0))
            }
            Feed::Sorted(documents, view) => {
                while let Some((record, bytes)) = documents.front() {
                    let document = storage::document(bytes)?;
                    let flow = match view.of(*record, document)? {
                        None => Flow::On,
                        Some(seen) => give(seen.as_deref().unwrap_or(document), batch),
                    };
                    if flow != Flow::Back {
                        documents.pop_front();
                    }
                    if flow != Flow::On {
                        break;
                    }
                }
                Ok(documents.is_empty() || *limit == Some(0))
            }
        }
    }

    /// The reply of the command that opened the cursor. A cursor with more to give waits for `getMore` afterwards.
    pub(super) fn open(
        mut self,
        context: &Context<'_>,
        size: Option<u64>,
        single: bool,
    ) -> Result<RawDocumentBuf> {
        let mut batch = Batch::first();
        let drained = self.fill(context, &mut batch, Some(size.unwrap_or(FIRST_BATCH)))?;
        let namespace = self.namespace.clone();
        let id = if drained || single { 0 } else { context.shared.cursors.keep(self) };
        Ok(batch.reply(id, &namespace))
    }
}

/// The cursors that wait for a `getMore`.
#[derive(Default)]
pub(crate) struct Cursors {
    waiting: Mutex<HashMap<i64, (Cursor, Instant)>>,
    numbers: RandomState,
}

impl Cursors {
    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<i64, (Cursor, Instant)>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a cursor and gives it a number.
    fn keep(&self, cursor: Cursor) -> i64 {
        let now = Instant::now();
        let mut waiting = self.lock();
        waiting.retain(|_, (cursor, since)| cursor.keep || now.duration_since(*since) < IDLE);
        let mut seed = (waiting.len() as u64, std::ptr::from_ref(self) as usize as u64);
        loop {
            // Positive, and not to be guessed.
            let id = (self.numbers.hash_one((seed, Instant::now())) >> 1).cast_signed();
            seed.0 += 1;
            if id != 0 && !waiting.contains_key(&id) {
                waiting.insert(id, (cursor, now));
                return id;
            }
        }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.lock().len()
    }

    /// The next batch of a cursor.
    pub(super) fn more(
        &self,
        context: &Context<'_>,
        id: i64,
        namespace: &str,
        size: Option<u64>,
    ) -> Result<RawDocumentBuf> {
        let cursor = {
            let mut waiting = self.lock();
            match waiting.get(&id) {
                Some((cursor, since)) if cursor.keep || since.elapsed() < IDLE => {
                    if cursor.namespace != namespace {
                        return Err(refuse!(
                            UNAUTHORIZED,
                            "Requested getMore on namespace '{namespace}', but cursor belongs to a different namespace {}",
                            cursor.namespace
                        ));
                    }
                }
                _ => return Err(refuse!(CURSOR_NOT_FOUND, "cursor id {id} not found")),
            }
            waiting.remove(&id).map(|(cursor, _)| cursor)
        };
        let Some(mut cursor) = cursor else {
            return Err(refuse!(CURSOR_NOT_FOUND, "cursor id {id} not found"));
        };
        if let Feed::Scan(scan, _) = &mut cursor.feed {
            if cursor.tailable {
                scan.resume();
            }
            scan.check_alive()?;
        }
        let mut batch = Batch::next();
        // An error ends the cursor, as it does at a server.
        let drained = cursor.fill(context, &mut batch, size.filter(|size| *size > 0))?;
        let id = if drained { 0 } else { id };
        let reply = batch.reply(id, namespace);
        if !drained {
            self.lock().insert(id, (cursor, Instant::now()));
        }
        Ok(reply)
    }

    /// Forgets a cursor. Answers whether there was one.
    pub(super) fn kill(&self, id: i64) -> bool {
        self.lock().remove(&id).is_some()
    }
}
