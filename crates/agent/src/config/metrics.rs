//! The address of the metrics server, and which clients may read the metrics.

use std::ffi::OsString;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use super::file;
use crate::error::AgentError;

/// The metrics server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metrics {
    /// The address that it listens on.
    pub address: SocketAddr,
    /// The certificate and key for TLS; `None` for plain HTTP.
    pub tls: Option<TlsFiles>,
    /// A file with the token that clients must show.
    pub token_file: Option<PathBuf>,
}

/// A certificate and its private key, in PEM format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate, followed by intermediate certificates.
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
        let address = address(listen, |name| std::env::var_os(name))?;
        Ok(Some(Metrics { address, tls, token_file }))
    }
}

fn incomplete(key: &str, other: &str) -> AgentError {
    AgentError::Usage(format!("`{key}` needs `{other}`. Set both or none."))
}

/// Parses an address with a port. `${NAME}` instead of the address stands for the value of the
/// environment variable `NAME`. That value has no brackets even for IPv6, as Kubernetes gives a
/// node's address.
fn address(
    text: &str,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Result<SocketAddr, AgentError> {
    let Some((name, port)) = text.strip_prefix("${").and_then(|rest| rest.split_once("}:")) else {
        return text.parse().map_err(|_| refused(text));
    };
    let port = port.parse().map_err(|_| refused(text))?;
    let value = variable(name).ok_or_else(|| {
        AgentError::Usage(format!(
            "`metrics.listen` is \"{text}\", but the environment variable {name} is not set. Set \
             it to an address, or write the address itself."
        ))
    })?;
    let value = value.to_string_lossy();
    let address: IpAddr = value.parse().map_err(|_| {
        AgentError::Usage(format!(
            "`metrics.listen` is \"{text}\", but the environment variable {name} is \"{value}\". \
             Set it to an IPv4 or IPv6 address."
        ))
    })?;
    Ok(SocketAddr::new(address, port))
}

fn refused(text: &str) -> AgentError {
    let allowed = "an address and port such as \"127.0.0.1:9487\", \"[::]:9487\" or \
                   \"${NODE_ADDRESS}:9487\"";
    AgentError::setting("metrics.listen", format!("\"{text}\""), allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listen(text: &str) -> Result<String, String> {
        let variable = |name: &str| match name {
            "NODE" => Some("10.1.2.3".into()),
            "NODE6" => Some("fd00::7".into()),
            "EMPTY" => Some("".into()),
            _ => None,
        };
        address(text, variable).map(|found| found.to_string()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_variable_stands_for_the_address() {
        assert_eq!(listen("127.0.0.1:9487").unwrap(), "127.0.0.1:9487");
        assert_eq!(listen("[::]:9487").unwrap(), "[::]:9487");
        assert_eq!(listen("${NODE}:9487").unwrap(), "10.1.2.3:9487");
        assert_eq!(listen("${NODE6}:9487").unwrap(), "[fd00::7]:9487");
    }

    #[test]
    fn what_is_no_address_is_refused_by_name() {
        let cases = [
            ("${ABSENT}:9487", "the environment variable ABSENT is not set"),
            ("${EMPTY}:9487", "the environment variable EMPTY is \"\""),
            ("${NODE}", "`metrics.listen` cannot be \"${NODE}\""),
            ("${NODE}:port", "`metrics.listen` cannot be \"${NODE}:port\""),
            ("0.0.0.0:${NODE}", "`metrics.listen` cannot be"),
            ("localhost:9487", "`metrics.listen` cannot be \"localhost:9487\""),
        ];
        for (text, expected) in cases {
            let error = listen(text).unwrap_err();
            assert!(error.contains(expected), "{text}\n{error}");
        }
    }

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
