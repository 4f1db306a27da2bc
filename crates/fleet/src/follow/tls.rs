//! The client's end of mutual TLS. Files are read again for each connection, so that renewed
//! certificates take effect.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// The certificates and the key of one end, as files in PEM format.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// The certificates of the authority that must have signed the other end's certificate.
    pub ca: PathBuf,
    /// This end's certificate, followed by intermediate certificates.
    pub certificate: PathBuf,
    /// This end's private key.
    pub key: PathBuf,
}

/// The authorities whose certificates are in the file `ca`.
///
/// # Errors
/// If the file cannot be read, has no certificate, or has an invalid one. The error names the file.
pub fn roots(ca: &Path) -> Result<RootCertStore, String> {
    let wrong = |error: &dyn std::fmt::Display| format!("{}: {error}", ca.display());
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(&Identity::read(ca)?) {
        roots.add(certificate.map_err(|e| wrong(&e))?).map_err(|e| wrong(&e))?;
    }
    if roots.is_empty() {
        return Err(wrong(&"the file has no certificate in PEM format"));
    }
    Ok(roots)
}

impl Identity {
    /// The contents of one of the files.
    pub(super) fn read(path: &Path) -> Result<Vec<u8>, String> {
        std::fs::read(path).map_err(|e| format!("{}: {e}", path.display()))
    }

    /// The TLS configuration of a client with this identity.
    ///
    /// # Errors
    /// If a file cannot be read or used. The error names the file.
    pub fn client(&self) -> Result<ClientConfig, String> {
        let wrong =
            |path: &Path, error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let roots = roots(&self.ca)?;
        let chain = CertificateDer::pem_slice_iter(&Identity::read(&self.certificate)?)
            .collect::<Result<Vec<_>, _>>()
            .map_err(|e| wrong(&self.certificate, &e))?;
        let key = PrivateKeyDer::from_pem_slice(&Identity::read(&self.key)?)
            .map_err(|e| wrong(&self.key, &e))?;
        ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|e| e.to_string())?
            .with_root_certificates(roots)
            .with_client_auth_cert(chain, key)
            .map_err(|e| wrong(&self.certificate, &e))
    }
}
