//! `tally serve`: MongoDB's wire protocol over the embedded engine, so that any client of MongoDB can use it.
//!
//! Bytes become commands in [`wire`], which is pure. A [`listener`](self) accepts connections, each is a small task that
//! waits for messages; a command that came whole runs on a thread of a bounded pool, because the engine blocks. Commands
//! that are about the connection or the process, and not about data, have their rows in `about`; all others go to the
//! engine as they are. [`share`] lets other processes of the same user work with an engine, too. At the end `shutdown` sees to it that everything acknowledged is on the disk.

mod about;
mod access;
mod awaiting;
mod connection;
mod fail_point;
mod listener;
mod memory;
mod operations;
mod private;
mod reader;
mod server;
mod shutdown;
mod tls;
pub mod wire;

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::Duration;

use crate::engine::functions::Functions;
use crate::engine::{Engine, Location};
use crate::error::{Error, Result};
use crate::interrupt::Interrupt;

use listener::Listeners;
use private::Private;
pub use private::{Envelope, Sharing, share};
use server::Server;

/// Where MongoDB listens when nobody says otherwise.
pub const PORT: u16 = 27017;

/// The most commands that run at the same time; more wait for their turn. Each may have an answer of 16 MB in its hands,
/// up to three times over while it is put together.
const THREADS: usize = 32;

/// The stack of a thread that runs commands. Only what is used of it costs memory.
const STACK: usize = 16 * 1024 * 1024;

/// The files (PEM) that encryption needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tls {
    /// The server's certificate, and those that lead to its authority.
    pub certificate: PathBuf,
    /// Its private key; the certificate's file holds it, too, when there is no other.
    pub key: Option<PathBuf>,
    /// The authorities that clients' certificates have to come from; no certificate is asked for when there are none.
    pub authorities: Option<PathBuf>,
}

/// How a server is to be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The addresses or names of this machine to listen at.
    pub hosts: Vec<String>,
    /// The port to listen at; 0 is any that is free.
    pub port: u16,
    /// A Unix socket to listen at, too.
    pub socket: Option<PathBuf>,
    /// Only users that have logged in may do anything, and only what their roles allow.
    pub auth: bool,
    /// The server's certificate and key.
    pub tls: Option<Tls>,
    /// Others than this machine may come, without a password or without encryption.
    pub insecure: bool,
    /// The command `configureFailPoint` is there.
    pub test_commands: bool,
    /// Where it listens and what it serves is not told.
    pub quiet: bool,
}

impl Default for Settings {
    fn default() -> Self {
        let hosts = vec!["127.0.0.1".to_owned()];
        Self {
            hosts,
            port: PORT,
            socket: None,
            auth: false,
            tls: None,
            insecure: false,
            test_commands: false,
            quiet: false,
        }
    }
}

/// Serves the data at `location`, with `functions` to run the JavaScript of commands, until the process is asked to end (SIGTERM, Ctrl-C, the command `shutdown`). What there
/// is to tell goes to `out`.
///
/// # Errors
/// Those of [`Engine::open_within`]; [`Error::Usage`] for a host that others can reach, unless that is allowed;
/// [`Error::Connection`] when the port or the socket cannot be had; [`Error::Storage`] when the last writes could not be
/// handed to the disk.
pub fn run(
    settings: &Settings,
    location: &Location,
    wait: Duration,
    functions: Arc<dyn Functions>,
    out: &mut dyn Write,
) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(available_parallelism().map_or(2, |cores| cores.get().clamp(2, 8)))
        .max_blocking_threads(THREADS)
        .thread_stack_size(STACK)
        .thread_name("tally serve")
        .enable_all()
        .build()
        .map_err(|error| Error::Connection(format!("no threads to serve with: {error}")))?;
    let mut listeners = runtime.block_on(Listeners::open(settings))?;
    let engine = Engine::open_within(location, wait, &Interrupt::new())?.with_functions(functions);
    if let Location::Directory(directory) = location {
        // Where no socket can be, others are told that the directory is taken.
        listeners.private = runtime.block_on(Private::open(&engine, directory)).ok();
    }
    let server = Arc::new(Server::new(engine, settings, &listeners));
    if !settings.quiet {
        // Nobody to read it is no reason to end.
        let _ = tell(out, location, &server, &listeners);
    }
    runtime.block_on(shutdown::serve(&server, listeners))?;
    if !settings.quiet {
        let _ = writeln!(out, "Stopped; everything is on the disk.");
    }
    // Whatever does not end by itself has nothing acknowledged that could be lost.
    runtime.shutdown_timeout(Duration::from_secs(1));
    Ok(())
}

/// What a user wants to know of a server that is ready.
fn tell(
    out: &mut dyn Write,
    location: &Location,
    server: &Server,
    listeners: &Listeners,
) -> std::io::Result<()> {
    if let Some(mended) = server.engine.mended() {
        writeln!(out, "{mended}")?;
    }
    let data = match location {
        Location::Directory(directory) => format!("the data in {}", directory.display()),
        Location::Ephemeral => "scratch data".to_owned(),
    };
    writeln!(out, "tally serves {data} as a standalone MongoDB would.")?;
    for address in listeners.addresses() {
        writeln!(out, "Waiting for connections at {address}")?;
    }
    out.flush()
}
