//! Addresses of servers as users write them: `mongodb://…`, `mongodb+srv://…`, `host:port/db`, `host/db`, `--host`.

use std::fmt;

use mongodb::error::ErrorKind;
use mongodb::options::{ConnectionString, HostInfo, ServerAddress};

use crate::error::{Error, Result};

/// A server by address, well formed; nothing has been contacted yet.
#[derive(Clone, PartialEq, Eq)]
pub struct Address {
    /// The whole connection string, password included.
    uri: String,
    database: Option<String>,
    username: Option<String>,
    has_password: bool,
    hosts: String,
    loopback: bool,
}

impl Address {
    /// Whether a word on the command line is a server's address rather than a database's name, which holds none of
    /// these characters.
    pub fn is_meant(word: &str) -> bool {
        word.contains("://") || word.contains([':', '/', '.'])
    }

    /// Reads an address: a connection string, or `host:port/db` as the old shell has it.
    ///
    /// # Errors
    /// [`Error::Usage`] in the driver's words, without the password.
    pub fn parse(text: &str) -> Result<Self> {
        let uri = if text.contains("://") { text.to_owned() } else { format!("mongodb://{text}") };
        let refused = |reason: &str| {
            let address = without_password(text);
            Error::Usage(format!("the address {address} cannot be used: {reason}"))
        };
        let parsed = ConnectionString::parse(&uri).map_err(|error| match *error.kind {
            // The driver quotes a part of the address where a host or port is wrong, and a password with an unescaped
            // `/`, `?` or `@` in it looks like one.
            ErrorKind::InvalidArgument { .. } if password(text).is_some_and(is_unescaped) => {
                refused("characters like @ : / ? # % in its user name and password must be percent-encoded")
            }
            ErrorKind::InvalidArgument { message, .. } => refused(&message),
            other => refused(&other.to_string()),
        })?;
        let hosts = match &parsed.host_info {
            HostInfo::HostIdentifiers(hosts) => {
                hosts.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
            }
            HostInfo::DnsRecord(name) => name.clone(),
            _ => String::new(),
        };
        let loopback = match &parsed.host_info {
            HostInfo::HostIdentifiers(hosts) => hosts.iter().all(is_loopback),
            _ => false,
        };
        let (username, password) = match parsed.credential {
            Some(credential) => (credential.username, credential.password),
            None => (None, None),
        };
        let (database, has_password) = (parsed.default_database, password.is_some());
        Ok(Self { uri, database, username, has_password, hosts, loopback })
    }

    /// The address that `--host` and `--port` give, with the database of a positional argument. The host may name a
    /// replica set, as in `rs0/one:27017,two:27017`.
    ///
    /// # Errors
    /// As [`Address::parse`].
    pub fn of_host(host: Option<&str>, port: Option<u16>, database: Option<&str>) -> Result<Self> {
        let host = host.unwrap_or("127.0.0.1");
        let (set, hosts) = match host.split_once('/') {
            Some((set, hosts)) => (Some(set), hosts),
            None => (None, host),
        };
        let bare = |host: &str| host.matches(':').count() > 1 && !host.starts_with('[');
        let hosts: Vec<String> = hosts
            .split(',')
            .map(|host| {
                let host = if bare(host) { format!("[{host}]") } else { host.to_owned() };
                let after = host.rsplit_once(']').map_or(host.as_str(), |(_, after)| after);
                match port {
                    Some(port) if !after.contains(':') => format!("{host}:{port}"),
                    _ => host,
                }
            })
            .collect();
        let mut uri = format!("mongodb://{}/{}", hosts.join(","), database.unwrap_or_default());
        if let Some(set) = set {
            uri.push_str(&format!("?replicaSet={set}"));
        }
        Self::parse(&uri)
    }

    /// The database that the address names.
    pub fn database(&self) -> Option<&str> {
        self.database.as_deref()
    }

    /// `host:port`, several joined by commas; the name alone for `mongodb+srv`.
    pub fn hosts(&self) -> &str {
        &self.hosts
    }

    /// The user whom the address names.
    pub fn username(&self) -> Option<&str> {
        self.username.as_deref()
    }

    /// Whether it holds that user's password, too.
    pub fn has_password(&self) -> bool {
        self.has_password
    }

    /// Whether it is this very machine.
    pub(super) fn is_loopback(&self) -> bool {
        self.loopback
    }

    /// What the driver reads.
    pub(super) fn uri(&self) -> &str {
        &self.uri
    }
}

/// Without the password: an address ends up in messages and logs.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&without_password(&self.uri))
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Address({self})")
    }
}

/// What stands between the first colon of the credentials and the last `@`.
fn password(address: &str) -> Option<&str> {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    rest.rsplit_once('@')?.0.split_once(':').map(|(_, password)| password)
}

/// Whether a password holds characters that only an escape may stand for.
fn is_unescaped(password: &str) -> bool {
    password.contains(['@', ':', '/', '?', '#', '[', ']'])
        || password.split('%').skip(1).any(|rest| {
            !rest.as_bytes().get(..2).is_some_and(|code| code.iter().all(u8::is_ascii_hexdigit))
        })
}

/// The address with its password blotted out, and with options that may hold another secret left out.
fn without_password(address: &str) -> String {
    let shown = match password(address) {
        Some(password) => {
            let end = address.rfind('@').unwrap_or(address.len());
            format!("{}***{}", &address[..end - password.len()], &address[end..])
        }
        None => address.to_owned(),
    };
    match shown.split_once('?') {
        Some((shown, _)) => format!("{shown}?…"),
        None => shown,
    }
}

fn is_loopback(address: &ServerAddress) -> bool {
    match address {
        ServerAddress::Tcp { host, .. } => {
            host == "localhost" || host == "::1" || host.starts_with("127.")
        }
        // A socket file.
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Address {
        Address::parse(text).expect("a good address")
    }

    #[test]
    fn an_address_names_hosts_and_a_database() {
        let parts = |text: &str| {
            let address = parse(text);
            (address.hosts().to_owned(), address.database().map(ToOwned::to_owned))
        };
        let named = |hosts: &str, db: &str| (hosts.to_owned(), Some(db.to_owned()));
        assert_eq!(parts("db.example/shop"), named("db.example:27017", "shop"));
        assert_eq!(parts("db.example:27018/shop"), named("db.example:27018", "shop"));
        assert_eq!(parts("mongodb://a,b:1/shop?replicaSet=rs"), named("a:27017,b:1", "shop"));
        assert_eq!(parts("mongodb+srv://db.example.org/shop"), named("db.example.org", "shop"));
        assert_eq!(parts("10.0.0.5"), ("10.0.0.5:27017".to_owned(), None));
        assert!(parse("[::1]:27018/shop").is_loopback() && parse("127.0.0.1:1").is_loopback());
        assert!(!parse("mongodb://localhost,db.example").is_loopback());
    }

    #[test]
    fn a_host_by_flag_may_name_a_replica_set() {
        let of = |host, port, db| Address::of_host(host, port, db).expect("a good address");
        assert_eq!(of(None, Some(28000), Some("shop")), parse("mongodb://127.0.0.1:28000/shop"));
        assert_eq!(of(Some("h"), None, None), parse("mongodb://h/"));
        assert_eq!(of(Some("::1"), Some(1), None), parse("mongodb://[::1]:1/"));
        assert_eq!(
            of(Some("rs0/one:1,two"), Some(2), Some("shop")),
            parse("mongodb://one:1,two:2/shop?replicaSet=rs0")
        );
    }

    #[test]
    fn a_password_is_never_shown() {
        let address =
            parse("mongodb://ann:s3cret@db.example/shop?authMechanismProperties=A:s3cret");
        assert_eq!(address.to_string(), "mongodb://ann:***@db.example/shop?…");
        assert_eq!(format!("{address:?}"), "Address(mongodb://ann:***@db.example/shop?…)");
        let wrong = [
            "mongodb://ann:s3cret@db.example:x/shop",
            "mongodb://ann:s3cret@x@db.example/shop",
            "mongodb://ann:/s3cret@db.example/shop",
            "mongodb://ann:s3cret%zz@db.example",
            "mongodb://ann:?s3cret@db.example",
            "mongo://ann:s3cret@db.example",
            "ann:s3cret/@db.example",
        ];
        for text in wrong {
            let Err(Error::Usage(message)) = Address::parse(text) else {
                panic!("{text} must be refused")
            };
            assert!(!message.contains("s3cret") && message.contains("***"), "{message}");
        }
    }
}
