//! What holds for every network: its links, and its routes against petgraph's shortest paths.

use flowsched_topology::{
    HostId, Link, Network, NetworkBuilder, NodeId, Port, TOPOLOGIES, build, kind,
};
use flowsched_units::{Rate, Settings, Time, Value};
use petgraph::algo::dijkstra;
use petgraph::graphmap::DiGraphMap;
use proptest::prelude::*;

/// A topology of every kind, of some size.
fn any_kind() -> impl Strategy<Value = Network> {
    (0..TOPOLOGIES.len(), 1u64..5, 1u64..5, 1u64..4).prop_map(|(index, a, b, c)| {
        let kind = &TOPOLOGIES[index];
        let mut settings = Settings::defaults(kind.parameters);
        let counts: &[(&str, u64)] = match kind.name {
            "leaf-spine" => &[("leaves", a), ("spines", b), ("hosts_per_leaf", c)],
            "fat-tree" => &[("k", 2 * c)],
            "single-rooted-tree" => &[("racks", a), ("hosts_per_rack", b)],
            "star" => &[("hosts", a)],
            "dumbbell" => &[("hosts_per_side", a)],
            other => panic!("{other} has no sizes here"),
        };
        for &(key, count) in counts {
            settings.set(key, Value::Count(count));
        }
        build(kind.name, &settings).unwrap()
    })
}

/// Any connected network: a random tree of switches, some more links, hosts anywhere.
fn any_network() -> impl Strategy<Value = Network> {
    let tree = prop::collection::vec(any::<prop::sample::Index>(), 0..12);
    let index_pair = (any::<prop::sample::Index>(), any::<prop::sample::Index>());
    let more = prop::collection::vec(index_pair, 0..12);
    let homes = prop::collection::vec(any::<prop::sample::Index>(), 1..12);
    (tree, more, homes).prop_map(|(tree, more, homes)| {
        let link = Link { rate: Rate::from_gbps(10), delay: Time::from_us(1) };
        let mut builder = NetworkBuilder::new();
        let switches = builder.tier("switch", tree.len() as u32 + 1);
        for (index, parent) in tree.iter().enumerate() {
            builder.connect(switches[parent.index(index + 1)], switches[index + 1], link);
        }
        for (one, other) in &more {
            builder.connect(*one.get(&switches), *other.get(&switches), link);
        }
        for home in &homes {
            builder.host(*home.get(&switches), link);
        }
        builder.finish().unwrap()
    })
}

/// By node: links from there to `to` on a shortest path, by petgraph.
fn distances(network: &Network, to: HostId) -> Vec<u32> {
    let backwards: DiGraphMap<u32, u32> =
        network.ports().iter().map(|port| (port.peer.0, port.owner.0, 1)).collect();
    let found = dijkstra(&backwards, to.0, None, |(_, _, weight)| *weight);
    (0..network.node_count()).map(|node| found.get(&node).copied().unwrap_or(u32::MAX)).collect()
}

/// Every candidate is one link closer, and every port that is one link closer is a candidate:
/// then every path is shortest, and none has a loop.
fn check_routes(network: &Network) {
    for to in network.hosts() {
        let distances = distances(network, to);
        for switch in network.switches() {
            let here = distances[switch.index()];
            let closer = |port: &Port| distances[port.peer.index()] + 1 == here;
            let expected: Vec<_> = network
                .ports_of(switch)
                .iter()
                .copied()
                .filter(|port| closer(network.port(*port)))
                .collect();
            assert_eq!(network.routes().next(switch, to), expected, "{switch:?} to {to:?}");
        }
    }
}

fn check_links(network: &Network) {
    for (index, port) in network.ports().iter().enumerate() {
        let reverse = network.reverse(flowsched_topology::PortId(index as u32));
        let back = network.port(reverse);
        assert_eq!((port.owner, port.peer), (back.peer, back.owner));
        assert_eq!((port.rate, port.delay), (back.rate, back.delay));
        assert_eq!(network.reverse(reverse).index(), index);
    }
    for host in network.hosts() {
        assert_eq!(network.ports_of(host.node()), [network.nic(host)]);
        assert_eq!(network.port(network.port_to(host)).peer, host.node());
        assert_eq!(network.port(network.nic(host)).peer, network.edge_of(host));
    }
    for port in network.core_ports().map(|port| network.port(port)) {
        assert!(network.host(port.owner).is_none() && network.host(port.peer).is_none());
    }
}

fn check_paths(network: &Network) {
    for (src, dst) in network.hosts().flat_map(|src| network.hosts().map(move |dst| (src, dst))) {
        if src == dst {
            continue;
        }
        let shortest = distances(network, dst)[src.index()];
        let paths = network.paths(src, dst);
        assert_eq!(paths[0], network.first_path(src, dst).collect::<Vec<_>>());
        assert_eq!(network.core_hops(src, dst) + 2, shortest);
        for path in &paths {
            let mut visited: Vec<NodeId> = vec![src.node()];
            for port in path.iter().map(|port| network.port(*port)) {
                assert_eq!(Some(&port.owner), visited.last(), "a path is connected");
                assert!(!visited.contains(&port.peer), "a path has a loop");
                visited.push(port.peer);
            }
            assert_eq!((visited.last(), path.len() as u32), (Some(&dst.node()), shortest));
        }
        let mut distinct = paths.clone();
        distinct.sort();
        distinct.dedup();
        assert_eq!(distinct.len(), paths.len(), "a path is there twice");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_kind_of_network_is_sound(network in any_kind()) {
        check_links(&network);
        check_routes(&network);
        check_paths(&network);
    }

    #[test]
    fn every_network_is_sound(network in any_network()) {
        check_links(&network);
        check_routes(&network);
    }
}

#[test]
fn links_are_as_many_as_the_sizes_say() {
    let links = |name: &str, counts: &[(&str, u64)]| {
        let mut settings = Settings::defaults(kind(name).unwrap().parameters);
        for &(key, count) in counts {
            settings.set(key, Value::Count(count));
        }
        build(name, &settings).unwrap().ports().len() / 2
    };
    let leaf_spine = [("leaves", 3), ("spines", 4), ("hosts_per_leaf", 5)];
    assert_eq!(links("leaf-spine", &leaf_spine), 3 * 5 + 3 * 4);
    assert_eq!(links("fat-tree", &[("k", 6)]), 3 * 54);
    assert_eq!(links("single-rooted-tree", &[("racks", 4), ("hosts_per_rack", 3)]), 16);
    assert_eq!(links("star", &[("hosts", 7)]), 7);
    assert_eq!(links("dumbbell", &[("hosts_per_side", 7)]), 15);
}
