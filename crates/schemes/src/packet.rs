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
    /// How many bytes it has.
    pub bytes: usize,
    /// Writes a header into as many bytes. Values that they cannot hold are written as the nearest ones.
    pub write: fn(&H, &mut [u8]),
    /// Reads what [`Codec::write`] wrote, from as many bytes; `None` if no header is written like that.
    pub read: fn(&[u8]) -> Option<H>,
}

/// How a scheme's header is written into the reserved bits of VXLAN (RFC 7348), around packets of the kernel's TCP.
#[derive(Clone, Copy, Debug)]
pub struct Tunnel<H> {
    /// The reserved bits: the 24 after the flags, then the last 8.
    pub to_bits: fn(&H) -> u32,
    /// The header in these bits, on a packet whose outer IP header has this TTL.
    pub from_bits: fn(u32, u8) -> H,
    /// That TTL; 0: the header gives none.
    pub ttl: fn(&H) -> u8,
}

/// What a scheme's own header carries from hosts to switches and back: `()` where packets have
/// none.
pub trait Header: Copy + Default + std::fmt::Debug + Send + Sync {
    /// Bytes that it adds to every packet on the wire.
    const WIRE_BYTES: u32 = 0;
    /// Whether flows are spread over paths: where a network has paths for that, a packet takes
    /// the one of its number ([`Header::path`]).
    const IS_SPREAD: bool = false;
    /// How it is written on a real network, if hosts that speak it run on one.
    const CODEC: Option<Codec<Self>> = None;
    /// How it is written around packets of the kernel's TCP, if it is added to those.
    const TUNNEL: Option<Tunnel<Self>> = None;

    /// Which of the paths between two hosts the packet takes: packets of one flow with the same
    /// number take the same one where switches choose by flow.
    #[inline]
    fn path(&self) -> u32 {
        0
    }
}

impl Header for () {}

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
/// Segments are numbered from 0 in each flow and carry [`flowsched_units::PACKET_PAYLOAD`]
/// bytes each but the last; numbers are what TCP's sequence numbers are in bytes.
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
    /// ACK: segments in the SACK block that holds the segment which caused this ACK; 0: none.
    pub(crate) sack_len: u16,
    /// The queue at ports: 0 is the highest priority.
    pub priority: u8,
    /// See the constants of [`Flags`].
    pub flags: Flags,
    /// Switches that marked it.
    pub marks: u8,
    /// The scheme's own header.
    pub header: H,
}

/// One-bit facts about a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(u16);

impl Flags {
    /// A pure ACK; without it a data packet.
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
    /// Sent before.
    pub const RETRANSMISSION: Flags = Flags(64);
    /// No data, or one byte of a starved sender: asks for an answer.
    pub const PROBE: Flags = Flags(128);
    /// From a switch's controller to the flow's sender.
    pub const MESSAGE: Flags = Flags(256);
    /// Ends a flow at the switches that know it.
    pub const TERM: Flags = Flags(512);

    /// All flags that there are.
    const ALL: u16 = (1 << 10) - 1;

    /// The flags as bits, which [`Flags::from_bits`] takes.
    pub(crate) const fn bits(self) -> u16 {
        self.0
    }

    /// The flags of these bits; `None` if some stand for no flag.
    pub(crate) const fn from_bits(bits: u16) -> Option<Flags> {
        if bits & !Flags::ALL == 0 { Some(Flags(bits)) } else { None }
    }

    /// Whether any of `flags` is set.
    #[inline]
    pub const fn has(self, flags: Flags) -> bool {
        self.0 & flags.0 != 0
    }

    /// Both sets together.
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

    /// Sets the SACK block of an ACK; a block of more than 65,535 segments is cut at its front,
    /// which earlier ACKs have reported.
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
