//! The remote backend: a MongoDB server by address, through the official driver. The only room that is asynchronous.
//!
//! The driver lives on a runtime of its own with one worker thread, so that its heartbeats go on while the prompt waits
//! for a human; every call blocks on one future, until it is done, its deadline is over or Ctrl-C drops it. Dropping a
//! future closes the connection it used. The server then ends a read by itself; a write that has reached it may be done
//! or not, and nobody can tell.
//!
//! **What is done here, because the driver leaves raw commands alone:** the read preference, read concern and write
//! concern of the address are added to the commands that take them (`concern`), and reads and writes are sent once more
//! after a lost connection, writes so that the server does none twice (`retry`). `retryReads=false` and
//! `retryWrites=false` in the address turn that off. On a standalone, which keeps no record of writes, and for a write
//! of many documents a lost connection is an error. Sessions of a script's own and their transactions are the driver's
//! (`session`).
//!
//! A cursor left early is closed by `killCursors`, which the driver sends in the background; leaving the session waits a
//! moment for that.

mod address;
mod concern;
mod cursor;
mod failure;
mod link;
mod retry;
mod session;
mod settings;

pub use address::Address;
pub use settings::{Compression, Mechanism, ServerSettings, StableApi, TlsSettings};

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use bson::{Document, RawDocument, RawDocumentBuf};

use super::{Backend, Cursor, Request, Session, Topology, take_patience};
use crate::error::{Error, Result};
use crate::interrupt::Interrupt;
use cursor::{Batches, ServerCursor};
use link::{Errand, Link};
use session::ServerSession;

/// How long to let a server be that could not be reached.
const PAUSE: Duration = Duration::from_millis(50);

/// A server by address. Nothing is contacted before the first command.
pub struct Remote {
    address: Address,
    settings: ServerSettings,
    link: OnceLock<Arc<Link>>,
    /// Held while the driver is being set up.
    opening: Mutex<()>,
    /// What the server said of itself.
    topology: OnceLock<Topology>,
}

impl Remote {
    /// The server at `address`, not contacted yet.
    pub fn new(address: Address, settings: ServerSettings) -> Self {
        let (link, opening, topology) = (OnceLock::new(), Mutex::new(()), OnceLock::new());
        Self { address, settings, link, opening, topology }
    }

    /// Asks the server who it is: whether it can be reached, and what prompt and banner say of it. With `wait` it goes on
    /// trying for so long.
    ///
    /// # Errors
    /// [`Error::Connection`] when it cannot be reached, [`Error::Command`] when the user cannot log in.
    pub fn greet(&self, interrupt: &Interrupt, wait: Option<Duration>) -> Result<()> {
        let started = Instant::now();
        let hello = loop {
            let left = wait.map(|wait| wait.saturating_sub(started.elapsed()));
            match self.link(interrupt).and_then(|link| link.greet(interrupt, left)) {
                Err(Error::Connection(_)) if left.is_some_and(|left| left > PAUSE) => {
                    interrupt.check()?;
                    thread::sleep(PAUSE);
                }
                outcome => break outcome?,
            }
        };
        let _ = self.topology.set(topology(&self.address, &hello));
        Ok(())
    }

    /// The driver, set up now if it is not yet. A failure is not remembered: the next command tries again.
    fn link(&self, interrupt: &Interrupt) -> Result<&Arc<Link>> {
        if let Some(link) = self.link.get() {
            return Ok(link);
        }
        let _turn = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(link) = self.link.get() {
            return Ok(link);
        }
        let link = Arc::new(Link::open(self.address.clone(), &self.settings, interrupt)?);
        Ok(self.link.get_or_init(|| link))
    }
}

impl Backend for Remote {
    fn describe(&self) -> Topology {
        let unknown =
            || Topology::Server { address: self.address.hosts().to_owned(), replica_set: None };
        self.topology.get().cloned().unwrap_or_else(unknown)
    }

    fn run(&self, request: Request) -> Result<RawDocumentBuf> {
        let Request { db, mut body, interrupt } = request;
        let link = self.link(&interrupt)?;
        let asked = concern::preference(&mut body);
        let preference = asked.or(link.concerns.dress(&mut body));
        let reply = link.run(&interrupt, Errand { db, body, preference })?;
        RawDocumentBuf::try_from(&reply).map_err(|error| unreadable(&error))
    }

    fn stream(&self, request: Request) -> Result<Box<dyn Cursor>> {
        let Request { db, mut body, interrupt } = request;
        let link = self.link(&interrupt)?;
        let patience = take_patience(&mut body);
        let asked = concern::preference(&mut body);
        let preference = asked.or(link.concerns.dress(&mut body));
        let batch_size = super::batch_size(&body).and_then(|size| u32::try_from(size).ok());
        let errand = Errand { db, body, preference };
        let batches = link.open_cursor(&interrupt, &errand, batch_size, patience)?;
        let batches = Batches::Own(batches);
        Ok(Box::new(ServerCursor::new(batches, Arc::clone(link), interrupt)?))
    }

    fn session(
        &self,
        options: &RawDocument,
        interrupt: &Interrupt,
    ) -> Result<Option<Arc<dyn Session>>> {
        let link = self.link(interrupt)?;
        if !link.keeps_numbers(interrupt)? {
            return Ok(None);
        }
        Ok(Some(Arc::new(ServerSession::start(link, options, interrupt)?)))
    }
}

fn unreadable(error: &dyn std::fmt::Display) -> Error {
    Error::Connection(format!("the server's answer cannot be read: {error}"))
}

/// The name of a command: its first field.
fn command(body: &RawDocument) -> &str {
    body.iter().next().and_then(|first| first.ok()).map_or("", |(name, _)| name.as_str())
}

/// What a reply to `hello` says of the server.
fn topology(address: &Address, hello: &Document) -> Topology {
    let replica_set = hello.get_str("setName").ok().map(|name| {
        let is = |field: &str| hello.get_bool(field).unwrap_or(false);
        let state = match () {
            () if is("isWritablePrimary") => "primary",
            () if is("secondary") => "secondary",
            () if is("arbiterOnly") => "arbiter",
            () => "other",
        };
        (name.to_owned(), state.to_owned())
    });
    let own = hello.get_str("me").ok().filter(|_| replica_set.is_some());
    Topology::Server { address: own.unwrap_or(address.hosts()).to_owned(), replica_set }
}

#[cfg(test)]
mod tests {
    use bson::doc;

    use super::*;

    fn server(address: &str, replica_set: Option<(&str, &str)>) -> Topology {
        let replica_set = replica_set.map(|(name, state)| (name.to_owned(), state.to_owned()));
        Topology::Server { address: address.to_owned(), replica_set }
    }

    #[test]
    fn a_server_says_which_member_it_is() {
        let address = Address::parse("db.example/shop").expect("a good address");
        let plain = doc! { "isWritablePrimary": true, "ok": 1.0 };
        assert_eq!(topology(&address, &plain), server("db.example:27017", None));
        let member = doc! { "setName": "rs0", "secondary": true, "me": "b.example:27018" };
        assert_eq!(
            topology(&address, &member),
            server("b.example:27018", Some(("rs0", "secondary")))
        );
    }
}
