//! Where connections come from: TCP, and a Unix socket.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream, lookup_host};
use tokio::sync::mpsc;
use tokio_rustls::TlsAcceptor;

use super::connection::{Client, attend};
use super::private::Private;
use super::reader::PATIENCE;
use super::server::Server;
use super::{Settings, tls};
use crate::error::{Error, Result};

/// The most connections at the same time.
const MOST: usize = 20_000;

/// How long to wait when the system has no more connections to give.
const PAUSE: Duration = Duration::from_millis(100);

/// What is listened at.
pub(super) struct Listeners {
    tcp: Vec<TcpListener>,
    addresses: Vec<SocketAddr>,
    unix: Option<Socket>,
    tls: Option<TlsAcceptor>,
    /// Other processes of this user come here.
    pub(super) private: Option<Private>,
}

/// A Unix socket, which is removed in the end.
pub(super) struct Socket {
    listener: UnixListener,
    path: PathBuf,
}

impl Drop for Socket {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

impl Listeners {
    /// Listens.
    ///
    /// # Errors
    /// [`Error::Usage`] for a host that is none, or that others can reach although that was not allowed;
    /// [`Error::Connection`] when it is taken.
    pub(super) async fn open(settings: &Settings) -> Result<Self> {
        let tls = settings.tls.as_ref().map(tls::acceptor).transpose()?;
        let mut wanted = Vec::new();
        for host in &settings.hosts {
            wanted.extend(resolve(host, settings).await?);
        }
        let mut port = settings.port;
        let (mut tcp, mut addresses) = (Vec::new(), Vec::new());
        for mut address in wanted {
            address.set_port(port);
            if addresses.contains(&address) {
                continue;
            }
            let failed = |error| not_bound(address, &error);
            let listener = TcpListener::bind(address).await.map_err(failed)?;
            let bound = listener.local_addr().map_err(failed)?;
            // All hosts have the port that the first one got.
            port = bound.port();
            addresses.push(bound);
            tcp.push(listener);
        }
        let unix = match &settings.socket {
            Some(path) => Some(Socket::open(path).await?),
            None => None,
        };
        Ok(Self { tcp, addresses, unix, tls, private: None })
    }

    /// Listens nowhere else.
    pub(super) fn private(private: Private) -> Self {
        let (tcp, addresses) = (Vec::new(), Vec::new());
        Self { tcp, addresses, unix: None, tls: None, private: Some(private) }
    }

    /// The port.
    pub(super) fn port(&self) -> u16 {
        self.addresses.first().map_or(0, SocketAddr::port)
    }

    /// The addresses for clients.
    pub(super) fn addresses(&self) -> impl Iterator<Item = String> {
        let tls = if self.tls.is_some() { "?tls=true" } else { "" };
        let tcp = self.addresses.iter().map(move |address| format!("mongodb://{address}/{tls}"));
        tcp.chain(self.unix.iter().map(|socket| {
            let path = socket.path.display().to_string();
            format!("mongodb://{}/", path.replace('%', "%25").replace('/', "%2F"))
        }))
    }

    /// Accepts connections until the server ends. Each holds a copy of `open` as long as it is there.
    pub(super) async fn accept(self, server: &Arc<Server>, open: &mpsc::Sender<()>) {
        let mut tasks = tokio::task::JoinSet::new();
        let door = Door { server: Arc::clone(server), open: open.clone(), tls: self.tls };
        for listener in self.tcp {
            let door = door.clone();
            tasks.spawn(async move { door.tcp(&listener).await });
        }
        if let Some(socket) = self.unix {
            let door = door.clone();
            tasks.spawn(async move { door.unix(&socket.listener).await });
        }
        if let Some(Private { socket, user }) = self.private {
            let door = door.clone();
            tasks.spawn(async move { door.private(&socket.listener, user).await });
        }
        drop(door);
        server.stopped().await;
        tasks.shutdown().await;
    }
}

/// Lets connections in.
#[derive(Clone)]
struct Door {
    server: Arc<Server>,
    open: mpsc::Sender<()>,
    tls: Option<TlsAcceptor>,
}

impl Door {
    async fn tcp(&self, listener: &TcpListener) {
        loop {
            match listener.accept().await {
                Ok((stream, peer)) => self.enter_tcp(stream, peer),
                Err(error) => self.failed(&error).await,
            }
        }
    }

    async fn unix(&self, listener: &UnixListener) {
        loop {
            match listener.accept().await {
                Ok((stream, _)) => self.enter_unix(stream),
                Err(error) => self.failed(&error).await,
            }
        }
    }

    async fn private(&self, listener: &UnixListener, user: u32) {
        loop {
            match listener.accept().await {
                Ok((stream, _)) => {
                    if let Ok(peer) = stream.peer_cred()
                        && peer.uid() == user
                    {
                        let peer = peer.pid().map_or("another process".to_owned(), |number| {
                            format!("process {number}")
                        });
                        self.admit(stream, Client::joined(&self.server, peer));
                    }
                }
                Err(error) => self.failed(&error).await,
            }
        }
    }

    /// The connection is gone again, or the system has no room for it, which may change.
    async fn failed(&self, error: &io::Error) {
        if error.kind() != io::ErrorKind::ConnectionAborted {
            tokio::time::sleep(PAUSE).await;
        }
    }

    fn enter_tcp(&self, stream: TcpStream, peer: SocketAddr) {
        // An answer does not wait for the next one.
        if stream.set_nodelay(true).is_ok() {
            let local = peer.ip().is_loopback();
            match self.tls.clone() {
                Some(tls) => self.enter_tls(&tls, stream, peer),
                None => self.enter(stream, peer.to_string(), local),
            }
        }
    }

    fn enter_unix(&self, stream: UnixStream) {
        self.enter(stream, "anonymous unix socket".to_owned(), true);
    }

    /// Nobody waits for a client that is slow to agree on encryption.
    fn enter_tls(&self, tls: &TlsAcceptor, stream: TcpStream, peer: SocketAddr) {
        let accepted = tls.accept(stream);
        let door = self.clone();
        tokio::spawn(async move {
            if let Ok(Ok(stream)) = tokio::time::timeout(PATIENCE, accepted).await {
                door.enter(stream, peer.to_string(), peer.ip().is_loopback());
            }
        });
    }

    fn enter<S>(&self, stream: S, peer: String, local: bool)
    where
        S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
    {
        self.admit(stream, Client::new(&self.server, peer, local));
    }

    fn admit<S>(&self, stream: S, client: Client)
    where
        S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
    {
        let client = Arc::new(client);
        let connections = &self.server.statistics.connections;
        if connections.load(std::sync::atomic::Ordering::Relaxed) > MOST {
            return;
        }
        let open = self.open.clone();
        tokio::spawn(async move {
            attend(client, stream).await;
            drop(open);
        });
    }
}

/// The addresses that a host has here.
async fn resolve(host: &str, settings: &Settings) -> Result<Vec<SocketAddr>> {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let found = lookup_host((bare, settings.port)).await.map_err(|error| {
        Error::Usage(format!("--bind {host}: there is no such address here: {error}"))
    })?;
    let found: Vec<_> = found.collect();
    let guarded = settings.insecure || (settings.auth && settings.tls.is_some());
    if !guarded && found.iter().any(|address| !address.ip().is_loopback()) {
        return Err(Error::Usage(format!(
            "--bind {host} lets other machines in. That needs passwords (--auth) and encryption (--tls-cert), or \
             --insecure if they may come without"
        )));
    }
    Ok(found)
}

/// Why an address cannot be listened at.
fn not_bound(address: SocketAddr, error: &io::Error) -> Error {
    Error::Connection(match error.kind() {
        io::ErrorKind::AddrInUse => format!(
            "port {} of {} is in use by another program. Choose another one with --port, or any that is free with --port 0",
            address.port(),
            address.ip()
        ),
        io::ErrorKind::PermissionDenied => {
            format!(
                "you may not listen at port {}. Choose one above 1023 with --port",
                address.port()
            )
        }
        io::ErrorKind::AddrNotAvailable => {
            format!("{} is no address of this machine", address.ip())
        }
        _ => format!("cannot listen at {address}: {error}"),
    })
}

impl Socket {
    /// Listens at a path, which only this user can reach. What a killed server left there is replaced.
    pub(super) async fn open(path: &Path) -> Result<Self> {
        use std::os::unix::fs::{FileTypeExt, PermissionsExt};
        let failed = |error: &dyn std::fmt::Display| {
            Error::Connection(format!("cannot listen at {}: {error}", path.display()))
        };
        if let Ok(found) = std::fs::symlink_metadata(path) {
            if !found.file_type().is_socket() {
                return Err(failed(&"there is a file that is no socket"));
            }
            if UnixStream::connect(path).await.is_ok() {
                return Err(failed(&"another program listens there"));
            }
            std::fs::remove_file(path).map_err(|error| failed(&error))?;
        }
        let listener = UnixListener::bind(path).map_err(|error| failed(&error))?;
        let socket = Self { listener, path: path.to_owned() };
        let owner = std::fs::Permissions::from_mode(0o600);
        std::fs::set_permissions(path, owner).map_err(|error| failed(&error))?;
        Ok(socket)
    }
}
