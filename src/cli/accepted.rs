//! The options of mongo and mongosh that tally has no use for: accepted where nothing would change, refused in words
//! where something would be missing.

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, FromArgMatches};

use crate::error::{Error, Result};

/// An option of one of the shells.
struct Row {
    /// Its name, without the dashes.
    name: &'static str,
    /// What follows it.
    takes: Takes,
    /// What becomes of it.
    fate: Fate,
}

/// What follows an option.
#[derive(Clone, Copy)]
enum Takes {
    /// Nothing.
    Nothing,
    /// A value.
    Value,
    /// Perhaps a value, behind `=`.
    Perhaps,
}

/// What becomes of an option.
#[derive(Clone, Copy)]
enum Fate {
    /// Nothing would change: it is accepted.
    Accepted,
    /// It is accepted, and a notice says that it does nothing, and why.
    LeftOut(&'static str),
    /// As `Accepted` for these values; any other is refused with the reason.
    Only(&'static [&'static str], &'static str),
    /// It cannot be done, for this reason.
    Refused(&'static str),
}

const AWS: &str = "logging in with AWS credentials is not built in";
const CERTIFICATES: &str = "is not built in: trust an authority with --tlsCAFile, or any server with --tlsAllowInvalidCertificates";
const CIPHERED: &str = "field-level encryption is not built in";
const KERBEROS: &str = "logging in by Kerberos is not built in";
const KEYS: &str = "only keys without a password can be read: give --tlsCertificateKeyFile one";
const OIDC: &str = "logging in by OIDC is not built in";
const OLD_WIRE: &str = "the legacy wire protocol is gone from MongoDB since 5.1: leave it out";
const PROTOCOLS: &str = "TLS 1.2 and 1.3 cannot be switched off, and older ones always are";

/// Sorted by name.
const ROWS: &[Row] = &[
    Row { name: "awsAccessKeyId", takes: Takes::Value, fate: Fate::Refused(AWS) },
    Row { name: "awsIamSessionToken", takes: Takes::Value, fate: Fate::Refused(AWS) },
    Row { name: "awsSecretAccessKey", takes: Takes::Value, fate: Fate::Refused(AWS) },
    Row { name: "awsSessionToken", takes: Takes::Value, fate: Fate::Refused(AWS) },
    Row { name: "browser", takes: Takes::Perhaps, fate: Fate::Refused(OIDC) },
    Row { name: "cryptSharedLibPath", takes: Takes::Value, fate: Fate::Refused(CIPHERED) },
    Row { name: "csfleLibraryPath", takes: Takes::Value, fate: Fate::Refused(CIPHERED) },
    Row { name: "disableImplicitSessions", takes: Takes::Nothing, fate: Fate::Accepted },
    Row { name: "disableJavaScriptJIT", takes: Takes::Nothing, fate: Fate::Accepted },
    Row { name: "disableJavaScriptProtection", takes: Takes::Nothing, fate: Fate::Accepted },
    Row { name: "enableJavaScriptJIT", takes: Takes::Nothing, fate: Fate::Accepted },
    Row { name: "enableJavaScriptProtection", takes: Takes::Nothing, fate: Fate::Accepted },
    Row { name: "gssapiHostName", takes: Takes::Value, fate: Fate::Refused(KERBEROS) },
    Row { name: "gssapiServiceName", takes: Takes::Value, fate: Fate::Refused(KERBEROS) },
    Row { name: "idleSessionTimeout", takes: Takes::Value, fate: Fate::Accepted },
    Row { name: "ipv6", takes: Takes::Nothing, fate: Fate::Accepted },
    Row { name: "keyVaultNamespace", takes: Takes::Value, fate: Fate::Refused(CIPHERED) },
    Row { name: "kmsURL", takes: Takes::Value, fate: Fate::Refused(CIPHERED) },
    Row { name: "oidcDumpTokens", takes: Takes::Perhaps, fate: Fate::Refused(OIDC) },
    Row { name: "oidcFlows", takes: Takes::Value, fate: Fate::Refused(OIDC) },
    Row { name: "oidcIdTokenAsAccessToken", takes: Takes::Nothing, fate: Fate::Refused(OIDC) },
    Row { name: "oidcNoNonce", takes: Takes::Nothing, fate: Fate::Refused(OIDC) },
    Row { name: "oidcRedirectUri", takes: Takes::Value, fate: Fate::Refused(OIDC) },
    Row { name: "oidcTrustedEndpoint", takes: Takes::Nothing, fate: Fate::Refused(OIDC) },
    Row {
        name: "readMode",
        takes: Takes::Value,
        fate: Fate::Only(&["commands", "compatibility"], OLD_WIRE),
    },
    Row {
        name: "setShellParameter",
        takes: Takes::Value,
        fate: Fate::LeftOut("tally has no shell parameters"),
    },
    Row { name: "skipStartupWarnings", takes: Takes::Nothing, fate: Fate::Accepted },
    Row {
        name: "sslAllowInvalidHostnames",
        takes: Takes::Nothing,
        fate: Fate::Refused(CERTIFICATES),
    },
    Row { name: "sslCRLFile", takes: Takes::Value, fate: Fate::Refused(CERTIFICATES) },
    Row { name: "sslCertificateSelector", takes: Takes::Value, fate: Fate::Refused(CERTIFICATES) },
    Row {
        name: "sslDisabledProtocols",
        takes: Takes::Value,
        fate: Fate::Only(&["TLS1_0", "TLS1_1", "TLS1_0,TLS1_1", "none"], PROTOCOLS),
    },
    Row { name: "sslFIPSMode", takes: Takes::Nothing, fate: Fate::Refused("is not built in") },
    Row { name: "sslPEMKeyPassword", takes: Takes::Value, fate: Fate::Refused(KEYS) },
    Row {
        name: "sspiHostnameCanonicalization",
        takes: Takes::Value,
        fate: Fate::Refused(KERBEROS),
    },
    Row { name: "sspiRealmOverride", takes: Takes::Value, fate: Fate::Refused(KERBEROS) },
    Row {
        name: "tlsAllowInvalidHostnames",
        takes: Takes::Nothing,
        fate: Fate::Refused(CERTIFICATES),
    },
    Row { name: "tlsCRLFile", takes: Takes::Value, fate: Fate::Refused(CERTIFICATES) },
    Row { name: "tlsCertificateKeyFilePassword", takes: Takes::Value, fate: Fate::Refused(KEYS) },
    Row { name: "tlsCertificateSelector", takes: Takes::Value, fate: Fate::Refused(CERTIFICATES) },
    Row {
        name: "tlsDisabledProtocols",
        takes: Takes::Value,
        fate: Fate::Only(&["TLS1_0", "TLS1_1", "TLS1_0,TLS1_1", "none"], PROTOCOLS),
    },
    Row { name: "tlsFIPSMode", takes: Takes::Nothing, fate: Fate::Refused("is not built in") },
    Row { name: "tlsUseSystemCA", takes: Takes::Nothing, fate: Fate::Refused(CERTIFICATES) },
    Row {
        name: "writeMode",
        takes: Takes::Value,
        fate: Fate::Only(&["commands", "compatibility"], OLD_WIRE),
    },
];

impl Row {
    fn argument(&self) -> Arg {
        let argument = Arg::new(self.name).long(self.name).hide(true);
        match self.takes {
            Takes::Nothing => argument.action(ArgAction::SetTrue),
            Takes::Value => argument.action(ArgAction::Append),
            Takes::Perhaps => {
                argument.action(ArgAction::Append).num_args(0..=1).require_equals(true)
            }
        }
    }

    /// What is to be told of it when it was given with these values.
    fn told(&self, values: &[String]) -> Result<Option<String>> {
        let name = self.name;
        match self.fate {
            Fate::Accepted => Ok(None),
            Fate::LeftOut(why) => Ok(Some(format!("--{name} does nothing: {why}"))),
            Fate::Refused(why) if why.starts_with("is ") => {
                Err(Error::Usage(format!("--{name} {why}")))
            }
            Fate::Refused(why) => Err(Error::Usage(format!("--{name}: {why}"))),
            Fate::Only(known, why) => {
                match values.iter().find(|value| !known.contains(&value.as_str())) {
                    None => Ok(None),
                    Some(other) => Err(Error::Usage(format!("--{name} {other}: {why}"))),
                }
            }
        }
    }
}

/// Which of these options were given.
#[derive(Clone, Debug, Default)]
pub struct Accepted(Vec<(&'static str, Vec<String>)>);

impl Accepted {
    /// What is to be told of the options that were given.
    ///
    /// # Errors
    /// [`Error::Usage`] for one that cannot be met.
    pub(super) fn notices(&self) -> Result<Vec<String>> {
        let mut notices = Vec::new();
        for (name, values) in &self.0 {
            let row = ROWS.iter().find(|row| row.name == *name).expect("rows are what is parsed");
            notices.extend(row.told(values)?);
        }
        Ok(notices)
    }
}

impl Args for Accepted {
    fn augment_args(command: clap::Command) -> clap::Command {
        ROWS.iter().fold(command, |command, row| command.arg(row.argument()))
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Accepted {
    fn from_arg_matches(matches: &ArgMatches) -> std::result::Result<Self, clap::Error> {
        let given = ROWS
            .iter()
            .filter(|row| matches.value_source(row.name) == Some(ValueSource::CommandLine));
        let with_values = given.map(|row| match row.takes {
            Takes::Nothing => (row.name, Vec::new()),
            Takes::Value | Takes::Perhaps => {
                let values = matches.get_many::<String>(row.name);
                (row.name, values.into_iter().flatten().cloned().collect())
            }
        });
        Ok(Self(with_values.collect()))
    }

    fn update_from_arg_matches(
        &mut self,
        matches: &ArgMatches,
    ) -> std::result::Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
