//! Sources of announcements, and the events of following one.

use std::time::Duration;

use super::tls::Identity;

/// The time-out of connecting and of an answer.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// How long the controller lets a poll wait for a new version.
pub const POLL: Duration = Duration::from_secs(30);

/// The place that announcements come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// The controller's endpoint, such as `https://controller.example:9489`.
    Controller(String),
    /// Endpoints of etcd.
    Etcd(Vec<String>),
}

/// A source of announcements, and the host that follows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The place.
    pub place: Place,
    /// The certificates to connect with.
    pub identity: Identity,
    /// The group of the host.
    pub group: String,
    /// The host's name.
    pub host: String,
}

/// An event of following a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The source was reached.
    InTouch,
    /// An announcement as it was received, not yet checked.
    Announced(Vec<u8>),
    /// The source cannot be reached, and why.
    Trouble(String),
}
