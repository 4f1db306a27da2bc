//! Many flows between a few hosts. The work grows with their number, not with its square, and a run
//! notices a stop however long a step takes.

use std::sync::atomic::Ordering;

use crate::common::{network, scheme};
use flowsched_sim::{Job, Outcome, Progress};
use flowsched_topology::{HostId, Routing};
use flowsched_units::{Bytes, Time};
use flowsched_workload::Flow;

const COUNT: u32 = 50_000;

fn outcome(changes: &[(&str, &str)], flows: &[Flow], progress: &Progress) -> Outcome {
    let job = Job {
        network: &network("star", &[("hosts", "16")]),
        routing: Routing::Ecmp,
        flows,
        seed: 1,
        sample_interval: Time::ZERO,
        until: None,
    };
    flowsched_sim::run(&job, &scheme("tcp", "none", changes), progress)
}

fn flow(id: u32) -> Flow {
    let (src, dst, size) = (HostId(1), HostId(0), Bytes::new(100));
    Flow::new(id, src, dst, size, Time::ZERO)
}

#[test]
fn flows_of_one_pair_may_all_start_at_once() {
    let flows: Vec<Flow> = (0..COUNT).map(flow).collect();
    let outcome = outcome(&[], &flows, &Progress::default());
    assert!(outcome.flows.iter().all(|flow| flow.finished_at_sender.is_some()));
    let connections = outcome.flows.iter().map(|flow| flow.connection);
    assert!(connections.eq(0..COUNT), "each has a connection of its own");
}

#[test]
fn a_stop_is_seen_in_the_first_window() {
    let progress = Progress::default();
    progress.stop.store(true, Ordering::Relaxed);
    let flows: Vec<Flow> = (0..100).map(flow).collect();
    let outcome = outcome(&[], &flows, &progress);
    assert!(outcome.stopped);
    assert_eq!(outcome.packet_hops, 0);
}

#[test]
fn a_stop_is_seen_after_few_steps_where_ports_share_memory() {
    let progress = Progress::default();
    progress.stop.store(true, Ordering::Relaxed);
    let flows: Vec<Flow> = (0..1_000).map(flow).collect();
    let outcome = outcome(&[("buffer_sharing", "switch")], &flows, &progress);
    assert!(outcome.stopped);
    assert!(outcome.events <= 256, "{}", outcome.events);
}
