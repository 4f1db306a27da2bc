//! The flow controller: which flows of one link send and which are paused (PDQ 2012, 3.3.2).
//!
//! This implements Algorithms 1, 2 and 3 as they are printed, except where a comment says
//! otherwise. A flow sends only if every switch on its way accepts it. That takes two phases: on
//! the way to the receiver, each switch computes what it can spare; on the way back, all of them
//! learn the result.

use flowsched_units::{Rate, Time};

use super::comparator::Comparator;
use super::flow_list::{FlowList, criticality};
use crate::transport::pdq::{Pauser, PdqHeader};

/// The parameters of the flow controller. Those that every packet needs come first.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct FlowControl {
    /// K of Early Start, in round-trip times; 0 turns Early Start off.
    pub early_start: f64,
    /// X of Suppressed Probing, in round-trip times; 0 turns Suppressed Probing off.
    pub probe_spacing: f64,
    /// Which flow is more critical.
    pub comparator: Comparator,
    /// After a switch has accepted a flow, it accepts no other paused flow for this many round-trip
    /// times.
    pub dampening: f64,
    /// M: a switch remembers at most this many flows of a link.
    pub most_flows: usize,
    /// r_PDQ as a share of the link's rate.
    pub link_share: f64,
}

impl FlowControl {
    /// r_PDQ of a link with this rate.
    pub fn share_of(&self, rate: Rate) -> Rate {
        Rate::from_bps((rate.as_bps() as f64 * self.link_share) as u64)
    }
}

/// What identifies a flow at switches: its number, and the number of one of its paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name {
    /// The flow.
    pub flow: u32,
    /// The path.
    pub path: u32,
}

/// The flow controller of one egress port. The fields that every packet needs come first.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct FlowController {
    me: Pauser,
    /// The last paused flow that was accepted, and until when no other paused flow is accepted.
    accepted: Option<(Name, Time)>,
    list: FlowList,
    settings: FlowControl,
    /// The most flows that it has remembered at once.
    most_remembered: usize,
}

/// The present state of a link, apart from the flows in its list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkState {
    /// C: what all flows may send together.
    pub capacity: Rate,
    /// The mean round-trip time of the flows.
    pub mean_rtt: Time,
}

/// The decision of a flow controller for a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The flow's rate and its pauser are in the header.
    ForTheFlow,
    /// There is no decision yet, because there is no room to remember the flow. The flow is one of
    /// the rest, which share what the remembered flows leave.
    WithTheRest,
}

impl FlowController {
    /// The flow controller of the egress port that `me` stands for.
    pub fn new(settings: FlowControl, me: Pauser) -> FlowController {
        let list = FlowList::new(settings.comparator);
        FlowController { me, accepted: None, list, settings, most_remembered: 0 }
    }

    /// The pauser that stands for this port.
    pub fn me(&self) -> Pauser {
        self.me
    }

    /// The most flows that it has remembered at once.
    pub fn most_remembered(&self) -> usize {
        self.most_remembered
    }

    /// The flows that it remembers.
    pub fn list(&self) -> &FlowList {
        &self.list
    }

    /// Handles a packet of the flow on its way to the receiver (Algorithm 1).
    pub fn on_data(
        &mut self,
        now: Time,
        name: Name,
        header: &mut PdqHeader,
        link: LinkState,
    ) -> Decision {
        if header.paused_by.is_some_and(|pauser| pauser != self.me) {
            self.pass_by(name, header, link.capacity);
            return Decision::ForTheFlow;
        }
        let Some(place) = self.find_or_add(now, name, header) else {
            if self.list.entries().len() < self.settings.most_flows {
                // There is memory for the flow but no need for it, because the flows in the list
                // fill the link.
                header.paused_by = Some(self.me);
                return Decision::ForTheFlow;
            }
            return Decision::WithTheRest;
        };
        let rate = self.available(place, link.capacity).min(header.rate);
        if rate > Rate::from_bps(0) && !self.is_dampened(now, name, place) {
            self.accept(now, name, place, link.mean_rtt);
            // Algorithm 1 keeps R_i at zero until the ACK is back. All flows that are accepted in
            // the meantime would get the same rate again.
            self.list.entry(place).rate = rate;
            header.paused_by = None;
            header.rate = rate;
        } else {
            header.paused_by = Some(self.me);
            let entry = self.list.entry(place);
            entry.paused_by = Some(self.me);
            entry.rate = Rate::from_bps(0);
        }
        Decision::ForTheFlow
    }

    /// Forgets a flow that another switch has paused, and lowers the rate in its header to what
    /// this switch would have for it: "a flow is accepted if all switches along the path accept it"
    /// (3.3.2), and now the other switch decides alone. Algorithm 1 leaves the header as it is, so
    /// that the flow might send for a round-trip time before this switch is asked.
    fn pass_by(&mut self, name: Name, header: &mut PdqHeader, capacity: Rate) {
        self.list.remove(name.flow, name.path);
        let place = self.list.rank(&criticality(name.flow, header));
        header.rate = header.rate.min(self.available(place, capacity));
    }

    /// Updates the flow's entry from its header, or adds one. Returns its place, or `None` if it is
    /// not among the most critical flows.
    fn find_or_add(&mut self, now: Time, name: Name, header: &PdqHeader) -> Option<usize> {
        if let Some(place) = self.list.place(name.flow, name.path) {
            return Some(self.list.update(place, header, now));
        }
        let most = self.most_flows();
        self.list.truncate(most);
        let is_full = self.list.entries().len() == most;
        if is_full && !self.list.outranks_last(&criticality(name.flow, header)) {
            return None;
        }
        let place = self.list.add(name.flow, header, name.path, self.me, now);
        self.list.truncate(most);
        self.most_remembered = self.most_remembered.max(self.list.entries().len());
        Some(place)
    }

    /// The most flows to remember: "PDQ switches only store the most critical 2 kappa flows, where
    /// kappa is the number of sending flows" (3.3.1; Algorithm 1 says kappa). The number is two while
    /// no flow sends, and never more than M.
    fn most_flows(&self) -> usize {
        let sending = self.list.sending().max(1);
        (2 * sending).min(self.settings.most_flows)
    }

    /// Returns what the flows before this place leave of the link (Algorithm 2). The nearly
    /// completed ones among them do not count as long as they take no longer than K together: "the
    /// aggregated flow transmission time ... is no larger than K". (In Algorithm 2 as it is
    /// printed, the last of them may exceed K.)
    fn available(&self, place: usize, capacity: Rate) -> Rate {
        let early_start = self.settings.early_start;
        let (mut nearly_completed, mut taken) = (0.0, 0_u64);
        for entry in &self.list.entries()[..place] {
            let with_it = nearly_completed + entry.round_trips;
            if entry.round_trips < early_start && with_it <= early_start {
                nearly_completed = with_it;
            } else {
                taken = taken.saturating_add(entry.rate.as_bps());
            }
            if taken >= capacity.as_bps() {
                return Rate::from_bps(0);
            }
        }
        Rate::from_bps(capacity.as_bps() - taken)
    }

    /// "After a switch has accepted a flow, it can only accept other paused flows after a given
    /// small period of time" (Dampening).
    fn is_dampened(&mut self, now: Time, name: Name, place: usize) -> bool {
        let is_held = self.accepted.is_some_and(|(last, until)| last != name && now < until);
        is_held && self.list.entry(place).waits()
    }

    fn accept(&mut self, now: Time, name: Name, place: usize, rtt: Time) {
        let is_another = self.accepted.is_none_or(|(last, _)| last != name);
        if is_another && self.list.entry(place).waits() {
            let period = Time::from_ps((rtt.as_ps() as f64 * self.settings.dampening) as u64);
            self.accepted = Some((name, now + period));
        }
    }

    /// Handles an ACK of the flow on its way back (Algorithm 3).
    pub fn on_ack(&mut self, name: Name, header: &mut PdqHeader) {
        let is_of_another = header.paused_by.is_some_and(|pauser| pauser != self.me);
        if is_of_another {
            self.list.remove(name.flow, name.path);
            // The flow was not accepted after all, so it dampens no other.
            self.accepted = self.accepted.filter(|(last, _)| *last != name);
        }
        if header.paused_by.is_some() {
            header.rate = Rate::from_bps(0);
        }
        let place = if is_of_another { None } else { self.list.place(name.flow, name.path) };
        if let Some(place) = place
            && header.paused_by.is_none()
        {
            let entry = self.list.entry(place);
            // What this switch last told the flow on the way to the receiver is newer than an ACK,
            // which answers a packet of half a round-trip time ago. A flow that was accepted then
            // and has been paused since stays paused. A flow that was paused then and has been
            // accepted since stays accepted.
            if entry.rate > Rate::from_bps(0) {
                entry.paused_by = None;
                entry.rate = header.rate;
            }
        }
        // A flow that this switch has paused and does not remember comes after all that it
        // remembers. Without this, most paused flows would probe every round-trip time.
        let is_mine = header.paused_by == Some(self.me);
        let index = place.or_else(|| is_mine.then(|| self.list.entries().len()));
        if let Some(index) = index {
            let interval = self.settings.probe_spacing * (index + 1) as f64;
            header.probe_interval = header.probe_interval.max(interval as f32);
        }
    }

    /// The flow has ended or was given up (TERM).
    pub fn on_term(&mut self, name: Name) {
        self.list.remove(name.flow, name.path);
    }

    /// Forgets flows that must have ended, because their hosts have been silent for several of the
    /// intervals at which they would probe. Without this, a lost TERM would block the link for
    /// ever.
    pub fn forget_silent(&mut self, now: Time, mean_rtt: Time) {
        let spacing = self.settings.probe_spacing;
        self.list.forget_silent(now, |place, entry| {
            let interval = f64::max(1.0, spacing * (place + 1) as f64);
            let rtt = entry.rtt.max(mean_rtt);
            Time::from_ps((rtt.as_ps() as f64 * interval * SILENT_INTERVALS) as u64)
        });
    }

    /// What the flows in the list leave of `capacity`.
    pub fn left_over(&self, capacity: Rate) -> Rate {
        self.available(self.list.entries().len(), capacity)
    }
}

/// A flow is forgotten after this many of the intervals at which it would send at least a probe.
/// Three lost probes in a row are rare, and the flow comes back with the next one.
const SILENT_INTERVALS: f64 = 4.0;

#[cfg(test)]
mod tests;
