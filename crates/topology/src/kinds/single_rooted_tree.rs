//! Two levels of switches under one root: the default topology of the PDQ and D3 papers.

use flowsched_units::{Kind, SettingError, Settings};

use crate::builder::{Link, NetworkBuilder};
use crate::kind::{MANY, Size, TopologyKind, count, parameter};

const TREE: &str = "PDQ 2012, Figure 2a";

pub(crate) const KIND: TopologyKind = TopologyKind {
    name: "single-rooted-tree",
    about: "Racks of servers under top-of-rack switches, which one root switch connects; 17 \
            nodes by default.",
    source: TREE,
    parameters: &[
        parameter("racks", Kind::Count { from: 1, to: MANY }, "4", "Top-of-rack switches.", TREE),
        parameter(
            "hosts_per_rack",
            Kind::Count { from: 1, to: MANY },
            "3",
            "Servers in each rack.",
            TREE,
        ),
        parameter("host_link", Kind::Rate, "1Gbps", "Rate between a server and its rack.", TREE),
        parameter("fabric_link", Kind::Rate, "1Gbps", "Rate between a rack and the root.", TREE),
        parameter("link_delay", Kind::Time, "0.1us", "Propagation delay of a link.", TREE),
        parameter(
            "processing_delay",
            Kind::Time,
            "25us",
            "Delay at the receiving end of every link, servers included.",
            TREE,
        ),
    ],
    connect,
};

fn connect(settings: &Settings) -> Result<NetworkBuilder, SettingError> {
    let [racks, hosts_per_rack] = ["racks", "hosts_per_rack"].map(|key| count(settings, key));
    let size = Size {
        hosts: u64::from(racks) * u64::from(hosts_per_rack),
        core_links: racks.into(),
        edge_switches: racks.into(),
        switches: u64::from(racks) + 1,
    };
    size.check("racks", settings)?;

    let delay = settings.time("link_delay") + settings.time("processing_delay");
    let link = |rate: &str| Link { rate: settings.rate(rate), delay };
    let mut builder = NetworkBuilder::new();
    let racks = builder.tier("top-of-rack", racks);
    let root = builder.tier("root", 1)[0];
    for rack in racks {
        builder.hosts(hosts_per_rack, rack, link("host_link"));
        builder.connect(rack, root, link("fabric_link"));
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
