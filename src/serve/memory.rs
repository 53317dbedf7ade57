//! What large messages may take together, so that many clients cannot exhaust the machine's memory.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// What is counted: smaller messages cost nothing.
pub(super) const UNIT: usize = 1024 * 1024;

/// How many units there are.
const UNITS: usize = 256;

/// How many units of answers may wait for room; one that finds even that full is given up at once. So many clients that
/// ask for much and read nothing get in each other's way, and not in that of the others.
const WAITING: usize = 256;

/// How long a message waits for room before its connection is given up.
const PATIENCE: Duration = Duration::from_secs(30);

/// The memory for large messages.
pub(super) struct Memory {
    units: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
}

/// What one message has of it, until it is dropped.
#[derive(Default)]
pub(super) struct Share {
    held: Option<OwnedSemaphorePermit>,
}

impl Default for Memory {
    fn default() -> Self {
        Self { units: Arc::new(Semaphore::new(UNITS)), waiting: Arc::new(Semaphore::new(WAITING)) }
    }
}

impl Memory {
    /// Makes a share large enough for so many bytes. False when there is no room for too long.
    pub(super) async fn grow(&self, share: &mut Share, bytes: usize) -> bool {
        let held = share.held.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
        let missing = (bytes / UNIT).min(UNITS).saturating_sub(held);
        if missing == 0 {
            return true;
        }
        let more = Arc::clone(&self.units).acquire_many_owned(number(missing));
        let Ok(Ok(more)) = timeout(PATIENCE, more).await else { return false };
        match &mut share.held {
            Some(held) => held.merge(more),
            None => share.held = Some(more),
        }
        true
    }

    /// The share of an answer of so many bytes, which are there already. `None` when there is no room for it.
    pub(super) async fn of_answer(&self, bytes: usize) -> Option<Share> {
        let mut share = Share::default();
        let units = bytes / UNIT;
        let _waiting = match units > self.units.available_permits() {
            true => Some(self.waiting.try_acquire_many(number(units)).ok()?),
            false => None,
        };
        self.grow(&mut share, bytes).await.then_some(share)
    }
}

fn number(units: usize) -> u32 {
    u32::try_from(units).unwrap_or(u32::MAX)
}
