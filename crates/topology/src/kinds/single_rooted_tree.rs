//! Two levels of switches under one root: the default topology of the PDQ and D3 papers.

use flowsched_units::{Kind, Parameter, SettingError, Settings};

use crate::builder::{Link, NetworkBuilder};
use crate::kind::{self, MANY, Size, TopologyKind, count, parameter};

const TREE: &str = "PDQ 2012, Figure 2a";

const RACKS: Parameter =
    parameter("racks", Kind::Count { from: 1, to: MANY }, "4", "Top-of-rack switches.", TREE);

const HOSTS_PER_RACK: Parameter = parameter(
    "hosts_per_rack",
    Kind::Count { from: 1, to: MANY },
    "3",
    "Servers in each rack.",
    TREE,
);

const HOST_LINK: Parameter =
    parameter("host_link", Kind::Rate, "1Gbps", "Rate between a server and its rack.", TREE);

const FABRIC_LINK: Parameter =
    parameter("fabric_link", Kind::Rate, "1Gbps", "Rate between a rack and the root.", TREE);

const LINK_DELAY: Parameter = Parameter {
    default: Some("0.1us"),
    about: "Propagation delay of a link.",
    source: TREE,
    ..kind::LINK_DELAY
};

const PROCESSING_DELAY: Parameter = parameter(
    "processing_delay",
    Kind::Time,
    "25us",
    "Delay at the receiving end of every link, servers included.",
    TREE,
);

pub(crate) const KIND: TopologyKind = TopologyKind {
    name: "single-rooted-tree",
    about: "Racks of servers under top-of-rack switches, which one root switch connects; 17 \
            nodes by default.",
    source: TREE,
    parameters: &[RACKS, HOSTS_PER_RACK, HOST_LINK, FABRIC_LINK, LINK_DELAY, PROCESSING_DELAY],
    connect,
};

fn connect(settings: &Settings) -> Result<NetworkBuilder, SettingError> {
    let [racks, hosts_per_rack] =
        [&RACKS, &HOSTS_PER_RACK].map(|parameter| count(settings, parameter));
    let size = Size {
        hosts: u64::from(racks) * u64::from(hosts_per_rack),
        core_links: racks.into(),
        edge_switches: racks.into(),
        switches: u64::from(racks) + 1,
    };
    size.check(&RACKS, settings)?;

    let delay = settings.time(&LINK_DELAY) + settings.time(&PROCESSING_DELAY);
    let link = |rate: &Parameter| Link { rate: settings.rate(rate), delay };
    let mut builder = NetworkBuilder::new();
    let racks = builder.tier("top-of-rack", racks);
    let root = builder.tier("root", 1)[0];
    for rack in racks {
        builder.hosts(hosts_per_rack, rack, link(&HOST_LINK));
        builder.connect(rack, root, link(&FABRIC_LINK));
    }
    Ok(builder)
}

#[cfg(test)]
mod tests {
    use flowsched_units::{Bytes, Time};

    use crate::{HostId, build, kind};

    use super::*;

    #[test]
    fn the_pdq_tree_has_17_nodes_and_the_delays_of_the_paper() {
        let settings = Settings::defaults(kind("single-rooted-tree").unwrap().parameters);
        let network = build("single-rooted-tree", &settings).unwrap();
        assert_eq!((network.node_count(), network.host_count()), (17, 12));
        let rtt = network.base_rtt(HostId(0), HostId(11), Bytes::new(1500), Bytes::new(40));
        assert_eq!(rtt, Time::from_ns(8 * 25_100 + 4 * 12_000 + 4 * 320));
    }
}
