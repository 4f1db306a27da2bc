//! Byte counts: sizes, thresholds, buffers.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul, Sub, SubAssign};
use std::str::FromStr;

use crate::notation::{self, UnitError};

/// Payload bytes of a full packet.
pub const PACKET_PAYLOAD: u64 = 1460;
/// IP and TCP header bytes of every packet.
pub const PACKET_HEADER: u64 = 40;
/// Bytes that a full packet occupies on the wire.
pub const PACKET_WIRE: u64 = PACKET_PAYLOAD + PACKET_HEADER;

/// What one `pkt` stands for where a byte count is written in packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketMeaning {
    /// 1460 B: flow sizes and demotion thresholds.
    Payload,
    /// 1500 B: buffers and marking thresholds.
    Wire,
}

/// A number of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(u64);

impl Bytes {
    /// No bytes.
    pub const ZERO: Bytes = Bytes(0);
    /// More than everything: "unlimited".
    pub const MAX: Bytes = Bytes(u64::MAX);

    /// This many bytes.
    pub const fn new(count: u64) -> Bytes {
        Bytes(count)
    }

    /// The count.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The difference, or zero if `other` is more.
    pub const fn saturating_sub(self, other: Bytes) -> Bytes {
        Bytes(self.0.saturating_sub(other.0))
    }

    /// Reads `"360KB"`, `"64KiB"`, `"1460B"` or, with `pkt` standing for what `packet` says,
    /// `"65pkt"`. KB, MB and GB are powers of 1000; KiB, MiB and GiB of 1024.
    ///
    /// # Errors
    /// [`UnitError`] if there is no such unit, or what is before it is not a number from 0 on
    /// that is a whole count of bytes.
    pub fn parse(text: &str, packet: PacketMeaning) -> Result<Bytes, UnitError> {
        let one_packet = match packet {
            PacketMeaning::Payload => PACKET_PAYLOAD,
            PacketMeaning::Wire => PACKET_WIRE,
        };
        let allowed = "a size such as \"360KB\", \"64KiB\" or \"65pkt\" \
                       (B, KB, MB, GB, KiB, MiB, GiB, pkt)";
        if let Some(number) = text.trim().strip_suffix("pkt") {
            return notation::scale(text, number, one_packet, allowed).map(Bytes);
        }
        notation::parse(text, SUFFIXES, allowed).map(Bytes)
    }
}

impl Add for Bytes {
    type Output = Bytes;
    fn add(self, other: Bytes) -> Bytes {
        Bytes(self.0 + other.0)
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Bytes) {
        self.0 += other.0;
    }
}

impl Sub for Bytes {
    type Output = Bytes;
    fn sub(self, other: Bytes) -> Bytes {
        Bytes(self.0 - other.0)
    }
}

impl SubAssign for Bytes {
    fn sub_assign(&mut self, other: Bytes) {
        self.0 -= other.0;
    }
}

impl Mul<u64> for Bytes {
    type Output = Bytes;
    fn mul(self, factor: u64) -> Bytes {
        Bytes(self.0 * factor)
    }
}

impl Sum for Bytes {
    fn sum<I: Iterator<Item = Bytes>>(counts: I) -> Bytes {
        counts.fold(Bytes::ZERO, Add::add)
    }
}

const SUFFIXES: &[(&str, u64)] = &[
    ("B", 1),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
];

/// Only the powers of 1000, so that a printed size is short and reads back as itself.
const PRINTED: &[(&str, u64)] =
    &[("B", 1), ("KB", 1_000), ("MB", 1_000_000), ("GB", 1_000_000_000)];

impl FromStr for Bytes {
    type Err = UnitError;

    /// As [`Bytes::parse`] with `pkt` meaning payload.
    fn from_str(text: &str) -> Result<Bytes, UnitError> {
        Bytes::parse(text, PacketMeaning::Payload)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&notation::print(self.0, PRINTED))
    }
}
