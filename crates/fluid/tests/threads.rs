//! Results do not depend on the number of threads.

mod common;

use std::num::NonZeroUsize;
use std::ops::ControlFlow;

use common::{fat_tree, flows, permutation, scheme};
use flowsched_fluid::{Job, Outcome, PortSample, Progress, Watch, run_watched};
use flowsched_schemes::flow_level::{FlowLevel, Sharing};
use flowsched_schemes::world::Threads;
use flowsched_units::Time;
use flowsched_workload::Flow;
use flowsched_workload::sizes::by_name;

fn run_on(count: usize, flows: &[Flow], scheme: &FlowLevel) -> Outcome {
    let network = &fat_tree();
    let (seed, sample_interval, until) = (1, Time::from_ms(1), None);
    let job = Job { network, flows, scheme, seed, sample_interval, until };
    let mut ports = Vec::new();
    let mut samples = |of_ports: &[PortSample]| {
        ports.extend_from_slice(of_ports);
        ControlFlow::Continue(())
    };
    let count = NonZeroUsize::new(count).unwrap();
    let threads = Threads { count, at_end: &|| () };
    let progress = &Progress::default();
    let mut watch = Watch { threads, progress, samples: &mut samples, probing: None };
    let outcome = run_watched(&job, &mut watch);
    Outcome { ports, ..outcome }
}

fn assert_equal_on_threads(flows: &[Flow], scheme: &FlowLevel) {
    let alone = run_on(1, flows, scheme);
    assert!(alone.flows.iter().all(|flow| flow.finished_at_sender.is_some()));
    for count in [2, 3] {
        assert!(run_on(count, flows, scheme) == alone, "{count} threads: {scheme:?}");
    }
}

#[test]
fn results_are_the_same_for_any_number_of_threads() {
    let network = fat_tree();
    for seed in 0..4 {
        let sizes = by_name("web-search-packets").unwrap();
        let flows = flows(&network, ("all-to-all", 0.8), &sizes, 2_000, seed);
        assert_equal_on_threads(&flows, &scheme(Sharing::MaxMin));
        assert_equal_on_threads(
            &flows,
            &FlowLevel { round_trips_before: 1, ..scheme(Sharing::MaxMin) },
        );
    }
}

#[test]
fn many_flows_may_start_at_once_on_any_number_of_threads() {
    let flows = permutation(&fat_tree(), 16, "web-search-packets", 1);
    assert_equal_on_threads(&flows, &scheme(Sharing::MaxMin));
    assert_equal_on_threads(&flows, &FlowLevel { subflows: Some(4), ..scheme(Sharing::MaxMin) });
}
