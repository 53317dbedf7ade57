//! What script objects stand for: cursors, bulk builders and the like, each under a number.

use super::bulk::{Bulk, Selection};
use super::cursor::{Query, Stream};
use super::explain::Explained;
use super::plan_cache::PlanCache;
use super::road::Road;
use super::session::Session;

/// Something a script object stands for.
pub(super) enum Held {
    /// `db.c.initializeOrderedBulkOp()`.
    Bulk(Bulk),
    /// `db.c.aggregate()`.
    Command(CommandCursor),
    /// `new Mongo(address)`.
    Connection,
    /// `db.c.explain()`.
    Explained(Explained),
    /// `db.c.getPlanCache()`.
    PlanCache(PlanCache),
    /// `db.c.find()`.
    Query(Box<Query>),
    /// `bulk.find()`.
    Selection(Selection),
    /// `db.getMongo().startSession()`.
    Session(Session),
}

/// The documents that a command answered with.
pub(super) struct CommandCursor {
    pub(super) stream: Stream,
    /// Show each document over several lines.
    pub(super) pretty: bool,
    /// What a change stream follows.
    pub(super) on: String,
}

/// The table of everything held. A number is given again after its holder was released.
#[derive(Default)]
pub(super) struct Table {
    slots: Vec<Option<Slot>>,
    free: Vec<u32>,
    /// A number for each further script object that stands for the same as another.
    shared: Vec<u32>,
    /// By which road commands go now. What is kept from now on remembers it.
    pub(super) road: Road,
}

struct Slot {
    held: Held,
    /// By which road its commands go; `None` once its connection was closed.
    road: Option<Road>,
}

impl Table {
    /// Keeps `held` and answers with its number, which is never 0.
    pub(super) fn insert(&mut self, held: Held) -> u32 {
        self.insert_at(held, self.road.clone())
    }

    /// As [`Table::insert`], at the beginning of another road.
    pub(super) fn insert_at(&mut self, held: Held, road: Road) -> u32 {
        let slot = Some(Slot { held, road: Some(road) });
        match self.free.pop() {
            Some(handle) => {
                self.slots[handle as usize - 1] = slot;
                handle
            }
            None => {
                self.slots.push(slot);
                u32::try_from(self.slots.len()).expect("memory ends before four billion cursors")
            }
        }
    }

    /// What `handle` stands for.
    pub(super) fn get_mut(&mut self, handle: u32) -> Option<&mut Held> {
        Some(&mut self.slot(handle)?.held)
    }

    /// By which road the commands of `handle` go; 0 is the shell's own connection. `None` where that was closed.
    pub(super) fn road(&self, handle: u32) -> Option<Road> {
        match (handle as usize).checked_sub(1) {
            None => Some(Road::default()),
            Some(at) => self.slots.get(at)?.as_ref()?.road.clone(),
        }
    }

    /// Gives `handle` another road.
    pub(super) fn reroute(&mut self, handle: u32, road: Road) {
        if let Some(slot) = self.slot(handle) {
            slot.road = Some(road);
        }
    }

    /// Gives up the road of `handle`.
    pub(super) fn close(&mut self, handle: u32) {
        if let Some(slot) = self.slot(handle) {
            slot.road = None;
        }
    }

    fn slot(&mut self, handle: u32) -> Option<&mut Slot> {
        self.slots.get_mut((handle as usize).checked_sub(1)?)?.as_mut()
    }

    /// Another script object stands for `handle`, too: both must go before it is forgotten.
    pub(super) fn share(&mut self, handle: u32) {
        self.shared.push(handle);
    }

    /// Forgets what `handle` stood for, unless another object stands for it.
    pub(super) fn remove(&mut self, handle: u32) {
        if let Some(at) = self.shared.iter().position(|shared| *shared == handle) {
            self.shared.swap_remove(at);
            return;
        }
        let slot = (handle as usize).checked_sub(1).and_then(|at| self.slots.get_mut(at));
        if slot.is_some_and(|slot| slot.take().is_some()) {
            self.free.push(handle);
        }
    }
}
