//! Reads and writes the packets of the simulator's hosts.

use flowsched_schemes::Packet;
use flowsched_schemes::packet::{Codec, Flags, Header};
use flowsched_schemes::transport::tcp::segments_of;
use flowsched_schemes::wire;
use flowsched_topology::HostId;
use flowsched_workload::Flow;

use super::headers::Headers;

/// The packet in a frame of `from`; `None` if it is malformed, of no flow, not between the flow's hosts, or of a segment
/// that the flow does not have.
pub(super) fn read<H: Header>(
    codec: &Codec<H>,
    flows: &[Flow],
    from: HostId,
    headers: &Headers,
    frame: &[u8],
) -> Option<Packet<H>> {
    let mut packet = wire::read(codec, headers.payload(frame)?)?;
    let flow = flows.get(packet.flow as usize)?;
    let there = (flow.src, flow.dst);
    let is_ack = packet.flags.has(Flags::ACK);
    let way = if is_ack { (there.1, there.0) } else { there };
    // Probes count probes, not segments.
    let has_segment = !packet.flags.has(Flags::SYN.with(Flags::PROBE));
    if has_segment && packet.seq > segments_of(flow.size) {
        return None;
    }
    // Only controllers may send messages.
    if packet.flags.has(Flags::MESSAGE) || (from, headers.to) != way {
        return None;
    }
    packet.to = headers.to.0;
    packet.wire = headers.wire;
    Some(packet)
}

/// Writes into a packet's frame what the network has changed.
pub(super) fn write<H: Header>(
    codec: &Codec<H>,
    packet: &Packet<H>,
    headers: &Headers,
    frame: &mut [u8],
) {
    if let Some(payload) = headers.payload_mut(frame) {
        wire::write(packet, codec, payload);
    }
}

#[cfg(test)]
mod tests {
    use etherparse::PacketBuilder;
    use flowsched_schemes::transport::pdq::PdqHeader;
    use flowsched_units::{Bytes, Rate, Time};
    use proptest::prelude::*;

    use super::*;
    use crate::address::{ipv4, mac};

    const FROM: HostId = HostId(0);
    const TO: HostId = HostId(2);

    fn flows() -> [Flow; 1] {
        [Flow::new(0, FROM, TO, Bytes::new(1_000), Time::ZERO)]
    }

    fn frame(from: HostId, to: HostId, packet: &Packet<PdqHeader>) -> Vec<u8> {
        let mut payload = [0; 100];
        assert!(wire::write(packet, &PdqHeader::CODEC.unwrap(), &mut payload));
        let udp = PacketBuilder::ethernet2(mac(from), mac(to))
            .ipv4(ipv4(from).octets(), ipv4(to).octets(), 64)
            .udp(5_001, 5_001);
        let mut bytes = Vec::new();
        udp.write(&mut bytes, &payload).unwrap();
        bytes
    }

    fn take(from: HostId, bytes: &[u8]) -> Option<Packet<PdqHeader>> {
        let headers = Headers::read(bytes, from, 3)?;
        read(&PdqHeader::CODEC.unwrap(), &flows(), from, &headers, bytes)
    }

    #[test]
    fn what_the_network_writes_is_what_the_host_reads() {
        let data = Packet::<PdqHeader>::data(0, TO.0, 5, 128, Flags::SYN);
        let mut bytes = frame(FROM, TO, &data);
        let headers = Headers::read(&bytes, FROM, 3).unwrap();
        let mut packet = take(FROM, &bytes).unwrap();
        assert_eq!(packet, data);
        packet.header.rate = Rate::from_gbps(3);
        write(&PdqHeader::CODEC.unwrap(), &packet, &headers, &mut bytes);
        assert_eq!(take(FROM, &bytes), Some(packet));
        let udp = etherparse::SlicedPacket::from_ethernet(&bytes).unwrap().transport;
        let Some(etherparse::TransportSlice::Udp(udp)) = udp else { panic!("UDP") };
        assert_eq!(udp.checksum(), 0, "none: the one that it had is wrong now");
    }

    #[test]
    fn what_is_not_between_the_flows_hosts_is_no_packet() {
        let data = Packet::<PdqHeader>::data(0, TO.0, 0, 128, Flags::default());
        let changed = |flow, flags| {
            let mut packet = data;
            (packet.flow, packet.flags) = (flow, flags);
            packet
        };
        let ack = changed(0, Flags::ACK);
        assert!(take(FROM, &frame(FROM, TO, &data)).is_some());
        assert!(take(TO, &frame(TO, FROM, &ack)).is_some());
        assert_eq!(take(FROM, &frame(FROM, TO, &ack)), None, "an answer of the sender's");
        assert_eq!(take(TO, &frame(TO, FROM, &data)), None, "data of the receiver's");
        assert_eq!(take(FROM, &frame(FROM, HostId(1), &data)), None, "a third host");
        let other = changed(1, Flags::default());
        assert_eq!(take(FROM, &frame(FROM, TO, &other)), None, "there is no flow 1");
        let beyond = Packet::data(0, TO.0, 2, 128, Flags::default());
        assert_eq!(take(FROM, &frame(FROM, TO, &beyond)), None, "the flow has one segment");
        let message = changed(0, Flags::ACK.with(Flags::MESSAGE));
        assert_eq!(take(TO, &frame(TO, FROM, &message)), None, "hosts send no messages");
    }

    proptest! {
        /// Whatever comes, reading does not panic and yields no packet to another host.
        #[test]
        fn no_frame_does_harm(
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
            length in any::<prop::sample::Index>(),
            is_cut in any::<bool>(),
        ) {
            let data = Packet::<PdqHeader>::data(0, TO.0, 5, 128, Flags::default());
            let mut bytes = frame(FROM, TO, &data);
            for (place, byte) in changes {
                let place = place.index(bytes.len());
                bytes[place] = byte;
            }
            if is_cut {
                bytes.truncate(length.index(bytes.len()));
            }
            if let Some(packet) = take(FROM, &bytes) {
                prop_assert_eq!((packet.flow, packet.to), (0, TO.0));
                let headers = Headers::read(&bytes, FROM, 3).unwrap();
                write(&PdqHeader::CODEC.unwrap(), &packet, &headers, &mut bytes);
                prop_assert_eq!(take(FROM, &bytes), Some(packet));
            }
        }
    }
}
