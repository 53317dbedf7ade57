//! A backend that remembers the commands that pass through it, for checks that ask how something was done.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bson::{RawDocument, RawDocumentBuf};

use crate::backend::{Backend, Cursor, Request, Session, Topology};
use crate::error::Result;
use crate::interrupt::Interrupt;

/// How many commands are remembered; the oldest are forgotten first.
const MEMORY: usize = 5000;

/// A backend in front of another one.
pub(super) struct Witness {
    backend: Arc<dyn Backend>,
    seen: Mutex<VecDeque<RawDocumentBuf>>,
}

impl Witness {
    /// A witness of what is sent to `backend`.
    pub(super) fn new(backend: Arc<dyn Backend>) -> Self {
        Self { backend, seen: Mutex::default() }
    }

    /// The backend behind it: what is sent there is not remembered.
    pub(super) fn behind(&self) -> Arc<dyn Backend> {
        Arc::clone(&self.backend)
    }

    /// The commands since the last [`Witness::forget`], oldest first.
    pub(super) fn commands(&self) -> Vec<RawDocumentBuf> {
        self.seen().iter().cloned().collect()
    }

    /// Forgets them.
    pub(super) fn forget(&self) {
        self.seen().clear();
    }

    fn remember(&self, request: &Request) {
        let mut seen = self.seen();
        if seen.len() == MEMORY {
            seen.pop_front();
        }
        seen.push_back(request.body.clone());
    }

    fn seen(&self) -> MutexGuard<'_, VecDeque<RawDocumentBuf>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Backend for Witness {
    fn describe(&self) -> Topology {
        self.backend.describe()
    }

    fn run(&self, request: Request) -> Result<RawDocumentBuf> {
        self.remember(&request);
        self.backend.run(request)
    }

    fn stream(&self, request: Request) -> Result<Box<dyn Cursor>> {
        self.remember(&request);
        self.backend.stream(request)
    }

    fn session(
        &self,
        options: &RawDocument,
        interrupt: &Interrupt,
    ) -> Result<Option<Arc<dyn Session>>> {
        self.backend.session(options, interrupt)
    }
}
