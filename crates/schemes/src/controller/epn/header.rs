//! The EPN header: what packets tell priority controllers, and what these tell priority mappers.
//!
//! EPN 2018, III: "we embed the EPN header inside the reserved bits of VxLAN". There are 32 of
//! these (IV-A): 24 after the flags and 8 at the end. The paper's figure of the header is not
//! legible in available copies. The text says that BR has 7 bits and that a TTL identifies the
//! switch. The layout here:
//!
//! ```text
//! VXLAN flags (8) | S (1) | TP (1) | BR (7) | DP (15) | VNI (24) | DSID (8)
//! ```

use flowsched_units::Rate;

use crate::packet::{Bit, Header, Tunnel};

/// The most bits of a DP: those that the other fields leave of the 32.
pub const MOST_DP_BITS: u32 = 15;

/// The TTL that a sending host starts packets with (RFC 1340's recommended default).
pub const INITIAL_TTL: u8 = 64;

/// Bits of the exponent of a size in a DP.
const EXPONENT_BITS: u32 = 5;

/// Transmission priority: which of the two queues of every port a packet goes to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tp(u8);

impl Tp {
    /// The queue that is served 100 times as often.
    pub const HIGH: Tp = Tp(0);
    /// The other queue.
    pub const LOW: Tp = Tp(1);

    /// The number of the queue at ports: 0 is the highest priority.
    pub const fn queue(self) -> u8 {
        self.0
    }
}

/// Desired priority: the smaller, the sooner a flow wants to be served (Algorithm 1 sorts "in DP
/// ascending order"; the prose calls such a flow the one with the highest DP).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Dp(u16);

impl Dp {
    /// The flow ends with this packet: it wants no service after it. TCP's FIN says so too, but
    /// the bursts of a persistent connection have none, and "each burst is treated as a
    /// different flow" (IV-B).
    pub const END: Dp = Dp((1 << MOST_DP_BITS) - 1);

    /// The DP for a level of a feedback queue, 0 being the first.
    pub fn of_level(level: u16) -> Dp {
        Dp(level.min(Dp::END.0 - 1))
    }

    /// The DP for a number of bytes, in `bits` bits, from 8 to [`MOST_DP_BITS`]. It has five bits
    /// of exponent, then the first binary digits of the number. It therefore keeps the order of
    /// sizes, but near sizes become equal. A number that does not fit becomes the largest that
    /// does.
    pub fn of_bytes(bytes: u64, bits: u32) -> Dp {
        let bits = bits.clamp(8, MOST_DP_BITS);
        let digits = bits - EXPONENT_BITS;
        let largest = (1 << bits) - 2;
        let above = (u64::BITS - bytes.leading_zeros()).saturating_sub(digits);
        if above == 0 {
            return Dp((bytes as u16).min(largest));
        }
        // The first digit is always 1 from here on, and is not written.
        let fraction = (bytes >> (above - 1)) & ((1 << digits) - 1);
        let code = (u64::from(above) << digits) | fraction;
        Dp(code.min(u64::from(largest)) as u16)
    }
}

/// Bottleneck rate: the rate of the slowest known link of a flow's path, in Gbps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Br(u8);

impl Br {
    /// The largest rate in 7 bits (IV-A: "from 1G to 127Gbps").
    const LARGEST: u64 = 127;

    /// The rate of a link, rounded up, so that flows never get more of another link than they were
    /// counted for. Rates beyond 127 Gbps become 127.
    pub fn of_link(rate: Rate) -> Br {
        Br(rate.as_bps().div_ceil(1_000_000_000).clamp(1, Br::LARGEST) as u8)
    }

    /// The rate in Gbps.
    pub fn gbps(self) -> u32 {
        u32::from(self.0)
    }
}

/// The EPN header of one packet, and its TTL, by which switches recognise themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EpnHeader {
    /// The priority that the flow desires.
    pub dp: Dp,
    /// The priority that the flow has.
    pub tp: Tp,
    /// The rate of the slowest known link of its path.
    pub br: Br,
    /// The switch that demoted it, identified by the TTL that the flow's packets have there; 0 if
    /// none did.
    pub dsid: u8,
    /// Whether switches mirror the packet to their controllers (S-marked).
    pub is_sampled: Bit,
    /// The TTL of the IP header, which each switch lowers by one.
    pub ttl: u8,
}

impl EpnHeader {
    /// The reserved bits of the VXLAN header: the first 24, then the last 8. They do not hold the
    /// TTL, which is in the IP header.
    pub fn to_bits(self) -> u32 {
        let Dp(dp) = self.dp;
        u32::from(self.is_sampled.is_set()) << 31
            | u32::from(self.tp == Tp::HIGH) << 30
            | u32::from(self.br.0) << 23
            | u32::from(dp) << 8
            | u32::from(self.dsid)
    }

    /// The header in these reserved bits, on a packet with this TTL.
    pub fn from_bits(bits: u32, ttl: u8) -> EpnHeader {
        EpnHeader {
            dp: Dp((bits >> 8) as u16 & Dp::END.0),
            tp: if bits >> 30 & 1 == 1 { Tp::HIGH } else { Tp::LOW },
            br: Br((bits >> 23) as u8 & Br::LARGEST as u8),
            dsid: bits as u8,
            is_sampled: (bits >> 31 == 1).into(),
            ttl,
        }
    }
}

impl Header for EpnHeader {
    /// What VXLAN puts before a packet: Ethernet 14, IP 20, UDP 8, VXLAN 8 (RFC 7348, 5).
    const WIRE_BYTES: u32 = 50;
    const TUNNEL: Option<Tunnel<EpnHeader>> = Some(Tunnel {
        to_bits: |header| header.to_bits(),
        from_bits: EpnHeader::from_bits,
        ttl: |header| header.ttl,
    });
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::packet::Packet;

    #[test]
    fn a_packet_with_the_header_is_small() {
        assert_eq!(size_of::<Packet<EpnHeader>>(), 32);
    }

    #[test]
    fn br_has_seven_bits_of_one_gbps() {
        // EPN 2018, IV-A: "the BR field has 7 bits and the unit is 1Gbps. So it can represent
        // link speeds from 1G to 127Gbps".
        let gbps = |bps| Br::of_link(Rate::from_bps(bps)).gbps();
        assert_eq!([gbps(1_000_000_000), gbps(40_000_000_000)], [1, 40]);
        assert_eq!([gbps(100_000_000), gbps(2_500_000_000)], [1, 3], "rounded up");
        assert_eq!([gbps(127_000_000_000), gbps(400_000_000_000)], [127, 127]);
    }

    #[test]
    fn dp_tells_apart_millions_of_sizes_roughly_and_small_ones_exactly() {
        assert_ne!(Dp::of_bytes(1000, 15), Dp::of_bytes(1001, 15));
        // 10 digits: sizes that differ by one part in a thousand differ.
        assert!(Dp::of_bytes(1_000_000, 15) < Dp::of_bytes(1_001_000, 15));
        // 3 digits with 8 bits: by one part in eight.
        assert_eq!(Dp::of_bytes(1_000_000, 8), Dp::of_bytes(1_001_000, 8));
        assert!(Dp::of_bytes(1_000_000, 8) < Dp::of_bytes(1_125_000, 8));
        assert!(Dp::of_bytes(u64::MAX, 15) < Dp::END);
        assert!(Dp::of_bytes(u64::MAX, 8) < Dp::END);
        // The longest flow of the data-mining workload is still told from one of half its size.
        for bits in [8, 15] {
            assert!(Dp::of_bytes(500_000_000, bits) < Dp::of_bytes(1_000_000_000, bits));
        }
    }

    proptest! {
        #[test]
        fn dp_keeps_the_order_of_sizes_and_fits(a: u64, b: u64, shift in 0u32..64, bits in 8u32..16) {
            let (a, b) = (a >> shift, b >> shift);
            let (small, large) = (Dp::of_bytes(a.min(b), bits), Dp::of_bytes(a.max(b), bits));
            prop_assert!(small <= large, "{small:?} {large:?}");
            prop_assert!(u32::from(large.0) < (1 << bits) - 1);
            // What is a bit more than an eighth larger always differs, up to 16 GB.
            let more = b.saturating_add(b / 7 + 1);
            if more < 1 << 34 {
                prop_assert!(Dp::of_bytes(b, bits) < Dp::of_bytes(more, bits), "{b} {more}");
            }
        }

        #[test]
        fn a_header_survives_its_bits(bits: u32, ttl: u8) {
            let header = EpnHeader::from_bits(bits, ttl);
            prop_assert_eq!(header.to_bits(), bits);
            prop_assert_eq!(EpnHeader::from_bits(header.to_bits(), ttl), header);
        }
    }
}
