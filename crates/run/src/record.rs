//! Turns the outcome of an engine into the record that results are made of.

use flowsched_experiment::results::{
    Counters, FlowRow, OfferedLoad, OverheadRecord, PacketCounters, PortRecord, PortRow,
    ProbedFlow, RunRecord, Schedule,
};
use flowsched_experiment::{Run, Scene};
use flowsched_schemes::world::{self, FlowOutcome, FlowState, Outcome, Passage, PortSample, Worth};
use flowsched_topology::{Network, NodeId};
use flowsched_units::{Bytes, PACKET_PAYLOAD, Time};
use flowsched_workload::parameters::LOAD_OF;
use flowsched_workload::{Flow, Workload};

use crate::cost::Cost;

/// Timeouts in a row after which a Linux host ends a connection (`tcp_retries2`).
const RETRIES: u32 = 15;

/// The record of a run of `scene` that gave `outcome`.
pub fn record(
    scene: &Scene,
    run: Run,
    network: &Network,
    workload: Workload,
    outcome: Outcome,
    cost: Cost,
) -> RunRecord {
    let flow_rows = workload.flows.iter().zip(&outcome.flows);
    RunRecord {
        point: scene.point.clone(),
        scheme: scene.schemes[run.scheme].name.clone(),
        seed: run.seed,
        stopped: outcome.stopped,
        schedule: outcome.worth.map(schedule),
        load: load(scene, network, &workload),
        counters: counters(&outcome, cost),
        uncounted: outcome.uncounted,
        flows: flow_rows.map(|(flow, outcome)| flow_row(network, flow, outcome)).collect(),
        parts: workload.parts,
        end: outcome.end,
        hosts: network.hosts().map(|host| network.name(host.node())).collect(),
    }
}

/// The row of a port's sample.
pub fn port_row(sample: &PortSample) -> PortRow {
    PortRow {
        time: sample.time,
        port: sample.port,
        queue_bytes: sample.queue_bytes,
        queue_packets: u64::from(sample.queue_packets),
        tx_bytes: sample.sent_bytes,
        tx_packets: sample.sent_packets,
        drops: sample.drops,
        ecn_marks: sample.marks,
    }
}

/// The row of what a probe saw of a flow.
pub fn probed_flow(state: &FlowState) -> ProbedFlow {
    ProbedFlow {
        time: state.time,
        flow: state.flow.into(),
        window_bytes: state.sender.window.map(|bytes| bytes.get()),
        rate_bps: state.rate,
        alpha: state.sender.alpha,
        priority: state.priority.map(u64::from),
        in_flight_bytes: state.sender.in_flight.map(|bytes| bytes.get()),
    }
}

fn schedule(worth: Worth) -> Schedule {
    match worth {
        Worth::LeastMeanFct => Schedule::LeastMeanFct,
        Worth::MostDeadlinesMet => Schedule::MostDeadlinesMet,
        Worth::Heuristic => Schedule::Heuristic,
    }
}

fn counters(outcome: &Outcome, cost: Cost) -> Counters {
    let timeouts = outcome.flows.iter().map(|flow| flow.timeouts);
    Counters {
        packet_hops: outcome.packet_hops,
        events: outcome.events,
        cpu_s: cost.cpu_s,
        wall_s: cost.wall_s,
        peak_rss_bytes: cost.peak_rss_bytes,
        drops: outcome.drops,
        ecn_marks: outcome.ecn_marks,
        timeouts: outcome.timeouts,
        repeated_timeouts: timeouts.clone().map(|flow| u64::from(flow.repeated)).sum(),
        longest_timeouts: timeouts.clone().map(|flow| flow.longest).max().unwrap_or(0),
        terminations: timeouts.filter(|flow| flow.longest > RETRIES).count() as u64,
        retransmissions: outcome.retransmissions,
        packets: outcome.passage.as_ref().map(packets),
        overhead: overhead(&outcome.overhead),
    }
}

fn overhead(overhead: &world::Overhead) -> OverheadRecord {
    OverheadRecord {
        header_bytes: Some(overhead.header.get()),
        probe_bytes: Some(overhead.probes.get()),
        port_state_bytes: overhead.port_state.map(Bytes::get),
        switch_state_bytes: overhead.switch_state.map(Bytes::get),
    }
}

/// The load of the flows, and the ports that it refers to.
pub fn load(scene: &Scene, network: &Network, workload: &Workload) -> OfferedLoad {
    let of_core = scene.workload.settings.is(&LOAD_OF, "core");
    OfferedLoad::new(workload, network, of_core)
}

fn flow_row(network: &Network, flow: &Flow, outcome: &FlowOutcome) -> FlowRow {
    let since_start = |time: Option<Time>| time.map(|time| time.saturating_sub(flow.start));
    FlowRow {
        flow: u64::from(flow.id),
        src: flow.src.0,
        dst: flow.dst.0,
        size: flow.size,
        start: flow.start,
        fct: since_start(outcome.finished_at_sender),
        receiver_fct: since_start(outcome.finished_at_receiver),
        gave_up: outcome.gave_up.is_some(),
        ideal_fct: ideal_fct(network, flow),
        deadline: since_start(flow.deadline),
        retransmissions: outcome.retransmissions.into(),
        timeouts: outcome.timeouts.all.into(),
        packets: packets(&outcome.passage),
        measured: flow.measured,
    }
}

/// The ideal flow completion time. If an application hands the flow over at a rate, the last packet cannot leave
/// before all is handed over.
fn ideal_fct(network: &Network, flow: &Flow) -> Time {
    let Flow { src, dst, size, application_rate, .. } = *flow;
    let at_once = network.ideal_fct(src, dst, size);
    let Some(rate) = application_rate else { return at_once };
    let last = Bytes::new((size.get() - 1) % PACKET_PAYLOAD + 1);
    let last_packet = network.ideal_fct(src, dst, last);
    at_once.max(rate.transmission_time(size).saturating_add(last_packet))
}

fn packets(passage: &Passage) -> PacketCounters {
    PacketCounters {
        arrived: passage.arrived.into(),
        marked: passage.marked.into(),
        marked_again: passage.marked_again.into(),
        reordered: passage.reordered.into(),
        lost: passage.lost.into(),
        acks: passage.acks.into(),
        duplicate_acks: passage.duplicate_acks.into(),
        third_duplicate_acks: passage.third_duplicate_acks.into(),
    }
}

/// The ports of a network, in their order.
pub fn ports(network: &Network) -> Vec<PortRecord> {
    let port = |port: &flowsched_topology::LinkEnd| PortRecord {
        owner: network.name(port.owner),
        peer: network.name(port.peer),
        class: format!("{} to {}", rank(network, port.owner), rank(network, port.peer)),
        rate: port.rate,
    };
    network.ports().iter().map(port).collect()
}

/// The name of the node's tier, or `host`.
fn rank(network: &Network, node: NodeId) -> &'static str {
    let tier = network.tiers().iter().find(|tier| tier.nodes.contains(&node.0));
    tier.map_or("host", |tier| tier.name)
}
