//! Two switches with hosts at either side of one link.

use flowsched_units::{Kind, Parameter, SettingError, Settings};

use crate::builder::NetworkBuilder;
use crate::kind::{
    HOST_DELAY, LIKE_LEAF_SPINE, LINK_DELAY, MANY, Size, TopologyKind, core_link, count, host_link,
    parameter,
};

const HOSTS_PER_SIDE: Parameter = parameter(
    "hosts_per_side",
    Kind::Count { from: 1, to: MANY },
    "2",
    "Hosts at each switch.",
    "none: the smallest scene with competition",
);

const HOST_LINK: Parameter = parameter(
    "host_link",
    Kind::Rate,
    "10Gbps",
    "Rate between a host and its switch.",
    LIKE_LEAF_SPINE,
);

const BOTTLENECK_LINK: Parameter = parameter(
    "bottleneck_link",
    Kind::Rate,
    "10Gbps",
    "Rate between the switches.",
    "none: as fast as a host",
);

pub(crate) const KIND: TopologyKind = TopologyKind {
    name: "dumbbell",
    about: "Two switches with one link between them, and the same number of hosts at each; the \
            hosts of the left switch have the first numbers.",
    source: "the usual scene for one bottleneck",
    parameters: &[HOSTS_PER_SIDE, HOST_LINK, BOTTLENECK_LINK, LINK_DELAY, HOST_DELAY],
    connect,
};

fn connect(settings: &Settings) -> Result<NetworkBuilder, SettingError> {
    let hosts_per_side = count(settings, &HOSTS_PER_SIDE);
    let size =
        Size { hosts: 2 * u64::from(hosts_per_side), core_links: 1, edge_switches: 2, switches: 2 };
    size.check(&HOSTS_PER_SIDE, settings)?;
    let mut builder = NetworkBuilder::new();
    let sides = builder.tier("switch", 2);
    for side in &sides {
        builder.hosts(hosts_per_side, *side, host_link(settings, &HOST_LINK));
    }
    builder.connect(sides[0], sides[1], core_link(settings, &BOTTLENECK_LINK));
    Ok(builder)
}
