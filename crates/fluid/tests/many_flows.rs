//! Many flows over one link. The work grows with their number, not with its square, where a
//! discipline allows this. A stop is seen however long an instant takes.

mod common;

use std::sync::atomic::AtomicBool;

use common::{all_disciplines, flow, network, run, scheme};
use flowsched_fluid::{Job, Progress};
use flowsched_schemes::flow_level::Sharing;
use flowsched_topology::HostId;
use flowsched_units::{Bytes, Time};
use flowsched_workload::Flow;

const COUNT: u32 = 20_000;

#[test]
fn flows_of_one_pair_may_all_start_at_once() {
    let network = network("star", &[("hosts", "4")]);
    let flow = |id| {
        let (src, dst, size) = (HostId(1), HostId(0), Bytes::new(1_000));
        Flow::new(id, src, dst, size, Time::ZERO)
    };
    let flows: Vec<Flow> = (0..COUNT).map(flow).collect();
    // D3's flows all ask again when one ends.
    for scheme in all_disciplines().iter().filter(|scheme| scheme.sharing != Sharing::Reservations)
    {
        let outcome = run(&network, &flows, scheme);
        assert!(outcome.flows.iter().all(|flow| flow.finished_at_sender.is_some()), "{scheme:?}");
    }
}

#[test]
fn a_stop_is_seen_before_the_next_instant() {
    let network = network("star", &[("hosts", "4")]);
    let flows: Vec<Flow> = (0..3).map(|id| flow(id, 1, 0, 10, Time::from_us(10))).collect();
    let scheme = &scheme(Sharing::MaxMin);
    let (seed, sample_interval, until) = (1, Time::ZERO, None);
    let job = Job { network: &network, flows: &flows, scheme, seed, sample_interval, until };
    let progress = Progress { stop: AtomicBool::new(true), ..Progress::default() };
    let outcome = flowsched_fluid::run(&job, &progress);
    assert!(outcome.stopped);
    assert_eq!(outcome.events, 0);
}
