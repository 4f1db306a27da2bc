//! Reads and writes the packets of the kernel's TCP in VXLAN, with a scheme's header in VXLAN's reserved bits.

use flowsched_schemes::Packet;
use flowsched_schemes::packet::{Flags, Header, Tunnel};
use flowsched_topology::HostId;
use flowsched_workload::Flow;

use super::headers::{Headers, Levels};
use crate::vxlan::{Bits, NO_FLOW, PORT};

/// The packet in a frame of `from`; `None` if it is not VXLAN, or not between the hosts of the flow that its
/// VNI names.
pub(super) fn read<H: Header>(
    tunnel: &Tunnel<H>,
    flows: &[Flow],
    levels: &Levels,
    from: HostId,
    headers: &Headers,
    frame: &[u8],
) -> Option<Packet<H>> {
    let (_, port) = headers.key.ports;
    let bits = Bits::read(headers.payload(frame).filter(|_| port == PORT)?)?;
    let (flow, is_data) = match flows.get(bits.vni as usize) {
        Some(flow) if (flow.src, flow.dst) == (from, headers.to) => (bits.vni, true),
        Some(flow) if (flow.dst, flow.src) == (from, headers.to) => (bits.vni, false),
        // Controllers ignore ACKs. As an ACK, a packet of no flow cannot count as data of flow 0.
        None if bits.vni == NO_FLOW => (0, false),
        _ => return None,
    };
    let flags = Flags::default()
        .with_if(!is_data, Flags::ACK)
        .with_if(headers.is_ect, Flags::ECT)
        .with_if(headers.is_marked, Flags::CE);
    let mut packet = Packet::data(flow, headers.to.0, 0, headers.wire, flags);
    packet.priority = levels[usize::from(headers.dscp & 63)];
    packet.header = (tunnel.from_bits)(bits.reserved, headers.ttl);
    Some(packet)
}

/// Writes into a packet's frame what the network has changed.
pub(super) fn write<H: Header>(
    tunnel: &Tunnel<H>,
    packet: &Packet<H>,
    headers: &Headers,
    frame: &mut [u8],
) {
    headers.set_ttl(frame, (tunnel.ttl)(&packet.header));
    if let Some(payload) = headers.payload_mut(frame)
        && let Some(bits) = Bits::read(payload)
    {
        Bits { reserved: (tunnel.to_bits)(&packet.header), ..bits }.write(payload);
    }
}

#[cfg(test)]
mod tests {
    use flowsched_schemes::controller::epn::header::EpnHeader;
    use flowsched_units::{Bytes, Time};
    use proptest::prelude::*;

    use super::*;
    use crate::vxlan::{Outer, wrap};

    const FROM: HostId = HostId(0);
    const TO: HostId = HostId(2);

    fn flows() -> [Flow; 1] {
        [Flow::new(0, FROM, TO, Bytes::new(1_000), Time::ZERO)]
    }

    fn frame(from: HostId, to: HostId, vni: u32, reserved: u32) -> Vec<u8> {
        let bits = Bits { vni, reserved };
        wrap(&Outer { from: Some(from), to, dscp: 8, ecn: 2, ttl: 64, bits }, &[0; 60])
    }

    fn taken(bytes: &[u8], from: HostId) -> Option<(Headers, Packet<EpnHeader>)> {
        let levels = std::array::from_fn(|dscp| u8::from(dscp < 8));
        let headers = Headers::read(bytes, from, 3)?;
        let tunnel = EpnHeader::TUNNEL.unwrap();
        Some((headers, read(&tunnel, &flows(), &levels, from, &headers, bytes)?))
    }

    #[test]
    fn data_acks_and_packets_of_no_flow_are_told_apart() {
        let (_, data) = taken(&frame(FROM, TO, 0, 1 << 31), FROM).unwrap();
        assert!(
            !data.flags.has(Flags::ACK) && data.header.is_sampled.is_set() && data.header.ttl == 64
        );
        assert_eq!((data.priority, data.wire), (0, 20 + 8 + 8 + 60));
        let (_, ack) = taken(&frame(TO, FROM, 0, 0), TO).unwrap();
        assert!(ack.flags.has(Flags::ACK) && ack.flow == 0);
        assert!(taken(&frame(FROM, TO, NO_FLOW, 0), FROM).unwrap().1.flags.has(Flags::ACK));
        assert_eq!(taken(&frame(FROM, HostId(1), 0, 0), FROM), None, "not to the flow's receiver");
        assert_eq!(taken(&frame(FROM, TO, 1, 0), FROM), None, "no such flow");
    }

    #[test]
    fn what_the_network_changes_is_in_the_frame() {
        let mut bytes = frame(FROM, TO, 0, 1 << 31);
        let (headers, mut packet) = taken(&bytes, FROM).unwrap();
        packet.header.ttl = 62;
        write(&EpnHeader::TUNNEL.unwrap(), &packet, &headers, &mut bytes);
        assert_eq!(taken(&bytes, FROM).unwrap().1.header, packet.header);
    }

    proptest! {
        /// Whatever comes, reading does not panic and yields no packet that is not between the hosts of its
        /// flow.
        #[test]
        fn no_frame_does_harm(
            changes in prop::collection::vec((0..80usize, any::<u8>()), 0..6),
            cut in prop::option::of(any::<prop::sample::Index>()),
        ) {
            let mut bytes = frame(FROM, TO, 0, 1 << 31);
            for (place, byte) in changes {
                bytes[place] = byte;
            }
            if let Some(cut) = cut {
                bytes.truncate(cut.index(bytes.len()));
            }
            if let Some((headers, packet)) = taken(&bytes, FROM) {
                prop_assert!(packet.flow == 0 && packet.to == headers.to.0);
                prop_assert!(headers.to == TO || packet.flags.has(Flags::ACK));
                write(&EpnHeader::TUNNEL.unwrap(), &packet, &headers, &mut bytes);
            }
        }
    }
}
