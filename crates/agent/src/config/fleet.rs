//! The source of the agent's thresholds.

use std::path::PathBuf;

use flowsched_fleet::follow::{Identity, Place, Source};
use flowsched_fleet::names;
use nix::unistd::gethostname;

use super::file;
use crate::error::AgentError;

/// The source of thresholds, and the folder for the last announcement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fleet {
    /// The source of announcements.
    pub source: Source,
    /// The folder that keeps the last announcement when the machine restarts.
    pub state: PathBuf,
}

impl Fleet {
    pub(super) fn check(file: file::Controller) -> Result<Fleet, AgentError> {
        let place = match (file.url, file.etcd) {
            (Some(url), None) => Place::Controller(checked("controller.url", url)?),
            (None, Some(etcd)) if !etcd.is_empty() => {
                let endpoints = etcd.into_iter().map(|url| checked("controller.etcd", url));
                Place::Etcd(endpoints.collect::<Result<_, _>>()?)
            }
            _ => {
                return Err(AgentError::Usage(
                    "`[controller]` needs one of `url`, the address of a controller, and `etcd`, \
                     a list of addresses of etcd. Set one of them."
                        .into(),
                ));
            }
        };
        let host = match file.host {
            Some(host) => host,
            None => gethostname()
                .map_err(|e| AgentError::kernel("read the machine's name", e))?
                .to_string_lossy()
                .into_owned(),
        };
        names::check("controller.group", &file.group)?;
        names::check("controller.host", &host)?;
        let identity = Identity { ca: file.ca, certificate: file.certificate, key: file.key };
        let source = Source { place, identity, group: file.group, host };
        Ok(Fleet { source, state: file.state })
    }
}

fn checked(key: &str, url: String) -> Result<String, AgentError> {
    if url.starts_with("https://") {
        return Ok(url);
    }
    let allowed = "an address such as \"https://controller.example:9489\"";
    Err(AgentError::setting(key, format!("\"{url}\""), allowed))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> Result<Fleet, String> {
        let files = "ca = \"a\"\ncertificate = \"b\"\nkey = \"c\"\n";
        Fleet::check(toml::from_str(&format!("{files}{text}")).unwrap()).map_err(|e| e.to_string())
    }

    #[test]
    fn there_is_one_source() {
        let fleet = check("url = \"https://c:1\"\nhost = \"h\"").unwrap();
        assert_eq!(fleet.source.place, Place::Controller("https://c:1".into()));
        assert_eq!(fleet.source.group, "default");
        assert!(check("").unwrap_err().contains("needs one of"));
        assert!(check("etcd = []").unwrap_err().contains("needs one of"));
        let both = "url = \"https://c\"\netcd = [\"https://e\"]";
        assert!(check(both).unwrap_err().contains("needs one of"));
        assert!(check("url = \"http://c\"").unwrap_err().starts_with("`controller.url` cannot be"));
        let elsewhere = "url = \"https://c\"\ngroup = \"../x\"";
        assert!(check(elsewhere).unwrap_err().starts_with("`controller.group` cannot be"));
    }
}
