//! The flags of `tally serve`.

use std::path::PathBuf;

use clap::Args;

use crate::serve::{PORT, Settings};

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
    /// Let other machines in, without passwords and without encryption.
    #[arg(long)]
    pub insecure: bool,
}

impl Serve {
    /// The settings that these flags mean.
    pub(super) fn settings(self, quiet: bool) -> Settings {
        let Self { port, bind, socket, insecure } = self;
        Settings { hosts: bind, port, socket, insecure, quiet }
    }
}
