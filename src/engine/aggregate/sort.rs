//! `$sort`: collected, then given out in order.

use bson::{Bson, Document};

use super::flow::lazily;
use super::memory::{self, Memory};
use super::{Context, Documents, Place, Row, Stage};
use crate::engine::expr::Scope;
use crate::engine::query::Sort;
use crate::error::{Code, Error, Result};
use crate::value::size;

pub(super) const STAGES: &[Row] = &[Row {
    name: "$sort",
    help: "documents in order: 1 ascending, -1 descending",
    place: Place::Anywhere,
    parse: sort,
}];

fn sort(argument: &Bson, _: &Scope) -> Result<Box<dyn Stage>> {
    let Bson::Document(pattern) = argument else {
        return Err(Error::command(Code(15973), "the $sort key specification must be an object"));
    };
    if pattern.is_empty() {
        return Err(Error::command(Code(15976), "$sort stage must have at least one sort key"));
    }
    Ok(Box::new(Sorted { order: Sort::parse(pattern)?, wanted: usize::MAX }))
}

/// A sort, by a compiled order, that gives out at most `wanted` documents.
#[derive(Debug)]
pub(super) struct Sorted {
    pub(super) order: Sort,
    pub(super) wanted: usize,
}

impl Stage for Sorted {
    fn run<'a>(&'a self, input: Documents<'a>, context: &'a Context) -> Documents<'a> {
        lazily(move || {
            let mut memory = Memory::new(context, memory::SORT);
            let mut kept: Vec<(Vec<Bson>, Document)> = Vec::new();
            // Twice what is wanted is collected before the rest is dropped, so that dropping is rare.
            let room = self.wanted.saturating_mul(2).max(1024);
            for document in input {
                let document = document?;
                context.interrupt.check()?;
                memory.take(size::of_document(&document))?;
                let key = self.order.key(&document)?.into_iter().cloned().collect();
                kept.push((key, document));
                if kept.len() >= room {
                    self.settle(&mut kept, &mut memory);
                }
            }
            self.settle(&mut kept, &mut memory);
            Ok(kept.into_iter().map(|(_, document)| document).collect())
        })
    }

    fn wants(&mut self, count: usize) {
        self.wanted = self.wanted.min(count);
    }
}

impl Sorted {
    fn settle(&self, kept: &mut Vec<(Vec<Bson>, Document)>, memory: &mut Memory) {
        // Stable: equal documents keep the order in which they came, as scripts expect.
        kept.sort_by(|(left, _), (right, _)| self.order.compare_keys(left, right));
        if kept.len() > self.wanted {
            for (_, dropped) in kept.drain(self.wanted..) {
                memory.free(size::of_document(&dropped));
            }
        }
    }
}
