//! Every scheme ends, within the range of times, on any network with any links.

use crate::common::scheme_of;
use flowsched_schemes::{PRESETS, Scheme};
use flowsched_sim::{Job, Progress};
use flowsched_topology::{HostId, LOSS, Network, Routing};
use flowsched_units::{Bytes, Settings, Time, Value};
use flowsched_workload::{Flow, LATEST};
use proptest::prelude::*;

/// The values that differ from a topology's defaults, as they are written in a file.
type Changes = Vec<(&'static str, String)>;

/// A delay from 1 ns to 1 s.
fn any_delay() -> impl Strategy<Value = String> {
    (0u32..9, 1u64..=10)
        .prop_map(|(zeros, digit)| Time::from_ns(digit * 10u64.pow(zeros)).to_string())
}

/// A rate from 1 Kbps to 8 Tbps, most often that of a common link.
fn any_rate() -> impl Strategy<Value = String> {
    let usual = prop::sample::select(vec!["1Gbps", "10Gbps", "40Gbps", "400Gbps"]);
    let unusual = prop::sample::select(vec!["1Kbps", "56Kbps", "7Mbps", "8Tbps"]);
    prop_oneof![3 => usual, 1 => unusual].prop_map(str::to_owned)
}

/// A connected graph of switches with hosts anywhere, every link with its own rate and delay.
fn any_graph() -> impl Strategy<Value = (&'static str, Changes)> {
    let link = || (0usize..100, any_rate(), any_delay());
    let links = |count| prop::collection::vec(link(), count);
    (links(0..5), links(0..3), links(2..6)).prop_map(|(tree, more, hosts)| {
        let switches = tree.len() + 1;
        let mut links = Vec::new();
        for (index, (other, rate, delay)) in tree.iter().enumerate() {
            links.push(format!("s{} s{} {rate} {delay}", index + 1, other % (index + 1)));
        }
        for (index, (other, rate, delay)) in more.iter().enumerate() {
            let (one, other) = (index % switches, other % switches);
            if one != other {
                links.push(format!("s{one} s{other} {rate} {delay}"));
            }
        }
        for (index, (other, rate, delay)) in hosts.iter().enumerate() {
            links.push(format!("h{index} s{} {rate} {delay}", other % switches));
        }
        let names: Vec<String> = (0..hosts.len()).map(|index| format!("h{index}")).collect();
        ("custom", vec![("hosts", names.join(" ")), ("links", links.join("; "))])
    })
}

/// Any small network.
fn any_network() -> impl Strategy<Value = (&'static str, Changes)> {
    let counts = (1u32..4, 1u32..4, 2u32..5);
    let regular = (0..7, counts, [any_rate(), any_rate()], [any_delay(), any_delay()]).prop_map(
        |(kind, (few, some, many), [one_rate, other_rate], [link_delay, other_delay])| {
            let count = |name, count: u32| (name, count.to_string());
            let link_delay = ("link_delay", link_delay);
            let host_delay = ("host_delay", other_delay);
            let (host_link, link) = (("host_link", one_rate.clone()), ("link", one_rate));
            match kind {
                0 => {
                    let sizes = [count("leaves", few), count("hosts_per_leaf", many)];
                    let rest = [count("spines", some), host_link, ("fabric_link", other_rate)];
                    let delays = [link_delay, host_delay];
                    ("leaf-spine", sizes.into_iter().chain(rest).chain(delays).collect())
                }
                1 => ("fat-tree", vec![count("k", 2 * some.min(2)), link, link_delay, host_delay]),
                2 => {
                    let sizes = [count("racks", few), count("hosts_per_rack", many)];
                    let rest = [host_link, ("fabric_link", other_rate), link_delay];
                    ("single-rooted-tree", sizes.into_iter().chain(rest).collect())
                }
                3 => ("star", vec![count("hosts", many), host_link, link_delay, host_delay]),
                4 => {
                    let rates = [host_link, ("bottleneck_link", other_rate)];
                    let rest = [count("hosts_per_side", few), link_delay, host_delay];
                    ("dumbbell", rates.into_iter().chain(rest).collect())
                }
                5 => ("bcube", vec![count("n", 2), count("k", some.min(2)), link, link_delay]),
                _ => {
                    let sizes = [count("switches", 2 + some), count("ports", 4)];
                    let rest = [count("degree", 2), link, link_delay, host_delay];
                    ("jellyfish", sizes.into_iter().chain(rest).collect())
                }
            }
        },
    );
    prop_oneof![2 => regular, 1 => any_graph()]
}

fn network((kind, changes): (&str, Changes), loss: f64) -> Network {
    let kind = flowsched_topology::kind(kind).unwrap();
    let mut settings = Settings::defaults(kind.parameters.iter().chain(LOSS));
    for (name, text) in changes {
        let parameter = kind.parameters.iter().find(|one| one.name == name).unwrap();
        settings.set(name, parameter.kind.parse(&text).unwrap());
    }
    settings.set("loss", Value::Number(loss));
    flowsched_topology::build(kind.name, &settings).unwrap()
}

/// A flow as it is drawn: its sender, the distance to its receiver, its bytes, its start, and the
/// time to its deadline. Both times are in units of the longest delay.
type Drawn = (u32, u32, u64, u64, Option<u64>);

fn any_flows() -> impl Strategy<Value = Vec<Drawn>> {
    let deadline = prop::option::of(1u64..20);
    prop::collection::vec((0u32..100, 0u32..100, 1u64..200_000, 0u64..4, deadline), 1..12)
}

fn flows(drawn: &[Drawn], hosts: u32, first: Time, unit: Time) -> Vec<Flow> {
    let flow = |(src, ahead, bytes, start, deadline): &Drawn| {
        let (src, start) = (src % hosts, first + unit * *start);
        Flow {
            deadline: deadline.map(|units| start + unit * units),
            ..Flow::new(
                0,
                HostId(src),
                HostId((src + 1 + ahead % (hosts - 1)) % hosts),
                Bytes::new(*bytes),
                start,
            )
        }
    };
    let mut flows: Vec<Flow> = drawn.iter().map(flow).collect();
    flows.sort_by_key(|flow| flow.start);
    (0..).zip(&mut flows).for_each(|(id, flow)| flow.id = id);
    flows
}

/// The schemes that send packets.
fn schemes() -> Vec<Scheme> {
    let names = PRESETS.iter().filter(|preset| preset.sends_packets()).map(|preset| preset.name);
    names.map(|name| scheme_of(name, &[])).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn every_scene_ends(
        any_network in any_network(),
        drawn in any_flows(),
        preset in any::<prop::sample::Index>(),
        routing in prop_oneof![Just(Routing::Ecmp), Just(Routing::Spray)],
        loss in prop_oneof![Just(0.0), Just(0.01), Just(0.4)],
        first in prop_oneof![Just(Time::ZERO), Just(LATEST)],
        // Timeouts of tens of microseconds make millions of events within a delay of a second.
        until in prop_oneof![0u64..1_000, 0u64..200_000],
        samples in prop_oneof![Just(0u64), 1u64..50],
    ) {
        let (network, schemes) = (network(any_network, loss), schemes());
        prop_assume!(network.host_count() > 1);
        let unit = network.ports().iter().map(|port| port.delay).max().unwrap();
        let flows = flows(&drawn, network.host_count(), first, unit);
        let length = Time::from_us(until).min(unit * 20 + Time::from_us(100));
        let until = flows[0].start + length;
        let sample_interval = length * samples.min(1) / samples.max(1);
        let is_sampled = first == Time::ZERO;
        let job = Job {
            network: &network,
            routing,
            flows: &flows,
            seed: 1,
            sample_interval: if is_sampled { sample_interval } else { Time::ZERO },
            until: Some(until),
        };
        let outcome = flowsched_sim::run(&job, preset.get(&schemes), &Progress::default());
        prop_assert!(outcome.end <= until);
        prop_assert!(!outcome.stopped);
    }
}
