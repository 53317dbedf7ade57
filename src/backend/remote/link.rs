//! The driver and the runtime it lives on: set up once, shared with the cursors, taken down with the last of them.

use std::future::Future;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use bson::raw::cstr;
use bson::{Document, RawDocumentBuf, rawdoc};
use mongodb::error::{Error as DriverError, Result as DriverResult};
use mongodb::event::EventHandler;
use mongodb::event::sdam::SdamEvent;
use mongodb::options::{ClientOptions, CursorType, SelectionCriteria, SessionOptions};
use mongodb::raw_batch_cursor::{RawBatchCursor, SessionRawBatchCursor};
use mongodb::{Client, ClientSession};
use tokio::runtime::{self, Runtime};

use super::Address;
use super::concern::Concerns;
use super::failure::{self, LastFailure};
use super::retry::{self, Again};
use super::settings::ServerSettings;
use crate::error::{Code, Error, Result};
use crate::interrupt::{self, Interrupt};

/// How long a server on this machine may take to be found at first. One elsewhere has the driver's 30 seconds, and so
/// has any server that was there already: a replica set needs some to elect another primary.
const NEAR: Duration = Duration::from_secs(2);
/// How long a session may lie idle before it is used again. A server forgets it after 30 minutes.
const FRESH: Duration = Duration::from_secs(20 * 60);
/// How long leaving waits for cursors and sessions to be closed at the server.
const FAREWELL: Duration = Duration::from_secs(1);

/// One command on its way, with where it may go.
pub(super) struct Errand {
    /// The database it runs on.
    pub(super) db: String,
    /// The command, with all that the address adds to it.
    pub(super) body: RawDocumentBuf,
    /// Which members may take it; `None` for where writes go.
    pub(super) preference: Option<SelectionCriteria>,
}

/// The driver and the runtime it lives on.
pub(super) struct Link {
    address: Address,
    client: Client,
    /// What the address adds to commands.
    pub(super) concerns: Concerns,
    last: LastFailure,
    /// How long the server may take to be found at first, where the driver would be more patient.
    first: Option<Duration>,
    /// Reads may be sent again.
    reads: bool,
    /// Writes may be sent again, where the server keeps their numbers.
    writes: bool,
    /// The server keeps the numbers of writes. Known once it has said hello.
    keeps_numbers: OnceLock<bool>,
    /// The number of the next write. It grows over all sessions, because the driver hands the same ones out again.
    number: AtomicI64,
    /// Sessions that numbered writes take turns with, and when each was used last. Dropped before the driver.
    spare: Mutex<Vec<(ClientSession, Instant)>>,
    /// A server has answered, so there may be something to close.
    answered: OnceLock<()>,
    /// Taken when the link is dropped.
    runtime: Option<Runtime>,
}

impl Link {
    /// Sets the driver up; an address by DNS record is looked up here.
    ///
    /// # Errors
    /// [`Error::Connection`] when such a record is not found, [`Error::Usage`] when options contradict each other.
    pub(super) fn open(
        address: Address,
        settings: &ServerSettings,
        interrupt: &Interrupt,
    ) -> Result<Self> {
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
        settings.apply(&mut options);
        settle(&mut options, &address);
        let heard = last.clone();
        options.sdam_event_handler = Some(EventHandler::callback(move |event| {
            if let SdamEvent::ServerHeartbeatFailed(event) = event {
                heard.remember(&event.server_address.to_string(), &event.failure);
            }
        }));
        let concerns = Concerns::of(&options);
        let hasty = address.is_loopback() && options.server_selection_timeout.is_none();
        let (reads, writes) =
            (options.retry_reads.unwrap_or(true), options.retry_writes.unwrap_or(true));
        let client = {
            let _context = runtime.enter();
            Client::with_options(options).map_err(failed)?
        };
        Ok(Self {
            address,
            client,
            concerns,
            last,
            first: hasty.then_some(NEAR),
            reads,
            writes,
            keeps_numbers: OnceLock::new(),
            number: AtomicI64::new(1),
            spare: Mutex::default(),
            answered: OnceLock::new(),
            runtime: Some(runtime),
        })
    }

    /// Asks the server who it is, for so long at first. A server that does not know the command has been reached all the
    /// same.
    ///
    /// # Errors
    /// [`Error::Connection`] when it cannot be reached, [`Error::Command`] when the user cannot log in.
    pub(super) fn greet(&self, interrupt: &Interrupt, limit: Option<Duration>) -> Result<Document> {
        let body = rawdoc! { "hello": 1 };
        let errand =
            Errand { db: "admin".to_owned(), body, preference: self.concerns.preference() };
        let first = limit.or(self.first).filter(|_| self.answered.get().is_none());
        let hello = async {
            match first {
                None => Some(self.send(&errand).await),
                Some(limit) => tokio::time::timeout(limit, self.send(&errand)).await.ok(),
            }
        };
        let hello = match self.wait(interrupt, hello)? {
            None => return Err(failure::unreachable(&self.address, &self.last)),
            Some(hello) => hello,
        };
        let hello = match hello {
            Ok(hello) => hello,
            Err(error) => match self.failed(&error, "hello") {
                Error::Command(refusal) if refusal.code == Code::COMMAND_NOT_FOUND => {
                    Document::new()
                }
                error => return Err(error),
            },
        };
        let _ = self.answered.set(());
        let _ = self.keeps_numbers.set(retry::keeps_numbers(&hello));
        Ok(hello)
    }

    /// Sends a command and answers with the reply. One that may be sent again is, once, after a failure that allows it.
    ///
    /// # Errors
    /// As [`crate::backend::Backend::run`]; what a second attempt says, where it says more than the first.
    pub(super) fn run(&self, interrupt: &Interrupt, errand: Errand) -> Result<Document> {
        let name = super::command(&errand.body).to_owned();
        let reply = match Again::of(&errand.body) {
            Again::Write if self.writes && self.keeps_numbers(interrupt)? => {
                self.run_numbered(interrupt, errand)?
            }
            Again::Read if self.reads => self.read(interrupt, || self.send(&errand))?,
            Again::Never | Again::Read | Again::Write => {
                self.wait(interrupt, self.send(&errand))?
            }
        };
        let reply = reply.map_err(|error| self.failed(&error, &name))?;
        let _ = self.answered.set(());
        Ok(reply)
    }

    /// Sends a command that answers with a cursor.
    ///
    /// # Errors
    /// As [`Link::run`].
    pub(super) fn open_cursor(
        &self,
        interrupt: &Interrupt,
        errand: &Errand,
        batch_size: Option<u32>,
        patience: Option<Duration>,
    ) -> Result<RawBatchCursor> {
        let send = || async {
            let database = self.client.database(&errand.db);
            let mut call = database.run_raw_cursor_command(errand.body.clone());
            if let Some(preference) = &errand.preference {
                call = call.selection_criteria(preference.clone());
            }
            if let Some(size) = batch_size {
                call = call.batch_size(size);
            }
            if let Some(patience) = patience {
                call = call.cursor_type(CursorType::TailableAwait).max_time(patience);
            }
            call.batch().await
        };
        let opened = match Again::of(&errand.body) {
            Again::Read if self.reads => self.read(interrupt, send)?,
            Again::Never | Again::Read | Again::Write => self.wait(interrupt, send())?,
        };
        let opened = opened.map_err(|error| self.failed(&error, super::command(&errand.body)))?;
        let _ = self.answered.set(());
        Ok(opened)
    }

    /// One driver call to its end, unless the user interrupts it or its deadline is over.
    ///
    /// # Errors
    /// Why it was not waited for.
    pub(super) fn wait<T>(
        &self,
        interrupt: &Interrupt,
        call: impl Future<Output = T>,
    ) -> Result<T> {
        wait(self.runtime.as_ref().expect("the runtime is taken by drop only"), interrupt, call)
    }

    /// What the failure of the command `name` is called.
    pub(super) fn failed(&self, error: &DriverError, name: &str) -> Error {
        failure::error(error, name, &self.address, &self.last)
    }

    /// A read, which is made once more where that may help.
    fn read<T, Call: Future<Output = DriverResult<T>>>(
        &self,
        interrupt: &Interrupt,
        send: impl Fn() -> Call,
    ) -> Result<DriverResult<T>> {
        match self.wait(interrupt, send())? {
            Err(error) if retry::read_again(&error) => self.wait(interrupt, send()),
            outcome => Ok(outcome),
        }
    }

    /// A write under a number in a session that no other write uses meanwhile. The second attempt is the same to the byte.
    fn run_numbered(
        &self,
        interrupt: &Interrupt,
        mut errand: Errand,
    ) -> Result<DriverResult<Document>> {
        let mut session = match self.spare() {
            Some(session) => session,
            None => match self.wait(interrupt, self.start_session(None))? {
                Ok(session) => session,
                Err(error) => return Ok(Err(error)),
            },
        };
        errand.body.append(cstr!("txnNumber"), self.number.fetch_add(1, Ordering::Relaxed));
        let outcome = self.twice(interrupt, &errand, &mut session);
        // One whose connection was lost is left to the driver, which knows that it is not to be used again.
        if !matches!(&outcome, Ok((_, true))) {
            self.keep(session);
        }
        outcome.map(|(reply, _)| reply)
    }

    /// Sends a numbered write, and once more where that may help. Answers too whether a connection was lost.
    fn twice(
        &self,
        interrupt: &Interrupt,
        errand: &Errand,
        session: &mut ClientSession,
    ) -> Result<(DriverResult<Document>, bool)> {
        let lost = |outcome: &DriverResult<Document>| outcome.as_ref().is_err_and(retry::is_lost);
        let first = self.wait(interrupt, self.send_in(errand, session))?;
        if !retry::write_again(&first) {
            let lost = lost(&first);
            return Ok((first, lost));
        }
        let second = self.wait(interrupt, self.send_in(errand, session))?;
        let lost = lost(&first) || lost(&second);
        Ok((retry::telling(first, second), lost))
    }

    /// A session for a numbered write that was used before. The driver's own pool would hand it to a transaction, whose
    /// numbers it counts by itself; and asking that pool costs more than the rest of a command here.
    fn spare(&self) -> Option<ClientSession> {
        let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        spare.retain(|(_, used)| used.elapsed() < FRESH);
        spare.pop().map(|(session, _)| session)
    }

    /// Keeps a session for the next write.
    fn keep(&self, session: ClientSession) {
        let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        spare.push((session, Instant::now()));
    }

    async fn send(&self, errand: &Errand) -> DriverResult<Document> {
        let database = self.client.database(&errand.db);
        let mut call = database.run_raw_command(errand.body.clone());
        if let Some(preference) = &errand.preference {
            call = call.selection_criteria(preference.clone());
        }
        call.await
    }

    /// A session with these options.
    pub(super) async fn start_session(
        &self,
        options: Option<SessionOptions>,
    ) -> DriverResult<ClientSession> {
        self.client.start_session().with_options(options).await
    }

    /// Opens a cursor in a session.
    pub(super) async fn cursor_in(
        &self,
        errand: &Errand,
        session: &mut ClientSession,
        batch_size: Option<u32>,
        patience: Option<Duration>,
    ) -> DriverResult<SessionRawBatchCursor> {
        let database = self.client.database(&errand.db);
        let mut call = database.run_raw_cursor_command(errand.body.clone()).session(session);
        if let Some(preference) = &errand.preference {
            call = call.selection_criteria(preference.clone());
        }
        if let Some(size) = batch_size {
            call = call.batch_size(size);
        }
        if let Some(patience) = patience {
            call = call.cursor_type(CursorType::TailableAwait).max_time(patience);
        }
        call.batch().await
    }

    /// Sends a command in a session.
    pub(super) async fn send_in(
        &self,
        errand: &Errand,
        session: &mut ClientSession,
    ) -> DriverResult<Document> {
        let database = self.client.database(&errand.db);
        let mut call = database.run_raw_command(errand.body.clone()).session(session);
        if let Some(preference) = &errand.preference {
            call = call.selection_criteria(preference.clone());
        }
        call.await
    }

    /// Whether the server keeps the numbers of writes. Asked once.
    pub(super) fn keeps_numbers(&self, interrupt: &Interrupt) -> Result<bool> {
        if let Some(known) = self.keeps_numbers.get() {
            return Ok(*known);
        }
        self.greet(interrupt, None)?;
        Ok(self.keeps_numbers.get().is_some_and(|known| *known))
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        let Some(runtime) = self.runtime.take() else { return };
        self.spare.get_mut().unwrap_or_else(PoisonError::into_inner).clear();
        if self.answered.get().is_some() {
            let client = self.client.clone();
            // A server that does not hear the farewell forgets idle cursors by itself.
            let _ =
                runtime.block_on(async { tokio::time::timeout(FAREWELL, client.shutdown()).await });
        }
        runtime.shutdown_background();
    }
}

/// Adds to the driver's options what an address leaves open.
fn settle(options: &mut ClientOptions, address: &Address) {
    options.app_name.get_or_insert_with(|| "tally".to_owned());
    // As mongosh has it: whoever names one server means that one, not the set it may belong to.
    if options.hosts.len() == 1
        && !address.uri().starts_with("mongodb+srv:")
        && options.repl_set_name.is_none()
        && options.load_balanced != Some(true)
    {
        options.direct_connection.get_or_insert(true);
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
        tokio::time::sleep(interrupt::LOOK).await;
        if let Err(error) = interrupt.check() {
            return error;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
