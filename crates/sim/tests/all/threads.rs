//! A run on several threads ends as one on a single thread does: when it is told to, when its samples are
//! not wanted, and when a thread panics.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::common::{flow, network, scheme, small_fabric};
use flowsched_schemes::combination::Combination;
use flowsched_schemes::controller::{NoController, Site};
use flowsched_schemes::port::{Fifo, QueuePart};
use flowsched_schemes::tagger::{Departure, PlainTagger, Tag, Work};
use flowsched_schemes::transport::tcp::congestion::EcnStar;
use flowsched_schemes::transport::tcp::{Tcp, settings::TcpSettings};
use flowsched_schemes::world::{PortSample, SampleSink, Threads};
use flowsched_schemes::{Parts, Scheme};
use flowsched_sim::{Job, Outcome, Progress, Watch};
use flowsched_topology::{Network, Routing};
use flowsched_units::Time;
use flowsched_workload::Flow;

/// More than a minute of work for the simulator.
const LONG: u64 = 100_000_000;

/// Long flows from every host to the next.
fn flows(network: &Network, packets: u64) -> Vec<Flow> {
    let hosts = network.host_count();
    (0..hosts).map(|host| flow(host, host, (host + 1) % hosts, packets, Time::ZERO)).collect()
}

fn job<'a>(network: &'a Network, flows: &'a [Flow]) -> Job<'a> {
    let sample_interval = Time::from_ms(1);
    Job { network, routing: Routing::Ecmp, flows, seed: 1, sample_interval, until: None }
}

fn run(
    job: &Job<'_>,
    threads: usize,
    progress: &Progress,
    samples: &mut SampleSink<'_>,
) -> Outcome {
    let scheme: Scheme = scheme("dctcp", "none", &[]);
    let count = NonZeroUsize::new(threads).unwrap();
    let threads = Threads { count, at_end: &|| () };
    let mut samples = |rows: &[PortSample]| samples(rows);
    let mut watch = Watch { threads, progress, samples: &mut samples, probing: None };
    flowsched_sim::run_watched(job, &scheme, &mut watch)
}

#[test]
fn a_stop_is_seen_on_any_number_of_threads() {
    let network = small_fabric();
    let flows = flows(&network, LONG);
    for threads in [1, 2, 3, 6] {
        let progress = &Progress::default();
        let mut stop_at_third = |rows: &[PortSample]| {
            progress.stop.store(rows[0].time >= Time::from_ms(3), Ordering::Relaxed);
            ControlFlow::Continue(())
        };
        let outcome = run(&job(&network, &flows), threads, progress, &mut stop_at_third);
        assert!(outcome.stopped);
        assert!(outcome.packet_hops > 0);
        assert!(outcome.end < Time::from_ms(4), "{threads} threads: {}", outcome.end);
    }
}

#[test]
fn a_run_ends_when_its_samples_are_not_wanted() {
    let network = small_fabric();
    let flows = flows(&network, LONG);
    for threads in [1, 2, 3] {
        let mut times = Vec::new();
        let mut three = |rows: &[PortSample]| {
            assert!((0..).zip(rows).all(|(port, row)| row.port == port), "in their order");
            assert_eq!(rows.len(), network.ports().len());
            times.push(rows[0].time);
            if times.len() < 3 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        let outcome = run(&job(&network, &flows), threads, &Progress::default(), &mut three);
        assert!(outcome.stopped);
        assert_eq!(times[..3], [1, 2, 3].map(Time::from_ms), "{threads} threads");
    }
}

#[test]
fn every_thread_says_that_it_has_ended() {
    let network = network("leaf-spine", &[("leaves", "4"), ("hosts_per_leaf", "2")]);
    let flows = flows(&network, 10);
    for threads in [1, 2, 3, 7] {
        let ended = AtomicU32::new(0);
        let at_end = || _ = ended.fetch_add(1, Ordering::Relaxed);
        let mut samples = |_: &[PortSample]| ControlFlow::Continue(());
        let count = NonZeroUsize::new(threads).unwrap();
        let mut watch = Watch {
            threads: Threads { count, at_end: &at_end },
            progress: &Progress::default(),
            samples: &mut samples,
            probing: None,
        };
        let scheme = scheme("dctcp", "none", &[]);
        flowsched_sim::run_watched(&job(&network, &flows), &scheme, &mut watch);
        assert_eq!(ended.into_inner(), threads as u32 - 1);
    }
}

/// Panics at a packet in the midst of a flow.
struct Panics;

impl PlainTagger for Panics {
    type Memory = u32;

    fn tag(&self, packets: &mut u32, _: &Departure, _: &Work) -> Tag {
        *packets += 1;
        assert!(*packets < 1_000, "a packet too many");
        Tag::default()
    }
}

#[test]
fn a_panic_on_any_thread_is_one_of_the_caller() {
    let network = small_fabric();
    let settings = &Combination::new("ecn-star", [None; 4]).unwrap().defaults("none");
    for sender in [0, 5] {
        let flows = [flow(0, sender, 5 - sender, 10_000, Time::ZERO)];
        let parts = Parts {
            transport: Tcp::new(TcpSettings::from_settings(settings), EcnStar),
            tagger: Panics,
            ports: Fifo::build(settings).unwrap().ports().clone(),
            controllers: |_: Site| NoController,
        };
        let mut samples = |_: &[PortSample]| ControlFlow::Continue(());
        let count = NonZeroUsize::new(2).unwrap();
        let mut watch = Watch {
            threads: Threads { count, at_end: &|| () },
            progress: &Progress::default(),
            samples: &mut samples,
            probing: None,
        };
        let job = job(&network, &flows);
        let run = || flowsched_sim::run_parts_on_threads(&job, parts, &mut watch);
        assert!(catch_unwind(AssertUnwindSafe(run)).is_err(), "from host {sender}");
    }
}
