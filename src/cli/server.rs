//! The flags that say which server to talk to, who logs in, and how patient to be.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::backend::{Address, Compression, Mechanism, ServerSettings, StableApi, TlsSettings};
use crate::error::{Error, Result};

/// How long `--wait` alone waits for a server.
const WAIT: Duration = Duration::from_secs(30);

/// Flags about a server.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "A MongoDB server")]
pub struct ServerFlags {
    /// Talk to the MongoDB server at HOST, or to a replica set: SET/HOST,HOST.
    #[arg(long, value_name = "HOST")]
    pub host: Option<String>,
    /// Talk to the MongoDB server at this port (default: 27017; without --host, on this machine).
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    pub port: Option<u16>,
    /// Log in as USER.
    #[arg(short, long, value_name = "USER")]
    pub username: Option<String>,
    /// With this password. It is asked for when it is left out; on the command line others can see it.
    #[arg(short, long, value_name = "PASSWORD", num_args = 0..=1)]
    pub password: Option<Option<String>>,
    /// The database that knows the user (default: the one of the address, or admin).
    #[arg(long = "authenticationDatabase", value_name = "DB")]
    pub authentication_database: Option<String>,
    /// How to log in: SCRAM-SHA-256, SCRAM-SHA-1, MONGODB-X509 or PLAIN (default: the server is asked).
    #[arg(long = "authenticationMechanism", value_name = "NAME", value_parser = Mechanism::parse)]
    pub mechanism: Option<Mechanism>,
    /// Use TLS.
    #[arg(long, alias = "ssl")]
    pub tls: bool,
    /// Trust the authorities in FILE (PEM) instead of Mozilla's.
    #[arg(long = "tlsCAFile", alias = "sslCAFile", value_name = "FILE")]
    pub tls_authorities: Option<PathBuf>,
    /// The client's own certificate and key (PEM).
    #[arg(long = "tlsCertificateKeyFile", alias = "sslPEMKeyFile", value_name = "FILE")]
    pub tls_certificate: Option<PathBuf>,
    /// Talk to a server whatever certificate it has.
    #[arg(long = "tlsAllowInvalidCertificates", alias = "sslAllowInvalidCertificates")]
    pub tls_any: bool,
    /// Whether a write may be sent again after a lost connection (default: true).
    #[arg(long = "retryWrites", value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub retry_writes: Option<bool>,
    /// Compress what is sent by the first of these that the server knows: snappy, zlib, zstd.
    #[arg(long = "networkMessageCompressors", value_name = "NAMES", value_delimiter = ',', value_parser = Compression::parse)]
    pub compressors: Vec<Compression>,
    /// Ask for this version of the Stable API.
    #[arg(long = "apiVersion", value_name = "VERSION", value_parser = ["1"])]
    pub api_version: Option<String>,
    /// Refuse commands that are no part of the Stable API.
    #[arg(long = "apiStrict", requires = "api_version")]
    pub api_strict: bool,
    /// Refuse what the Stable API is going to lose.
    #[arg(long = "apiDeprecationErrors", requires = "api_version")]
    pub api_deprecation_errors: bool,
    /// How long the server may take to be found, e.g. 500ms, 5s, 1m (default: 2s on this machine, else 30s).
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub timeout: Option<Duration>,
}

/// A server to talk to.
#[derive(Clone, Debug, PartialEq)]
pub struct Server {
    /// Where it is.
    pub address: Address,
    /// What the flags add to that.
    pub settings: ServerSettings,
    /// Whose password is to be asked for.
    pub ask: Option<String>,
    /// Go on trying for so long.
    pub wait: Option<Duration>,
}

impl ServerFlags {
    /// The server that the first positional argument and these flags name, if they name one. A positional argument that
    /// is no address is a database.
    ///
    /// # Errors
    /// [`Error::Usage`] for an address that is none, and for flags that contradict it or have no server to work on.
    pub(super) fn server(
        self,
        word: Option<&str>,
        wait: Option<Option<Duration>>,
    ) -> Result<Option<Server>> {
        let flagged = self.host.is_some() || self.port.is_some();
        let address = match word {
            Some(word) if Address::is_meant(word) => Some(Address::parse(word)?),
            word => {
                word.map_or(Ok(()), check_database)?;
                let host = self.host.as_deref();
                flagged.then(|| Address::of_host(host, self.port, word)).transpose()?
            }
        };
        let Some(address) = address else { return self.nowhere().map(|()| None) };
        if flagged && word.is_some_and(Address::is_meant) {
            return Err(Error::Usage(format!(
                "{address} is a whole address: --host and --port cannot be given beside it"
            )));
        }
        let ask = self.whom_to_ask(&address)?;
        let tls = TlsSettings {
            authorities: self.tls_authorities,
            certificate: self.tls_certificate,
            any_certificate: self.tls_any,
        };
        let settings = ServerSettings {
            username: self.username,
            password: self.password.flatten(),
            authentication_database: self.authentication_database,
            mechanism: self.mechanism,
            tls: (self.tls || tls != TlsSettings::default()).then_some(tls),
            retry_writes: self.retry_writes,
            timeout: self.timeout,
            compressors: self.compressors,
            api: self.api_version.map(|_| StableApi {
                strict: self.api_strict,
                deprecation_errors: self.api_deprecation_errors,
            }),
        };
        let wait = wait.map(|wait| wait.unwrap_or(WAIT));
        Ok(Some(Server { address, settings, ask, wait }))
    }

    /// Whose password is to be asked for: that of the user whom the flags name, or the address without a password.
    fn whom_to_ask(&self, address: &Address) -> Result<Option<String>> {
        if let (Some(user), Some(_)) = (address.username(), &self.username) {
            return Err(Error::Usage(format!(
                "{address} names the user {user}: --username cannot be given beside it"
            )));
        }
        let Some(user) = self.username.as_deref().or(address.username()) else {
            return match self.password {
                Some(_) => {
                    Err(Error::Usage("--password needs a user: give --username, too".to_owned()))
                }
                None => Ok(None),
            };
        };
        if address.has_password() && self.password.is_some() {
            return Err(Error::Usage(format!(
                "{address} holds a password: --password cannot be given beside it"
            )));
        }
        let known = address.has_password() || matches!(self.password, Some(Some(_)));
        let takes = self.mechanism.as_ref().is_none_or(Mechanism::takes_password);
        let asked = match self.password {
            Some(_) => true,
            // An address may log in without one, by a certificate.
            None => self.username.is_some() && takes,
        };
        Ok((asked && !known).then(|| user.to_owned()))
    }

    /// Whether any of them was given.
    pub(super) fn is_given(&self) -> bool {
        self.host.is_some() || self.port.is_some() || self.nowhere().is_err()
    }

    /// Complains of flags that need a server when none is named.
    fn nowhere(&self) -> Result<()> {
        let given = [
            ("--username", self.username.is_some()),
            ("--password", self.password.is_some()),
            ("--authenticationDatabase", self.authentication_database.is_some()),
            ("--authenticationMechanism", self.mechanism.is_some()),
            ("--tls", self.tls),
            ("--tlsCAFile", self.tls_authorities.is_some()),
            ("--tlsCertificateKeyFile", self.tls_certificate.is_some()),
            ("--tlsAllowInvalidCertificates", self.tls_any),
            ("--retryWrites", self.retry_writes.is_some()),
            ("--timeout", self.timeout.is_some()),
            ("--networkMessageCompressors", !self.compressors.is_empty()),
            ("--apiVersion", self.api_version.is_some()),
        ];
        match given.into_iter().find(|(_, given)| *given) {
            None => Ok(()),
            Some((flag, _)) => Err(Error::Usage(format!(
                "{flag} is for a MongoDB server: give its address, or --host"
            ))),
        }
    }
}

/// Whether a plain word can be the name of a database.
fn check_database(word: &str) -> Result<()> {
    let unfit = |character: char| matches!(character, '\\' | ' ' | '"' | '$');
    if word.is_empty() || word.contains(unfit) || word.len() > 63 {
        return Err(Error::Usage(format!(
            "`{word}` is no name of a database: it must be 1 to 63 bytes long, without spaces, quotes, `$` and `\\`"
        )));
    }
    Ok(())
}

/// A time as users write it: `500ms`, `5s`, `1m`, or seconds alone.
pub(super) fn duration(text: &str) -> std::result::Result<Duration, String> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let millis = match unit {
        "ms" => 1,
        "" | "s" => 1000,
        "m" => 60_000,
        _ => 0,
    };
    number
        .parse::<u32>()
        .ok()
        .filter(|_| millis > 0)
        .map(|number| Duration::from_millis(u64::from(number) * millis))
        .ok_or_else(|| "it is a number with ms, s or m, such as 500ms or 5s".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_unit_or_are_seconds() {
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("5"), Ok(Duration::from_secs(5)));
        assert_eq!(duration("2m"), Ok(Duration::from_secs(120)));
        for wrong in ["", "s", "-1s", "1.5s", "1h", "99999999999", "5 s"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }
}
