//! Two switches with hosts at either side of one link.

use flowsched_units::{Kind, SettingError, Settings};

use crate::builder::NetworkBuilder;
use crate::kind::{MANY, Size, TopologyKind, core_link, count, host_link, parameter};

const LIKE_LEAF_SPINE: &str = "as in leaf-spine";

pub(crate) const KIND: TopologyKind = TopologyKind {
    name: "dumbbell",
    about: "Two switches with one link between them and as many hosts on its left as on its \
            right; the left ones have the first numbers.",
    source: "the usual scene for one bottleneck",
    parameters: &[
        parameter(
            "hosts_per_side",
            Kind::Count { from: 1, to: MANY },
            "2",
            "Hosts at each switch.",
            "none: the smallest scene with competition",
        ),
        parameter(
            "host_link",
            Kind::Rate,
            "10Gbps",
            "Rate between a host and its switch.",
            LIKE_LEAF_SPINE,
        ),
        parameter(
            "bottleneck_link",
            Kind::Rate,
            "10Gbps",
            "Rate between the switches.",
            "none: as fast as a host",
        ),
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
    let hosts_per_side = count(settings, "hosts_per_side");
    let size =
        Size { hosts: 2 * u64::from(hosts_per_side), core_links: 1, edge_switches: 2, switches: 2 };
    size.check("hosts_per_side", settings)?;
    let mut builder = NetworkBuilder::new();
    let sides = builder.tier("switch", 2);
    for side in &sides {
        builder.hosts(hosts_per_side, *side, host_link(settings, "host_link"));
    }
    builder.connect(sides[0], sides[1], core_link(settings, "bottleneck_link"));
    Ok(builder)
}
