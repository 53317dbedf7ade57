//! Encryption: the server's certificate, and whose clients it takes.

use std::path::Path;
use std::sync::Arc;

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{RootCertStore, ServerConfig};

use super::Tls;
use crate::error::{Error, Result};

/// What agrees with clients on encryption.
///
/// # Errors
/// [`Error::Usage`] that names the file which is not what it should be.
pub(super) fn acceptor(files: &Tls) -> Result<TlsAcceptor> {
    let certificate = certificates("--tls-cert", &files.certificate)?;
    let (flag, path) = match &files.key {
        Some(key) => ("--tls-key", key),
        None => ("--tls-cert", &files.certificate),
    };
    let key = PrivateKeyDer::from_pem_file(path)
        .map_err(|error| wrong(flag, path, &format_args!("it holds no private key: {error}")))?;
    let provider = Arc::new(default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| Error::Usage(format!("encryption is not possible: {error}")))?;
    let builder = match &files.authorities {
        None => builder.with_no_client_auth(),
        Some(path) => {
            let failed = |error: &dyn std::fmt::Display| wrong("--tls-ca", path, error);
            let mut authorities = RootCertStore::empty();
            for authority in certificates("--tls-ca", path)? {
                authorities.add(authority).map_err(|error| failed(&error))?;
            }
            let authorities = Arc::new(authorities);
            let verifier =
                WebPkiClientVerifier::builder_with_provider(authorities, provider).build();
            builder.with_client_cert_verifier(verifier.map_err(|error| failed(&error))?)
        }
    };
    let config = builder
        .with_single_cert(certificate, key)
        .map_err(|error| wrong("--tls-cert", &files.certificate, &error))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// The certificates of a file.
fn certificates(flag: &str, path: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let read = CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect::<std::result::Result<Vec<_>, _>>);
    let found = read.map_err(|error| wrong(flag, path, &error))?;
    if found.is_empty() {
        return Err(wrong(flag, path, &"it holds no certificate"));
    }
    Ok(found)
}

fn wrong(flag: &str, path: &Path, why: &dyn std::fmt::Display) -> Error {
    Error::Usage(format!("{flag} {}: {why}", path.display()))
}
