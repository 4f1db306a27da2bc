//! Whom to follow, and what is heard.

use std::time::Duration;

use super::tls::Identity;

/// How long an attempt may take to connect or to be answered.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// How long the controller lets a poll wait for news.
pub const POLL: Duration = Duration::from_secs(30);

/// Where announcements come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// The controller's endpoint, such as `https://controller.example:9489`.
    Controller(String),
    /// Endpoints of etcd.
    Etcd(Vec<String>),
}

/// Whom to follow, and as whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Where.
    pub place: Place,
    /// With which certificates.
    pub identity: Identity,
    /// The group of the host.
    pub group: String,
    /// The host's name.
    pub host: String,
}

/// What happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The source was reached.
    InTouch,
    /// An announcement, as it was sent.
    Announced(Vec<u8>),
    /// The source cannot be reached, and why.
    Trouble(String),
}
