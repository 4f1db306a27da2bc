//! Simulated packets, and their headers.

/// What ports and switches need to know of a packet, simulated or real.
pub trait Frame {
    /// Bytes it occupies on the wire.
    fn wire_bytes(&self) -> u32;
    /// The queue it asks for: 0 is the highest priority.
    fn priority(&self) -> u8;
    /// The rank at ports that order by rank: 0 is the best.
    fn rank(&self) -> u32;
    /// A number that the packets of one flow in one direction share.
    fn flow(&self) -> u32;
    /// Whether it carries nothing but an acknowledgement.
    fn is_ack(&self) -> bool;
    /// Whether some port has marked it (CE).
    fn is_marked(&self) -> bool;
    /// Whether it may be marked instead of dropped (ECT).
    fn can_be_marked(&self) -> bool;
    /// Marks it: congestion experienced (CE).
    fn mark(&mut self);
}

/// How a scheme's header is written on a real network.
#[derive(Clone, Copy, Debug)]
pub struct Codec<H> {
    /// The header's size in bytes.
    pub bytes: usize,
    /// Writes a header into this many bytes. A value that they cannot hold is written as the nearest one that they
    /// can.
    pub write: fn(&H, &mut [u8]),
    /// Reads a header that [`Codec::write`] wrote, from this many bytes. Returns `None` for bytes that stand for no
    /// header.
    pub read: fn(&[u8]) -> Option<H>,
}

/// How a scheme's header is written into the reserved bits of VXLAN (RFC 7348), around packets of the kernel's TCP.
#[derive(Clone, Copy, Debug)]
pub struct Tunnel<H> {
    /// Returns a header's reserved bits: the 24 after the flags, then the last 8.
    pub to_bits: fn(&H) -> u32,
    /// Returns the header that the reserved bits hold, on a packet whose outer IP header has this TTL.
    pub from_bits: fn(u32, u8) -> H,
    /// Returns the TTL for the outer IP header; 0 if the header does not set it.
    pub ttl: fn(&H) -> u8,
}

/// What a scheme's own header carries from hosts to switches and back: `()` where packets have
/// none.
pub trait Header: Copy + Default + std::fmt::Debug + Send + Sync + 'static {
    /// Bytes that it adds to every packet on the wire.
    const WIRE_BYTES: u32 = 0;
    /// Whether flows are spread over several paths. Where a network has paths for that, a packet takes the path of
    /// its number ([`Header::path`]).
    const IS_SPREAD: bool = false;
    /// How it is written in the datagrams of the simulator's hosts on a real network; `None` if it has no form there.
    const CODEC: Option<Codec<Self>> = None;
    /// How it is written around packets of the kernel's TCP; `None` if it is not added to those.
    const TUNNEL: Option<Tunnel<Self>> = None;

    /// The number of the packet's path among those between two hosts. Where switches choose paths by flow, packets
    /// of one flow with the same number take the same path.
    #[inline]
    fn path(&self) -> u32 {
        0
    }
}

impl Header for () {
    const CODEC: Option<Codec<()>> =
        Some(Codec { bytes: 0, write: |(), _| (), read: |_| Some(()) });
}

/// A yes or no in a header.
///
/// A `bool` has values to spare, and `Option<Packet<H>>` uses them to say that there is no packet. The
/// compiler then moves a packet in pieces around this byte, and the processor waits at pieces that
/// overlap what was just written. Fields of headers therefore have no values to spare.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bit(u8);

impl Bit {
    /// Whether it is a yes.
    #[inline]
    pub const fn is_set(self) -> bool {
        self.0 != 0
    }
}

impl From<bool> for Bit {
    #[inline]
    fn from(is_set: bool) -> Bit {
        Bit(u8::from(is_set))
    }
}

/// A packet in flight: a small plain value.
///
/// Segments are numbered from 0 in each flow and carry [`flowsched_units::PACKET_PAYLOAD`] bytes each but the last.
/// The numbers stand for TCP's sequence numbers, which count bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Packet<H = ()> {
    /// The flow's index.
    pub flow: u32,
    /// The host it goes to.
    pub to: u32,
    /// Data: the segment's number. ACK: the segment expected next.
    pub seq: u32,
    /// Data: the rank at ports that order by rank. ACK: the first segment of the SACK block.
    pub(crate) word: u32,
    /// Bytes on the wire.
    pub wire: u16,
    /// ACK: the number of segments in the SACK block, which holds the segment that caused this ACK; 0 if there is
    /// no block.
    pub(crate) sack_len: u16,
    /// The queue at ports: 0 is the highest priority.
    pub priority: u8,
    /// See the constants of [`Flags`].
    pub flags: Flags,
    /// The number of ports that marked it, up to 255.
    pub marks: u8,
    /// The scheme's own header.
    pub header: H,
}

/// One-bit facts about a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(u16);

impl Flags {
    /// A pure ACK. Packets without this flag are data packets.
    pub const ACK: Flags = Flags(1);
    /// ECN-capable transport (RFC 3168, section 5).
    pub const ECT: Flags = Flags(2);
    /// Congestion experienced.
    pub const CE: Flags = Flags(4);
    /// On an ACK: the receiver saw CE.
    pub const ECE: Flags = Flags(8);
    /// On data: the sender reduced its window.
    pub const CWR: Flags = Flags(16);
    /// Opens a connection (with ACK: the answer).
    pub const SYN: Flags = Flags(32);
    /// The segment was sent before.
    pub const RETRANSMISSION: Flags = Flags(64);
    /// Asks for an answer. The packet has no data, or one byte of a starved sender.
    pub const PROBE: Flags = Flags(128);
    /// A message from a switch's controller to the flow's sender.
    pub const MESSAGE: Flags = Flags(256);
    /// Tells the switches that know the flow that it ends.
    pub const TERM: Flags = Flags(512);

    /// All flags that there are.
    const ALL: u16 = (1 << 10) - 1;

    /// The flags as bits, which [`Flags::from_bits`] takes.
    pub(crate) const fn bits(self) -> u16 {
        self.0
    }

    /// The flags that these bits stand for; `None` if a bit stands for no flag.
    pub(crate) const fn from_bits(bits: u16) -> Option<Flags> {
        if bits & !Flags::ALL == 0 { Some(Flags(bits)) } else { None }
    }

    /// Whether any of `flags` is set.
    #[inline]
    pub const fn has(self, flags: Flags) -> bool {
        self.0 & flags.0 != 0
    }

    /// The flags of both sets.
    #[inline]
    #[must_use]
    pub const fn with(self, flags: Flags) -> Flags {
        Flags(self.0 | flags.0)
    }

    /// This set, with `flags` added if `condition` holds.
    #[inline]
    #[must_use]
    pub const fn with_if(self, condition: bool, flags: Flags) -> Flags {
        if condition { self.with(flags) } else { self }
    }
}

impl<H: Header> Packet<H> {
    /// A data packet.
    #[inline]
    pub fn data(flow: u32, to: u32, seq: u32, wire: u16, flags: Flags) -> Packet<H> {
        Packet { flow, to, seq, wire, flags, ..Packet::default() }
    }

    /// The same packet with another header.
    #[inline]
    pub fn with_header<G: Header>(&self, header: G) -> Packet<G> {
        let Packet { flow, to, seq, word, wire, sack_len, priority, flags, marks, .. } = *self;
        Packet { flow, to, seq, word, wire, sack_len, priority, flags, marks, header }
    }

    /// The rank at ports that order by rank: 0, the best, for ACKs.
    #[inline]
    pub fn rank(&self) -> u32 {
        if self.flags.has(Flags::ACK) { 0 } else { self.word }
    }

    /// Sets the rank of a data packet.
    #[inline]
    pub fn set_rank(&mut self, rank: u32) {
        debug_assert!(!self.flags.has(Flags::ACK));
        self.word = rank;
    }

    /// The SACK block of an ACK as segment numbers, the end exclusive; empty if it has none.
    #[inline]
    pub fn sack_block(&self) -> std::ops::Range<u32> {
        if self.flags.has(Flags::ACK) {
            self.word..self.word + u32::from(self.sack_len)
        } else {
            0..0
        }
    }

    /// Sets the SACK block of an ACK. A block of more than 65,535 segments loses its front, which earlier ACKs have
    /// reported.
    #[inline]
    pub fn set_sack_block(&mut self, block: std::ops::Range<u32>) {
        debug_assert!(self.flags.has(Flags::ACK));
        let len = block.end.saturating_sub(block.start).min(u32::from(u16::MAX));
        self.word = block.end - len;
        self.sack_len = len as u16;
    }
}

impl<H: Header> Frame for Packet<H> {
    #[inline]
    fn wire_bytes(&self) -> u32 {
        u32::from(self.wire)
    }

    #[inline]
    fn priority(&self) -> u8 {
        self.priority
    }

    #[inline]
    fn rank(&self) -> u32 {
        Packet::rank(self)
    }

    #[inline]
    fn flow(&self) -> u32 {
        self.flow
    }

    #[inline]
    fn is_ack(&self) -> bool {
        self.flags.has(Flags::ACK)
    }

    #[inline]
    fn is_marked(&self) -> bool {
        self.flags.has(Flags::CE)
    }

    #[inline]
    fn can_be_marked(&self) -> bool {
        self.flags.has(Flags::ECT)
    }

    #[inline]
    fn mark(&mut self) {
        self.flags = self.flags.with(Flags::CE);
        self.marks = self.marks.saturating_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_small() {
        // Larger packets cost time at every hop: they are copied into a queue and onto a link.
        assert_eq!(size_of::<Packet<()>>(), 24);
    }

    #[test]
    fn headers_have_no_values_to_spare() {
        use crate::controller::epn::header::EpnHeader;
        use crate::transport::d3::D3Header;
        use crate::transport::hpcc::HpccHeader;
        use crate::transport::pdq::PdqHeader;
        use crate::transport::pdq::multipath::MultipathHeader;

        fn has_none<H>() -> bool {
            size_of::<Option<Packet<H>>>() > size_of::<Packet<H>>()
        }
        assert!(has_none::<()>());
        assert!(has_none::<EpnHeader>());
        assert!(has_none::<D3Header>());
        assert!(has_none::<HpccHeader>());
        assert!(has_none::<PdqHeader>());
        assert!(has_none::<MultipathHeader>());
    }

    #[test]
    fn a_long_sack_block_keeps_its_end() {
        let mut ack: Packet = Packet { flags: Flags::ACK, ..Packet::default() };
        ack.set_sack_block(10..100_000);
        assert_eq!(ack.sack_block(), 34_465..100_000);
    }
}
