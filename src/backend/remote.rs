//! The remote backend: a MongoDB server by address, through the official driver. The only room that is asynchronous.
//!
//! The driver lives on a runtime of its own with one worker thread, so that its heartbeats go on while the prompt waits
//! for a human; every call blocks on one future, until it is done, its deadline is over or Ctrl-C drops it. Dropping a
//! future closes the connection it used. The server then ends a read by itself; a write that has reached it may be done
//! or not, and nobody can tell.
//!
//! **What is done here, because the driver leaves raw commands alone:** the read preference, read concern and write
//! concern of the address are added to the commands that take them (`concern`).
//!
//! **What is not done: nothing is sent again.** `retryReads` and `retryWrites` of the address have no effect: a command
//! goes out once, and a lost connection is an error that says so. (The driver itself sends again only what a server
//! has turned away unread because it was overloaded, and after the server asked for another login.) Sessions and
//! transactions are not offered either.
//!
//! A cursor left early is closed by `killCursors`, which the driver sends in the background; leaving the session waits a
//! moment for that.

mod address;
mod concern;
mod failure;

pub use address::Address;

use std::future::Future;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use bson::{Document, RawBsonRef, RawDocument, RawDocumentBuf, rawdoc};
use futures_util::StreamExt as _;
use mongodb::Client;
use mongodb::error::{Error as DriverError, Result as DriverResult};
use mongodb::event::EventHandler;
use mongodb::event::sdam::SdamEvent;
use mongodb::options::ClientOptions;
use mongodb::raw_batch_cursor::{RawBatch, RawBatchCursor};
use tokio::runtime::{self, Runtime};

use super::{Backend, Cursor, Request, Topology};
use crate::error::{Code, Error, Result};
use crate::interrupt::Interrupt;
use concern::Concerns;
use failure::LastFailure;

/// How often a call in flight looks for Ctrl-C and its deadline.
const LOOK: Duration = Duration::from_millis(50);
/// How long a server on this machine may take to be found; one elsewhere has the driver's 30 seconds.
const NEAR: Duration = Duration::from_secs(2);
/// How long leaving waits for cursors and sessions to be closed at the server.
const FAREWELL: Duration = Duration::from_secs(1);

/// A server by address. Nothing is contacted before the first command.
pub struct Remote {
    address: Address,
    link: OnceLock<Arc<Link>>,
    /// Held while the driver is being set up.
    opening: Mutex<()>,
    /// What the server said of itself.
    topology: OnceLock<Topology>,
}

impl Remote {
    /// The server at `address`, not contacted yet.
    pub fn new(address: Address) -> Self {
        Self { address, link: OnceLock::new(), opening: Mutex::new(()), topology: OnceLock::new() }
    }

    /// Asks the server who it is: whether it can be reached, and what prompt and banner say of it.
    ///
    /// # Errors
    /// [`Error::Connection`] when it cannot be reached, [`Error::Command`] when the user cannot log in.
    pub fn greet(&self, interrupt: &Interrupt) -> Result<()> {
        let link = self.link(interrupt)?;
        let database = link.client.database("admin");
        let mut hello = database.run_raw_command(rawdoc! { "hello": 1 });
        if let Some(preference) = link.concerns.preference() {
            hello = hello.selection_criteria(preference);
        }
        match link.wait(interrupt, "hello", hello.into_future()) {
            Ok(reply) => {
                let _ = self.topology.set(topology(&self.address, &reply));
                link.reached();
                Ok(())
            }
            // A server too old for the command, or one that does not know it, has been reached all the same.
            Err(Error::Command(refusal)) if refusal.code == Code::COMMAND_NOT_FOUND => {
                link.reached();
                Ok(())
            }
            Err(error) => Err(error),
        }
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
        let link = Arc::new(Link::open(self.address.clone(), interrupt)?);
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
        let name = command(&body).to_owned();
        let preference = link.concerns.dress(&mut body);
        let database = link.client.database(&db);
        let mut call = database.run_raw_command(body);
        if let Some(preference) = preference {
            call = call.selection_criteria(preference);
        }
        let reply = link.wait(&interrupt, &name, call.into_future())?;
        link.reached();
        RawDocumentBuf::try_from(&reply).map_err(|error| unreadable(&error))
    }

    fn stream(&self, request: Request) -> Result<Box<dyn Cursor>> {
        let Request { db, mut body, interrupt } = request;
        let link = self.link(&interrupt)?;
        let name = command(&body).to_owned();
        let preference = link.concerns.dress(&mut body);
        let batch_size = super::batch_size(&body).and_then(|size| u32::try_from(size).ok());
        let database = link.client.database(&db);
        let mut call = database.run_raw_cursor_command(body);
        if let Some(preference) = preference {
            call = call.selection_criteria(preference);
        }
        if let Some(size) = batch_size {
            call = call.batch_size(size);
        }
        let batches = link.wait(&interrupt, &name, call.batch())?;
        link.reached();
        let mut cursor = ServerCursor {
            id: 0,
            batches: Some(batches),
            first: None,
            link: Arc::clone(link),
            interrupt,
        };
        // It came with the reply; only the id is read ahead.
        cursor.first = cursor.fetch("find")?;
        Ok(Box::new(cursor))
    }
}

/// The driver and the runtime it lives on, shared with the cursors.
struct Link {
    address: Address,
    client: Client,
    concerns: Concerns,
    last: LastFailure,
    /// A server has answered, so there may be something to close.
    answered: OnceLock<()>,
    /// Taken when the link is dropped.
    runtime: Option<Runtime>,
}

impl Link {
    /// Sets the driver up; an address by DNS record is looked up here.
    fn open(address: Address, interrupt: &Interrupt) -> Result<Self> {
        let runtime = runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("driver")
            .enable_all()
            .build()
            .map_err(|error| Error::Connection(format!("cannot start the driver: {error}")))?;
        let last = LastFailure::default();
        let failed = |error: DriverError| failure::error(&error, "connect", &address, &last);
        let parsed = wait(&runtime, interrupt, ClientOptions::parse(address.uri()).into_future());
        let mut options = parsed?.map_err(failed)?;
        options.app_name.get_or_insert_with(|| "tally".to_owned());
        if address.is_loopback() {
            options.server_selection_timeout.get_or_insert(NEAR);
        }
        // As mongosh has it: whoever names one server means that one, not the set it may belong to.
        if options.hosts.len() == 1
            && !address.uri().starts_with("mongodb+srv:")
            && options.repl_set_name.is_none()
            && options.load_balanced != Some(true)
        {
            options.direct_connection.get_or_insert(true);
        }
        let heard = last.clone();
        options.sdam_event_handler = Some(EventHandler::callback(move |event| {
            if let SdamEvent::ServerHeartbeatFailed(event) = event {
                heard.remember(&event.server_address.to_string(), &event.failure);
            }
        }));
        let concerns = Concerns::of(&options);
        let client = {
            let _context = runtime.enter();
            Client::with_options(options).map_err(failed)?
        };
        let runtime = Some(runtime);
        Ok(Self { address, client, concerns, last, answered: OnceLock::new(), runtime })
    }

    /// Runs one driver call to its end, unless the user interrupts it or its deadline is over.
    fn wait<T>(
        &self,
        interrupt: &Interrupt,
        command: &str,
        call: impl Future<Output = DriverResult<T>>,
    ) -> Result<T> {
        let runtime = self.runtime.as_ref().expect("the runtime is taken by drop only");
        wait(runtime, interrupt, call)?
            .map_err(|error| failure::error(&error, command, &self.address, &self.last))
    }

    fn reached(&self) {
        let _ = self.answered.set(());
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        let Some(runtime) = self.runtime.take() else { return };
        if self.answered.get().is_some() {
            let client = self.client.clone();
            // A server that does not hear the farewell forgets idle cursors by itself.
            let _ =
                runtime.block_on(async { tokio::time::timeout(FAREWELL, client.shutdown()).await });
        }
        runtime.shutdown_background();
    }
}

/// Runs a future to its end, unless the interrupt is raised or its deadline over.
fn wait<T>(runtime: &Runtime, interrupt: &Interrupt, call: impl Future<Output = T>) -> Result<T> {
    runtime.block_on(async {
        tokio::select! {
            biased;
            answer = call => Ok(answer),
            error = stopped(interrupt) => Err(error),
        }
    })
}

/// Waits until there is a reason to stop, and answers with it.
async fn stopped(interrupt: &Interrupt) -> Error {
    loop {
        tokio::time::sleep(LOOK).await;
        if let Err(error) = interrupt.check() {
            return error;
        }
    }
}

/// A cursor at the server, read batch by batch.
struct ServerCursor {
    id: i64,
    /// `None` once it is exhausted or failed for good. Dropped before the link it lives on.
    batches: Option<RawBatchCursor>,
    first: Option<Vec<RawDocumentBuf>>,
    link: Arc<Link>,
    interrupt: Interrupt,
}

impl ServerCursor {
    /// The next batch from the driver, which asks the server for it when none is waiting.
    fn fetch(&mut self, command: &str) -> Result<Option<Vec<RawDocumentBuf>>> {
        let Some(batches) = &mut self.batches else { return Ok(None) };
        let next = async { batches.next().await.transpose() };
        let Some(batch) = self.link.wait(&self.interrupt, command, next)? else {
            self.id = 0;
            self.batches = None;
            return Ok(None);
        };
        let (id, documents) = contents(&batch)?;
        self.id = id;
        Ok(Some(documents))
    }
}

impl Cursor for ServerCursor {
    fn next_batch(&mut self) -> Result<Option<Vec<RawDocumentBuf>>> {
        match self.first.take() {
            Some(batch) => Ok(Some(batch)),
            None => self.fetch("getMore"),
        }
    }

    fn id(&self) -> i64 {
        self.id
    }
}

/// The id of the cursor and the documents of one batch.
fn contents(batch: &RawBatch) -> Result<(i64, Vec<RawDocumentBuf>)> {
    let cursor = batch.as_raw_document().get_document("cursor");
    let id = cursor.and_then(|cursor| cursor.get_i64("id")).map_err(|error| unreadable(&error))?;
    let documents = batch.doc_slices().map_err(|error| unreadable(&error))?;
    let documents = documents.into_iter().map(|element| match element {
        Ok(RawBsonRef::Document(document)) => Ok(document.to_owned()),
        Ok(_) => Err(unreadable(&"a batch holds what is no document")),
        Err(error) => Err(unreadable(&error)),
    });
    Ok((id, documents.collect::<Result<_>>()?))
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

    #[test]
    fn a_call_that_hangs_ends_with_the_interrupt_or_the_deadline() {
        let runtime =
            runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let interrupt = Interrupt::new();
        let late = interrupt.with_deadline(std::time::Instant::now());
        let outcome = wait(&runtime, &late, std::future::pending::<()>());
        assert_eq!(outcome.expect_err("it hangs").code(), Some(Code::MAX_TIME_MS_EXPIRED));
        interrupt.raise();
        let outcome = wait(&runtime, &interrupt, std::future::pending::<()>());
        assert_eq!(outcome, Err(Error::Interrupted));
    }
}
