//! The life of a server from its signals' point of view: it accepts until it is asked to end, and then ends in order.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bson::rawdoc;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use super::listener::Listeners;
use super::server::Server;
use crate::engine::Request;
use crate::error::{Error, Result};
use crate::interrupt::Interrupt;

/// How long running commands have to finish.
const GRACE: Duration = Duration::from_secs(5);

/// How long commands of other processes have to finish when this one ends.
const BRIEF: Duration = Duration::from_millis(500);

/// How long interrupted commands have to unwind.
const UNWINDING: Duration = Duration::from_secs(5);

/// The signals that ask a server to end.
struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    fn listen() -> Result<Self> {
        let failed = |error| Error::Connection(format!("no signals can be received: {error}"));
        Ok(Self {
            interrupt: signal(SignalKind::interrupt()).map_err(failed)?,
            terminate: signal(SignalKind::terminate()).map_err(failed)?,
        })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

/// Serves until a signal or the command `shutdown`; then commands that run finish, or are interrupted after a while or by
/// a second signal, and everything is handed to the disk.
pub(super) async fn serve(server: &Arc<Server>, listeners: Listeners) -> Result<()> {
    let mut signals = Signals::listen()?;
    let (open, mut closed) = mpsc::channel::<()>(1);
    {
        let mut accepting = pin!(listeners.accept(server, &open));
        tokio::select! {
            () = &mut accepting => {}
            () = signals.next() => {
                server.stop();
                accepting.await;
            }
        }
    }
    drop(open);
    // All copies of `open` are gone when the last connection is.
    let finished = tokio::select! {
        ended = timeout(GRACE, closed.recv()) => ended.is_ok(),
        () = signals.next() => false,
    };
    if !finished {
        server.interrupt.raise();
        let _ = timeout(UNWINDING, closed.recv()).await;
    }
    sync(server)
}

/// Serves other processes of this user until `ended` is dropped; then what they have running finishes, or is interrupted
/// soon: whoever takes the data over does it again.
pub(super) async fn share(
    server: &Arc<Server>,
    listeners: Listeners,
    ended: oneshot::Receiver<()>,
) {
    let (open, mut closed) = mpsc::channel::<()>(1);
    {
        let mut accepting = pin!(listeners.accept(server, &open));
        tokio::select! {
            () = &mut accepting => {}
            _ = ended => {
                server.stop();
                accepting.await;
            }
        }
    }
    drop(open);
    if timeout(BRIEF, closed.recv()).await.is_err() {
        server.interrupt.raise();
        let _ = timeout(UNWINDING, closed.recv()).await;
    }
}

/// Hands everything to the disk.
fn sync(server: &Server) -> Result<()> {
    let body = rawdoc! { "fsync": 1 };
    let request = Request { db: "admin".to_owned(), body, interrupt: Interrupt::new() };
    server.engine.run(&request).map(drop)
}
