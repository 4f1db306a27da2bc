//! Time in whole picoseconds.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};
use std::str::FromStr;

use crate::notation::{self, UnitError};

/// An instant since the start of a run, or a length of time: whole picoseconds.
///
/// A picosecond divides the transmission time of a byte evenly at every common link rate
/// (800 ps at 10 Gbps, 80 ps at 100 Gbps), so that sums never drift. The largest value is
/// about 213 days.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

impl Time {
    /// The start of a run, or no time at all.
    pub const ZERO: Time = Time(0);
    /// Later than everything that happens: "never".
    pub const MAX: Time = Time(u64::MAX);

    /// From picoseconds.
    pub const fn from_ps(ps: u64) -> Time {
        Time(ps)
    }

    /// From nanoseconds.
    pub const fn from_ns(ns: u64) -> Time {
        Time(ns * 1_000)
    }

    /// From microseconds.
    pub const fn from_us(us: u64) -> Time {
        Time(us * 1_000_000)
    }

    /// From milliseconds.
    pub const fn from_ms(ms: u64) -> Time {
        Time(ms * 1_000_000_000)
    }

    /// From seconds, rounded to the nearest picosecond. Negative and NaN give zero; what
    /// exceeds the range gives [`Time::MAX`].
    pub fn from_secs_f64(seconds: f64) -> Time {
        Time((seconds * 1e12).round() as u64)
    }

    /// In picoseconds.
    pub const fn as_ps(self) -> u64 {
        self.0
    }

    /// In microseconds.
    pub fn as_us_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// In seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e12
    }

    /// The length of time since `earlier`, or zero if `earlier` is later.
    pub const fn saturating_sub(self, earlier: Time) -> Time {
        Time(self.0.saturating_sub(earlier.0))
    }

    /// The sum, or [`Time::MAX`] where it would exceed the range.
    pub const fn saturating_add(self, other: Time) -> Time {
        Time(self.0.saturating_add(other.0))
    }

    /// `factor` times this, or [`Time::MAX`] where it would exceed the range.
    pub const fn saturating_mul(self, factor: u64) -> Time {
        Time(self.0.saturating_mul(factor))
    }
}

impl Add for Time {
    type Output = Time;
    fn add(self, other: Time) -> Time {
        Time(self.0 + other.0)
    }
}

impl AddAssign for Time {
    fn add_assign(&mut self, other: Time) {
        self.0 += other.0;
    }
}

impl Sub for Time {
    type Output = Time;
    fn sub(self, other: Time) -> Time {
        Time(self.0 - other.0)
    }
}

impl SubAssign for Time {
    fn sub_assign(&mut self, other: Time) {
        self.0 -= other.0;
    }
}

impl Mul<u64> for Time {
    type Output = Time;
    fn mul(self, factor: u64) -> Time {
        Time(self.0 * factor)
    }
}

impl Div<u64> for Time {
    type Output = Time;
    fn div(self, divisor: u64) -> Time {
        Time(self.0 / divisor)
    }
}

impl Sum for Time {
    fn sum<I: Iterator<Item = Time>>(times: I) -> Time {
        times.fold(Time::ZERO, Add::add)
    }
}

/// Microseconds may also be written with the micro sign (U+00B5) or the Greek letter mu (U+03BC).
const SUFFIXES: &[(&str, u64)] = &[
    ("ps", 1),
    ("ns", 1_000),
    ("us", 1_000_000),
    ("\u{b5}s", 1_000_000),
    ("\u{3bc}s", 1_000_000),
    ("ms", 1_000_000_000),
    ("s", 1_000_000_000_000),
];

/// ASCII alone, so that every reader of a printed time can type it.
const PRINTED: &[(&str, u64)] =
    &[("ps", 1), ("ns", 1_000), ("us", 1_000_000), ("ms", 1_000_000_000), ("s", 1_000_000_000_000)];

impl FromStr for Time {
    type Err = UnitError;

    /// Reads `"85.2us"`: a number and one of `ps`, `ns`, `us` (or `µs`), `ms`, `s`.
    ///
    /// # Errors
    /// [`UnitError`] if there is no such unit, or what is before it is not a number from 0 on
    /// that is a whole count of picoseconds.
    fn from_str(text: &str) -> Result<Time, UnitError> {
        notation::parse(text, SUFFIXES, "a time such as \"85.2us\" (ps, ns, us, ms, s)").map(Time)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&notation::print(self.0, PRINTED))
    }
}
