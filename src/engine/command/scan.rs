//! A scan: the documents a plan leads to, one batch at a time, remembering only where it stands.

use std::collections::HashSet;
use std::ops::Bound;
use std::sync::Arc;

use crate::engine::index::{Access, Plan, Range};
use crate::engine::storage::{Bytes, Collection, Index, Reading, Shape, id_key};
use crate::error::Result;
use crate::interrupt::Interrupt;
use crate::refuse;

/// How often a scan asks whether it was interrupted.
const TICK: u64 = 256;

/// Whether a scan goes on after a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    /// To the next one.
    On,
    /// Stop; the next run goes on after this one.
    Stop,
    /// Stop; the next run begins with this one again.
    Back,
}

/// Where documents come from, and how far it has got.
pub(super) struct Scan {
    collection: Arc<Collection>,
    source: Source,
    /// Records above were added after the scan began; they are not seen, lest it never ends.
    ceiling: u64,
    done: bool,
    /// Index entries looked at.
    pub(super) keys_examined: u64,
    /// The same for each part of a union.
    pub(super) keys_of_branches: Vec<u64>,
    /// Documents fetched.
    pub(super) documents_examined: u64,
}

enum Source {
    Nothing,
    Records { reverse: bool, last: Option<u64> },
    Id(Vec<u8>),
    Index(Box<Ranges>),
}

struct Ranges {
    /// Each with its index; those of a union follow each other.
    ranges: Vec<Stretch>,
    reverse: bool,
    /// Only the numbers of records are wanted.
    bare: bool,
    /// The range the scan is in.
    at: usize,
    /// The last entry that was looked at, whole.
    last: Option<Vec<u8>>,
    /// Records that were given already, where one may have several entries.
    seen: Option<HashSet<u64>>,
}

/// A part of an index.
struct Stretch {
    /// Which part of a union it belongs to.
    branch: usize,
    index: Arc<Index>,
    range: Range,
}

impl Scan {
    /// A scan that begins now.
    pub(super) fn new(collection: &Arc<Collection>, shape: &Shape, plan: &Plan) -> Self {
        let source = match &plan.access {
            Access::Nothing => Source::Nothing,
            Access::Scan { reverse } => Source::Records { reverse: *reverse, last: None },
            Access::Id(id) => Source::Id(id_key(id)),
            Access::Index { at, ranges, reverse } => {
                let index = Arc::clone(&shape.indexes[*at]);
                index.note_use();
                let seen = (index.multikey() != 0).then(HashSet::new);
                let mut ranges: Vec<_> = stretches(0, &index, ranges).collect();
                if *reverse {
                    ranges.reverse();
                }
                let (reverse, bare) = (*reverse, false);
                Source::Index(Box::new(Ranges { ranges, reverse, bare, at: 0, last: None, seen }))
            }
            Access::Union(branches) => {
                let ranges = branches.iter().enumerate().flat_map(|(branch, (at, ranges))| {
                    shape.indexes[*at].note_use();
                    stretches(branch, &shape.indexes[*at], ranges)
                });
                let (ranges, seen) = (ranges.collect(), Some(HashSet::new()));
                let (reverse, bare) = (false, false);
                Source::Index(Box::new(Ranges { ranges, reverse, bare, at: 0, last: None, seen }))
            }
        };
        if let (Access::Id(_), Some(index)) = (&plan.access, shape.indexes.first()) {
            index.note_use();
        }
        Self {
            collection: Arc::clone(collection),
            source,
            ceiling: collection.highest(),
            done: false,
            keys_examined: 0,
            keys_of_branches: Vec::new(),
            documents_examined: 0,
        }
    }

    /// Whether it came to its end.
    pub(super) fn is_done(&self) -> bool {
        self.done
    }

    /// Fails when what is scanned was dropped since: what is left could no longer be told from nothing.
    ///
    /// # Errors
    /// The server's code 175.
    pub(super) fn check_alive(&self) -> Result<()> {
        if self.done {
            return Ok(());
        }
        let shape = self.collection.shape();
        if shape.dropped {
            let uuid = self.collection.uuid();
            return Err(refuse!(QUERY_PLAN_KILLED, "collection dropped. UUID {uuid}"));
        }
        if let Source::Index(ranges) = &self.source {
            for stretch in &ranges.ranges {
                let name = &stretch.index.definition.name;
                if !shape.indexes.iter().any(|index| index.definition.name == *name) {
                    return Err(refuse!(QUERY_PLAN_KILLED, "index '{name}' dropped"));
                }
            }
        }
        Ok(())
    }

    /// The same over an index that answers everything: no document is fetched, and `visit` is given none.
    pub(super) fn without_documents(mut self) -> Self {
        if let Source::Index(ranges) = &mut self.source {
            ranges.bare = true;
        }
        self
    }

    /// Sees what was added since it came to its end.
    pub(super) fn resume(&mut self) {
        self.done = false;
        self.ceiling = self.collection.highest();
    }

    /// Gives documents to `visit` until that stops it or there are no more.
    pub(super) fn run(
        &mut self,
        reading: &Reading,
        interrupt: &Interrupt,
        visit: &mut dyn FnMut(u64, &Bytes) -> Result<Flow>,
    ) -> Result<()> {
        if self.done {
            return Ok(());
        }
        let collection = Arc::clone(&self.collection);
        let (mut keys, mut documents, ceiling) = (0, 0, self.ceiling);
        let ended = match &mut self.source {
            Source::Nothing => Ok(true),
            Source::Id(key) => {
                keys += 1;
                let index = collection.shape().indexes.first().cloned();
                let record = index.map_or(Ok(None), |index| reading.lookup(&index, key))?;
                match record
                    .map(|record| Ok((record, reading.record(&collection, record)?)))
                    .transpose()?
                {
                    Some((record, Some(document))) => {
                        documents += 1;
                        visit(record, &document).map(|flow| flow != Flow::Back)
                    }
                    _ => {
                        keys -= 1;
                        Ok(true)
                    }
                }
            }
            Source::Records { reverse, last } => {
                let (mut low, mut high) = (Bound::Unbounded, Bound::Included(ceiling));
                match (*last, *reverse) {
                    (Some(last), false) => low = Bound::Excluded(last),
                    (Some(last), true) => high = Bound::Excluded(last),
                    (None, _) => {}
                }
                let mut ended = Ok(true);
                for pair in reading.records(&collection, (low, high), *reverse) {
                    let (record, document) = pair?;
                    documents += 1;
                    if documents % TICK == 0 {
                        interrupt.check()?;
                    }
                    match visit(record, &document) {
                        Ok(Flow::On) => *last = Some(record),
                        Ok(Flow::Stop) => {
                            *last = Some(record);
                            ended = Ok(false);
                            break;
                        }
                        Ok(Flow::Back) => {
                            documents -= 1;
                            ended = Ok(false);
                            break;
                        }
                        Err(error) => {
                            ended = Err(error);
                            break;
                        }
                    }
                }
                ended
            }
            Source::Index(ranges) => {
                let (bare, nothing) = (ranges.bare, Bytes::from(&[][..]));
                let branches = &mut self.keys_of_branches;
                ranges.run(reading, interrupt, &mut |record, branch| {
                    keys += 1;
                    if branches.len() <= branch {
                        branches.resize(branch + 1, 0);
                    }
                    branches[branch] += 1;
                    let Some(record) = record.filter(|record| *record <= ceiling) else {
                        return Ok(Flow::On);
                    };
                    if bare {
                        return visit(record, &nothing);
                    }
                    let Some(document) = reading.record(&collection, record)? else {
                        return Ok(Flow::On);
                    };
                    documents += 1;
                    visit(record, &document)
                })
            }
        };
        self.keys_examined += keys;
        self.documents_examined += documents;
        self.done = ended?;
        Ok(())
    }
}

fn stretches<'a>(
    branch: usize,
    index: &'a Arc<Index>,
    ranges: &'a [Range],
) -> impl Iterator<Item = Stretch> + 'a {
    let stretch =
        move |range: &Range| Stretch { branch, index: Arc::clone(index), range: range.clone() };
    ranges.iter().map(stretch)
}

impl Ranges {
    /// Gives each record once to `visit`, with the part of the union that its entry is of; `None` for an entry of one
    /// that was given before. Answers whether the end was reached.
    fn run(
        &mut self,
        reading: &Reading,
        interrupt: &Interrupt,
        visit: &mut dyn FnMut(Option<u64>, usize) -> Result<Flow>,
    ) -> Result<bool> {
        let mut examined = 0_u64;
        while let Some(Stretch { branch, index, range }) = self.ranges.get(self.at) {
            let (mut low, mut high) =
                (Bound::Included(range.low.as_slice()), Bound::Excluded(range.high.as_slice()));
            let last = self.last.take();
            match (&last, self.reverse) {
                (Some(last), false) => low = Bound::Excluded(last.as_slice()),
                (Some(last), true) => high = Bound::Excluded(last.as_slice()),
                (None, _) => {}
            }
            let mut before = last.clone();
            for entry in reading.entries(index, (low, high), self.reverse) {
                let entry = entry?;
                examined += 1;
                if examined.is_multiple_of(TICK) {
                    interrupt.check()?;
                }
                let news = self.seen.as_mut().is_none_or(|seen| seen.insert(entry.record));
                match visit(news.then_some(entry.record), *branch)? {
                    Flow::On => before = Some(entry.whole().to_vec()),
                    Flow::Stop => {
                        self.last = Some(entry.whole().to_vec());
                        return Ok(false);
                    }
                    Flow::Back => {
                        if let Some(seen) = &mut self.seen {
                            seen.remove(&entry.record);
                        }
                        self.last = before;
                        return Ok(false);
                    }
                }
            }
            self.at += 1;
        }
        Ok(true)
    }
}
