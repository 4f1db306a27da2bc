//! What holds for every network: its links, and its routes against petgraph's shortest paths.

use flowsched_topology::{
    Ecmp, HostId, Link, LinkEnd, Network, NetworkBuilder, NodeId, TOPOLOGIES, build, kind,
};
use flowsched_units::{Rate, Settings, Time, Value};
use petgraph::algo::{all_simple_paths, dijkstra};
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
            "bcube" => &[("n", 1 + b), ("k", c - 1)],
            "jellyfish" => &[("switches", 3 + a), ("ports", 3 + b), ("degree", 2)],
            "custom" => &[],
            other => panic!("{other} has no sizes here"),
        };
        for &(key, count) in counts {
            settings.set(key, Value::Count(count));
        }
        let links = "a S; b S; S T 1Gbps; T U 40Gbps 1us; S U; c U; d T";
        for (key, text) in [("hosts", "a b c d"), ("links", links)] {
            if kind.name == "custom" {
                settings.set(key, Value::Text(text.into()));
            }
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

/// The number of links from each node to `to` on a shortest path, by petgraph.
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
        let forwarding = network.hosts().map(HostId::node).filter(|_| network.hosts_forward());
        for switch in forwarding.chain(network.switches()).filter(|node| *node != to.node()) {
            let here = distances[switch.index()];
            let closer = |port: &LinkEnd| distances[port.peer.index()] + 1 == here;
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
        assert_eq!((port.rate, port.delay, port.loss), (back.rate, back.delay, back.loss));
        assert_eq!(network.reverse(reverse).index(), index);
    }
    for host in network.hosts() {
        assert_eq!(network.nics(host), network.ports_of(host.node()));
        assert_eq!(network.nics(host)[0], network.nic(host));
        assert!(network.nics(host).len() == 1 || network.hosts_forward());
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
        if network.hosts_forward() {
            assert_eq!(
                (network.core_hops(src, dst), 2 * network.host_hops(src, dst)),
                (0, shortest)
            );
        } else {
            assert_eq!(
                (network.core_hops(src, dst) + 2, network.host_hops(src, dst)),
                (shortest, 1)
            );
        }
        for flow in 0..4 {
            let chosen: Vec<_> = Ecmp::new(7).path(network, flow, src, dst).collect();
            assert!(paths.contains(&chosen), "ECMP takes {chosen:?}");
        }
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

/// The lengths of the shortest paths without a loop between two switches, `most` of them, by
/// petgraph. Switches have at most one link between them.
fn lengths_of_all(network: &Network, from: NodeId, to: NodeId, most: usize) -> Vec<usize> {
    let core = network.core_ports().map(|port| network.port(port));
    let graph: DiGraphMap<u32, ()> = core.map(|port| (port.owner.0, port.peer.0, ())).collect();
    if from == to {
        return vec![2];
    }
    let paths =
        all_simple_paths::<Vec<u32>, _, std::hash::RandomState>(&graph, from.0, to.0, 0, None);
    // Two links of hosts, and one fewer between switches than switches.
    let mut lengths: Vec<usize> = paths.map(|path| path.len() + 1).collect();
    lengths.sort_unstable();
    lengths.truncate(most);
    lengths
}

fn check_k_shortest(network: &Network, most: usize) {
    let backwards = (0..network.host_count()).rev().map(HostId);
    for (src, dst) in network.hosts().zip(backwards).filter(|(src, dst)| src != dst) {
        let paths = network.parallel_paths(src, dst);
        for path in &paths {
            let mut visited = vec![src.node()];
            for port in path.iter().map(|port| network.port(*port)) {
                assert_eq!(Some(&port.owner), visited.last());
                assert!(!visited.contains(&port.peer), "a loop");
                visited.push(port.peer);
            }
            assert_eq!(visited.last(), Some(&dst.node()));
        }
        let lengths: Vec<usize> = paths.iter().map(Vec::len).collect();
        let (from, to) = (network.edge_of(src), network.edge_of(dst));
        assert_eq!(lengths, lengths_of_all(network, from, to, most));
        let mut distinct = paths.clone();
        distinct.sort();
        distinct.dedup();
        assert_eq!(distinct.len(), paths.len(), "a path is there twice");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_parallel_paths_of_a_jellyfish_are_its_k_shortest(
        switches in 5u64..9, seed: u32, paths in 1u64..12,
    ) {
        let mut settings = Settings::defaults(kind("jellyfish").unwrap().parameters);
        let counts = [("switches", switches), ("ports", 5), ("degree", 4)];
        for (key, count) in counts.into_iter().chain([("graph_seed", seed.into()), ("paths", paths)]) {
            settings.set(key, Value::Count(count));
        }
        check_k_shortest(&build("jellyfish", &settings).unwrap(), paths as usize);
    }

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
