//! The decisions that an omniscient scheduler makes before the first flow starts: where the one bottleneck is, if
//! there is one, and which flows are late there (PDQ 2012, 3 and 5.2.1).
//!
//! Everything else is the centralised algorithm of section 3: flows send in order, each as fast as the flows before
//! it allow. On one bottleneck, this is one flow after the other at full rate.
//!
//! The optimum counts payload and propagation only. It has no headers and no store-and-forward
//! delay, and places all flows as near to the bottleneck as the nearest one. It is therefore a
//! bound for every scheme that sends packets: packets pass the bottleneck one after another, and
//! neither reach it nor arrive behind it sooner than in the optimum.

use std::collections::{BTreeSet, BinaryHeap};

use flowsched_schemes::world::Worth;
use flowsched_topology::{Ecmp, Network, PortId};
use flowsched_units::Time;
use flowsched_workload::Flow;

use crate::job::Job;
use crate::latency::{Latency, wire_bits};
use crate::transfers::after;

/// The decisions of an omniscient scheduler.
#[derive(Clone, Debug)]
pub(crate) struct Optimum {
    /// What its schedule is worth.
    pub(crate) worth: Worth,
    bottleneck: Option<Bottleneck>,
    /// Whether each flow has to be late. Known if there is one bottleneck and all flows that have deadlines start
    /// together.
    late: Option<Vec<bool>>,
}

/// A link that all flows have to pass.
#[derive(Clone, Copy, Debug)]
struct Bottleneck {
    port: PortId,
    /// Propagation from the nearest sender to it.
    way_there: Time,
}

impl Optimum {
    pub(crate) fn new(job: &Job<'_>) -> Optimum {
        let mut optimum =
            Optimum { worth: Worth::Heuristic, bottleneck: one_bottleneck(job), late: None };
        let Some(bottleneck) = optimum.bottleneck else { return optimum };
        let mut starts = job.flows.iter().filter(|flow| flow.deadline.is_some()).map(|f| f.start);
        let first = starts.next();
        let start_together = starts.all(|start| Some(start) == first);
        if first.is_some() && start_together {
            optimum.late = Some(optimum.fewest_late(job, bottleneck));
        }
        // A schedule that is best for all flows need not be best for some of them.
        if job.until.is_none() && job.flows.iter().all(|flow| flow.measured) {
            optimum.worth = match first {
                None => Worth::LeastMeanFct,
                Some(_) if start_together => Worth::MostDeadlinesMet,
                Some(_) => Worth::Heuristic,
            };
        }
        optimum
    }

    /// Whether the scheduler has decided which flows are late. Otherwise a flow is given up once it must be late.
    pub(crate) fn settles_who_is_late(&self) -> bool {
        self.late.is_some()
    }

    /// Whether the flow does not start at all, because it would make others late.
    pub(crate) fn gives_up(&self, flow: &Flow) -> bool {
        self.late.as_ref().is_some_and(|late| late[flow.id as usize])
    }

    /// The parts of the flow's time besides its bytes: propagation to the bottleneck, and from there.
    pub(crate) fn latency(&self, path: &[PortId], network: &Network) -> Latency {
        let acknowledgement = propagation(path, network);
        let Some(Bottleneck { port, way_there }) = self.bottleneck else {
            return Latency::known(Time::ZERO, acknowledgement, acknowledgement);
        };
        let place = path.iter().position(|passed| *passed == port).unwrap_or(0);
        let last_packet = propagation(&path[place..], network);
        Latency::known(way_there, last_packet, acknowledgement)
    }

    /// Decides which flows are late, by the algorithm of Moore and Hodgson (1968). It takes flows in the order of
    /// their deadlines. Whenever one would be late, it gives up the longest flow so far ("a dynamic programming
    /// algorithm to discard the minimum number of flows", PDQ 2012, 5.2.1). Times are those that the engine will
    /// find.
    fn fewest_late(&self, job: &Job<'_>, bottleneck: Bottleneck) -> Vec<bool> {
        let ecmp = Ecmp::new(job.seed);
        let mut by_due_time = Vec::new();
        for flow in job.flows {
            let Some(deadline) = flow.deadline else { continue };
            let path: Vec<PortId> = ecmp.path(job.network, flow.id, flow.src, flow.dst).collect();
            by_due_time.push((self.latency(&path, job.network).due_time(deadline), flow));
        }
        by_due_time.sort_by_key(|(due, flow)| (*due, flow.id));
        let rate = job.network.port(bottleneck.port).rate.as_bps() as f64;
        let start = by_due_time.first().map_or(Time::ZERO, |(_, flow)| flow.start);
        let mut now = start.saturating_add(bottleneck.way_there);
        let mut late = vec![false; job.flows.len()];
        let mut kept = BinaryHeap::new();
        for (due, flow) in by_due_time {
            let duration = after(Time::ZERO, wire_bits(flow.size, job.scheme.header), rate);
            now = now.saturating_add(duration);
            kept.push((duration, flow.id));
            if now > due
                && let Some((longest, id)) = kept.pop()
            {
                now = now.saturating_sub(longest);
                late[id as usize] = true;
            }
        }
        late
    }
}

/// The sum of the links' delays.
fn propagation(ports: &[PortId], network: &Network) -> Time {
    let delays = ports.iter().map(|port| network.port(*port).delay);
    delays.fold(Time::ZERO, Time::saturating_add)
}

/// A link that every flow has to pass, whichever of its shortest paths it takes, and that is as slow as any link that
/// flows pass. Whatever the schedule, bytes pass this link one after the other, and nothing else delays them.
fn one_bottleneck(job: &Job<'_>) -> Option<Bottleneck> {
    let Job { network, flows, seed, .. } = *job;
    let ecmp = Ecmp::new(seed);
    let path = |flow: &Flow| ecmp.path(network, flow.id, flow.src, flow.dst);
    // Hosts that forward have other paths than the shortest.
    let mut common: Vec<PortId> = match flows.first() {
        Some(flow) if !network.hosts_forward() => path(flow).collect(),
        _ => return None,
    };
    let rate = |port: &PortId| network.port(*port).rate;
    let mut lowest = common.iter().map(rate).min()?;
    let mut pairs = BTreeSet::new();
    for flow in flows {
        let path: Vec<PortId> = path(flow).collect();
        common.retain(|port| path.contains(port));
        if common.is_empty() {
            return None;
        }
        lowest = path.iter().map(rate).min()?.min(lowest);
        pairs.insert((flow.src, flow.dst));
    }
    let is_passed_by_all = |port: &PortId| {
        let mut paths = pairs.iter().flat_map(|(src, dst)| network.paths(*src, *dst));
        paths.all(|path| path.contains(port))
    };
    let port = common.into_iter().find(|port| rate(port) == lowest && is_passed_by_all(port))?;
    let way_there = |flow: &Flow| {
        let before: Vec<PortId> = path(flow).take_while(|passed| *passed != port).collect();
        propagation(&before, network)
    };
    Some(Bottleneck { port, way_there: flows.iter().map(way_there).min()? })
}

#[cfg(test)]
#[path = "optimum/tests.rs"]
mod tests;
