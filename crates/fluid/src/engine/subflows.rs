//! Flows that are split into subflows, which start, send and end together.
//!
//! A subflow announces itself, competes and hears of its rate as a flow of its own. All subflows of a flow draw
//! from the flow's remaining bytes, which the flow's own slot counts, until these are sent.

use flowsched_units::{PACKET_PAYLOAD, Time};
use flowsched_workload::Flow;

use super::{Engine, Phase};
use crate::latency::{Latency, wire_bits};
use crate::sharing::{Allocator, Moment};
use crate::transfers::Transfer;

impl<S: Allocator> Engine<'_, S> {
    /// The number of subflows that the flow is split into, each of at least one packet.
    pub(super) fn subflows_of(&self, flow: &Flow) -> u32 {
        let packets = flow.size.get().div_ceil(PACKET_PAYLOAD);
        let most = u64::from(self.job.scheme.subflows.unwrap_or(1));
        packets.clamp(1, most) as u32
    }

    /// The flow starts with `count` subflows.
    pub(super) fn split(&mut self, flow: &Flow, count: u32, now: Time) {
        let scheme = self.job.scheme;
        let size = wire_bits(flow.size, scheme.header);
        let whole = self.transfers.insert(Transfer::new(flow.id, size, flow.deadline, 0.0));
        self.paths.set(whole, &[]);
        self.side_traffic.start(whole, &[], &[], 0.0, 0.0);
        self.set_phase(whole, Phase::IsSplit);
        for number in 0..count {
            let peak = self.find_path(flow, number);
            let latency = Latency::of_flow(flow, &self.path, count, self.job.network, scheme);
            let slot = self.transfers.split_off(whole, peak);
            self.enter(slot, flow, latency);
            self.announce(slot, now);
        }
    }

    /// When the last bit of the flow in `slot`, which is sent now, has arrived, and when its sender has the
    /// acknowledgement. Each time is the latest of those over the paths that the flow sends over.
    pub(super) fn arrival(&self, slot: u32, now: Time) -> (Time, Time) {
        let of_part = |part: u32| {
            let latency = self.latencies[part as usize];
            let received = now.saturating_add(latency.last_packet);
            (received, received.saturating_add(latency.acknowledgement))
        };
        let subflows = || self.transfers.subflows(slot).iter().copied();
        let sends = |part: &u32| self.transfers.get(*part).is_some_and(|part| part.rate() > 0.0);
        let last =
            |one: (Time, Time), other: (Time, Time)| (one.0.max(other.0), one.1.max(other.1));
        let of_senders = subflows().filter(sends).map(of_part).reduce(last);
        // Rounding may leave no subflow that sends the last bits.
        of_senders.or_else(|| subflows().map(of_part).reduce(last)).unwrap_or_else(|| of_part(slot))
    }

    /// If a subflow is in `slot`, notes what its new rate changes: the rate of its flow, the turning points of the
    /// flow's other subflows, and those of the flows that may pass them.
    pub(super) fn note_flow_of(&mut self, slot: u32) {
        let Engine { transfers, sharing, phases, changed, .. } = self;
        let Some(flow) = transfers.split_flow(slot) else { return };
        changed.note(flow);
        let compete = |part: &u32| *part != slot && phases[*part as usize] == Phase::Sends;
        for part in transfers.subflows(flow).iter().copied().filter(compete) {
            changed.note(part);
            sharing.behind(part, |other| changed.note(other));
        }
    }

    /// The flow in the slot `flow` sends no more. `after` gives the time until other flows have the share of a
    /// subflow. A subflow without a share leaves at once.
    pub(super) fn end_subflows(
        &mut self,
        flow: u32,
        now: Time,
        after: impl Fn(&Self, u32) -> Time,
    ) {
        self.phases[flow as usize] = Phase::Leaves;
        let parts = self.transfers.subflows(flow).to_vec();
        let after: Vec<Time> = parts.iter().map(|part| after(self, *part)).collect();
        if let Some(transfer) = self.transfers.get_mut(flow) {
            transfer.stop(now);
        }
        for (part, after) in parts.into_iter().zip(after) {
            let competes = self.phases[part as usize] == Phase::Sends;
            if competes && self.sharing.rate(part) > 0.0 {
                self.stop(part, now, after);
            } else {
                self.withdraw(part, competes, now);
            }
        }
    }

    /// Removes a subflow that has no share.
    fn withdraw(&mut self, slot: u32, competes: bool, now: Time) {
        self.agenda.set(slot, Time::MAX);
        self.fall_silent(slot, now);
        if competes {
            let moment = Moment { now, transfers: &self.transfers };
            self.sharing.end(slot, moment);
        }
        self.remove(slot, now);
    }
}
