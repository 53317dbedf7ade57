//! The one cancel token: Ctrl-C and deadlines end up here, and every long loop asks it.
//!
//! A raised interrupt stays raised until the session has unwound to the prompt and clears it, so that no `catch` and no
//! `finally` of a script can go on behind the user's back.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::error::{Code, Error, Result};

/// The exit code of a program that Ctrl-C ended: 128 and the number of SIGINT, as shells have it.
pub const EXIT_CODE: i32 = 130;

/// How often a wait that nobody ends asks whether it was interrupted.
pub const LOOK: Duration = Duration::from_millis(50);

/// A shared flag that says "stop", and an optional moment after which the answer is "too late".
#[derive(Clone, Debug, Default)]
pub struct Interrupt {
    raised: Arc<AtomicBool>,
    /// Raised too when this one is.
    parent: Option<Arc<AtomicBool>>,
    deadline: Option<Instant>,
}

impl Interrupt {
    /// A fresh token, not raised.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same token with a deadline (`maxTimeMS`) of its own; raising one raises both.
    #[must_use]
    pub fn with_deadline(&self, deadline: Instant) -> Self {
        Self { deadline: Some(deadline), ..self.clone() }
    }

    /// A token that is raised when this one is, and that can be raised without it.
    #[must_use]
    pub fn child(&self) -> Self {
        Self { raised: Arc::default(), parent: Some(Arc::clone(&self.raised)), deadline: None }
    }

    /// Asks everything that holds this token to stop. Answers whether it was raised already.
    pub fn raise(&self) -> bool {
        self.raised.swap(true, Ordering::SeqCst)
    }

    /// Forgets a raised interrupt: the session has unwound.
    pub fn clear(&self) {
        self.raised.store(false, Ordering::SeqCst);
    }

    /// Whether someone asked to stop.
    pub fn is_raised(&self) -> bool {
        self.raised.load(Ordering::Relaxed)
            || self.parent.as_ref().is_some_and(|parent| parent.load(Ordering::Relaxed))
    }

    /// Fails with [`Error::Interrupted`] once raised, and with the server's code 50 once the deadline is over.
    pub fn check(&self) -> Result<()> {
        if self.is_raised() {
            return Err(Error::Interrupted);
        }
        match self.deadline {
            Some(deadline) if Instant::now() >= deadline => {
                Err(Error::command(Code::MAX_TIME_MS_EXPIRED, "operation exceeded time limit"))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_raised_token_fails_everywhere_until_cleared() {
        let token = Interrupt::new();
        let other = token.with_deadline(Instant::now() + std::time::Duration::from_secs(3600));
        assert_eq!(other.check(), Ok(()));
        assert!(!token.raise());
        assert_eq!(other.check(), Err(Error::Interrupted));
        token.clear();
        assert_eq!(other.check(), Ok(()));
    }

    #[test]
    fn a_child_is_raised_with_its_parent_but_not_the_other_way_round() {
        let parent = Interrupt::new();
        let (one, other) = (parent.child(), parent.child());
        one.raise();
        assert!(one.is_raised() && !other.is_raised() && !parent.is_raised());
        parent.raise();
        assert!(other.with_deadline(Instant::now()).is_raised());
    }

    #[test]
    fn a_passed_deadline_is_code_50() {
        let token = Interrupt::new().with_deadline(Instant::now());
        assert_eq!(token.check().unwrap_err().code(), Some(Code::MAX_TIME_MS_EXPIRED));
    }
}
