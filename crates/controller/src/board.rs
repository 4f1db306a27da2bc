//! What the controller shows: to agents the announcement of their group, to operators how each
//! group is, and who was refused.

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

/// An announcement as it is sent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Published {
    /// Its version; 0: none yet.
    pub version: u64,
    /// Its text.
    pub text: Bytes,
}

/// How a group is.
#[derive(Clone, Debug)]
pub struct Overview {
    /// What is announced and why.
    pub state: State,
    /// Hosts that were collected from last, and how many of them have the version in force.
    pub hosts: usize,
    /// Hosts that have the announced version.
    pub in_force: usize,
    /// Agents that could not be collected from.
    pub unreachable: usize,
    /// The last thing that went wrong.
    pub error: Option<String>,
    /// Messages in all windows, and the load of the last one.
    pub messages: f64,
    /// The load of the last window.
    pub load: f64,
}

/// Connections of agents that were refused.
#[derive(Clone, Debug, Default)]
pub struct Refusals {
    /// How many.
    pub count: u64,
    /// Who came last, and why it was refused.
    pub last: String,
    logged_at: Option<Instant>,
}

/// The log has one refusal in so long a time: hosts come again and again.
const QUIET: Duration = Duration::from_secs(10);

/// The board, written by the controller's loop and read by its servers.
#[derive(Debug)]
pub struct Board {
    published: BTreeMap<String, watch::Sender<Published>>,
    overview: Mutex<BTreeMap<String, Overview>>,
    refusals: Mutex<Refusals>,
    leads: watch::Sender<bool>,
}

impl Board {
    /// A board for these groups.
    pub fn new<'a>(groups: impl IntoIterator<Item = &'a String>) -> Board {
        let empty = |group: &String| (group.clone(), watch::channel(Published::default()).0);
        Board {
            published: groups.into_iter().map(empty).collect(),
            overview: Mutex::default(),
            refusals: Mutex::default(),
            leads: watch::channel(false).0,
        }
    }

    /// What agents of a group see, as it changes; `None` for a group that there is not.
    pub fn subscribe(&self, group: &str) -> Option<watch::Receiver<Published>> {
        self.published.get(group).map(watch::Sender::subscribe)
    }

    /// Shows agents of a group an announcement.
    pub fn publish(&self, group: &str, announcement: &Announcement) {
        if let Some(place) = self.published.get(group) {
            let text = Bytes::from(announcement.to_json());
            place.send_replace(Published { version: announcement.version, text });
        }
    }

    /// How the groups are.
    pub fn overview(&self) -> MutexGuard<'_, BTreeMap<String, Overview>> {
        self.overview.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that somebody was refused.
    pub fn refuse(&self, who: SocketAddr, why: impl Display) {
        let mut refusals = self.refusals.lock().unwrap_or_else(PoisonError::into_inner);
        refusals.count += 1;
        refusals.last = format!("{}: {why}", who.ip());
        if refusals.logged_at.is_none_or(|logged| logged.elapsed() >= QUIET) {
            refusals.logged_at = Some(Instant::now());
            log::warn(format_args!("refused {}", refusals.last));
        }
    }

    /// Who was refused.
    pub fn refusals(&self) -> Refusals {
        self.refusals.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether this controller leads.
    pub fn leads(&self) -> bool {
        *self.leads.borrow()
    }

    /// Says whether it does.
    pub fn set_leads(&self, leads: bool) {
        self.leads.send_replace(leads);
    }
}
