//! What an engine gives, as the record that results are made of.

use flowsched_experiment::Scene;
use flowsched_experiment::results::{
    Counters, FlowRow, OfferedLoad, Passage, Port, PortSample, RunRecord, Schedule,
};
use flowsched_fluid::Worth;
use flowsched_topology::{Network, NodeId};
use flowsched_units::Time;
use flowsched_workload::parameters::LOAD_OF;
use flowsched_workload::{Flow, Workload};

use crate::cost::Cost;

/// What an engine gives, whichever it is.
pub struct Ran {
    stopped: bool,
    schedule: Option<Schedule>,
    counters: Counters,
    flows: Vec<Ended>,
    end: Time,
}

/// What became of a flow.
struct Ended {
    at_sender: Option<Time>,
    at_receiver: Option<Time>,
    gave_up: bool,
    retransmissions: u64,
    timeouts: u64,
    passage: Passage,
}

impl From<flowsched_sim::Outcome> for Ran {
    fn from(outcome: flowsched_sim::Outcome) -> Ran {
        let ended = |flow: flowsched_sim::FlowOutcome| Ended {
            at_sender: flow.finished_at_sender,
            at_receiver: flow.finished_at_receiver,
            gave_up: flow.gave_up.is_some(),
            retransmissions: u64::from(flow.retransmissions),
            timeouts: u64::from(flow.timeouts),
            passage: passage(&flow.passage),
        };
        Ran {
            stopped: outcome.stopped,
            schedule: None,
            counters: Counters {
                packet_hops: outcome.packet_hops,
                events: outcome.events,
                drops: outcome.drops,
                ecn_marks: outcome.ecn_marks,
                timeouts: outcome.timeouts,
                retransmissions: outcome.retransmissions,
                ..Counters::default()
            },
            flows: outcome.flows.into_iter().map(ended).collect(),
            end: outcome.end,
        }
    }
}

/// What is about packets is zero: fluids have none.
impl From<flowsched_fluid::Outcome> for Ran {
    fn from(outcome: flowsched_fluid::Outcome) -> Ran {
        let ended = |flow: flowsched_fluid::FlowOutcome| Ended {
            at_sender: flow.finished_at_sender,
            at_receiver: flow.finished_at_receiver,
            gave_up: flow.gave_up,
            retransmissions: 0,
            timeouts: 0,
            passage: Passage::default(),
        };
        Ran {
            stopped: outcome.stopped,
            schedule: outcome.worth.map(|worth| match worth {
                Worth::LeastMeanFct => Schedule::LeastMeanFct,
                Worth::MostDeadlinesMet => Schedule::MostDeadlinesMet,
                Worth::Heuristic => Schedule::Heuristic,
            }),
            counters: Counters { events: outcome.events, ..Counters::default() },
            flows: outcome.flows.into_iter().map(ended).collect(),
            end: outcome.end,
        }
    }
}

/// A sample of a port, from packets.
pub fn packet_sample(sample: &flowsched_sim::PortSample) -> PortSample {
    PortSample {
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

/// A sample of a port, from fluids.
pub fn fluid_sample(sample: &flowsched_fluid::PortSample) -> PortSample {
    PortSample {
        time: sample.time,
        port: sample.port,
        tx_bytes: sample.sent_bytes,
        ..PortSample::default()
    }
}

/// The record of a run of `scene` under `scheme`.
pub fn record(
    scene: &Scene,
    scheme: &str,
    seed: u64,
    network: &Network,
    workload: Workload,
    ran: Ran,
    cost: Cost,
) -> RunRecord {
    let load = load(scene, network, &workload);
    RunRecord {
        point: scene.point.clone(),
        scheme: scheme.to_owned(),
        seed,
        stopped: ran.stopped,
        schedule: ran.schedule,
        load,
        counters: Counters {
            cpu_s: cost.cpu_s,
            wall_s: cost.wall_s,
            peak_rss_bytes: cost.peak_rss_bytes,
            ..ran.counters
        },
        flows: workload
            .flows
            .iter()
            .zip(ran.flows)
            .map(|(flow, ended)| flow_row(network, flow, ended))
            .collect(),
        parts: workload.parts,
        end: ran.end,
        hosts: network.hosts().map(|host| network.name(host.node())).collect(),
    }
}

/// The load of the flows, and the ports that it refers to.
pub fn load(scene: &Scene, network: &Network, workload: &Workload) -> OfferedLoad {
    let of_core = scene.workload.settings.is(&LOAD_OF, "core");
    OfferedLoad::of(workload, network, of_core)
}

fn flow_row(network: &Network, flow: &Flow, ended: Ended) -> FlowRow {
    let since_start = |time: Option<Time>| time.map(|time| time.saturating_sub(flow.start));
    FlowRow {
        flow: u64::from(flow.id),
        src: flow.src.0,
        dst: flow.dst.0,
        size: flow.size,
        start: flow.start,
        fct: since_start(ended.at_sender),
        receiver_fct: since_start(ended.at_receiver),
        gave_up: ended.gave_up,
        ideal_fct: network.ideal_fct(flow.src, flow.dst, flow.size),
        deadline: since_start(flow.deadline),
        retransmissions: ended.retransmissions,
        timeouts: ended.timeouts,
        passage: ended.passage,
        measured: flow.measured,
    }
}

fn passage(passage: &flowsched_sim::Passage) -> Passage {
    Passage {
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
pub fn ports(network: &Network) -> Vec<Port> {
    let port = |port: &flowsched_topology::Port| Port {
        owner: network.name(port.owner),
        peer: network.name(port.peer),
        class: format!("{} to {}", rank(network, port.owner), rank(network, port.peer)),
        rate: port.rate,
    };
    network.ports().iter().map(port).collect()
}

/// What nodes like this one are called.
fn rank(network: &Network, node: NodeId) -> &'static str {
    let tier = network.tiers().iter().find(|tier| tier.nodes.contains(&node.0));
    tier.map_or("host", |tier| tier.name)
}
