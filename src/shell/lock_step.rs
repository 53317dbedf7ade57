//! Lock step: several shells take turns, each from one call of the database to its next.
//!
//! No shell goes on before all others have come to their next call, and they go on one by one in the order of their
//! numbers, so that a race comes out the same each time.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::error::Result;
use crate::interrupt::{self, Interrupt};

/// The turns of several shells.
pub struct LockStep {
    turns: Mutex<Turns>,
    changed: Condvar,
}

struct Turns {
    /// Which of them have not ended.
    live: Vec<bool>,
    /// Whose turn it is.
    turn: usize,
}

impl LockStep {
    /// Turns for so many shells; the first begins.
    pub fn new(shells: usize) -> Self {
        let turns = Turns { live: vec![true; shells], turn: 0 };
        Self { turns: Mutex::new(turns), changed: Condvar::new() }
    }

    /// Waits until it is the turn of `shell` (from 0) for the first time.
    ///
    /// # Errors
    /// When it is interrupted.
    pub fn begin(&self, shell: usize, interrupt: &Interrupt) -> Result<()> {
        self.wait(self.lock(), shell, interrupt)
    }

    /// `shell` has come to a call: the next one's turn. Comes back when all others have come to one too.
    ///
    /// # Errors
    /// When it is interrupted.
    pub(super) fn step(&self, shell: usize, interrupt: &Interrupt) -> Result<()> {
        let mut turns = self.lock();
        turns.pass_on(shell);
        self.changed.notify_all();
        self.wait(turns, shell, interrupt)
    }

    /// `shell` has ended; the others go on without it.
    pub fn leave(&self, shell: usize) {
        let mut turns = self.lock();
        turns.live[shell] = false;
        turns.pass_on(shell);
        self.changed.notify_all();
    }

    fn wait(
        &self,
        mut turns: MutexGuard<'_, Turns>,
        shell: usize,
        interrupt: &Interrupt,
    ) -> Result<()> {
        while turns.turn != shell {
            interrupt.check()?;
            let waited = self.changed.wait_timeout(turns, interrupt::LOOK);
            turns = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        interrupt.check()
    }

    /// What a thread that panicked left is as good as any: each change is one assignment.
    fn lock(&self) -> MutexGuard<'_, Turns> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Turns {
    /// Ends the turn of `shell`, if it has it.
    fn pass_on(&mut self, shell: usize) {
        if self.turn != shell {
            return;
        }
        let count = self.live.len();
        let next = (1..=count).map(|step| (shell + step) % count).find(|at| self.live[*at]);
        self.turn = next.unwrap_or(shell);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::thread;

    use super::*;

    #[test]
    fn shells_take_turns_and_one_that_ends_leaves() {
        for _ in 0..20 {
            let steps = Arc::new(LockStep::new(3));
            let said = Arc::new(Mutex::new(Vec::new()));
            thread::scope(|scope| {
                for shell in 0..3 {
                    let (steps, said) = (Arc::clone(&steps), Arc::clone(&said));
                    scope.spawn(move || {
                        let interrupt = Interrupt::new();
                        steps.begin(shell, &interrupt).expect("nobody interrupts");
                        // The second shell has one call, the others have two.
                        for call in 0..if shell == 1 { 1 } else { 2 } {
                            steps.step(shell, &interrupt).expect("nobody interrupts");
                            said.lock().expect("nobody panics").push((shell, call));
                        }
                        steps.leave(shell);
                    });
                }
            });
            let said = said.lock().expect("nobody panics");
            assert_eq!(*said, [(0, 0), (1, 0), (2, 0), (0, 1), (2, 1)]);
        }
    }

    #[test]
    fn an_interrupt_ends_the_wait() {
        let (steps, interrupt) = (LockStep::new(2), Interrupt::new());
        interrupt.raise();
        assert!(steps.begin(1, &interrupt).is_err());
    }
}
