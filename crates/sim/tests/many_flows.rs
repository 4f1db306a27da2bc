//! Many flows between a few hosts: the work grows with their number, not with its square.

mod common;

use common::{network, scheme};
use flowsched_sim::{Job, Outcome, Progress};
use flowsched_topology::{HostId, Routing};
use flowsched_units::{Bytes, Time};
use flowsched_workload::Flow;

const COUNT: u32 = 50_000;

fn outcome(preset: &str, flows: &[Flow]) -> Outcome {
    let job = Job {
        network: &network("star", &[("hosts", "16")]),
        routing: Routing::Ecmp,
        flows,
        scheme: &scheme(preset, "none", &[]),
        seed: 1,
        sample_interval: Time::ZERO,
        until: None,
    };
    flowsched_sim::run(&job, &Progress::default())
}

fn flow(id: u32) -> Flow {
    let (src, dst, size) = (HostId(1), HostId(0), Bytes::new(100));
    Flow { id, src, dst, size, start: Time::ZERO, deadline: None, measured: true }
}

#[test]
fn flows_of_one_pair_may_all_start_at_once() {
    let flows: Vec<Flow> = (0..COUNT).map(flow).collect();
    let outcome = outcome("tcp", &flows);
    assert!(outcome.flows.iter().all(|flow| flow.finished_at_sender.is_some()));
    let connections = outcome.flows.iter().map(|flow| flow.connection);
    assert!(connections.eq(0..COUNT), "each has a connection of its own");
}
