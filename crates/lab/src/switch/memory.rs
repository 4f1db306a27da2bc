//! Keeps frames while their packets are in the network.

use std::collections::HashMap;

use etherparse::IpNumber;
use flowsched_schemes::Packet;
use flowsched_schemes::packet::{Flags, Header, Tunnel};
use flowsched_sim::Losses;
use flowsched_topology::HostId;
use flowsched_units::Time;

use super::form::Form;
use super::headers::{Headers, Segment, mend_v4};
use super::{datagrams, tunnelled};
use crate::vxlan::{self, Bits, Outer};

/// Bytes of the longest Ethernet frame: a full packet with its header, a VLAN tag, and a scheme's header.
pub const LONGEST_FRAME: usize = 1600;

/// Bytes of the headers that a message copies: Ethernet, IPv4 and TCP.
const HEAD: usize = 14 + 20 + 20;
/// Class selector 7 (RFC 4594).
const NETWORK_CONTROL: u8 = 56;

/// A frame and what the switch has read of it.
#[derive(Clone, Debug)]
struct Stored {
    headers: Headers,
    /// The number that the packet had before it got the slot's number.
    number: u32,
    /// When the packet entered the network.
    entered: Time,
    bytes: Vec<u8>,
}

impl Stored {
    /// Writes what the network has changed of the packet: the mark, and the scheme's header.
    fn update<H: Header>(&mut self, packet: &Packet<H>, form: &Form<H>) {
        if packet.flags.has(Flags::CE) && !self.headers.is_marked {
            self.headers.mark(&mut self.bytes);
        }
        match form {
            Form::Datagrams(codec) => {
                let mut packet = *packet;
                packet.seq = self.number;
                datagrams::write(codec, &packet, &self.headers, &mut self.bytes);
            }
            Form::Tunnel(tunnel) => {
                tunnelled::write(tunnel, packet, &self.headers, &mut self.bytes);
            }
            Form::Tcp => {}
        }
    }
}

/// Frames by slot. The slot of a frame is its packet's number ([`Packet::seq`]).
#[derive(Debug)]
pub struct Memory<H> {
    form: Form<H>,
    slots: Vec<Stored>,
    free: Vec<u32>,
    lost: u64,
    /// For each flow, the headers of one of its packets. Messages to the flow's sender copy them.
    heads: HashMap<u32, [u8; HEAD]>,
    /// The last message that arrived.
    message: Vec<u8>,
}

impl<H: Header> Memory<H> {
    /// A memory without frames, for packets of this form.
    pub fn new(form: Form<H>) -> Memory<H> {
        let (slots, free, heads, message) = (Vec::new(), Vec::new(), HashMap::new(), Vec::new());
        Memory { form, slots, free, lost: 0, heads, message }
    }

    /// Keeps a frame that enters the network. Returns its slot.
    pub fn store(&mut self, headers: Headers, number: u32, entered: Time, frame: &[u8]) -> u32 {
        match self.free.pop() {
            Some(slot) => {
                let stored = &mut self.slots[slot as usize];
                stored.headers = headers;
                stored.number = number;
                stored.entered = entered;
                stored.bytes.clear();
                stored.bytes.extend_from_slice(frame);
                slot
            }
            None => {
                self.slots.push(Stored { headers, number, entered, bytes: frame.to_vec() });
                self.slots.len() as u32 - 1
            }
        }
    }

    /// The frame of a packet as it is in the network, with the mark and the scheme's header.
    pub fn show(&self, packet: &Packet<H>) -> Vec<u8> {
        if packet.flags.has(Flags::MESSAGE) {
            return self.message(packet);
        }
        let mut stored = self.slots[packet.seq as usize].clone();
        stored.update(packet, &self.form);
        stored.bytes
    }

    /// The frame of a packet that has arrived, with what the network has changed. Its slot is free from now on.
    pub fn take(&mut self, packet: &Packet<H>) -> &[u8] {
        if packet.flags.has(Flags::MESSAGE) {
            self.message = self.message(packet);
            return &self.message;
        }
        self.free.push(packet.seq);
        let stored = &mut self.slots[packet.seq as usize];
        stored.update(packet, &self.form);
        &stored.bytes
    }

    /// When a packet entered the network; `None` if it is a message of a switch.
    pub fn entered(&self, packet: &Packet<H>) -> Option<Time> {
        let is_message = packet.flags.has(Flags::MESSAGE);
        (!is_message).then(|| self.slots[packet.seq as usize].entered)
    }

    /// The bytes of the kernel's TCP that a packet carries, if any.
    pub(super) fn segment(&self, packet: &Packet<H>) -> Option<Segment> {
        let is_message = packet.flags.has(Flags::MESSAGE);
        if is_message { None } else { self.slots[packet.seq as usize].headers.segment }
    }

    /// Remembers the headers of a tunnelled data packet, for messages about its flow.
    pub(super) fn remember(&mut self, flow: u32, headers: &Headers, frame: &[u8]) {
        if self.heads.contains_key(&flow) {
            return;
        }
        let inner =
            headers.payload(frame).and_then(vxlan::inner).and_then(<[u8]>::first_chunk::<HEAD>);
        if let Some(inner) = inner.filter(|inner| is_segment(inner)) {
            self.heads.insert(flow, without_payload(*inner));
        }
    }

    /// The frame of a message to the sender of a flow. It has the headers of the flow's packets, in a tunnel that
    /// begins at a switch (EPN 2018, III).
    fn message(&self, packet: &Packet<H>) -> Vec<u8> {
        let Form::Tunnel(Tunnel { to_bits, ttl, .. }) = self.form else { return Vec::new() };
        let bits = Bits { vni: packet.flow, reserved: to_bits(&packet.header) };
        let (to, ttl) = (HostId(packet.to), ttl(&packet.header));
        let outer = Outer { from: None, to, dscp: NETWORK_CONTROL, ecn: 0, ttl, bits };
        vxlan::wrap(&outer, self.heads.get(&packet.flow).map_or(&[], |head| head.as_slice()))
    }

    /// Packets that ports dropped or links lost.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Frames that are in the network.
    pub fn waiting(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}

/// Whether a frame begins with the headers of Ethernet, of IPv4 without options, and of TCP.
fn is_segment(head: &[u8; HEAD]) -> bool {
    head[12..15] == [0x08, 0x00, 0x45] && head[23] == IpNumber::TCP.0
}

/// The headers, changed to those of a segment without options and payload.
fn without_payload(mut head: [u8; HEAD]) -> [u8; HEAD] {
    head[16..18].copy_from_slice(&((HEAD - 14) as u16).to_be_bytes());
    mend_v4(&mut head[14..34]);
    // The length of the TCP header, in words of 32 bits.
    head[46] = 5 << 4;
    head
}

impl<H: Header> Losses<H> for Memory<H> {
    fn lose(&mut self, packet: &Packet<H>) {
        // Messages have no slot.
        if !packet.flags.has(Flags::MESSAGE) {
            self.free.push(packet.seq);
        }
        self.lost += 1;
    }
}

#[cfg(test)]
mod tests {
    use flowsched_schemes::controller::epn::header::EpnHeader;

    use super::*;
    use crate::address::{ipv6, mac};

    const FROM: HostId = HostId(0);
    const TO: HostId = HostId(1);

    /// A tunnelled frame of flow 0, whose inner frame begins with `inner`.
    fn tunnelled(inner: &[u8]) -> Vec<u8> {
        let bits = Bits { vni: 0, reserved: 0 };
        vxlan::wrap(&Outer { from: Some(FROM), to: TO, dscp: 8, ecn: 2, ttl: 64, bits }, inner)
    }

    /// The headers of a segment with 100 bytes.
    fn segment() -> Vec<u8> {
        let mut frame = Vec::new();
        etherparse::PacketBuilder::ethernet2([2; 6], [4; 6])
            .ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64)
            .tcp(4_000, 80, 7, 1_000)
            .write(&mut frame, &[9; 100])
            .unwrap();
        frame
    }

    /// A frame over IPv6 with this VXLAN header and what follows it.
    fn over_v6(payload: &[u8]) -> Vec<u8> {
        let mut frame = Vec::new();
        etherparse::PacketBuilder::ethernet2(mac(FROM), mac(TO))
            .ipv6(ipv6(FROM).octets(), ipv6(TO).octets(), 64)
            .udp(4_000, vxlan::PORT)
            .write(&mut frame, payload)
            .unwrap();
        frame
    }

    /// The message to the sender of flow 0, after this frame.
    fn message_after(frame: &[u8]) -> Vec<u8> {
        let mut memory = Memory::<EpnHeader>::new(Form::Tunnel(EpnHeader::TUNNEL.unwrap()));
        memory.remember(0, &Headers::read(frame, FROM, 2).unwrap(), frame);
        memory.message(&Packet::data(0, FROM.0, 0, 0, Flags::default().with(Flags::MESSAGE)))
    }

    /// The headers of a flow's packets are found behind a VLAN tag and over IPv6 too, and other frames give none.
    #[test]
    fn a_message_has_the_headers_of_the_flows_segments() {
        let plain = tunnelled(&segment());
        let message = message_after(&plain);
        assert_eq!(message.len(), message_after(&tunnelled(&[0; 60])).len() + HEAD);
        assert!(message.ends_with(&without_payload(*segment().first_chunk().unwrap())));
        let tagged = [&plain[..12], &[0x81, 0x00, 0x00, 0x07], &plain[12..]].concat();
        assert_eq!(message_after(&tagged), message);
        assert_eq!(message_after(&over_v6(&plain[vxlan::AROUND - 8..])), message);
    }
}
