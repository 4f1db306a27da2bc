//! The configuration file: one field per key. Only the names of keys and the types of values are
//! checked here.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;

use flowsched_fleet::follow::Identity;
use flowsched_fleet::levels::CodePoints;
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct File {
    #[serde(default = "state")]
    pub(super) state: PathBuf,
    pub(super) thresholds: String,
    pub(super) dscp: Option<CodePoints>,
    pub(super) link_rate: Option<String>,
    pub(super) listen: Option<SocketAddr>,
    #[serde(default = "status")]
    pub(super) status: SocketAddr,
    pub(super) tls: Option<Identity>,
    #[serde(default)]
    pub(super) etcd: Vec<String>,
    #[serde(default)]
    pub(super) collect: Collect,
    #[serde(default)]
    pub(super) decide: Decide,
    #[serde(default)]
    pub(super) canary: Canary,
    #[serde(default)]
    pub(super) groups: BTreeMap<String, Group>,
}

fn state() -> PathBuf {
    "/var/lib/flowsched-controller".into()
}

fn status() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 9490))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub(super) struct Collect {
    pub(super) prometheus: Option<String>,
    pub(super) every: String,
    pub(super) window: String,
    pub(super) windows: usize,
    pub(super) ca: Option<PathBuf>,
    pub(super) bearer_token_file: Option<PathBuf>,
}

impl Default for Collect {
    fn default() -> Collect {
        Collect {
            prometheus: None,
            every: "15s".into(),
            window: "3600s".into(),
            windows: 24,
            ca: None,
            bearer_token_file: None,
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub(super) struct Decide {
    pub(super) every: String,
    pub(super) improvement: f64,
    pub(super) interval: String,
    pub(super) least_threshold: String,
    pub(super) least_messages: u64,
}

impl Default for Decide {
    fn default() -> Decide {
        Decide {
            every: "600s".into(),
            improvement: 0.02,
            interval: "3600s".into(),
            least_threshold: "1pkt".into(),
            least_messages: 10_000,
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Canary {
    pub(super) share: f64,
    pub(super) time: String,
    pub(super) retransmissions: f64,
}

impl Default for Canary {
    fn default() -> Canary {
        Canary { share: 0.05, time: "600s".into(), retransmissions: 0.2 }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Group {
    #[serde(default)]
    pub(super) agents: Vec<String>,
    #[serde(default)]
    pub(super) selector: String,
    pub(super) link_rate: Option<String>,
}
