//! Hosts around one switch.

use flowsched_units::{Kind, SettingError, Settings};

use crate::builder::NetworkBuilder;
use crate::kind::{MANY, Size, TopologyKind, count, host_link, parameter};

const TESTBED: &str = "PIAS ToN 2017, IV-B: 16 servers at one switch";
const LIKE_LEAF_SPINE: &str = "as in leaf-spine";

pub(crate) const KIND: TopologyKind = TopologyKind {
    name: "star",
    about: "Hosts around one switch.",
    source: TESTBED,
    parameters: &[
        parameter("hosts", Kind::Count { from: 1, to: MANY }, "16", "Hosts.", TESTBED),
        parameter("host_link", Kind::Rate, "10Gbps", "Rate of every link.", LIKE_LEAF_SPINE),
        parameter("link_delay", Kind::Time, "0.2us", "Delay of a link, one way.", LIKE_LEAF_SPINE),
        parameter(
            "host_delay",
            Kind::Time,
            "20us",
            "Delay in a host, added to its link in each direction.",
            LIKE_LEAF_SPINE,
        ),
    ],
    connect,
};

fn connect(settings: &Settings) -> Result<NetworkBuilder, SettingError> {
    let hosts = count(settings, "hosts");
    let size = Size { hosts: hosts.into(), core_links: 0, edge_switches: 1, switches: 1 };
    size.check("hosts", settings)?;
    let mut builder = NetworkBuilder::new();
    let switch = builder.tier("switch", 1)[0];
    builder.hosts(hosts, switch, host_link(settings, "host_link"));
    Ok(builder)
}
