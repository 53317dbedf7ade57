//! The flags of `tally serve`.

use std::path::PathBuf;

use clap::Args;

use crate::serve::{PORT, Settings, Tls};

/// What `tally serve` is told.
#[derive(Debug, Args)]
pub struct Serve {
    /// Listen at this port; 0 is any that is free.
    #[arg(long, value_name = "PORT", default_value_t = PORT)]
    pub port: u16,
    /// Listen at these addresses of this machine.
    #[arg(long, value_name = "HOST,HOST", value_delimiter = ',', default_value = "127.0.0.1")]
    pub bind: Vec<String>,
    /// Listen at a Unix socket, too.
    #[arg(long, value_name = "PATH")]
    pub socket: Option<PathBuf>,
    /// Only users that have logged in may do anything; the first user can be made from this machine.
    #[arg(long)]
    pub auth: bool,
    /// Encrypt, with the certificate in FILE (PEM).
    #[arg(long, value_name = "FILE")]
    pub tls_cert: Option<PathBuf>,
    /// The certificate's private key (default: in the file of the certificate).
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,
    /// Clients need a certificate of one of the authorities in FILE.
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_ca: Option<PathBuf>,
    /// Let other machines in without passwords or without encryption.
    #[arg(long)]
    pub insecure: bool,
    /// Let clients ask for failures (configureFailPoint), to test how they bear them.
    #[arg(long)]
    pub enable_test_commands: bool,
}

impl Serve {
    /// The settings that these flags mean.
    pub(super) fn settings(self, quiet: bool) -> Settings {
        let Self { port, bind, socket, auth, tls_cert, tls_key, tls_ca, insecure, .. } = self;
        let tls =
            tls_cert.map(|certificate| Tls { certificate, key: tls_key, authorities: tls_ca });
        let test_commands = self.enable_test_commands;
        Settings { hosts: bind, port, socket, auth, tls, insecure, test_commands, quiet }
    }
}
