//! Adds up the results of a run's threads.

use std::ops::ControlFlow;

use flowsched_schemes::transport::Timeouts;
use flowsched_schemes::world::{FlowOutcome, Outcome, Overhead, Passage, PortSample, Watch};
use flowsched_units::Time;

use crate::fabric::Tally;

/// The results for a network, or for a part of one.
#[derive(Debug)]
pub(crate) struct Share {
    /// What the ends in this part know of each flow.
    pub(crate) flows: Vec<FlowOutcome>,
    /// Samples of the ports at the end; empty if a regular sample was taken then.
    pub(crate) samples: Vec<PortSample>,
    pub(crate) tally: Tally,
    /// The number of events of hosts and of samples.
    pub(crate) events: u64,
    pub(crate) overhead: Overhead,
    pub(crate) stopped: bool,
    pub(crate) end: Time,
}

impl Share {
    /// Adds the results for another part.
    pub(crate) fn add(&mut self, other: Share) {
        for (flow, other) in self.flows.iter_mut().zip(&other.flows) {
            add_flow(flow, other);
        }
        add_samples(&mut self.samples, &other.samples);
        self.tally.sent += other.tally.sent;
        self.tally.on_links += other.tally.on_links;
        self.tally.drops += other.tally.drops;
        self.tally.marks += other.tally.marks;
        self.tally.rung += other.tally.rung;
        self.tally.lost.extend(other.tally.lost);
        self.events += other.events;
        self.overhead.probes += other.overhead.probes;
        self.stopped |= other.stopped;
        self.end = self.end.max(other.end);
    }

    /// Makes the outcome of the run. The last samples go to `watch`.
    pub(crate) fn conclude(self, watch: &mut Watch<'_>) -> Outcome {
        let Share { mut flows, samples, tally, events, overhead, stopped, end } = self;
        let handed_on = match samples.is_empty() {
            true => ControlFlow::Continue(()),
            false => (watch.samples)(&samples),
        };
        for flow in tally.lost {
            flows[flow as usize].passage.lost += 1;
        }
        let packet_hops = tally.sent - tally.on_links;
        Outcome {
            packet_hops,
            drops: tally.drops,
            ecn_marks: tally.marks,
            timeouts: flows.iter().map(|flow| u64::from(flow.timeouts.all)).sum(),
            retransmissions: flows.iter().map(|flow| u64::from(flow.retransmissions)).sum(),
            overhead,
            flows,
            events: events + tally.rung + packet_hops,
            stopped: stopped || handed_on.is_break(),
            end,
            ..Outcome::default()
        }
    }
}

/// Adds the other end's results. The sender and the receiver fill different fields.
fn add_flow(flow: &mut FlowOutcome, other: &FlowOutcome) {
    flow.finished_at_sender = flow.finished_at_sender.or(other.finished_at_sender);
    flow.finished_at_receiver = flow.finished_at_receiver.or(other.finished_at_receiver);
    flow.gave_up = flow.gave_up.or(other.gave_up);
    flow.retransmissions += other.retransmissions;
    flow.connection += other.connection;
    if flow.timeouts == Timeouts::default() {
        flow.timeouts = other.timeouts;
    }
    let (of, more) = (&mut flow.passage, &other.passage);
    *of = Passage {
        arrived: of.arrived + more.arrived,
        marked: of.marked + more.marked,
        marked_again: of.marked_again + more.marked_again,
        reordered: of.reordered + more.reordered,
        lost: of.lost + more.lost,
        acks: of.acks + more.acks,
        duplicate_acks: of.duplicate_acks + more.duplicate_acks,
        third_duplicate_acks: of.third_duplicate_acks + more.third_duplicate_acks,
    };
}

/// Adds another part's samples of the same ports at the same time. A port's own part knows its queue; the part
/// at the far end of the link knows the packets on the link.
pub(crate) fn add_samples(samples: &mut [PortSample], others: &[PortSample]) {
    for (sample, other) in samples.iter_mut().zip(others) {
        sample.queue_bytes += other.queue_bytes;
        sample.queue_packets += other.queue_packets;
        sample.sent_bytes += other.sent_bytes;
        sample.sent_packets += other.sent_packets;
        sample.in_flight_bytes += other.in_flight_bytes;
        sample.drops += other.drops;
        sample.marks += other.marks;
    }
}
