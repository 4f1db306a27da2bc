//! The server's end of TLS: certificate and key from PEM files.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::reloaded::Reloaded;
use crate::config::TlsFiles;
use crate::error::AgentError;

/// A certificate with its key, read again when their files change.
pub(super) struct Tls(Reloaded<TlsAcceptor, 2>);

impl Tls {
    /// Reads certificate and key.
    ///
    /// # Errors
    /// If a file cannot be read, if it has no certificate or key, or if the two do not match.
    pub(super) fn read(files: &TlsFiles) -> Result<Tls, AgentError> {
        let paths = [files.certificate.clone(), files.key.clone()];
        Reloaded::read(paths, acceptor).map(Tls)
    }

    /// The acceptor for the next connection.
    pub(super) fn acceptor(&mut self) -> TlsAcceptor {
        self.0.current().clone()
    }
}

fn acceptor(paths: &[PathBuf; 2], contents: &[Vec<u8>; 2]) -> Result<TlsAcceptor, AgentError> {
    let wrong = |place: usize, text: String| {
        let path: &PathBuf = &paths[place];
        AgentError::file(path, io::Error::other(text))
    };
    let chain = CertificateDer::pem_slice_iter(&contents[0])
        .collect::<Result<Vec<_>, _>>()
        .map_err(|e| wrong(0, format!("the file is not PEM: {e}")))?;
    if chain.is_empty() {
        return Err(wrong(0, "the file has no certificate in PEM format".into()));
    }
    let key = PrivateKeyDer::from_pem_slice(&contents[1])
        .map_err(|e| wrong(1, format!("the file has no private key in PEM format: {e}")))?;
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|e| AgentError::kernel("set up TLS", e))?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(|e| {
            wrong(0, format!("the certificate and {} cannot be used: {e}", paths[1].display()))
        })?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}
