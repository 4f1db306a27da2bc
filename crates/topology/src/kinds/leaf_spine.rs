//! Racks of hosts under leaf switches, every leaf connected to every spine.

use flowsched_units::{Kind, Parameter, SettingError, Settings};

use crate::builder::NetworkBuilder;
use crate::kind::{self, MANY, Size, TopologyKind, core_link, count, host_link, parameter};

const FABRIC: &str = "PIAS ToN 2017, V-C";
const DELAYS: &str = "the PIAS authors' simulation: 81.6us of propagation over the spine";

const LEAVES: Parameter =
    parameter("leaves", Kind::Count { from: 1, to: MANY }, "9", "Leaf switches.", FABRIC);

const SPINES: Parameter =
    parameter("spines", Kind::Count { from: 1, to: MANY }, "4", "Spine switches.", FABRIC);

const HOSTS_PER_LEAF: Parameter = parameter(
    "hosts_per_leaf",
    Kind::Count { from: 1, to: MANY },
    "16",
    "Hosts at each leaf.",
    FABRIC,
);

const HOST_LINK: Parameter =
    parameter("host_link", Kind::Rate, "10Gbps", "Rate between a host and its leaf.", FABRIC);

const FABRIC_LINK: Parameter = parameter(
    "fabric_link",
    Kind::Rate,
    "40Gbps",
    "Rate between a leaf and a spine; the fabric is oversubscribed where the hosts of a \
             leaf can send more than its links to the spines.",
    FABRIC,
);

const LINK_DELAY: Parameter = Parameter { source: DELAYS, ..kind::LINK_DELAY };

const HOST_DELAY: Parameter = Parameter { source: DELAYS, ..kind::HOST_DELAY };

pub(crate) const KIND: TopologyKind = TopologyKind {
    name: "leaf-spine",
    about: "Racks of hosts under leaf switches, every leaf connected to every spine switch.",
    source: FABRIC,
    parameters: &[LEAVES, SPINES, HOSTS_PER_LEAF, HOST_LINK, FABRIC_LINK, LINK_DELAY, HOST_DELAY],
    connect,
};

fn connect(settings: &Settings) -> Result<NetworkBuilder, SettingError> {
    let [leaves, spines, hosts_per_leaf] =
        [&LEAVES, &SPINES, &HOSTS_PER_LEAF].map(|parameter| count(settings, parameter));
    let size = Size {
        hosts: u64::from(leaves) * u64::from(hosts_per_leaf),
        core_links: u64::from(leaves) * u64::from(spines),
        edge_switches: leaves.into(),
        switches: u64::from(leaves) + u64::from(spines),
    };
    size.check(&LEAVES, settings)?;

    let mut builder = NetworkBuilder::new();
    let leaves = builder.tier("leaf", leaves);
    let spines = builder.tier("spine", spines);
    for leaf in leaves {
        builder.hosts(hosts_per_leaf, leaf, host_link(settings, &HOST_LINK));
        for spine in &spines {
            builder.connect(leaf, *spine, core_link(settings, &FABRIC_LINK));
        }
    }
    Ok(builder)
}

#[cfg(test)]
mod tests {
    use flowsched_units::{Bytes, Rate, Time};

    use crate::{HostId, NodeId, build, kind};

    use super::*;

    const DATA: Bytes = Bytes::new(1500);
    const ACK: Bytes = Bytes::new(40);

    #[test]
    fn the_pias_fabric_has_the_sizes_and_round_trip_times_of_the_paper() {
        let settings = Settings::defaults(kind("leaf-spine").unwrap().parameters);
        let network = build("leaf-spine", &settings).unwrap();
        assert_eq!(network.host_count(), 144);
        assert_eq!(network.switches().len(), 13);
        assert_eq!(network.ports().len(), 2 * (144 + 36));
        assert_eq!(network.host_capacity(), Rate::from_gbps(1_440));
        assert_eq!(network.core_capacity(), Rate::from_gbps(2 * 1_440));

        // Propagation, a data packet over four links, an acknowledgement back over four.
        let between_racks = network.base_rtt(HostId(0), HostId(143), DATA, ACK);
        assert_eq!(between_racks, Time::from_ns(81_600 + 3_000 + 80));
        // The paper rounds it to 85.2 us.
        assert!((between_racks.as_us_f64() / 85.2 - 1.0).abs() < 0.01);
        let in_rack = network.base_rtt(HostId(0), HostId(15), DATA, ACK);
        assert_eq!(in_rack, Time::from_ns(4 * 20_200 + 2_400 + 64));
    }

    #[test]
    fn a_lone_flow_takes_what_the_pias_authors_simulator_measured() {
        let settings = Settings::defaults(kind("leaf-spine").unwrap().parameters);
        let network = build("leaf-spine", &settings).unwrap();
        for packets in [1, 2, 6, 70, 20_000] {
            let fct = network.ideal_fct(HostId(0), HostId(143), Bytes::new(1460) * packets);
            assert_eq!(fct, Time::from_ns(83_480) + Time::from_ns(1_200) * packets);
        }
    }

    #[test]
    fn hosts_are_numbered_rack_by_rack() {
        let settings = Settings::defaults(kind("leaf-spine").unwrap().parameters);
        let network = build("leaf-spine", &settings).unwrap();
        for host in network.hosts() {
            assert_eq!(network.edge_of(host), NodeId(144 + host.0 / 16));
        }
    }
}
