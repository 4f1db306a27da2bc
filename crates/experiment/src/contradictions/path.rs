//! What an idle network is like for the flows that cross it.

use flowsched_topology::{HostId, Network};
use flowsched_units::{Bytes, PACKET_HEADER, PACKET_WIRE, Rate, Time};

/// More destinations than this are not looked at: networks of this many racks are regular.
const MOST: usize = 64;

/// The path with the longest round trip of those from host 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct LongestPath {
    /// Its lowest rate.
    pub rate: Rate,
    /// The round-trip time of a full packet and its acknowledgement on the idle network.
    pub rtt: Time,
}

impl LongestPath {
    /// That of `network`; none where there is one host.
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

    /// What it carries within a round trip.
    pub fn bandwidth_delay_product(&self) -> Bytes {
        self.rate.bytes_in(self.rtt)
    }
}
