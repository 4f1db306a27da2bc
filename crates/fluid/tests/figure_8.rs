//! Flows as fluids against flows of packets, on scenes of PDQ 2012, Figures 8a to 8c
//! (`experiments/pdq-fig8b.toml`): the mean flow completion time is the same within a tenth.

mod common;

use std::sync::atomic::{AtomicBool, AtomicU64};

use common::network;
use flowsched_fluid::Watch;
use flowsched_schemes::Scheme;
use flowsched_schemes::flow_level::FlowLevel;
use flowsched_schemes::preset::Combination;
use flowsched_sim::Progress;
use flowsched_topology::{Network, Routing};
use flowsched_units::{Settings, Time, Value};
use flowsched_workload::{Flow, PARAMETERS, generate, sizes::by_name};

const SEEDS: u64 = 5;

/// A random permutation of so many flows that start at once.
fn flows(network: &Network, count: u64, sizes: &str, seed: u64) -> Vec<Flow> {
    let mut settings = Settings::defaults(PARAMETERS);
    settings.set("pattern", Value::Text("permutation".into()));
    settings.set("senders", Value::Text("in-turn".into()));
    settings.set("at", Value::Time(Time::ZERO));
    settings.set("flows", Value::Count(count));
    generate(&settings, network, &by_name(sizes).unwrap(), seed).unwrap().flows
}

/// The mean over all flows, in seconds.
fn mean(ends: impl ExactSizeIterator<Item = Option<Time>>) -> f64 {
    let count = ends.len() as f64;
    ends.map(|end| end.unwrap().as_secs_f64()).sum::<f64>() / count
}

/// The mean over the seeds by packets, and by how much it is longer than that by flows.
fn check(preset: &str, count: u64, sizes: &str) {
    let network = &network("fat-tree", &[("k", "4"), ("link", "1Gbps"), ("link_delay", "25.1us")]);
    let settings = Combination::new(preset, [None; 4]).unwrap().defaults("none");
    let level = &FlowLevel::from_settings(&settings).unwrap();
    let scheme = &Scheme::from_settings(&settings).unwrap();
    let (mut by_packets, mut by_flows) = (0.0, 0.0);
    for seed in 1..=SEEDS {
        let flows = &flows(network, count, sizes, seed);
        let (routing, sample_interval, until) = (Routing::Ecmp, Time::ZERO, None);
        let job =
            flowsched_sim::Job { network, routing, flows, scheme, seed, sample_interval, until };
        let outcome = flowsched_sim::run(&job, &Progress::default());
        by_packets += mean(outcome.flows.iter().map(|flow| flow.finished_at_sender));
        let scheme = level;
        let job = flowsched_fluid::Job { network, flows, scheme, seed, sample_interval, until };
        let (finished_flows, stop) = (&AtomicU64::new(0), &AtomicBool::new(false));
        let outcome = flowsched_fluid::run(&job, Watch { finished_flows, stop });
        by_flows += mean(outcome.flows.iter().map(|flow| flow.finished_at_sender));
    }
    let milliseconds = |sum: f64| sum / SEEDS as f64 * 1e3;
    let difference = by_flows / by_packets - 1.0;
    let scene = format!("{preset}, {count} flows, {sizes}");
    let [packets, fluid] = [by_packets, by_flows].map(milliseconds);
    println!("{scene}: {packets:.2} ms / {fluid:.2} ms, {:+.1}%", 100.0 * difference);
    assert!(difference.abs() < 0.1, "{scene}: {packets} ms by packets, {fluid} ms by flows");
}

#[test]
fn rcp_with_one_flow_a_host() {
    check("rcp", 16, "uniform 2KB 198KB");
    check("rcp", 16, "uniform 20KB 1980KB");
}

#[test]
fn rcp_with_two_flows_a_host() {
    check("rcp", 32, "uniform 2KB 198KB");
}

#[test]
fn rcp_with_ten_large_flows_a_host() {
    check("rcp", 160, "uniform 20KB 1980KB");
}

#[test]
fn pdq_with_one_flow_a_host() {
    check("pdq", 16, "uniform 2KB 198KB");
    check("pdq", 16, "uniform 20KB 1980KB");
}
