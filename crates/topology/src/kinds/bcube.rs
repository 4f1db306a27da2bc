//! Servers with several ports, which forward for each other.

use flowsched_units::{Kind, Parameter, SettingError, Settings};

use crate::builder::NetworkBuilder;
use crate::kind::{self, Size, TopologyKind, core_link, count, parameter};
use crate::parallel::Parallel;

const PDQ: &str = "PDQ 2012, Figure 11: BCube(2,3)";
const DELAYS: &str = "as in single-rooted-tree, PDQ 2012, Figure 2";

const N: Parameter =
    parameter("n", Kind::Count { from: 2, to: 64 }, "2", "Ports of a switch.", PDQ);

const K: Parameter = parameter(
    "k",
    Kind::Count { from: 0, to: 9 },
    "3",
    "The highest level; a server has k+1 ports. PDQ's dual-port servers: 1.",
    PDQ,
);

const HOSTS: Parameter = parameter(
    "hosts",
    Kind::Count { from: 0, to: 1 << 20 },
    "0",
    "Number of servers, which must be n^(k+1); 0: computed.",
    "none: what n and k make",
);

const LINK: Parameter =
    parameter("link", Kind::Rate, "1Gbps", "Rate of every link.", "PDQ 2012, Figure 2");

const LINK_DELAY: Parameter =
    Parameter { default: Some("25.1us"), source: DELAYS, ..kind::LINK_DELAY };

pub(crate) const KIND: TopologyKind = TopologyKind {
    name: "bcube",
    about: "BCube(n,k): n^(k+1) servers with k+1 ports, each at a switch of n ports; servers \
            forward, one digit of the address after the other.",
    source: "BCube, SIGCOMM 2009; PDQ 2012, 5.5 and 6",
    parameters: &[N, K, HOSTS, LINK, LINK_DELAY],
    connect,
};

fn connect(settings: &Settings) -> Result<NetworkBuilder, SettingError> {
    let [n, k] = [&N, &K].map(|parameter| count(settings, parameter));
    let wide = |exponent: u32| u64::from(n).checked_pow(exponent).unwrap_or(u64::MAX / 64);
    let (hosts, per_level) = (wide(k + 1), wide(k));
    let asked = settings.count(&HOSTS);
    if asked != 0 && asked != hosts {
        let problem = format!(
            "A BCube with n = {n} and k = {k} has n^(k+1) = {hosts} hosts, not {asked}. Remove `hosts` \
             or change `n` or `k`."
        );
        return Err(SettingError::sentence(&HOSTS, problem));
    }
    let levels = u64::from(k) + 1;
    let nodes = hosts.saturating_add(levels * per_level);
    let size = Size {
        hosts: hosts.saturating_mul(levels),
        core_links: 0,
        edge_switches: hosts,
        switches: nodes,
    };
    size.check(&K, settings)?;

    let mut builder = NetworkBuilder::new();
    let switches = builder.tier("switch", (levels * per_level) as u32);
    for address in 0..hosts {
        let switch = |level: u32| {
            let below = wide(level);
            let others = address / (below * u64::from(n)) * below + address % below;
            switches[(u64::from(level) * per_level + others) as usize]
        };
        let host = builder.host(switch(0), core_link(settings, &LINK));
        for level in 1..=k {
            builder.attach(host, switch(level), core_link(settings, &LINK));
        }
    }
    builder.parallel(Parallel::Bcube { n, k });
    Ok(builder)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use flowsched_units::Value;
    use proptest::prelude::*;

    use super::*;
    use crate::{HostId, Network, NodeId, PortId, build, kind};

    fn bcube(n: u64, k: u64) -> Network {
        let mut settings = Settings::defaults(kind("bcube").unwrap().parameters);
        settings.set("n", Value::Count(n));
        settings.set("k", Value::Count(k));
        build("bcube", &settings).unwrap()
    }

    /// How many digits of two addresses differ.
    fn distance(n: u32, mut one: u32, mut other: u32) -> usize {
        let mut differing = 0;
        while one != other {
            differing += usize::from(one % n != other % n);
            (one, other) = (one / n, other / n);
        }
        differing
    }

    #[test]
    fn the_bcube_of_the_pdq_paper_has_16_servers_of_4_ports() {
        let network = bcube(2, 3);
        assert_eq!((network.host_count(), network.switches().len()), (16, 32));
        assert!(network.hosts_forward());
        assert!(network.hosts().all(|host| network.nics(host).len() == 4));
        assert!(network.switches().all(|switch| network.ports_of(switch).len() == 2));
        assert_eq!(network.host_capacity().as_bps(), 16 * 4 * 1_000_000_000);
        assert_eq!(network.core_ports().len(), 0);
    }

    #[test]
    fn a_level_connects_addresses_that_differ_in_its_digit() {
        for (n, k) in [(2, 3), (3, 2), (4, 1), (5, 0)] {
            let network = bcube(n, k);
            for switch in network.switches() {
                let ports = network.ports_of(switch).iter();
                let servers: Vec<u32> = ports.map(|port| network.port(*port).peer.0).collect();
                assert_eq!(servers.len() as u64, n);
                for (one, other) in servers.iter().zip(&servers[1..]) {
                    assert_eq!(distance(n as u32, *one, *other), 1);
                }
            }
        }
    }

    #[test]
    fn sizes_that_do_not_close_are_refused() {
        for (n, k, hosts, key) in
            [(2, 3, 15, "hosts"), (4, 1, 8, "hosts"), (64, 9, 0, "k"), (1, 1, 0, "n")]
        {
            let mut settings = Settings::defaults(kind("bcube").unwrap().parameters);
            for (key, value) in [("n", n), ("k", k), ("hosts", hosts)] {
                settings.set(key, Value::Count(value));
            }
            assert_eq!(build("bcube", &settings).unwrap_err().key, key);
        }
    }

    fn nodes_between(network: &Network, path: &[PortId]) -> BTreeSet<NodeId> {
        path[..path.len() - 1].iter().map(|port| network.port(*port).peer).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        /// BCube, SIGCOMM 2009, 3: k+1 paths that share no server and no switch, the shortest
        /// of them with two links for every digit that differs.
        #[test]
        fn a_pair_has_k_plus_1_disjoint_paths(
            shape in prop::sample::select(vec![(2u64, 3u64), (3, 2), (4, 1), (2, 0), (2, 4)]),
            src: prop::sample::Index, dst: prop::sample::Index,
        ) {
            let (n, k) = shape;
            let network = bcube(n, k);
            let hosts = network.host_count() as usize;
            let (src, dst) = (HostId(src.index(hosts) as u32), HostId(dst.index(hosts) as u32));
            prop_assume!(src != dst);
            let paths = network.parallel_paths(src, dst);
            prop_assert_eq!(paths.len() as u64, k + 1);
            let mut seen = BTreeSet::new();
            for path in &paths {
                let mut at = src.node();
                for port in path {
                    prop_assert_eq!(network.port(*port).owner, at);
                    at = network.port(*port).peer;
                }
                prop_assert_eq!(at, dst.node());
                let between = nodes_between(&network, path);
                prop_assert_eq!(between.len(), path.len() - 1);
                prop_assert!(seen.is_disjoint(&between), "{:?}", paths);
                seen.extend(between);
            }
            let digits = distance(n as u32, src.0, dst.0);
            let shortest = paths.iter().map(Vec::len).min();
            prop_assert_eq!(shortest, Some(2 * digits));
            prop_assert_eq!(network.first_path(src, dst).count(), 2 * digits);
            let factorial: usize = (1..=digits).product();
            prop_assert_eq!(network.paths(src, dst).len(), factorial);
        }
    }
}
