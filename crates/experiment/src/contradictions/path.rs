//! The longest path of an idle network.

use flowsched_topology::{HostId, Network};
use flowsched_units::{Bytes, PACKET_HEADER, PACKET_WIRE, Rate, Time};

/// The most destinations to examine, besides the last host. Networks with more racks are regular.
const MOST: usize = 64;

/// The path from host 0 with the longest round trip.
#[derive(Clone, Copy, Debug)]
pub(super) struct LongestPath {
    /// The lowest rate of its links.
    pub rate: Rate,
    /// The round-trip time of a full packet and its acknowledgement on the idle network.
    pub rtt: Time,
}

impl LongestPath {
    /// The longest path of `network`; `None` if there is only one host.
    pub fn find(network: &Network) -> Option<LongestPath> {
        let from = HostId(0);
        let data = Bytes::new(PACKET_WIRE);
        let ack = Bytes::new(PACKET_HEADER);
        let path = |to| LongestPath {
            rate: network.bottleneck(from, to),
            rtt: network.base_rtt(from, to, data, ack),
        };
        let last = HostId(network.host_count().saturating_sub(1));
        let others = network.one_host_an_edge().into_iter().take(MOST).chain([last]);
        others.filter(|to| *to != from).map(path).max_by_key(|path| path.rtt)
    }

    /// The bytes that the path carries in one round trip.
    pub fn bandwidth_delay_product(&self) -> Bytes {
        self.rate.bytes_in(self.rtt)
    }
}
