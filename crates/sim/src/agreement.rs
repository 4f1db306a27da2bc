//! Tests that going through a network in windows gives what one event after the other gives.

use flowsched_schemes::preset::Combination;
use flowsched_schemes::transport::tcp::Tcp;
use flowsched_topology::{HostId, LOSS};
use flowsched_units::{Bytes, Settings};
use proptest::prelude::*;

use super::*;

/// Names with parameters and their values.
type Changes = &'static [(&'static str, &'static str)];

/// Schemes with all disciplines, both kinds of marking, hosts' ports like switches' and not.
const SCHEMES: [(&str, &str, Changes); 9] = [
    ("tcp", "none", &[("buffer", "30KB")]),
    ("dctcp", "none", &[("ecn_threshold", "5pkt")]),
    ("dctcp", "none", &[("connections", "new")]),
    ("dctcp", "ns2", &[("ecn_threshold", "5pkt")]),
    ("pias", "none", &[("thresholds", "5pkt 10pkt 20pkt 40pkt 80pkt 160pkt 320pkt")]),
    ("tcp2q", "none", &[("thresholds", "20pkt"), ("buffer", "30KB")]),
    ("las", "none", &[]),
    ("slytherin", "none", &[("ecn_threshold", "5pkt")]),
    ("pfabric", "none", &[("buffer", "12pkt")]),
];

/// Topologies whose ports have levels, with different delays to hosts.
const TOPOLOGIES: [(&str, Changes); 6] = [
    ("leaf-spine", &[("leaves", "2"), ("hosts_per_leaf", "3"), ("spines", "2")]),
    ("leaf-spine", &[("leaves", "3"), ("hosts_per_leaf", "2"), ("host_delay", "1us")]),
    ("fat-tree", &[("k", "4"), ("host_delay", "100us")]),
    ("single-rooted-tree", &[]),
    ("dumbbell", &[("hosts_per_side", "3")]),
    ("star", &[("hosts", "6"), ("host_delay", "3us")]),
];

fn scheme((preset, compat, changes): (&str, &str, Changes)) -> Scheme {
    let combination = Combination::new(preset, [None; 4]).unwrap();
    let mut settings = combination.defaults(compat);
    for (name, text) in changes {
        let parameter = combination.parameters().find(|one| one.name == *name).unwrap();
        settings.set(*name, parameter.kind.parse(text).unwrap());
    }
    Scheme::from_settings(&settings).unwrap()
}

fn network((kind, changes): (&str, Changes), loss: f64) -> Network {
    let kind = flowsched_topology::kind(kind).unwrap();
    let mut settings = Settings::defaults(kind.parameters.iter().chain(LOSS));
    for (name, text) in changes {
        let parameter = kind.parameters.iter().find(|one| one.name == *name).unwrap();
        settings.set(*name, parameter.kind.parse(text).unwrap());
    }
    settings.set("loss", flowsched_units::Value::Number(loss));
    flowsched_topology::build(kind.name, &settings).unwrap()
}

/// The outcome in windows, if the network can be gone through so, and that of events.
fn both<P: Port<Packet>>(
    job: &Job<'_>,
    transport: Tcp,
    new_port: impl Fn(Site) -> P,
) -> (Option<Outcome>, Outcome) {
    let (progress, numbers) = (Progress::default(), ConnectionNumbers::new(job.flows.len()));
    let tagger = &job.scheme.tagger;
    let windows = Windows::new(job, fabric::links(job, &new_port)).ok().map(|fabric| {
        let engine = Engine::new(job, transport, tagger, fabric, numbers.clone());
        collecting(&progress, |watch| engine.run(watch))
    });
    let events = Events::new(job, fabric::links(job, new_port), |_| NoController);
    let engine = Engine::new(job, transport, tagger, events, numbers);
    (windows, collecting(&progress, |watch| engine.run(watch)))
}

fn both_of_scheme(job: &Job<'_>) -> (Option<Outcome>, Outcome) {
    let TransportChoice::Tcp(settings, algorithm) = job.scheme.transport else {
        unreachable!("all schemes of the list are TCP's")
    };
    let tcp = Tcp::new(settings, algorithm, job.routing() == Routing::Spray);
    match job.scheme.queueing {
        Queueing::StrictPriority => both(job, tcp, queues(job, StrictPriority)),
        Queueing::WeightedRoundRobin(weights) => {
            both(job, tcp, queues(job, WeightedRoundRobin::new(weights)))
        }
        Queueing::Slytherin => both(job, tcp, queues(job, Slytherin)),
        Queueing::Pfabric(_) => both(job, tcp, |_| PfabricPort::new(job.scheme.port)),
    }
}

/// Flows between hosts, half of them to the first one, some at the same instant.
fn any_flows() -> impl Strategy<Value = Vec<(u32, u32, bool, u64, u64)>> {
    let any_flow = (0u32..100, 1u32..100, any::<bool>(), 1u64..300_000, 0u64..40);
    prop::collection::vec(any_flow, 1..25)
}

fn flows(drawn: Vec<(u32, u32, bool, u64, u64)>, hosts: u32) -> Vec<Flow> {
    let mut flows: Vec<Flow> = drawn
        .into_iter()
        .map(|(src, ahead, to_first, bytes, start)| {
            let src = src % hosts;
            let other = (src + 1 + ahead % (hosts - 1)) % hosts;
            Flow {
                id: 0,
                src: HostId(src),
                dst: HostId(if to_first && src != 0 { 0 } else { other }),
                size: Bytes::new(bytes),
                start: Time::from_us(10 * start),
                deadline: None,
                measured: true,
            }
        })
        .collect();
    flows.sort_by_key(|flow| flow.start);
    for (id, flow) in flows.iter_mut().enumerate() {
        flow.id = id as u32;
    }
    flows
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn windows_change_nothing(
        drawn in any_flows(),
        (kind, preset) in (0..TOPOLOGIES.len(), 0..SCHEMES.len()),
        routing in prop_oneof![Just(Routing::Ecmp), Just(Routing::Spray)],
        loss in prop_oneof![Just(0.0), Just(0.02)],
        // Samples far closer than windows are long only where the run is cut off: one that waits
        // for a timeout would have millions.
        (sample_interval, until) in prop_oneof![
            (Just(0u64), Just(None)),
            (500u64..5_000, prop::option::weighted(0.3, 0u64..2_000)),
            (3u64..100, (0u64..2_000).prop_map(Some)),
        ],
        seed in 0u64..10,
    ) {
        let network = network(TOPOLOGIES[kind], loss);
        let flows = flows(drawn, network.host_count());
        let job = Job {
            network: &network,
            routing,
            flows: &flows,
            scheme: &scheme(SCHEMES[preset]),
            seed,
            sample_interval: Time::from_us(sample_interval),
            until: until.map(Time::from_us),
        };
        let (windows, events) = both_of_scheme(&job);
        prop_assert_eq!(windows, Some(events));
    }
}

#[test]
fn what_windows_cannot_do_is_left_to_events() {
    let can = |network: &Network, changes: Changes| {
        let scheme = scheme(("dctcp", "none", changes));
        let job = Job {
            network,
            routing: Routing::Ecmp,
            flows: &[],
            scheme: &scheme,
            seed: 1,
            sample_interval: Time::ZERO,
            until: None,
        };
        Windows::new(&job, fabric::links::<(), _>(&job, queues(&job, StrictPriority))).is_ok()
    };
    let fabric = network(TOPOLOGIES[0], 0.0);
    assert!(can(&fabric, &[]));
    assert!(!can(&fabric, &[("buffer_sharing", "switch")]), "ports that share memory");
    assert!(!can(&network(("bcube", &[]), 0.0), &[]), "hosts that forward");
    assert!(!can(&network(("jellyfish", &[]), 0.0), &[]), "ways that go round");
    let close: Changes = &[("hosts", "3"), ("host_delay", "0us"), ("link_delay", "0.5us")];
    assert!(!can(&network(("star", close), 0.0), &[]), "hosts that are next to their switch");
}
