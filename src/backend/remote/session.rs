//! Sessions of a script's own: causal consistency, snapshots and transactions, which the driver keeps.
//!
//! What the driver does for its typed methods only is done here: reads of a causally consistent session wait for what the
//! session has seen. A write outside a transaction goes through [`Link::run`], in a session of tally's own and under a
//! number there, so that it is sent once more as any other; the numbers of the script's own session are the driver's, for
//! transactions. What that write has seen is handed over to the script's session.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bson::raw::cstr;
use bson::{Document, RawBsonRef, RawDocument, RawDocumentBuf, Timestamp};
use mongodb::options::{
    ReadConcern, ReadPreference, SelectionCriteria, SessionOptions, TransactionOptions,
    WriteConcern,
};
use mongodb::{ClientSession, ClusterTime};

use super::concern;
use super::cursor::ServerCursor;
use super::link::{Errand, Link};
use super::retry::{self, Again};
use super::{command, unreadable};
use crate::backend::{self, Cursor, Request, Session};
use crate::error::{Error, Result};
use crate::interrupt::Interrupt;

/// A session at the server.
#[derive(Clone)]
pub(super) struct ServerSession {
    shared: Arc<Shared>,
}

/// What the session and its cursors share.
pub(super) struct Shared {
    /// `None` once it was ended. Dropped before the link it lives on.
    driver: Mutex<Option<ClientSession>>,
    link: Arc<Link>,
    id: RawDocumentBuf,
    snapshot: bool,
    causal: bool,
    /// A transaction is open.
    open: AtomicBool,
}

impl ServerSession {
    /// Starts one.
    ///
    /// # Errors
    /// [`Error::Usage`] for options that contradict each other.
    pub(super) fn start(
        link: &Arc<Link>,
        options: &RawDocument,
        interrupt: &Interrupt,
    ) -> Result<Self> {
        let truth = |name: &str| options.get_bool(name).ok();
        let mut chosen = SessionOptions::default();
        chosen.snapshot = truth("snapshot");
        chosen.causal_consistency = truth("causalConsistency");
        if let Ok(defaults) = options.get_document("defaultTransactionOptions") {
            chosen.default_transaction_options = Some(transaction_options(defaults)?);
        }
        let snapshot = chosen.snapshot == Some(true);
        let causal = chosen.causal_consistency.unwrap_or(!snapshot);
        let started = link.wait(interrupt, link.start_session(Some(chosen)))?;
        let driver = started.map_err(|error| link.failed(&error, "startSession"))?;
        let id = RawDocumentBuf::try_from(driver.id()).map_err(|error| unreadable(&error))?;
        let (link, open) = (Arc::clone(link), AtomicBool::new(false));
        let driver = Mutex::new(Some(driver));
        Ok(Self { shared: Arc::new(Shared { driver, link, id, snapshot, causal, open }) })
    }

    fn with_driver<T>(&self, work: impl FnOnce(&mut ClientSession) -> Result<T>) -> Result<T> {
        self.shared.with_driver(work)
    }

    fn in_transaction(&self) -> bool {
        self.shared.open.load(Ordering::Relaxed)
    }

    /// What a command becomes in this session, and where it may go.
    fn dress(
        &self,
        body: &mut RawDocumentBuf,
        driver: &ClientSession,
    ) -> Option<SelectionCriteria> {
        let Shared { link, snapshot, causal, .. } = &*self.shared;
        let asked = concern::preference(body);
        // A transaction has the concerns it was begun with, and a snapshot is one itself.
        if self.in_transaction() || *snapshot {
            return asked;
        }
        let preference = link.concerns.dress(body);
        if let Some(seen) = driver.operation_time().filter(|_| *causal && concern::reads(body)) {
            *body = after(body, seen);
        }
        asked.or(preference)
    }
}

impl Shared {
    /// The driver's session, for as long as it takes.
    pub(super) fn with_driver<T>(
        &self,
        work: impl FnOnce(&mut ClientSession) -> Result<T>,
    ) -> Result<T> {
        match &mut *self.driver() {
            Some(driver) => work(driver),
            None => Err(Error::Usage("Cannot use a session that has ended".to_owned())),
        }
    }

    fn driver(&self) -> MutexGuard<'_, Option<ClientSession>> {
        self.driver.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Session for ServerSession {
    fn id(&self) -> RawDocumentBuf {
        self.shared.id.clone()
    }

    fn run(&self, request: Request) -> Result<RawDocumentBuf> {
        let Request { db, mut body, interrupt } = request;
        let link = &self.shared.link;
        let again = match self.in_transaction() || self.shared.snapshot {
            true => Again::Never,
            false => Again::of(&body),
        };
        let reply = self.with_driver(|driver| {
            let preference = self.dress(&mut body, driver);
            let name = command(&body).to_owned();
            let errand = Errand { db, body, preference };
            if again == Again::Write {
                let reply = link.run(&interrupt, errand)?;
                see(driver, &reply);
                return Ok(reply);
            }
            let mut reply = link.wait(&interrupt, link.send_in(&errand, driver))?;
            if again == Again::Read && reply.as_ref().is_err_and(retry::read_again) {
                reply = link.wait(&interrupt, link.send_in(&errand, driver))?;
            }
            reply.map_err(|error| link.failed(&error, &name))
        })?;
        RawDocumentBuf::try_from(&reply).map_err(|error| unreadable(&error))
    }

    fn stream(&self, request: Request) -> Result<Box<dyn Cursor>> {
        let Request { db, mut body, interrupt } = request;
        let link = &self.shared.link;
        let patience = backend::take_patience(&mut body);
        let batch_size = backend::batch_size(&body).and_then(|size| u32::try_from(size).ok());
        let batches = self.with_driver(|driver| {
            let preference = self.dress(&mut body, driver);
            let name = command(&body).to_owned();
            let errand = Errand { db, body, preference };
            let opened = link.cursor_in(&errand, driver, batch_size, patience);
            link.wait(&interrupt, opened)?.map_err(|error| link.failed(&error, &name))
        })?;
        let batches = super::cursor::Batches::In(batches, Arc::clone(&self.shared));
        Ok(Box::new(ServerCursor::new(batches, Arc::clone(link), interrupt)?))
    }

    fn begin(&self, options: &RawDocument, interrupt: &Interrupt) -> Result<()> {
        let link = &self.shared.link;
        let options = transaction_options(options)?;
        self.with_driver(|driver| {
            let begun = driver.start_transaction().with_options(options).into_future();
            link.wait(interrupt, begun)?.map_err(|error| link.failed(&error, "startTransaction"))
        })?;
        self.shared.open.store(true, Ordering::Relaxed);
        Ok(())
    }

    fn commit(&self, interrupt: &Interrupt) -> Result<()> {
        let link = &self.shared.link;
        self.shared.open.store(false, Ordering::Relaxed);
        self.with_driver(|driver| {
            let committed = link.wait(interrupt, driver.commit_transaction().into_future())?;
            committed.map_err(|error| link.failed(&error, "commitTransaction"))
        })
    }

    fn abort(&self, interrupt: &Interrupt) -> Result<()> {
        let link = &self.shared.link;
        self.shared.open.store(false, Ordering::Relaxed);
        self.with_driver(|driver| {
            let aborted = link.wait(interrupt, driver.abort_transaction().into_future())?;
            aborted.map_err(|error| link.failed(&error, "abortTransaction"))
        })
    }

    fn end(&self) {
        self.shared.open.store(false, Ordering::Relaxed);
        self.shared.driver().take();
    }

    fn times(&self) -> (Option<RawDocumentBuf>, Option<Timestamp>) {
        let driver = self.shared.driver();
        let Some(driver) = driver.as_ref() else { return (None, None) };
        let cluster = driver.cluster_time();
        let cluster = cluster.and_then(|time| bson::serialize_to_raw_document_buf(time).ok());
        (cluster, driver.operation_time())
    }

    fn advance(&self, cluster: Option<&RawDocument>, operation: Option<Timestamp>) {
        let mut driver = self.shared.driver();
        let Some(driver) = driver.as_mut() else { return };
        if let Some(time) =
            cluster.and_then(|time| bson::deserialize_from_slice(time.as_bytes()).ok())
        {
            driver.advance_cluster_time(&time);
        }
        if let Some(time) = operation {
            driver.advance_operation_time(time);
        }
    }
}

/// Makes a session see what a reply outside it has seen.
fn see(driver: &mut ClientSession, reply: &Document) {
    if let Ok(time) = reply.get_timestamp("operationTime") {
        driver.advance_operation_time(time);
    }
    let time = reply.get_document("$clusterTime").ok();
    let time =
        time.and_then(|time| bson::deserialize_from_document::<ClusterTime>(time.clone()).ok());
    if let Some(time) = time {
        driver.advance_cluster_time(&time);
    }
}

/// The command, made to wait for what was seen (`readConcern.afterClusterTime`).
fn after(body: &RawDocument, seen: Timestamp) -> RawDocumentBuf {
    let mut dressed = RawDocumentBuf::new();
    let mut concern = RawDocumentBuf::new();
    for (name, value) in body.iter().flatten() {
        match value {
            RawBsonRef::Document(own) if name.as_str() == "readConcern" => concern = own.to_owned(),
            value => dressed.append(name, value),
        }
    }
    if matches!(concern.get("afterClusterTime"), Ok(None)) {
        concern.append(cstr!("afterClusterTime"), seen);
    }
    dressed.append(cstr!("readConcern"), concern);
    dressed
}

/// The options of a transaction as a script gives them.
fn transaction_options(options: &RawDocument) -> Result<TransactionOptions> {
    let mut chosen = TransactionOptions::default();
    for (name, value) in options.iter().flatten() {
        let wrong = || Error::Usage(format!("the transaction option {name} cannot be understood"));
        match (name.as_str(), value) {
            ("readConcern", RawBsonRef::Document(concern)) => {
                let concern: ReadConcern =
                    bson::deserialize_from_slice(concern.as_bytes()).map_err(|_| wrong())?;
                chosen.read_concern = Some(concern);
            }
            ("writeConcern", RawBsonRef::Document(concern)) => {
                let concern: WriteConcern =
                    bson::deserialize_from_slice(concern.as_bytes()).map_err(|_| wrong())?;
                chosen.write_concern = Some(concern);
            }
            ("readPreference", RawBsonRef::Document(preference)) => {
                chosen.selection_criteria = Some(concern::criteria(preference).ok_or_else(wrong)?);
            }
            // Only the primary has transactions.
            ("readPreference", RawBsonRef::String("primary")) => {
                chosen.selection_criteria = Some(ReadPreference::Primary.into());
            }
            ("maxCommitTimeMS", value) => {
                let time = backend::whole(value).and_then(|time| u64::try_from(time).ok());
                chosen.max_commit_time = Some(Duration::from_millis(time.ok_or_else(wrong)?));
            }
            _ => return Err(wrong()),
        }
    }
    Ok(chosen)
}

#[cfg(test)]
mod tests {
    use bson::rawdoc;

    use super::*;

    #[test]
    fn a_read_waits_for_what_its_session_has_seen_and_keeps_its_level() {
        let seen = Timestamp { time: 7, increment: 1 };
        assert_eq!(
            after(
                &rawdoc! { "find": "t", "readConcern": { "level": "majority" }, "limit": 1 },
                seen
            ),
            rawdoc! {
                "find": "t", "limit": 1,
                "readConcern": { "level": "majority", "afterClusterTime": seen },
            }
        );
    }

    #[test]
    fn what_is_no_option_of_a_transaction_is_refused() {
        let options = rawdoc! { "readConcern": { "level": "snapshot" }, "writeConcern": { "w": "majority" }, "maxCommitTimeMS": 500 };
        let chosen = transaction_options(&options).expect("good options");
        assert_eq!(chosen.read_concern, Some(ReadConcern::snapshot()));
        assert_eq!(chosen.write_concern, Some(WriteConcern::majority()));
        assert_eq!(chosen.max_commit_time, Some(Duration::from_millis(500)));
        assert!(transaction_options(&rawdoc! { "readConcern": "snapshot" }).is_err());
        assert!(transaction_options(&rawdoc! { "bogus": 1 }).is_err());
    }
}
