//! What the controller publishes: each group's announcement for its agents, and for operators the
//! state of each group and the refused connections.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use flowsched_fleet::Announcement;
use hyper::body::Bytes;
use tokio::sync::watch;

use crate::log;
use crate::rollout::State;

/// An announcement in the form that agents receive.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Published {
    /// The version; 0 if nothing was announced yet.
    pub version: u64,
    /// The announcement as JSON.
    pub text: Bytes,
}

/// The state of a group.
#[derive(Clone, Debug)]
pub struct Overview {
    /// What is announced, and why.
    pub state: State,
    /// Hosts that answered in the last round.
    pub hosts: usize,
    /// Hosts on which the announced version is in force.
    pub in_force: usize,
    /// Agents that did not answer in the last round.
    pub unreachable: usize,
    /// The last error.
    pub error: Option<String>,
    /// Messages in all windows.
    pub messages: f64,
    /// The load of the last window.
    pub load: f64,
}

/// Connections of agents that were refused.
#[derive(Clone, Debug, Default)]
pub struct Refusals {
    /// Number of refused connections.
    pub count: u64,
    /// The address of the last refused client, and why it was refused.
    pub last: String,
    logged_at: Option<Instant>,
}

/// At most one refusal is logged per this time, because refused hosts try again and again.
const QUIET: Duration = Duration::from_secs(10);

/// State that the controller's loop writes and its servers read.
#[derive(Debug)]
pub struct Board {
    published: BTreeMap<String, watch::Sender<Published>>,
    overview: Mutex<BTreeMap<String, Overview>>,
    refusals: Mutex<Refusals>,
    leads: watch::Sender<bool>,
}

impl Board {
    /// A board for `groups`, with nothing announced.
    pub fn new<'a>(groups: impl IntoIterator<Item = &'a String>) -> Board {
        let empty = |group: &String| (group.clone(), watch::channel(Published::default()).0);
        Board {
            published: groups.into_iter().map(empty).collect(),
            overview: Mutex::default(),
            refusals: Mutex::default(),
            leads: watch::channel(false).0,
        }
    }

    /// The announcement of a group, as it changes; `None` if the configuration has no such group.
    pub fn subscribe(&self, group: &str) -> Option<watch::Receiver<Published>> {
        self.published.get(group).map(watch::Sender::subscribe)
    }

    /// Publishes an announcement to the agents of a group.
    pub fn publish(&self, group: &str, announcement: &Announcement) {
        if let Some(place) = self.published.get(group) {
            let text = Bytes::from(announcement.to_json());
            place.send_replace(Published { version: announcement.version, text });
        }
    }

    /// The states of all groups, by name.
    pub fn overview(&self) -> MutexGuard<'_, BTreeMap<String, Overview>> {
        self.overview.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a refused connection, and logs it unless another one was logged within the last 10 s.
    pub fn refuse(&self, who: SocketAddr, why: impl Display) {
        let mut refusals = self.refusals.lock().unwrap_or_else(PoisonError::into_inner);
        refusals.count += 1;
        refusals.last = format!("{}: {why}", who.ip());
        if refusals.logged_at.is_none_or(|logged| logged.elapsed() >= QUIET) {
            refusals.logged_at = Some(Instant::now());
            log::warn(format_args!("refused {}", refusals.last));
        }
    }

    /// The refused connections so far.
    pub fn refusals(&self) -> Refusals {
        self.refusals.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether this controller leads.
    pub fn leads(&self) -> bool {
        *self.leads.borrow()
    }

    /// Sets whether this controller leads.
    pub fn set_leads(&self, leads: bool) {
        self.leads.send_replace(leads);
    }
}
