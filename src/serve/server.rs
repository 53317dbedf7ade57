//! What all connections share.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicU64, AtomicUsize, Ordering};

use bson::{Document, doc, rawdoc};
use tokio::sync::watch;

use super::Settings;
use super::awaiting::Awaiting;
use super::fail_point::FailPoint;
use super::listener::Listeners;
use super::memory::Memory;
use super::operations::Operations;
use crate::engine::{Engine, Request};
use crate::interrupt::Interrupt;

/// A server.
pub(super) struct Server {
    pub(super) engine: Engine,
    pub(super) memory: Memory,
    pub(super) operations: Operations,
    pub(super) awaiting: Awaiting,
    /// There with `--enable-test-commands` only.
    pub(super) fail_point: Option<FailPoint>,
    pub(super) statistics: Statistics,
    /// Raised when the commands that still run have to end.
    pub(super) interrupt: Interrupt,
    /// The machine's name and the port, as `currentOp` tells them.
    pub(super) host: String,
    /// What it was started with, as `getCmdLineOpts` tells it.
    pub(super) options: Document,
    /// Only users that have logged in may do anything.
    pub(super) auth: bool,
    /// How often users have changed.
    pub(super) access: AtomicU64,
    /// Nothing is told.
    pub(super) quiet: bool,
    /// Whether it is about to end.
    stopping: watch::Sender<bool>,
}

/// What was counted, for `serverStatus`.
#[derive(Default)]
pub(super) struct Statistics {
    pub(super) connections: AtomicUsize,
    /// The number of the last connection.
    pub(super) created: AtomicI32,
    pub(super) received: AtomicU64,
    pub(super) sent: AtomicU64,
    pub(super) requests: AtomicU64,
}

/// Adds to a number.
pub(super) fn add(counter: &AtomicU64, more: usize) {
    counter.fetch_add(more as u64, Ordering::Relaxed);
}

/// The machine's name, which the engine knows.
fn machine(engine: &Engine) -> String {
    let body = rawdoc! { "hostInfo": 1 };
    let request = Request { db: "admin".to_owned(), body, interrupt: Interrupt::new() };
    let info = engine.run(&request).ok();
    let name =
        info.as_ref().and_then(|info| info.get_document("system").ok()?.get_str("hostname").ok());
    name.unwrap_or("localhost").to_owned()
}

impl Server {
    pub(super) fn new(engine: Engine, settings: &Settings, listeners: &Listeners) -> Self {
        let mut net =
            doc! { "bindIp": settings.hosts.join(","), "port": i32::from(listeners.port()) };
        if let Some(socket) = &settings.socket {
            let folder = socket.parent().unwrap_or(Path::new("")).display().to_string();
            net.insert("unixDomainSocket", doc! { "enabled": true, "pathPrefix": folder });
        }
        let authorization = if settings.auth { "enabled" } else { "disabled" };
        Self {
            memory: Memory::default(),
            operations: Operations::default(),
            awaiting: Awaiting::default(),
            fail_point: settings.test_commands.then(FailPoint::default),
            statistics: Statistics::default(),
            interrupt: Interrupt::new(),
            host: format!("{}:{}", machine(&engine), listeners.port()),
            options: doc! { "net": net, "security": { "authorization": authorization } },
            auth: settings.auth,
            access: AtomicU64::new(0),
            quiet: settings.quiet,
            engine,
            stopping: watch::Sender::new(false),
        }
    }

    /// Asks the server to end.
    pub(super) fn stop(&self) {
        self.stopping.send_replace(true);
    }

    /// Whether it is about to end.
    pub(super) fn is_stopping(&self) -> bool {
        *self.stopping.borrow()
    }

    /// Waits until it is about to end.
    pub(super) fn stopped(self: &Arc<Self>) -> impl Future<Output = ()> + Send + use<> {
        let mut stopping = self.stopping.subscribe();
        async move {
            // The sender lives as long as the server, which this connection holds.
            let _ = stopping.wait_for(|stopping| *stopping).await;
        }
    }
}
