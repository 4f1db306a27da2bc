//! Link and sending rates.

use std::fmt;
use std::str::FromStr;

use crate::bytes::Bytes;
use crate::notation::{self, UnitError};
use crate::time::Time;

/// A rate in bits per second, more than zero where it is a link's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(u64);

impl Rate {
    /// From bits per second.
    pub const fn from_bps(bits_per_second: u64) -> Rate {
        Rate(bits_per_second)
    }

    /// From gigabits (10^9 bits) per second.
    pub const fn from_gbps(gigabits_per_second: u64) -> Rate {
        Rate(gigabits_per_second * 1_000_000_000)
    }

    /// In bits per second.
    pub const fn as_bps(self) -> u64 {
        self.0
    }

    /// In bytes per second.
    pub fn as_bytes_per_sec_f64(self) -> f64 {
        self.0 as f64 / 8.0
    }

    /// How long `bytes` take to pass at this rate, rounded up to a whole picosecond;
    /// [`Time::MAX`] at rate zero.
    pub fn transmission_time(self, bytes: Bytes) -> Time {
        if self.0 == 0 {
            return Time::MAX;
        }
        let bit_picoseconds = u128::from(bytes.get()) * 8 * 1_000_000_000_000;
        // A division of one word takes far less than one of two.
        if let Ok(few) = u64::try_from(bit_picoseconds) {
            return Time::from_ps(few.div_ceil(self.0));
        }
        let ps = bit_picoseconds.div_ceil(u128::from(self.0));
        Time::from_ps(u64::try_from(ps).unwrap_or(u64::MAX))
    }

    /// How many whole bytes pass in `time` at this rate.
    pub fn bytes_in(self, time: Time) -> Bytes {
        let bits = u128::from(time.as_ps()) * u128::from(self.0) / 1_000_000_000_000;
        Bytes::new(u64::try_from(bits / 8).unwrap_or(u64::MAX))
    }
}

const SUFFIXES: &[(&str, u64)] = &[
    ("bps", 1),
    ("Kbps", 1_000),
    ("Mbps", 1_000_000),
    ("Gbps", 1_000_000_000),
    ("Tbps", 1_000_000_000_000),
];

impl FromStr for Rate {
    type Err = UnitError;

    /// Reads `"40Gbps"`: a number and one of `bps`, `Kbps`, `Mbps`, `Gbps`, `Tbps`.
    ///
    /// # Errors
    /// [`UnitError`] if there is no such unit, or what is before it is not a number from 0 on
    /// that is a whole count of bits per second.
    fn from_str(text: &str) -> Result<Rate, UnitError> {
        notation::parse(text, SUFFIXES, "a rate such as \"10Gbps\" (bps, Kbps, Mbps, Gbps, Tbps)")
            .map(Rate)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&notation::print(self.0, SUFFIXES))
    }
}
