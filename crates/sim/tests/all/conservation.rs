//! Every byte sent is delivered, dropped, queued or in flight: at every port of random scenes,
//! when they end and when they are stopped midway.

use crate::common::{ledger, network, scheme};
use flowsched_schemes::Scheme;
use flowsched_sim::{Job, Outcome};
use flowsched_topology::{HostId, Network, Routing};
use flowsched_units::{Bytes, PACKET_PAYLOAD, Time};
use flowsched_workload::Flow;
use proptest::prelude::*;

#[derive(Clone, Debug)]
struct Scene {
    topology: (&'static str, Vec<(&'static str, &'static str)>),
    routing: Routing,
    scheme: (&'static str, &'static str, Vec<(&'static str, String)>),
    /// Source and distance to the destination, bytes, start in nanoseconds.
    flows: Vec<(u32, u32, u64, u64)>,
    until: Option<Time>,
}

fn topology() -> impl Strategy<Value = (&'static str, Vec<(&'static str, &'static str)>)> {
    prop_oneof![
        Just(("star", vec![("hosts", "5")])),
        Just(("dumbbell", vec![("hosts_per_side", "3"), ("bottleneck_link", "4Gbps")])),
        Just(("single-rooted-tree", vec![])),
        Just(("leaf-spine", vec![("leaves", "3"), ("spines", "2"), ("hosts_per_leaf", "2")])),
    ]
}

/// Settings of ports and hosts, and for PIAS of the tagger.
fn settings() -> impl Strategy<Value = (&'static str, &'static str, Vec<(&'static str, String)>)> {
    let ports = (
        5u32..200,
        prop_oneof![Just("port"), Just("queue"), Just("switch")],
        prop_oneof![Just("enqueue"), Just("dequeue")],
        1u32..60,
        prop_oneof![Just("bytes"), Just("packets")],
    );
    let hosts = (1u32..100, 1u32..3, any::<bool>(), any::<bool>(), any::<bool>());
    let preset = prop_oneof![Just("tcp"), Just("ecn-star"), Just("dctcp"), Just("pias")];
    let compat = prop_oneof![4 => Just("none"), 1 => Just("ns2")];
    (preset, compat, ports, hosts).prop_map(|(preset, compat, ports, hosts)| {
        let mut changes = vec![
            ("buffer", format!("{}pkt", ports.0)),
            ("switch_memory", format!("{}pkt", 4 * ports.0)),
            ("buffer_sharing", ports.1.into()),
            ("ecn_at", ports.2.into()),
            ("count_in", ports.4.into()),
            ("initial_window", hosts.0.to_string()),
            ("ack_ratio", hosts.1.to_string()),
            ("fast_retransmit", hosts.2.to_string()),
            ("connections", if hosts.3 { "persistent" } else { "new" }.into()),
        ];
        if preset != "tcp" {
            changes.push(("ecn_threshold", format!("{}pkt", ports.3)));
        }
        if preset == "pias" {
            let scope = if hosts.4 { "queue" } else { "port" };
            changes.push(("queues", "3".into()));
            changes.push(("thresholds", "10pkt 50pkt".into()));
            changes.push(("ecn_scope", scope.into()));
        }
        (preset, compat, changes)
    })
}

fn scene() -> impl Strategy<Value = Scene> {
    let flows = prop::collection::vec((0u32..100, 0u32..100, 1u64..400_000, 0u64..500_000), 1..40);
    let routing = prop_oneof![Just(Routing::Ecmp), Just(Routing::Spray)];
    let until = prop::option::of((1u64..2_000_000).prop_map(Time::from_ns));
    (topology(), routing, settings(), flows, until).prop_map(
        |(topology, routing, scheme, flows, until)| Scene {
            topology,
            routing,
            scheme,
            flows,
            until,
        },
    )
}

fn flows(network: &Network, drawn: &[(u32, u32, u64, u64)]) -> Vec<Flow> {
    let hosts = network.host_count();
    let mut drawn = drawn.to_vec();
    drawn.sort_by_key(|(.., start)| *start);
    (0..)
        .zip(drawn)
        .map(|(id, (src, distance, size, start))| {
            let src = src % hosts;
            let dst = HostId((src + 1 + distance % (hosts - 1)) % hosts);
            let (size, start) = (Bytes::new(size), Time::from_ns(start));
            Flow::new(id, HostId(src), dst, size, start)
        })
        .collect()
}

fn parts(scene: &Scene) -> (Network, Vec<Flow>, Scheme) {
    let network = network(scene.topology.0, &scene.topology.1);
    let flows = flows(&network, &scene.flows);
    let (preset, compat, changes) = &scene.scheme;
    let changes: Vec<(&str, &str)> =
        changes.iter().map(|(key, text)| (*key, text.as_str())).collect();
    (network, flows, scheme(preset, compat, &changes))
}

/// Asserts the state after the last event: nothing waits, every flow has ended, and each host has
/// sent the packets of its flows and those sent again.
fn is_over(network: &Network, flows: &[Flow], outcome: &Outcome, ledger: &ledger::Ledger) {
    for sample in &outcome.ports[outcome.ports.len() - network.ports().len()..] {
        assert_eq!((sample.queue_bytes, sample.in_flight_bytes), (0, 0));
    }
    for host in network.hosts() {
        let sent: u64 = flows
            .iter()
            .filter(|flow| flow.src == host)
            .map(|flow| {
                let outcome = outcome.flows[flow.id as usize];
                let delivered = outcome.finished_at_receiver.expect("every byte arrives");
                let acknowledged = outcome.finished_at_sender.expect("and the sender knows");
                assert!(flow.start < delivered && delivered < acknowledged);
                flow.size.get().div_ceil(PACKET_PAYLOAD) + u64::from(outcome.retransmissions)
            })
            .sum();
        assert_eq!(ledger::card(network, ledger, host).data_packets, sent, "host {}", host.0);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn every_byte_is_accounted_for(scene in scene()) {
        let (network, flows, scheme) = parts(&scene);
        let job = Job {
            network: &network,
            routing: scene.routing,
            flows: &flows,
            seed: 1,
            sample_interval: Time::ZERO,
            until: scene.until,
        };
        let (outcome, ledger) = ledger::run(&job, &scheme);
        ledger::balance(&network, &outcome, &ledger);
        if scene.until.is_none() {
            is_over(&network, &flows, &outcome, &ledger);
        }
        // Keeping accounts does not change the outcome.
        let plain = flowsched_sim::run(&job, &scheme, &flowsched_sim::Progress::default());
        prop_assert_eq!(plain, outcome);
    }
}
