//! Where the metrics are served, and to whom.

use std::net::SocketAddr;
use std::path::PathBuf;

use super::file;
use crate::error::AgentError;

/// The metrics server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metrics {
    /// The address that it listens on.
    pub address: SocketAddr,
    /// What it speaks TLS with; `None`: plain HTTP.
    pub tls: Option<TlsFiles>,
    /// A file with the token that clients must show.
    pub token_file: Option<PathBuf>,
}

/// A certificate and its private key, in PEM format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate, with those that vouch for it.
    pub certificate: PathBuf,
    /// The private key.
    pub key: PathBuf,
}

impl Metrics {
    pub(super) fn check(file: &file::Metrics) -> Result<Option<Metrics>, AgentError> {
        let tls = match (&file.tls_certificate, &file.tls_key) {
            (Some(certificate), Some(key)) => {
                Some(TlsFiles { certificate: certificate.clone(), key: key.clone() })
            }
            (None, None) => None,
            (Some(_), None) => {
                return Err(incomplete("metrics.tls-certificate", "metrics.tls-key"));
            }
            (None, Some(_)) => {
                return Err(incomplete("metrics.tls-key", "metrics.tls-certificate"));
            }
        };
        let token_file = file.bearer_token_file.clone();
        let Some(listen) = &file.listen else {
            return match (tls, token_file) {
                (Some(_), _) => Err(incomplete("metrics.tls-certificate", "metrics.listen")),
                (_, Some(_)) => Err(incomplete("metrics.bearer-token-file", "metrics.listen")),
                (None, None) => Ok(None),
            };
        };
        let address = address(listen)?;
        Ok(Some(Metrics { address, tls, token_file }))
    }
}

fn incomplete(key: &str, other: &str) -> AgentError {
    AgentError::Missing(format!("`{key}` needs `{other}`. Set both or none."))
}

fn address(text: &str) -> Result<SocketAddr, AgentError> {
    text.parse().map_err(|_| {
        let allowed = "an address and port such as \"127.0.0.1:9487\" or \"[::]:9487\"";
        AgentError::setting("metrics.listen", format!("\"{text}\""), allowed)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_what_belongs_together_is_refused() {
        let file = |text: &str| Metrics::check(&toml::from_str(text).unwrap());
        let cases = [
            ("tls-certificate = \"a\"", "`metrics.tls-certificate` needs `metrics.tls-key`"),
            ("tls-key = \"a\"", "`metrics.tls-key` needs `metrics.tls-certificate`"),
            (
                "tls-certificate = \"a\"\ntls-key = \"b\"",
                "`metrics.tls-certificate` needs `metrics.listen`",
            ),
            ("bearer-token-file = \"a\"", "`metrics.bearer-token-file` needs `metrics.listen`"),
        ];
        for (text, expected) in cases {
            let error = file(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}\n{error}");
        }
        assert_eq!(file("run-time = true").unwrap(), None);
    }
}
