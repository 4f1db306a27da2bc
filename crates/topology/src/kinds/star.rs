//! Hosts around one switch.

use flowsched_units::{Kind, Parameter, SettingError, Settings};

use crate::builder::NetworkBuilder;
use crate::kind::{
    HOST_DELAY, LIKE_LEAF_SPINE, LINK_DELAY, MANY, Size, TopologyKind, count, host_link, parameter,
};

const TESTBED: &str = "PIAS ToN 2017, IV-B: 16 servers at one switch";

const HOSTS: Parameter =
    parameter("hosts", Kind::Count { from: 1, to: MANY }, "16", "Hosts.", TESTBED);

const HOST_LINK: Parameter =
    parameter("host_link", Kind::Rate, "10Gbps", "Rate of every link.", LIKE_LEAF_SPINE);

pub(crate) const KIND: TopologyKind = TopologyKind {
    name: "star",
    about: "Hosts around one switch.",
    source: TESTBED,
    parameters: &[HOSTS, HOST_LINK, LINK_DELAY, HOST_DELAY],
    connect,
};

fn connect(settings: &Settings) -> Result<NetworkBuilder, SettingError> {
    let hosts = count(settings, &HOSTS);
    let size = Size { hosts: hosts.into(), core_links: 0, edge_switches: 1, switches: 1 };
    size.check(&HOSTS, settings)?;
    let mut builder = NetworkBuilder::new();
    let switch = builder.tier("switch", 1)[0];
    builder.hosts(hosts, switch, host_link(settings, &HOST_LINK));
    Ok(builder)
}
