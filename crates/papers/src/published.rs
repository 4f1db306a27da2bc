//! What a paper publishes as a figure, and how far a measured figure may be from it.

use serde::{Deserialize, Serialize};

use crate::kind::{Bound, Kind};

/// How far a measured figure may be from a published one, as a share of the published one. It applies if the
/// published figure is rounded, qualified by "about" or "up to", or read off a figure. Figures that a paper
/// calls alike differ by at most this share of the baseline.
pub(crate) const TOLERANCE: f64 = 0.1;

/// A number, a range of numbers, or an order, as a paper states it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "`published` is a number, a range `[least, most]`, or an order: \"lower\", \"higher\", \"not-higher\", \"not-lower\" or \"alike\""
)]
pub enum Published {
    /// One number.
    Number(f64),
    /// The least and the most.
    Range([f64; 2]),
    /// How the scheme's figure compares with the baseline's.
    Order(Expected),
}

/// How a scheme's figure compares with the baseline's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Expected {
    /// Less.
    Lower,
    /// More.
    Higher,
    /// Less, or hardly more.
    NotHigher,
    /// More, or hardly less.
    NotLower,
    /// Hardly less and hardly more.
    Alike,
}

impl Published {
    /// Both ends of the range, which are equal for a number; `None` for an order.
    pub fn ends(self) -> Option<(f64, f64)> {
        match self {
            Published::Number(number) => Some((number, number)),
            Published::Range([low, high]) => Some((low, high)),
            Published::Order(_) => None,
        }
    }
}

/// Whether an interval meets the range from `least` to `most`, with the tolerance of `bound`. Without a
/// bound, a number stands for all numbers that are printed like it.
pub(crate) fn meets((least, most): (f64, f64), bound: Option<Bound>, low: f64, high: f64) -> bool {
    let (down, up) = (least - TOLERANCE * least.abs(), most + TOLERANCE * most.abs());
    match bound {
        None => low <= most + rounding(most) && least - rounding(least) <= high,
        Some(Bound::About | Bound::UpTo) => low <= up && down <= high,
        Some(Bound::AtLeast) => least <= high,
        Some(Bound::AtMost) => low <= most,
    }
}

/// How far a number may be from its printed form: half a unit of the last printed digit, if the form has two
/// digits or more without zeros at its ends. Otherwise 0, because a single digit, as in "2 times", may be exact.
fn rounding(printed: f64) -> f64 {
    let text = format!("{}", printed.abs());
    let digits = text.replace('.', "");
    let decimals = text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    if digits.trim_matches('0').len() < 2 { 0.0 } else { 0.5 * 0.1f64.powi(decimals as i32) }
}

/// The width of the widest interval that decides on the range from `low` to `high`: the distance of the
/// range's middle from the number that means no difference, or from 0 if there is no such number.
pub(crate) fn widest((low, high): (f64, f64), kind: Kind) -> f64 {
    ((low + high) / 2.0 - kind.neutral().unwrap_or(0.0)).abs()
}

impl Expected {
    /// The gaps to the baseline that agree with the order, from the least to the most.
    pub fn gaps(self) -> (f64, f64) {
        match self {
            Expected::Lower => (f64::NEG_INFINITY, 0.0),
            Expected::Higher => (0.0, f64::INFINITY),
            Expected::NotHigher => (f64::NEG_INFINITY, TOLERANCE),
            Expected::NotLower => (-TOLERANCE, f64::INFINITY),
            Expected::Alike => (-TOLERANCE, TOLERANCE),
        }
    }

    /// The words for the order in tables.
    pub fn words(self) -> &'static str {
        match self {
            Expected::Lower => "lower",
            Expected::Higher => "higher",
            Expected::NotHigher => "not higher",
            Expected::NotLower => "not lower",
            Expected::Alike => "alike",
        }
    }
}

/// Any expected order, for property tests.
#[cfg(test)]
pub(crate) fn any_order() -> impl proptest::strategy::Strategy<Value = Expected> {
    proptest::sample::select(vec![
        Expected::Lower,
        Expected::Higher,
        Expected::NotHigher,
        Expected::NotLower,
        Expected::Alike,
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_stands_for_those_that_round_to_it() {
        for (printed, half) in
            [(4.67, 0.005), (0.145, 0.0005), (42.0, 0.5), (0.4, 0.0), (3.0, 0.0), (200.0, 0.0)]
        {
            assert!((rounding(printed) - half).abs() < 1e-12, "{printed}");
        }
        assert!(meets((4.67, 4.67), None, 4.6677, 4.6677));
        assert!(!meets((4.67, 4.67), None, 4.664, 4.6649));
        assert!(!meets((3.0, 3.0), None, 3.1, 3.2));
    }
}
