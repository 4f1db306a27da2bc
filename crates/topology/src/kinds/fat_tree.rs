//! A fat-tree of switches with `k` ports: `k` pods, `k`^3 / 4 hosts, every layer as wide as the
//! hosts.

use flowsched_units::{Kind, Parameter, SettingError, Settings};

use crate::builder::NetworkBuilder;
use crate::kind::{self, Size, TopologyKind, core_link, count, host_link, parameter};

const EPN: &str = "EPN 2018, VI-D";
const DELAYS: &str = "EPN 2018, VI-D: 12 links of 4us and 6 packets of 1.2us make its 55.2us";

const K: Parameter = parameter(
    "k",
    Kind::Count { from: 2, to: 128 },
    "8",
    "Ports of a switch, an even number; 8 makes 128 hosts.",
    EPN,
);

const LINK: Parameter = parameter("link", Kind::Rate, "10Gbps", "Rate of every link.", EPN);

const LINK_DELAY: Parameter =
    Parameter { default: Some("4us"), source: DELAYS, ..kind::LINK_DELAY };

const HOST_DELAY: Parameter =
    Parameter { default: Some("0us"), source: DELAYS, ..kind::HOST_DELAY };

pub(crate) const KIND: TopologyKind = TopologyKind {
    name: "fat-tree",
    about: "A fat-tree of k-port switches: k pods of k/2 edge and k/2 aggregation switches, \
            (k/2)^2 core switches, k^3/4 hosts.",
    source: EPN,
    parameters: &[K, LINK, LINK_DELAY, HOST_DELAY],
    connect,
};

fn connect(settings: &Settings) -> Result<NetworkBuilder, SettingError> {
    let k = count(settings, &K);
    if !k.is_multiple_of(2) {
        return Err(SettingError::new(&K, k.to_string(), "an even number of ports"));
    }
    let half = k / 2;
    let (ports, layer) = (u64::from(k), u64::from(k * half));
    let size = Size {
        hosts: layer * u64::from(half),
        core_links: ports * layer,
        edge_switches: layer,
        switches: 2 * layer + u64::from(half * half),
    };
    size.check(&K, settings)?;

    let mut builder = NetworkBuilder::new();
    let edges = builder.tier("edge", k * half);
    let aggregations = builder.tier("aggregation", k * half);
    let cores = builder.tier("core", half * half);
    let half = half as usize;
    let link = core_link(settings, &LINK);
    for edge in &edges {
        builder.hosts(half as u32, *edge, host_link(settings, &LINK));
    }
    for (pod_edges, pod_aggregations) in edges.chunks(half).zip(aggregations.chunks(half)) {
        for edge in pod_edges {
            for aggregation in pod_aggregations {
                builder.connect(*edge, *aggregation, link);
            }
        }
        // The first aggregation switch of every pod meets at the first k/2 core switches.
        for (aggregation, group) in pod_aggregations.iter().zip(cores.chunks(half)) {
            for core in group {
                builder.connect(*aggregation, *core, link);
            }
        }
    }
    Ok(builder)
}

#[cfg(test)]
mod tests {
    use flowsched_units::{Bytes, Time, Value};

    use crate::{HostId, build, kind};

    use super::*;

    #[test]
    fn the_epn_fabric_has_the_size_and_round_trip_time_of_the_paper() {
        let settings = Settings::defaults(kind("fat-tree").unwrap().parameters);
        let network = build("fat-tree", &settings).unwrap();
        assert_eq!(network.host_count(), 128);
        // The paper's 55.2 us leave the acknowledgement's own bytes out.
        let rtt = |ack| network.base_rtt(HostId(0), HostId(127), Bytes::new(1500), ack);
        assert_eq!(rtt(Bytes::ZERO), Time::from_ns(55_200));
        assert_eq!(rtt(Bytes::new(40)), Time::from_ns(55_392));
    }

    #[test]
    fn sizes_and_path_counts_follow_k() {
        for k in [2, 4, 6, 8] {
            let mut settings = Settings::defaults(kind("fat-tree").unwrap().parameters);
            settings.set("k", Value::Count(k.into()));
            let network = build("fat-tree", &settings).unwrap();
            assert_eq!(network.host_count(), k * k * k / 4);
            assert_eq!(network.switches().len() as u32, 5 * k * k / 4);
            assert_eq!(network.core_ports().len() as u32, 2 * (k * k * k / 2));
            let last = HostId(network.host_count() - 1);
            assert_eq!(network.paths(HostId(0), last).len() as u32, k * k / 4);
            // In the same pod, under another edge switch.
            if k > 2 {
                let neighbour = HostId(k / 2);
                assert_eq!(network.paths(HostId(0), neighbour).len() as u32, k / 2);
            }
        }
    }
}
