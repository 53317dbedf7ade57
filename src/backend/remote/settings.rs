//! What the command line adds to an address: who logs in, TLS, how patient to be. What it leaves open the address decides.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use mongodb::options::{
    AuthMechanism, ClientOptions, Compressor, ServerApi, ServerApiVersion, Tls, TlsOptions,
};

/// What the command line adds to an address. It overrides what the address says.
#[derive(Clone, Default, PartialEq)]
pub struct ServerSettings {
    /// Who logs in.
    pub username: Option<String>,
    /// Their password.
    pub password: Option<String>,
    /// The database that knows them.
    pub authentication_database: Option<String>,
    /// How they log in; the server is asked where it is not said.
    pub mechanism: Option<Mechanism>,
    /// TLS, if it is asked for.
    pub tls: Option<TlsSettings>,
    /// Whether writes may be sent again.
    pub retry_writes: Option<bool>,
    /// How long a server may take to be found.
    pub timeout: Option<Duration>,
    /// How to compress what is sent, best first.
    pub compressors: Vec<Compression>,
    /// The Stable API, if it is asked for.
    pub api: Option<StableApi>,
}

/// Version 1 of the Stable API, and how strictly a server holds to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StableApi {
    /// Commands that are no part of it are refused.
    pub strict: bool,
    /// What it is going to lose is refused.
    pub deprecation_errors: bool,
}

/// A way to compress messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// Quick, and not very small.
    Snappy,
    /// Smaller, and not very quick.
    Zlib,
    /// Small and quick.
    Zstd,
}

impl Compression {
    /// The one of that name.
    ///
    /// # Errors
    /// Which names there are.
    pub fn parse(name: &str) -> Result<Self, String> {
        match name {
            "snappy" => Ok(Self::Snappy),
            "zlib" => Ok(Self::Zlib),
            "zstd" => Ok(Self::Zstd),
            _ => Err("it is snappy, zlib or zstd, or several with commas between".to_owned()),
        }
    }

    fn compressor(self) -> Compressor {
        match self {
            Self::Snappy => Compressor::Snappy,
            Self::Zlib => Compressor::Zlib { level: None },
            Self::Zstd => Compressor::Zstd { level: None },
        }
    }
}

/// How TLS is spoken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsSettings {
    /// The authorities to trust instead of Mozilla's.
    pub authorities: Option<PathBuf>,
    /// The client's own certificate and key.
    pub certificate: Option<PathBuf>,
    /// Whether any certificate of the server will do.
    pub any_certificate: bool,
}

/// A way to log in.
#[derive(Clone, Debug, PartialEq)]
pub struct Mechanism(AuthMechanism);

impl Mechanism {
    /// The way of that name, as addresses name it: `SCRAM-SHA-256`, `MONGODB-X509`...
    ///
    /// # Errors
    /// Which names there are.
    pub fn parse(name: &str) -> Result<Self, String> {
        let mechanism = match name {
            "MONGODB-X509" => AuthMechanism::MongoDbX509,
            "PLAIN" => AuthMechanism::Plain,
            "SCRAM-SHA-1" => AuthMechanism::ScramSha1,
            "SCRAM-SHA-256" => AuthMechanism::ScramSha256,
            _ => {
                return Err(
                    "it is one of MONGODB-X509, PLAIN, SCRAM-SHA-1 and SCRAM-SHA-256".to_owned()
                );
            }
        };
        Ok(Self(mechanism))
    }

    /// Whether it takes a password.
    pub fn takes_password(&self) -> bool {
        self.0 != AuthMechanism::MongoDbX509
    }
}

impl ServerSettings {
    /// Puts these settings over those of an address.
    pub(super) fn apply(&self, options: &mut ClientOptions) {
        let login = self.username.is_some() || self.password.is_some() || self.mechanism.is_some();
        if login || self.authentication_database.is_some() {
            let mut credential = options.credential.take().unwrap_or_default();
            let of_address = credential.username.is_some();
            credential.username = self.username.clone().or(credential.username);
            credential.password = self.password.clone().or(credential.password);
            credential.mechanism =
                self.mechanism.clone().map(|Mechanism(one)| one).or(credential.mechanism);
            credential.source = self.authentication_database.clone().or(credential.source);
            // As with a user in the address: the database of the address knows them. X.509 has a place of its own.
            let scram = credential.mechanism != Some(AuthMechanism::MongoDbX509);
            if credential.source.is_none() && scram && !of_address {
                credential.source.clone_from(&options.default_database);
            }
            options.credential = Some(credential);
        }
        if let Some(tls) = &self.tls {
            let mut chosen = match options.tls.take() {
                Some(Tls::Enabled(options)) => options,
                Some(Tls::Disabled) | None => TlsOptions::default(),
            };
            chosen.ca_file_path = tls.authorities.clone().or(chosen.ca_file_path);
            chosen.cert_key_file_path = tls.certificate.clone().or(chosen.cert_key_file_path);
            if tls.any_certificate {
                chosen.allow_invalid_certificates = Some(true);
            }
            options.tls = Some(Tls::Enabled(chosen));
        }
        if self.retry_writes.is_some() {
            options.retry_writes = self.retry_writes;
        }
        if !self.compressors.is_empty() {
            let chosen = self.compressors.iter().map(|one| one.compressor()).collect();
            options.compressors = Some(chosen);
        }
        if let Some(api) = self.api {
            let mut asked = ServerApi::builder().version(ServerApiVersion::V1).build();
            asked.strict = Some(api.strict);
            asked.deprecation_errors = Some(api.deprecation_errors);
            options.server_api = Some(asked);
        }
        if let Some(timeout) = self.timeout {
            options.server_selection_timeout = Some(timeout);
            let connect = options.connect_timeout.map_or(timeout, |connect| connect.min(timeout));
            options.connect_timeout = Some(connect);
        }
    }
}

/// Without the password.
impl fmt::Debug for ServerSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerSettings")
            .field("username", &self.username)
            .field("password", &self.password.as_ref().map(|_| "***"))
            .field("authentication_database", &self.authentication_database)
            .field("mechanism", &self.mechanism)
            .field("tls", &self.tls)
            .field("retry_writes", &self.retry_writes)
            .field("timeout", &self.timeout)
            .field("compressors", &self.compressors)
            .field("api", &self.api)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use mongodb::options::Credential;

    use super::*;

    fn options(database: &str, credential: Option<Credential>) -> ClientOptions {
        let mut options = ClientOptions::default();
        options.default_database = Some(database.to_owned());
        options.credential = credential;
        options
    }

    #[test]
    fn who_logs_in_is_known_to_the_database_of_the_address_unless_another_is_said() {
        let ann = ServerSettings {
            username: Some("ann".to_owned()),
            password: Some("s3cret".to_owned()),
            ..ServerSettings::default()
        };
        let mut plain = options("shop", None);
        ann.apply(&mut plain);
        let credential = plain.credential.expect("a login");
        assert_eq!(credential.source.as_deref(), Some("shop"));
        assert_eq!(credential.password.as_deref(), Some("s3cret"));
        let mut said = options("shop", None);
        let source = Some("admin".to_owned());
        ServerSettings { authentication_database: source, ..ann }.apply(&mut said);
        assert_eq!(said.credential.expect("a login").source.as_deref(), Some("admin"));
    }

    #[test]
    fn a_password_completes_the_user_of_the_address() {
        let user =
            Credential::builder().username("ann".to_owned()).source("admin".to_owned()).build();
        let mut half = options("shop", Some(user));
        let password = Some("s3cret".to_owned());
        ServerSettings { password, ..ServerSettings::default() }.apply(&mut half);
        let credential = half.credential.expect("a login");
        assert_eq!(credential.username.as_deref(), Some("ann"));
        assert_eq!(credential.source.as_deref(), Some("admin"));
        assert_eq!(credential.password.as_deref(), Some("s3cret"));
    }

    #[test]
    fn compression_and_the_stable_api_reach_the_driver() {
        let settings = ServerSettings {
            compressors: vec![Compression::Zlib, Compression::Snappy],
            api: Some(StableApi { strict: true, deprecation_errors: false }),
            ..ServerSettings::default()
        };
        let mut all = options("shop", None);
        settings.apply(&mut all);
        let names = all.compressors.expect("two of them");
        assert!(matches!(names[..], [Compressor::Zlib { .. }, Compressor::Snappy]));
        let api = all.server_api.expect("it is asked for");
        assert_eq!((api.strict, api.deprecation_errors), (Some(true), Some(false)));
        assert!(Compression::parse("lzo").is_err());
    }

    #[test]
    fn settings_show_no_password_and_override_what_the_address_says() {
        let settings = ServerSettings {
            password: Some("s3cret".to_owned()),
            timeout: Some(Duration::from_secs(1)),
            retry_writes: Some(false),
            ..ServerSettings::default()
        };
        assert!(!format!("{settings:?}").contains("s3cret"));
        let mut all = options("shop", None);
        all.retry_writes = Some(true);
        settings.apply(&mut all);
        assert_eq!(all.retry_writes, Some(false));
        assert_eq!(all.server_selection_timeout, Some(Duration::from_secs(1)));
        assert_eq!(all.connect_timeout, Some(Duration::from_secs(1)));
    }
}
