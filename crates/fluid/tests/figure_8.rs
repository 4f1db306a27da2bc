//! Compares the fluid engine with the packet engine on scenes of PDQ 2012, Figures 8b to 8d
//! (`experiments/pdq-fig8b.toml` and so on). The mean flow completion time is the same within a
//! tenth.

mod common;

use common::{LINKS, fat_tree, network, permutation};
use flowsched_schemes::Scheme;
use flowsched_schemes::combination::Combination;
use flowsched_schemes::flow_level::FlowLevel;
use flowsched_sim::Progress;
use flowsched_topology::{Network, Routing};
use flowsched_units::Time;

const SEEDS: u64 = 5;

/// The mean over all flows, in seconds.
fn mean(ends: impl ExactSizeIterator<Item = Option<Time>>) -> f64 {
    let count = ends.len() as f64;
    ends.map(|end| end.unwrap().as_secs_f64()).sum::<f64>() / count
}

/// A BCube of 16 servers with two ports each.
fn bcube() -> Network {
    network("bcube", &[LINKS.as_slice(), &[("n", "4"), ("k", "1")]].concat())
}

/// A Jellyfish of switches with 24 ports, 16 of them for other switches.
fn jellyfish() -> Network {
    let switches = [("switches", "20"), ("ports", "24"), ("degree", "16")];
    network("jellyfish", &[LINKS.as_slice(), &switches].concat())
}

/// Prints the mean over the seeds in both engines, and checks that it is the same within a tenth.
fn check(network: &Network, preset: &str, count: u64, sizes: &str) {
    let settings = Combination::new(preset, [None; 4]).unwrap().defaults("none");
    let level = &FlowLevel::from_settings(&settings).unwrap();
    let scheme = &Scheme::from_settings(&settings).unwrap();
    let (mut by_packets, mut by_flows) = (0.0, 0.0);
    for seed in 1..=SEEDS {
        let flows = &permutation(network, count, sizes, seed);
        let (routing, sample_interval, until) = (Routing::Ecmp, Time::ZERO, None);
        let job = flowsched_sim::Job { network, routing, flows, seed, sample_interval, until };
        let outcome = flowsched_sim::run(&job, scheme, &Progress::default());
        by_packets += mean(outcome.flows.iter().map(|flow| flow.finished_at_sender));
        let scheme = level;
        let job = flowsched_fluid::Job { network, flows, scheme, seed, sample_interval, until };
        let outcome = flowsched_fluid::run(&job, &Progress::default());
        by_flows += mean(outcome.flows.iter().map(|flow| flow.finished_at_sender));
    }
    let milliseconds = |sum: f64| sum / SEEDS as f64 * 1e3;
    let difference = by_flows / by_packets - 1.0;
    let scene = format!("{preset}, {count} flows, {sizes}");
    let [packets, fluid] = [by_packets, by_flows].map(milliseconds);
    println!("{scene}: {packets:.2} ms / {fluid:.2} ms, {:+.1}%", 100.0 * difference);
    assert!(difference.abs() < 0.1, "{scene}: {packets} ms by packets, {fluid} ms by flows");
}

const SMALL: &str = "uniform 2KB 198KB";
const LARGE: &str = "uniform 20KB 1980KB";

#[test]
fn rcp_with_few_flows_a_host() {
    check(&fat_tree(), "rcp", 16, SMALL);
    check(&fat_tree(), "rcp", 32, SMALL);
    check(&fat_tree(), "rcp", 16, LARGE);
}

#[test]
fn rcp_with_ten_large_flows_a_host() {
    check(&fat_tree(), "rcp", 160, LARGE);
    check(&bcube(), "rcp", 160, LARGE);
}

#[test]
fn pdq_with_few_flows_a_host() {
    check(&fat_tree(), "pdq", 16, SMALL);
    check(&fat_tree(), "pdq", 32, SMALL);
    check(&fat_tree(), "pdq", 16, LARGE);
}

#[test]
fn pdq_with_ten_flows_a_host() {
    for sizes in [SMALL, LARGE] {
        check(&fat_tree(), "pdq", 160, sizes);
        check(&bcube(), "pdq", 160, sizes);
    }
}

/// RCP and PDQ have a test of their own here, because Jellyfish's switches take longer to simulate.
#[test]
fn both_on_jellyfish() {
    check(&jellyfish(), "rcp", 1600, LARGE);
    check(&jellyfish(), "pdq", 1600, SMALL);
}

/// The engines also agree on PDQ without Early Start, and on PDQ with Early Start alone.
#[test]
fn pdq_with_less_than_all_of_it() {
    for preset in ["pdq-basic", "pdq-es"] {
        check(&bcube(), preset, 160, LARGE);
    }
}
