//! What the controller shows: to agents the announcement of their group, to operators how each
//! group is.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use flowsched_fleet::Announcement;
use hyper::body::Bytes;
use tokio::sync::watch;

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

/// The board, written by the controller's loop and read by its servers.
#[derive(Debug)]
pub struct Board {
    published: BTreeMap<String, watch::Sender<Published>>,
    overview: Mutex<BTreeMap<String, Overview>>,
    leads: watch::Sender<bool>,
}

impl Board {
    /// A board for these groups.
    pub fn new<'a>(groups: impl IntoIterator<Item = &'a String>) -> Board {
        let empty = |group: &String| (group.clone(), watch::channel(Published::default()).0);
        Board {
            published: groups.into_iter().map(empty).collect(),
            overview: Mutex::default(),
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

    /// Whether this controller leads.
    pub fn leads(&self) -> bool {
        *self.leads.borrow()
    }

    /// Says whether it does.
    pub fn set_leads(&self, leads: bool) {
        self.leads.send_replace(leads);
    }
}
