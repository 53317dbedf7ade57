//! The one place where shell code hands commands to the backend, and what it remembers of them.
//!
//! What the shell does on its own - completion, `getMore`, `killCursors` - does not come this way and is not remembered.

use bson::RawDocumentBuf;

use super::Shell;
use crate::backend::{Cursor, Request};
use crate::error::Result;

/// A command that was sent for the user.
#[derive(Clone, Debug, PartialEq)]
pub struct Sent {
    /// The database it went to.
    pub db: String,
    /// The command document, as it left.
    pub body: RawDocumentBuf,
}

impl Shell {
    /// Sends one command and returns the reply.
    ///
    /// # Errors
    /// As [`crate::backend::Backend::run`].
    pub fn run(&self, db: &str, body: RawDocumentBuf) -> Result<RawDocumentBuf> {
        self.backend.run(self.request(db, body)?)
    }

    /// Sends a command that answers with a cursor.
    ///
    /// # Errors
    /// As [`crate::backend::Backend::stream`].
    pub(super) fn stream(&self, db: &str, body: RawDocumentBuf) -> Result<Box<dyn Cursor>> {
        self.backend.stream(self.request(db, body)?)
    }

    /// The last command that was sent for the user, whatever came of it; `None` before the first.
    pub fn last_sent(&self) -> Option<Sent> {
        self.sent.borrow().clone()
    }

    /// Remembers the command and makes it a request.
    fn request(&self, db: &str, body: RawDocumentBuf) -> Result<Request> {
        self.interrupt.check()?;
        let db = db.to_owned();
        *self.sent.borrow_mut() = Some(Sent { db: db.clone(), body: body.clone() });
        Ok(Request { db, body, interrupt: self.interrupt.clone() })
    }
}
