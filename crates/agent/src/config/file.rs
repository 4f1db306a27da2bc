//! The configuration file: one field per key. Only the names of keys and the types of values are
//! checked here.

use std::path::PathBuf;

use flowsched_fleet::levels::CodePoints;
use flowsched_fleet::nic::NicTable;
use serde::Deserialize;

/// The whole file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct File {
    pub(super) interfaces: Vec<String>,
    pub(super) thresholds: String,
    pub(super) dscp: Option<CodePoints>,
    #[serde(default)]
    pub(super) bookkeeping: Bookkeeping,
    #[serde(default)]
    pub(super) respect_dscp: bool,
    #[serde(default)]
    pub(super) force_ect: bool,
    #[serde(default = "vxlan_port")]
    pub(super) vxlan_port: u16,
    #[serde(default)]
    pub(super) message: Message,
    #[serde(default)]
    pub(super) ageing: Ageing,
    #[serde(default)]
    pub(super) flows: Flows,
    #[serde(default)]
    pub(super) select: Select,
    #[serde(default)]
    pub(super) gso: Gso,
    #[serde(default)]
    pub(super) metrics: Metrics,
    pub(super) nic: Option<NicTable>,
    #[serde(default)]
    pub(super) survey: bool,
    pub(super) controller: Option<Controller>,
}

fn vxlan_port() -> u16 {
    4789
}

#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Bookkeeping {
    #[default]
    Offset,
    Cumulative,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub(super) struct Message {
    pub(super) idle: String,
    pub(super) end: End,
    pub(super) start: Start,
    pub(super) mark_mask: u32,
}

impl Default for Message {
    fn default() -> Message {
        Message {
            idle: "500us".into(),
            end: End::default(),
            start: Start::default(),
            mark_mask: u32::MAX,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(super) enum End {
    #[default]
    Acknowledged,
    Sent,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Start {
    #[default]
    Idle,
    Mark,
    Priority,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Ageing {
    pub(super) timeouts: u32,
    pub(super) gap: String,
}

impl Default for Ageing {
    fn default() -> Ageing {
        Ageing { timeouts: 2, gap: "9ms".into() }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Flows {
    pub(super) max: u32,
    pub(super) idle: String,
}

impl Default for Flows {
    fn default() -> Flows {
        Flows { max: 65_536, idle: "100ms".into() }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Select {
    pub(super) ports: Vec<String>,
    pub(super) prefixes: Vec<String>,
    pub(super) cgroups: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub(super) struct Gso {
    pub(super) max_size: Option<String>,
    pub(super) max_segments: Option<u32>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub(super) struct Metrics {
    pub(super) listen: Option<String>,
    pub(super) tls_certificate: Option<PathBuf>,
    pub(super) tls_key: Option<PathBuf>,
    pub(super) bearer_token_file: Option<PathBuf>,
    pub(super) run_time: bool,
}

/// Exactly one of `url` and `etcd` is needed.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Controller {
    pub(super) url: Option<String>,
    pub(super) etcd: Option<Vec<String>>,
    #[serde(default = "group")]
    pub(super) group: String,
    pub(super) host: Option<String>,
    pub(super) ca: PathBuf,
    pub(super) certificate: PathBuf,
    pub(super) key: PathBuf,
    #[serde(default = "state")]
    pub(super) state: PathBuf,
}

fn group() -> String {
    "default".into()
}

fn state() -> PathBuf {
    "/var/lib/flowsched".into()
}
