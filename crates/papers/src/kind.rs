//! The kinds of published numbers, and how exact the numbers are.

use serde::{Deserialize, Serialize};

/// The kind of a published number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// 1 - ours/baseline.
    Reduction,
    /// ours/baseline - 1.
    Gap,
    /// ours/baseline.
    Ratio,
    /// An absolute figure.
    Value,
    /// How two schemes compare, without a number.
    Order,
    /// Something that holds in every run or does not.
    Property,
}

impl Kind {
    /// The number that means no difference, if the kind has one.
    pub fn neutral(self) -> Option<f64> {
        match self {
            Kind::Reduction | Kind::Gap => Some(0.0),
            Kind::Ratio => Some(1.0),
            Kind::Value | Kind::Order | Kind::Property => None,
        }
    }

    /// A number as claims of this kind print it.
    pub fn in_words(self, number: f64) -> String {
        self.with_digits(number, 0)
    }

    /// A number as claims of this kind print it, with `more` further digits.
    pub(crate) fn with_digits(self, number: f64, more: usize) -> String {
        match self {
            Kind::Reduction | Kind::Gap | Kind::Order => percent(number, 1 + more),
            _ if number.abs() >= 100.0 => format!("{number:.more$}"),
            _ if number != 0.0 && number.abs() < 0.01 => format!("{number:.*e}", 1 + more),
            _ => {
                let text = format!("{number:.*}", 3 + more);
                text.trim_end_matches('0').trim_end_matches('.').to_owned()
            }
        }
    }

    /// Whether a number printed with `more` further digits has at least two significant digits, or
    /// is 0.
    pub(crate) fn has_two_digits(self, number: f64, more: usize) -> bool {
        let is_share = matches!(self, Kind::Reduction | Kind::Gap | Kind::Order);
        // Numbers of other kinds have two digits at any size.
        !is_share || number == 0.0 || number.abs() * 100.0 >= 10f64.powi(-(more as i32))
    }

    /// A published number as claims of this kind print it, with all of its digits.
    pub(crate) fn in_full(self, number: f64) -> String {
        match self {
            Kind::Reduction | Kind::Gap | Kind::Order => {
                // A thousandth of a percent is finer than any figure in a paper.
                format!("{}%", (number * 1e5).round() / 1e3)
            }
            _ => number.to_string(),
        }
    }

    /// Whether claims of this kind compare two schemes.
    pub(crate) fn compares(self) -> bool {
        self.neutral().is_some() || self == Kind::Order
    }
}

/// A percentage such as `-21.0%`. A number that is rounded to 0 has no sign.
fn percent(share: f64, decimals: usize) -> String {
    let percent = share * 100.0;
    let is_nothing = percent.abs() < 0.5 * 0.1f64.powi(decimals as i32);
    format!("{:.decimals$}%", if is_nothing { 0.0 } else { percent })
}

/// How exact a paper says a number is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// The largest number that was found.
    UpTo,
    /// Rounded, or read off a figure.
    About,
    /// That much or more.
    AtLeast,
    /// That much or less.
    AtMost,
}

impl Bound {
    /// The words before a number with this bound.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Bound::UpTo => "up to ",
            Bound::About => "about ",
            Bound::AtLeast => "at least ",
            Bound::AtMost => "at most ",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_numbers_keep_their_digits() {
        assert_eq!(Kind::Reduction.in_full(0.39), "39%");
        assert_eq!(Kind::Gap.in_full(0.0572), "5.72%");
        assert_eq!(Kind::Value.in_full(160.11), "160.11");
        assert_eq!(Kind::Value.in_full(0.0213), "0.0213");
    }

    #[test]
    fn shares_have_two_significant_digits_with_enough_of_them() {
        let enough = |number: f64| (0..4).find(|more| Kind::Gap.has_two_digits(number, *more));
        for (share, more) in [(0.21, 0), (0.01, 0), (-0.0057, 1), (0.00082, 2), (0.0, 0)] {
            assert_eq!(enough(share), Some(more), "{share}");
        }
        assert_eq!(enough(1e-9), None, "it is nothing");
        assert_eq!(Kind::Gap.with_digits(0.00082, 2), "0.082%");
        assert_eq!(Kind::Value.with_digits(160.3, 1), "160.3");
        assert_eq!(Kind::Value.with_digits(0.00123, 1), "1.23e-3");
    }

    #[test]
    fn a_rounded_nothing_has_no_sign() {
        for kind in [Kind::Reduction, Kind::Gap, Kind::Order] {
            let in_words = [-0.21, -0.0006, -0.0004, -0.0, 0.0004].map(|part| kind.in_words(part));
            assert_eq!(in_words, ["-21.0%", "-0.1%", "0.0%", "0.0%", "0.0%"]);
        }
    }
}
