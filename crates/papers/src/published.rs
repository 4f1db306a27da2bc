//! A published number, and how far a measured one may be from it.

use serde::{Deserialize, Serialize};

use crate::claim::{Bound, Kind};

/// How far a measured figure may be from a published one that is rounded, qualified by "about" or
/// "up to", or read off a figure: a share of the published one.
const TOLERANCE: f64 = 0.1;

/// A number, or a range of numbers, as a paper states it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Published {
    /// One number.
    Number(f64),
    /// The least and the most.
    Range([f64; 2]),
}

impl Published {
    /// Both ends of the range; twice the same for a number.
    pub fn ends(self) -> (f64, f64) {
        match self {
            Published::Number(number) => (number, number),
            Published::Range([low, high]) => (low, high),
        }
    }

    /// Whether an interval meets what was published, with the tolerance of `bound`.
    pub(crate) fn meets(self, bound: Option<Bound>, low: f64, high: f64) -> bool {
        let (least, most) = self.ends();
        let (down, up) = (least - TOLERANCE * least.abs(), most + TOLERANCE * most.abs());
        match bound {
            None => low <= most && least <= high,
            Some(Bound::About | Bound::UpTo) => low <= up && down <= high,
            Some(Bound::AtLeast) => least <= high,
            Some(Bound::AtMost) => low <= most,
        }
    }

    /// The widest interval that decides on what was published: the distance of the published number
    /// from the one that means no difference, or the number itself where there is none.
    pub(crate) fn widest(self, kind: Kind) -> f64 {
        let (low, high) = self.ends();
        ((low + high) / 2.0 - kind.neutral().unwrap_or(0.0)).abs()
    }
}
