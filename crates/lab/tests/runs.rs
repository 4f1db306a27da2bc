//! Whole runs: real TCP through the network of an experiment.

use std::sync::{Mutex, PoisonError};

use flowsched_experiment::{Arguments, Experiment, Level, Source};
use flowsched_lab::conduct::Conduct;
use flowsched_lab::run::Lab;
use flowsched_schemes::world::{Outcome, Progress, Watch};
use flowsched_sim::Job;
use flowsched_units::Time;

/// One lab at a time: two would be late.
static MACHINE: Mutex<()> = Mutex::new(());

fn is_root(test: &str) -> bool {
    let root = nix::unistd::geteuid().is_root();
    if !root {
        eprintln!("skipped: {test} needs root");
    }
    root
}

/// The first run of an experiment: in the lab, and in the simulator.
fn run(file: &str) -> (Outcome, Conduct, Outcome) {
    let no_inputs = |_: &str| Err(std::io::ErrorKind::NotFound.into());
    let source = Source::new("lab.toml", file);
    let experiment = Experiment::parse(&source, &Arguments::default(), &no_inputs).unwrap();
    let scene = &experiment.scenes[0];
    let network = scene.network().unwrap();
    let workload = scene.workload(&network, 1).unwrap();
    let Level::Packets(scheme) = &scene.schemes[0].level else { panic!("packets") };
    let job = Job {
        network: &network,
        routing: scene.topology.routing,
        flows: &workload.flows,
        seed: 1,
        sample_interval: Time::ZERO,
        until: scene.until,
    };
    let folder = tempfile::tempdir().unwrap();
    let _machine = MACHINE.lock().unwrap_or_else(PoisonError::into_inner);
    let (progress, mut samples) =
        (Progress::default(), |_: &[_]| std::ops::ControlFlow::Continue(()));
    let mut watch = Watch { progress: &progress, samples: &mut samples };
    let (outcome, conduct) = Lab::in_folder(folder.path()).run(&job, scheme, &mut watch).unwrap();
    println!("{conduct:?}");
    let simulated = flowsched_sim::run(&job, scheme, &Progress::default());
    (outcome, conduct, simulated)
}

fn fct(outcome: &Outcome, flow: usize) -> f64 {
    outcome.flows[flow].finished_at_sender.unwrap().as_secs_f64()
}

/// 20 MB over a link of 200 Mbps take 0.822 s with headers. No run can be faster than the link, and
/// one that counts is as fast.
#[test]
fn a_bulk_flow_fills_the_link() {
    if !is_root("a_bulk_flow_fills_the_link") {
        return;
    }
    let (lab, conduct, simulated) = run("
        topology = { kind = \"star\", hosts = 3, host_link = \"200Mbps\", host_delay = \"20us\" }
        workload = { pattern = \"permutation\", sizes = \"fixed 20MB\", flows = 1, at = \"0ms\" }
        scheme = [{ preset = \"tcp\", buffer = \"300KB\" }]
    ");
    let (real, ideal) = (fct(&lab, 0), fct(&simulated, 0));
    println!("{real} s, simulated {ideal} s; {} and {} drops", lab.drops, simulated.drops);
    assert!(real > 0.99 * ideal, "{real} s, simulated {ideal} s");
    assert!(!conduct.is_valid() || real < 1.01 * ideal, "{real} s, simulated {ideal} s");
    assert!(lab.drops > 0, "slow start overruns a buffer of 300 KB");
    assert!(lab.retransmissions >= lab.drops, "{} packets resent", lab.retransmissions);
}

/// The kernel's Reno with ECN against ours, on the same flows. If the run counts, nothing is dropped, and the
/// mean completion time is that of the simulator.
#[test]
fn ecn_star_agrees_with_the_simulator() {
    if !is_root("ecn_star_agrees_with_the_simulator") {
        return;
    }
    let (lab, conduct, simulated) = run("
        topology = { kind = \"star\", hosts = 4, host_link = \"100Mbps\", host_delay = \"100us\" }
        workload = { pattern = \"many-to-one\", receiver = 0, sizes = \"fixed 200KB\", load = 0.8, flows = 80 }
        scheme = [{ preset = \"ecn-star\", ecn_threshold = \"15KB\", buffer = \"200KB\", initial_window = 10 }]
    ");
    let mean = |outcome: &Outcome| (0..80).map(|flow| fct(outcome, flow)).sum::<f64>() / 80.0;
    let (real, ideal) = (mean(&lab), mean(&simulated));
    println!("{real} s, simulated {ideal} s; {} and {} marks", lab.ecn_marks, simulated.ecn_marks);
    assert!(lab.ecn_marks > 0);
    if conduct.is_valid() {
        assert_eq!((lab.drops, simulated.drops), (0, 0));
        assert!((real / ideal - 1.0).abs() < 0.25, "{real} s, simulated {ideal} s");
    }
}
