//! What published numbers are, and how exact.

use serde::{Deserialize, Serialize};

/// What numbers are.
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
    /// Something that holds or does not.
    Property,
}

impl Kind {
    /// The number that means no difference; `None` of absolute figures.
    pub fn neutral(self) -> Option<f64> {
        match self {
            Kind::Reduction | Kind::Gap => Some(0.0),
            Kind::Ratio => Some(1.0),
            Kind::Value | Kind::Order | Kind::Property => None,
        }
    }

    /// A number as such claims print it.
    pub fn in_words(self, number: f64) -> String {
        match self {
            Kind::Reduction | Kind::Gap | Kind::Order => format!("{:.1}%", number * 100.0),
            _ if number.abs() >= 100.0 => format!("{number:.0}"),
            _ if number != 0.0 && number.abs() < 0.01 => format!("{number:.1e}"),
            _ => format!("{number:.3}").trim_end_matches('0').trim_end_matches('.').to_owned(),
        }
    }

    /// Whether such claims are of two schemes.
    pub(crate) fn compares(self) -> bool {
        self.neutral().is_some() || self == Kind::Order
    }
}

/// What a paper says of how exact a number is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// The most that was found.
    UpTo,
    /// Rounded, or read off a figure.
    About,
    /// That much or more.
    AtLeast,
    /// That much or less.
    AtMost,
}
