//! Tests that windows, on one thread or several, and single events give the same results.

use flowsched_schemes::Scheme;
use flowsched_schemes::combination::Combination;
use flowsched_sim::engines::{in_events, in_windows, on_threads};
use flowsched_sim::{Job, Outcome};
use flowsched_topology::{HostId, LOSS, Network, Routing};
use flowsched_units::{Bytes, Settings, Time, Value};
use flowsched_workload::Flow;
use proptest::prelude::*;

/// Names of parameters and their values.
type Changes = &'static [(&'static str, &'static str)];

/// Schemes that cover all disciplines, both kinds of marking, hosts' ports that are like switches' and
/// others, and controllers that see packets come and leave.
const SCHEMES: [(&str, &str, Changes); 22] = [
    ("tcp", "none", &[("buffer", "30KB")]),
    ("dctcp", "none", &[("ecn_threshold", "5pkt")]),
    ("dctcp", "none", &[("connections", "new")]),
    ("dctcp", "ns2", &[("ecn_threshold", "5pkt")]),
    ("pias", "none", &[("thresholds", "5pkt 10pkt 20pkt 40pkt 80pkt 160pkt 320pkt")]),
    ("tcp2q", "none", &[("thresholds", "20pkt"), ("buffer", "30KB")]),
    ("las", "none", &[]),
    ("slytherin", "none", &[("ecn_threshold", "5pkt")]),
    ("pfabric", "none", &[("buffer", "12pkt")]),
    ("homa", "none", &[("buffer", "30KB"), ("rtt_bytes", "20KB")]),
    ("phost", "none", &[("free_tokens", "20"), ("buffer", "30KB")]),
    ("d3", "none", &[("buffer", "30KB")]),
    ("rcp", "none", &[("buffer", "30KB")]),
    ("pdq", "none", &[]),
    ("pdq", "none", &[("buffer", "30KB"), ("max_flows", "3"), ("host_port", "fifo")]),
    ("pdq", "none", &[("ecn_threshold", "5pkt"), ("probe_spacing", "1")]),
    ("m-pdq", "none", &[("buffer", "30KB")]),
    ("m-pdq", "none", &[("subflows", "6"), ("max_flows", "5")]),
    ("hpcc", "none", &[("buffer", "30KB"), ("card_telemetry", "true")]),
    ("epn", "none", &[("ecn_threshold", "5pkt")]),
    (
        "epn",
        "none",
        &[
            ("buffer", "30KB"),
            ("counter_interval", "20us"),
            ("counter_reads", "1"),
            ("flow_timeout", "1ms"),
        ],
    ),
    (
        "epn-agnostic",
        "none",
        &[("counter_interval", "100us"), ("processing_delay", "100us"), ("flow_timeout", "1ms")],
    ),
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
    build(kind, changes.iter().map(|(name, text)| (*name, (*text).to_owned())), loss)
}

fn build(
    kind: &str,
    changes: impl IntoIterator<Item = (&'static str, String)>,
    loss: f64,
) -> Network {
    let kind = flowsched_topology::kind(kind).unwrap();
    let mut settings = Settings::defaults(kind.parameters.iter().chain(LOSS));
    for (name, text) in changes {
        let parameter = kind.parameters.iter().find(|one| one.name == name).unwrap();
        settings.set(name, parameter.kind.parse(&text).unwrap());
    }
    settings.set("loss", Value::Number(loss));
    flowsched_topology::build(kind.name, &settings).unwrap()
}

/// How many threads the tests give to a run.
const THREADS: [usize; 3] = [2, 3, 7];

/// Returns the outcome in windows, if windows can go through the network, and the outcome of single
/// events. Asserts that the outcome on several threads is that of windows.
fn both_of_scheme(job: &Job<'_>, scheme: &Scheme, threads: &[usize]) -> (Option<Outcome>, Outcome) {
    let windows = in_windows(job, scheme);
    for threads in threads.iter().copied() {
        let parts = on_threads(job, scheme, threads);
        let is_divisible =
            job.under(scheme).routing == Routing::Ecmp && !scheme.facts().has_controllers;
        assert_eq!(parts.is_some(), windows.is_some() && is_divisible);
        assert!(parts.is_none() || parts == windows, "{threads} threads: {parts:#?} {windows:#?}");
    }
    (windows, in_events(job, scheme, true))
}

/// Flows between hosts, half of them to the first one, some at the same instant.
fn any_flows() -> impl Strategy<Value = Vec<(u32, u32, bool, u64, u64)>> {
    let any_flow = (0u32..100, 1u32..100, any::<bool>(), 1u64..300_000, 0u64..40);
    prop::collection::vec(any_flow, 1..25)
}

/// Makes flows of what was drawn, with starts in units of `unit`.
fn flows(drawn: Vec<(u32, u32, bool, u64, u64)>, hosts: u32, unit: Time) -> Vec<Flow> {
    let mut flows: Vec<Flow> = drawn
        .into_iter()
        .map(|(src, ahead, to_first, bytes, start)| {
            let src = src % hosts;
            let other = (src + 1 + ahead % (hosts - 1)) % hosts;
            Flow::new(
                0,
                HostId(src),
                HostId(if to_first && src != 0 { 0 } else { other }),
                Bytes::new(bytes),
                unit * start,
            )
        })
        .collect();
    flows.sort_by_key(|flow| flow.start);
    for (id, flow) in flows.iter_mut().enumerate() {
        flow.id = id as u32;
    }
    flows
}

/// The number of random scenes of a test that gets this many fifths of all scenes. The environment
/// variable `SCENES` sets the number of all scenes; it is 500 by default.
fn scenes(fifths: u32) -> u32 {
    let all =
        std::env::var("SCENES").map_or(500, |number| number.parse().expect("a number of scenes"));
    all * fifths / 5
}

proptest! {
    #![proptest_config(ProptestConfig { cases: scenes(2), ..ProptestConfig::default() })]

    #[test]
    fn windows_change_nothing(
        drawn in any_flows(),
        (kind, preset) in (0..TOPOLOGIES.len(), 0..SCHEMES.len()),
        routing in prop_oneof![Just(Routing::Ecmp), Just(Routing::Spray)],
        loss in prop_oneof![Just(0.0), Just(0.02)],
        // Intervals between samples far below the length of windows only if the run is cut off: a run
        // that waits for a timeout would have millions of samples.
        (sample_interval, until) in prop_oneof![
            (Just(0u64), Just(None)),
            (500u64..5_000, prop::option::weighted(0.3, 0u64..2_000)),
            (3u64..100, (0u64..2_000).prop_map(Some)),
        ],
        seed in 0u64..10,
        threads in prop::sample::select(&THREADS[..]),
    ) {
        let network = network(TOPOLOGIES[kind], loss);
        let flows = flows(drawn, network.host_count(), Time::from_us(10));
        let job = Job {
            network: &network,
            routing,
            flows: &flows,
            seed,
            sample_interval: Time::from_us(sample_interval),
            until: until.map(Time::from_us),
        };
        let (windows, events) = both_of_scheme(&job, &scheme(SCHEMES[preset]), &[threads]);
        // Where controllers send messages, windows are no longer than the last link, which in the tree is
        // shorter than a packet.
        let is_short = SCHEMES[preset].0 == "epn" && TOPOLOGIES[kind].0 == "single-rooted-tree";
        prop_assert_eq!(windows, (!is_short).then_some(events));
    }
}

/// Schemes whose packets are routed by flow, or by flow and path, with and without ACKs that go back the
/// same way.
const WAYS: [(&str, &str, Changes); 4] = [
    ("dctcp", "none", &[]),
    ("epn", "none", &[]),
    ("pdq", "none", &[]),
    ("m-pdq", "none", &[("subflows", "6")]),
];

/// Topologies with and without levels, and with parallel paths.
const NETWORKS: [(&str, Changes); 5] = [
    ("leaf-spine", &[("leaves", "3"), ("hosts_per_leaf", "2"), ("spines", "3")]),
    ("fat-tree", &[("k", "4")]),
    ("single-rooted-tree", &[]),
    ("bcube", &[]),
    ("jellyfish", &[]),
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn remembered_ways_change_nothing(
        drawn in any_flows(),
        (kind, preset) in (0..NETWORKS.len(), 0..WAYS.len()),
        routing in prop_oneof![4 => Just(Routing::Ecmp), 1 => Just(Routing::Spray)],
        seed in 0u64..10,
    ) {
        let network = network(NETWORKS[kind], 0.01);
        let flows = flows(drawn, network.host_count(), Time::from_us(10));
        let (sample_interval, until) = (Time::ZERO, Some(Time::from_ms(20)));
        let job = Job { network: &network, routing, flows: &flows, seed, sample_interval, until };
        let scheme = scheme(WAYS[preset]);
        prop_assume!(routing == Routing::Ecmp || !scheme.facts().needs_one_path);
        let run = |remembers| in_events(&job, &scheme, remembers);
        prop_assert_eq!(run(true), run(false));
    }
}

/// A delay from 1 ns to 1 s.
fn any_delay() -> impl Strategy<Value = Time> {
    (0u32..9, 1u64..=10).prop_map(|(zeros, digit)| Time::from_ns(digit * 10u64.pow(zeros)))
}

fn any_rate() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["100Mbps", "1Gbps", "3Gbps", "10Gbps", "40Gbps", "400Gbps"])
        .prop_map(str::to_owned)
}

/// A tree of switches with hosts anywhere, every link with its own rate and delay.
fn any_tree() -> impl Strategy<Value = (&'static str, Vec<(&'static str, String)>)> {
    let link = || (0usize..100, any_rate(), any_delay());
    let (switches, hosts) =
        (prop::collection::vec(link(), 0..5), prop::collection::vec(link(), 2..7));
    (switches, hosts).prop_map(|(switches, hosts)| {
        let mut links = Vec::new();
        for (index, (other, rate, delay)) in switches.iter().enumerate() {
            links.push(format!("s{} s{} {rate} {delay}", index + 1, other % (index + 1)));
        }
        for (index, (other, rate, delay)) in hosts.iter().enumerate() {
            links.push(format!("h{index} s{} {rate} {delay}", other % (switches.len() + 1)));
        }
        let names: Vec<String> = (0..hosts.len()).map(|index| format!("h{index}")).collect();
        ("custom", vec![("hosts", names.join(" ")), ("links", links.join("; "))])
    })
}

/// A Jellyfish of three switches: shortest ways have levels, and parallel paths also go the long way round.
const RING: Changes = &[("switches", "3"), ("ports", "4"), ("degree", "2")];

/// Any small network whose shortest ways have levels.
fn any_network() -> impl Strategy<Value = (&'static str, Vec<(&'static str, String)>)> {
    let counts = (1u32..4, 1u32..4, 2u32..6);
    let regular = (0..6, counts, [any_rate(), any_rate()], [any_delay(), any_delay()]).prop_map(
        |(kind, (few, some, many), [host_link, fabric_link], [link_delay, host_delay])| {
            let text = |count: u32| count.to_string();
            let link_delay = ("link_delay", link_delay.to_string());
            let host_delay = ("host_delay", host_delay.to_string());
            let host_rate = ("host_link", host_link);
            match kind {
                0 => {
                    let sizes = [("leaves", few), ("spines", some), ("hosts_per_leaf", many)];
                    let mut changes = sizes.map(|(name, count)| (name, text(count))).to_vec();
                    changes.extend([host_rate, link_delay, host_delay]);
                    changes.push(("fabric_link", fabric_link));
                    ("leaf-spine", changes)
                }
                1 => {
                    let size = ("k", text(2 * some.min(2)));
                    ("fat-tree", vec![size, ("link", fabric_link), link_delay, host_delay])
                }
                2 => {
                    let sizes = [("racks", text(few)), ("hosts_per_rack", text(many))];
                    let delay = ("processing_delay", host_delay.1);
                    let rates = [host_rate, ("fabric_link", fabric_link)];
                    let changes = sizes.into_iter().chain(rates).chain([link_delay, delay]);
                    ("single-rooted-tree", changes.collect())
                }
                3 => ("star", vec![("hosts", text(many)), host_rate, link_delay, host_delay]),
                4 => {
                    let sizes = RING.iter().map(|(name, count)| (*name, (*count).to_owned()));
                    let rest = [("link", fabric_link), link_delay, host_delay];
                    ("jellyfish", sizes.chain(rest).collect())
                }
                _ => {
                    let size = ("hosts_per_side", text(few));
                    let bottleneck = ("bottleneck_link", fabric_link);
                    ("dumbbell", vec![size, bottleneck, host_rate, link_delay, host_delay])
                }
            }
        },
    );
    prop_oneof![2 => regular, 1 => any_tree()]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: scenes(3), ..ProptestConfig::default() })]

    #[test]
    fn windows_change_nothing_in_any_network_with_any_delays(
        drawn in any_flows(),
        (kind, changes) in any_network(),
        preset in 0..SCHEMES.len(),
        routing in prop_oneof![Just(Routing::Ecmp), Just(Routing::Spray)],
        loss in prop_oneof![Just(0.0), Just(0.02)],
        // In tenths of the longest link's delay, so that a run has few samples. A run also ends before a
        // timeout that is shorter than a round trip has sent millions of packets again.
        (sample_interval, until) in (prop_oneof![Just(0u64), 1u64..100], 0u64..200),
        seed in 0u64..10,
        threads in prop::sample::select(&THREADS[..]),
    ) {
        let network = build(kind, changes, loss);
        let longest = network.ports().iter().map(|port| port.delay).max().unwrap();
        let flows = flows(drawn, network.host_count(), longest / 8);
        let job = Job {
            network: &network,
            routing,
            flows: &flows,
            seed,
            sample_interval: longest * sample_interval / 10,
            until: Some(Time::from_ms(2) + longest * until / 10),
        };
        let (windows, events) = both_of_scheme(&job, &scheme(SCHEMES[preset]), &[threads]);
        // Windows that would be too short are left to events.
        if let Some(windows) = windows {
            prop_assert_eq!(windows, events);
        }
    }
}

#[test]
fn windows_take_long_delays_and_many_hosts() {
    let scenes: [(&str, Changes); 6] = [
        ("leaf-spine", &[("link_delay", "1ms")]),
        ("leaf-spine", &[("link_delay", "1s"), ("fabric_link", "400Gbps")]),
        ("leaf-spine", &[("leaves", "100"), ("hosts_per_leaf", "100")]),
        ("star", &[("hosts", "16000")]),
        ("star", &[("link_delay", "100ms")]),
        ("dumbbell", &[("link_delay", "100ms")]),
    ];
    for scene in scenes {
        let network = network(scene, 0.0);
        let last = network.host_count() - 1;
        // Two flows to one host, from its neighbour and from the farthest host.
        let drawn = vec![(1, 0, true, 20_000, 0), (last, 0, true, 20_000, 0)];
        let flows = flows(drawn, last + 1, Time::ZERO);
        let job = Job {
            network: &network,
            routing: Routing::Ecmp,
            flows: &flows,
            seed: 1,
            sample_interval: Time::ZERO,
            until: None,
        };
        let (windows, events) = both_of_scheme(&job, &scheme(("dctcp", "none", &[])), &THREADS);
        assert!(events.flows.iter().all(|flow| flow.finished_at_sender.is_some()));
        assert!(windows == Some(events), "{scene:?}");
    }
}

#[test]
fn windows_change_nothing_where_keys_limit_how_far_ports_get() {
    for ms in 4..40 {
        let delay = format!("{ms}ms");
        let changes = [("hosts", "3"), ("host_link", "400Gbps"), ("link_delay", &delay)];
        let changes = changes.map(|(name, text)| (name, text.to_owned()));
        let network = build("star", changes, 0.0);
        let drawn = (0..120).map(|start| (start as u32, 0, false, 9_000, start)).collect();
        let flows = flows(drawn, 3, Time::from_ms(1));
        let job = Job {
            network: &network,
            routing: Routing::Ecmp,
            flows: &flows,
            seed: 1,
            sample_interval: Time::ZERO,
            until: None,
        };
        let (windows, events) = both_of_scheme(&job, &scheme(("dctcp", "none", &[])), &THREADS);
        assert!(windows == Some(events), "{delay}");
    }
}

#[test]
fn what_windows_cannot_do_is_left_to_events() {
    let can_send = |preset, network: &Network, changes: Changes| {
        let job = Job {
            network,
            routing: Routing::Ecmp,
            flows: &[],
            seed: 1,
            sample_interval: Time::ZERO,
            until: None,
        };
        in_windows(&job, &scheme((preset, "none", changes))).is_some()
    };
    let can = |network: &Network, changes: Changes| can_send("dctcp", network, changes);
    let fabric = network(TOPOLOGIES[0], 0.0);
    assert!(can(&fabric, &[]));
    assert!(!can(&fabric, &[("buffer_sharing", "switch")]), "ports that share memory");
    assert!(!can(&network(("bcube", &[]), 0.0), &[]), "hosts that forward");
    assert!(!can(&network(("jellyfish", &[]), 0.0), &[]), "ways that go round");
    let ring = network(("jellyfish", RING), 0.0);
    assert!(can(&ring, &[]) && can_send("pdq", &ring, &[]));
    assert!(!can_send("m-pdq", &ring, &[]), "paths that go the long way round");
    let close: Changes = &[("hosts", "3"), ("host_delay", "0us"), ("link_delay", "0.5us")];
    assert!(!can(&network(("star", close), 0.0), &[]), "hosts that are next to their switch");
}

/// Every scheme of the catalogue with its default settings.
#[test]
fn windows_change_nothing_under_any_preset() {
    use flowsched_schemes::PRESETS;
    use flowsched_schemes::port::parameters::QUEUES;
    use flowsched_schemes::tagger::THRESHOLDS;

    let network = network(TOPOLOGIES[0], 0.0);
    let drawn =
        (0..40).map(|n: u32| (n, n / 6, n.is_multiple_of(2), 1 + 5_000 * u64::from(n), n.into()));
    let flows = flows(drawn.collect(), network.host_count(), Time::from_us(10));
    let job = Job {
        network: &network,
        routing: Routing::Ecmp,
        flows: &flows,
        seed: 1,
        sample_interval: Time::ZERO,
        until: None,
    };
    for preset in PRESETS.iter().filter(|preset| preset.sends_packets()) {
        let mut settings = Combination::new(preset.name, [None; 4]).unwrap().defaults("none");
        if let Some(Value::Text(_)) = settings.get(&THRESHOLDS) {
            let sizes = (1..settings.count(&QUEUES)).map(|queue| Bytes::new(queue * 20_000));
            settings.set(&THRESHOLDS, Value::Sizes(sizes.collect()));
        }
        let scheme = Scheme::from_settings(&settings).unwrap();
        let (windows, events) = both_of_scheme(&job, &scheme, &THREADS);
        assert!(events.flows.iter().all(|flow| flow.finished_at_sender.is_some()));
        assert!(windows == Some(events), "{}", preset.name);
    }
}
