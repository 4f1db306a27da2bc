//! From a decision to announcements: a trial on canaries, then all hosts, or back. A state machine
//! without a clock, a file or a network: the caller passes in the time and what was collected.
//!
//! Versions never go backwards: a roll-back announces the earlier thresholds as a new version.

use std::collections::BTreeMap;

use flowsched_fleet::{Announcement, Canary, membership};
use flowsched_units::Bytes;
use serde::{Deserialize, Serialize};

use crate::config::Trial;
use crate::decide::{Decision, Reason};
use crate::sample::Sample;

/// A group's state, which outlives the controller.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
pub struct State {
    /// What was announced last; none before the first change.
    pub announced: Option<Announcement>,
    /// The thresholds of all hosts but canaries.
    pub thresholds: Vec<u64>,
    /// When they last changed or were tried, in seconds since 1970.
    pub changed_at: Option<u64>,
    /// What the last decision was.
    pub reason: Reason,
    /// Why there was a change, a trial or the end of one.
    pub last_change: Option<Reason>,
    /// Changes so far, and those that were rolled back.
    pub changes: u64,
    /// Trials that were rolled back.
    pub roll_backs: u64,
}

impl State {
    /// Before any change.
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

    /// What some hosts have on trial.
    pub fn trial(&self) -> Option<&Canary> {
        self.announced.as_ref()?.canary.as_ref()
    }
}

/// A group at work.
#[derive(Clone, Debug)]
pub struct Rollout {
    name: String,
    dscp: Vec<u8>,
    /// What is to be kept.
    pub state: State,
    /// When the trial that runs began here, and what hosts had counted then.
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

/// A rise of retransmissions is believed from so many standard errors on.
const SURE: f64 = 3.0;
/// No rate is judged on fewer segments.
const LEAST_SEGMENTS: f64 = 1000.0;

impl Rollout {
    /// A group that continues from `state`.
    pub fn new(name: &str, dscp: &[u8], state: State) -> Rollout {
        Rollout { name: name.to_owned(), dscp: dscp.to_owned(), state, watched: None }
    }

    /// Seconds since the last change or trial; `None`: there was none. A change that a wrong clock puts into
    /// the future counts as one of now: it must not put off the next one for years.
    pub fn unchanged(&mut self, now: u64) -> Option<u64> {
        let changed_at = self.state.changed_at.as_mut()?;
        *changed_at = (*changed_at).min(now);
        Some(now - *changed_at)
    }

    /// Whether a trial runs.
    pub fn is_on_trial(&self) -> bool {
        self.state.trial().is_some()
    }

    /// Takes a decision over; whether there is something new to announce.
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
            // A group of one host, or of none that is known, has nobody to compare with.
            self.state.thresholds = new;
            self.state.changes += 1;
        }
        self.announce(canary, hosts);
        // As of before the announcement: a host refuses within a moment, and is collected from much later.
        self.watched = Some(Watched::new(hosts, now));
        true
    }

    /// Looks at hosts; whether there is something new to announce.
    pub fn watch(&mut self, hosts: &[Sample], trial: &Trial, now: u64) -> bool {
        if self.state.announced.is_some() {
            let newest = hosts.iter().map(|host| host.version).max().unwrap_or(0);
            if newest > self.state.version() {
                // The state is of an older snapshot than what hosts have: a trial has ended since.
                self.announce(None, hosts);
                return true;
            }
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

    fn announce(&mut self, canary: Option<Canary>, hosts: &[Sample]) {
        let newest = hosts.iter().map(|host| host.version).max().unwrap_or(0);
        self.state.announced = Some(Announcement {
            group: self.name.clone(),
            version: self.state.version().max(newest) + 1,
            dscp: self.dscp.clone(),
            thresholds: self.state.thresholds.clone(),
            canary,
        });
    }
}

/// Why the trial is to end badly, if it is.
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

/// How retransmissions have risen, if they have, beyond doubt and by more than `allowed`.
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
