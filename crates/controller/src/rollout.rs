//! Turns a decision into announcements: a trial on canaries, then all hosts or a roll-back. This is a pure
//! state machine: the caller passes in the time and the collected samples.
//!
//! Versions never decrease: a roll-back announces the earlier thresholds as a new version.

use std::collections::BTreeMap;

use flowsched_fleet::announcement::LARGEST_LEAP;
use flowsched_fleet::{Announcement, Canary, membership};
use flowsched_units::Bytes;
use serde::{Deserialize, Serialize};

use crate::config::Trial;
use crate::decide::{Decision, Reason};
use crate::sample::Sample;

/// A group's state, which outlives the controller.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
pub struct State {
    /// The last announcement; `None` before the first change.
    pub announced: Option<Announcement>,
    /// The thresholds of all hosts but canaries.
    pub thresholds: Vec<u64>,
    /// When a change or trial last began or ended, in seconds since 1970.
    pub changed_at: Option<u64>,
    /// The outcome of the last decision or trial.
    pub reason: Reason,
    /// Why the last change or trial began or ended.
    pub last_change: Option<Reason>,
    /// Changes that reached all hosts.
    pub changes: u64,
    /// Trials that were rolled back.
    pub roll_backs: u64,
}

impl State {
    /// The state before any change.
    pub fn new(thresholds: &[Bytes]) -> State {
        State {
            announced: None,
            thresholds: thresholds.iter().map(|bytes| bytes.get()).collect(),
            changed_at: None,
            reason: Reason::NoDecision,
            last_change: None,
            changes: 0,
            roll_backs: 0,
        }
    }

    /// The version announced last.
    pub fn version(&self) -> u64 {
        self.announced.as_ref().map_or(0, |announced| announced.version)
    }

    /// The thresholds on trial, if a trial runs.
    pub fn trial(&self) -> Option<&Canary> {
        self.announced.as_ref()?.canary.as_ref()
    }
}

/// The rollout of a group.
#[derive(Clone, Debug)]
pub struct Rollout {
    name: String,
    dscp: Vec<u8>,
    /// The part that outlives the process.
    pub state: State,
    /// The start of the running trial as this process saw it, and the hosts' counters then.
    watched: Option<Watched>,
}

#[derive(Clone, Debug)]
struct Watched {
    since: u64,
    baseline: BTreeMap<String, Sample>,
}

impl Watched {
    fn new(hosts: &[Sample], now: u64) -> Watched {
        let baseline = hosts.iter().map(|host| (host.host.clone(), host.clone())).collect();
        Watched { since: now, baseline }
    }
}

/// Retransmissions of some hosts since a trial began.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Losses {
    sent: f64,
    again: f64,
}

/// A rise of retransmissions counts only if it exceeds this many standard errors.
const SURE: f64 = 3.0;
/// The minimum number of segments on each side for comparing retransmission rates.
const LEAST_SEGMENTS: f64 = 1000.0;

impl Rollout {
    /// A group that continues from `state`.
    pub fn new(name: &str, dscp: &[u8], state: State) -> Rollout {
        Rollout { name: name.to_owned(), dscp: dscp.to_owned(), state, watched: None }
    }

    /// Seconds since the last change or trial; `None` if there was none. If a wrong clock dated that
    /// change in the future, it counts as made now; otherwise the next change could wait for years.
    pub fn unchanged(&mut self, now: u64) -> Option<u64> {
        let changed_at = self.state.changed_at.as_mut()?;
        *changed_at = (*changed_at).min(now);
        Some(now - *changed_at)
    }

    /// Whether a trial runs.
    pub fn is_on_trial(&self) -> bool {
        self.state.trial().is_some()
    }

    /// Applies a decision. Returns whether there is a new announcement.
    pub fn decided(
        &mut self,
        decision: Decision,
        hosts: &[Sample],
        trial: &Trial,
        now: u64,
    ) -> bool {
        self.state.reason = decision.reason;
        let Some(thresholds) = decision.thresholds else { return false };
        self.state.last_change = Some(self.state.reason.clone());
        let new: Vec<u64> = thresholds.iter().map(|bytes| bytes.get()).collect();
        let names = hosts.iter().map(|host| host.host.as_str()).filter(|host| !host.is_empty());
        let canary = membership::bound(&self.name, names, trial.share)
            .map(|below| Canary { below, thresholds: new.clone() });
        self.state.changed_at = Some(now);
        if canary.is_none() {
            // A group with fewer than two known hosts has no other hosts to compare canaries with.
            self.state.thresholds = new;
            self.state.changes += 1;
        }
        self.announce(canary, hosts);
        // Take the baseline before announcing: a host may refuse long before its next sample.
        self.watched = Some(Watched::new(hosts, now));
        true
    }

    /// Checks a running trial against the hosts' samples. Returns whether there is a new announcement.
    pub fn watch(&mut self, hosts: &[Sample], trial: &Trial, now: u64) -> bool {
        if self.state.announced.is_some() && self.newest(hosts) > self.state.version() {
            // Hosts have a newer version than the state, which came from an old snapshot. Whatever trial
            // the state has is over.
            self.announce(None, hosts);
            return true;
        }
        let Some(canary) = self.state.trial() else { return false };
        let thresholds = canary.thresholds.clone();
        let watched = self.watched.get_or_insert_with(|| Watched::new(hosts, now));
        let is_over = now.saturating_sub(watched.since) >= trial.time.as_secs();
        let version = self.state.announced.as_ref().map_or(0, |announced| announced.version);
        if let Some(trouble) = trouble(watched, hosts, version, trial, is_over) {
            self.state.reason = Reason::RolledBack(trouble);
            self.state.roll_backs += 1;
        } else if is_over {
            self.state.thresholds = thresholds;
            self.state.reason = Reason::TrialPassed;
            self.state.changes += 1;
        } else {
            return false;
        }
        self.state.last_change = Some(self.state.reason.clone());
        self.state.changed_at = Some(now);
        self.watched = None;
        self.announce(None, hosts);
        true
    }

    /// The newest version that a host has in force. Ignores versions that no host would accept: a host may
    /// report anything, and one host could otherwise stop the announcements to all others.
    fn newest(&self, hosts: &[Sample]) -> u64 {
        let most = self.state.version().saturating_add(LARGEST_LEAP);
        let versions = hosts.iter().map(|host| host.version).filter(|version| *version <= most);
        versions.max().unwrap_or(0)
    }

    fn announce(&mut self, canary: Option<Canary>, hosts: &[Sample]) {
        let newest = self.newest(hosts);
        self.state.announced = Some(Announcement {
            group: self.name.clone(),
            version: self.state.version().max(newest).saturating_add(1),
            dscp: self.dscp.clone(),
            thresholds: self.state.thresholds.clone(),
            canary,
        });
    }
}

/// Why the trial must be rolled back; `None` if there is no reason.
fn trouble(
    watched: &Watched,
    hosts: &[Sample],
    version: u64,
    trial: &Trial,
    is_over: bool,
) -> Option<String> {
    let grown = hosts.iter().map(|host| {
        let before = watched.baseline.get(&host.host);
        before.map_or_else(Sample::default, |before| host.since(before))
    });
    let grown: Vec<Sample> = grown.collect();
    if let Some(host) = grown.iter().find(|host| host.refused > 0) {
        return Some(format!("{} refused the announcement", host.host));
    }
    let mut losses = [Losses::default(); 2];
    let mut canaries = 0;
    for (host, grown) in hosts.iter().zip(&grown) {
        let is_canary = host.is_canary && host.version == version;
        canaries += usize::from(is_canary);
        let sums = &mut losses[usize::from(is_canary)];
        sums.sent += grown.segments as f64;
        sums.again += grown.retransmitted as f64;
    }
    if is_over && canaries == 0 {
        return Some("no canary has put the thresholds in force".into());
    }
    let [control, canary] = losses;
    rise(canary, control, trial.retransmissions)
}

/// Describes the rise of canaries' retransmission rate over that of other hosts; `None` if the
/// relative rise is at most `allowed` or not significant.
fn rise(canary: Losses, control: Losses, allowed: f64) -> Option<String> {
    if canary.sent < LEAST_SEGMENTS || control.sent < LEAST_SEGMENTS {
        return None;
    }
    let (tried, usual) = (canary.again / canary.sent, control.again / control.sent);
    let all = (canary.again + control.again) / (canary.sent + control.sent);
    let error = (all * (1.0 - all) * (1.0 / canary.sent + 1.0 / control.sent)).max(0.0).sqrt();
    let is_risen = tried > usual * (1.0 + allowed) && tried - usual > SURE * error;
    is_risen.then(|| {
        format!(
            "canaries retransmit {:.3}% of segments, other hosts {:.3}%",
            100.0 * tried,
            100.0 * usual
        )
    })
}

#[cfg(test)]
mod tests;
