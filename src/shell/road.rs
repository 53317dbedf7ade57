//! By which road commands go: to which connection, and in which session of it.
//!
//! An object that a script holds - a database, a cursor, a bulk - belongs to one. The door sets out on it before a method
//! of that object runs; functions that belong to no object take the road of the global `db`, outside its session.

use std::sync::Arc;

use bson::RawDocumentBuf;

use super::Shell;
use super::refusal::usage;
use crate::backend::{self, Backend, Changes, Cursor, Opener, Request};
use crate::error::Result;

/// A connection, and perhaps a session of it.
#[derive(Clone, Default)]
pub(super) struct Road {
    /// The connection; `None` is the shell's own.
    pub(super) backend: Option<Arc<dyn Backend>>,
    /// The session, where it is one that the server keeps.
    pub(super) session: Option<Arc<dyn backend::Session>>,
    /// The number of the connection, 0 for the shell's own: settings are kept under it.
    pub(super) connection: u32,
}

impl Road {
    /// The same connection, in no session.
    fn aside(&self) -> Self {
        Self { session: None, ..self.clone() }
    }
}

impl Shell {
    /// The connection that commands go to now.
    pub fn server(&self) -> &Arc<dyn Backend> {
        self.held.road.backend.as_ref().unwrap_or(&self.backend)
    }

    /// Sets out on the road of what a script object stands for; 0 is the shell's own connection.
    ///
    /// # Errors
    /// When its connection was closed.
    pub fn set_out(&mut self, handle: u32) -> Result<()> {
        let road = self.held.road(handle);
        self.held.road = road.ok_or_else(|| usage("this connection was closed"))?;
        Ok(())
    }

    /// The method is over: back to the road of the global `db`, outside its session.
    pub fn return_home(&mut self) {
        self.held.road = self.home.clone();
    }

    /// Makes the road of a script object, 0 for the shell's own connection, the one that everything takes by default.
    pub fn settle(&mut self, handle: u32) {
        self.home = self.held.road(handle).unwrap_or_default().aside();
        self.return_home();
    }

    pub(super) fn dispatch(&self, request: Request) -> Result<RawDocumentBuf> {
        match &self.held.road.session {
            Some(session) => session.run(request),
            None => self.server().run(request),
        }
    }

    pub(super) fn dispatch_stream(&self, request: Request) -> Result<Box<dyn Cursor>> {
        let (session, server) = (self.held.road.session.clone(), Arc::clone(self.server()));
        let open: Opener = Box::new(move |request| match &session {
            Some(session) => session.stream(request),
            None => server.stream(request),
        });
        match Changes::are_meant(&request.body) {
            true => Ok(Box::new(Changes::open(open, request)?)),
            false => open(request),
        }
    }
}
