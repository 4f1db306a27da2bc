//! What a paper leaves open, and the ways to read it.

use serde::{Deserialize, Serialize};

use crate::kind::Kind;
use crate::measure::Measure;
use crate::setting::Setting;

/// Something that a paper does not say, or says in two ways.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Assumption {
    /// What is open, such as `"initial window"`.
    pub name: String,
    /// What the paper says about it, and what the experiment assumes.
    pub why: String,
    /// The other ways to read it.
    #[serde(rename = "reading")]
    pub readings: Vec<Reading>,
}

/// A way to read a paper other than the experiment's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reading {
    /// The name that distinguishes it from other readings, such as `"2 segments"`.
    pub name: String,
    /// The keys of the experiment that it changes.
    #[serde(default)]
    pub set: Setting,
    /// The figure that is measured instead, if it is another one.
    pub figure: Option<String>,
    /// Whether "lower by" has its other meaning:
    ///
    /// - A reduction becomes the relative excess of the baseline, baseline/ours - 1.
    /// - A gap of a rival over ours becomes the share by which ours is less, 1 - ours/rival.
    #[serde(default)]
    pub inverse: bool,
}

impl Reading {
    /// The kind and the measure that take the place of `kind` and `measure` under this reading.
    fn apply(&self, kind: Kind, measure: &Measure) -> (Kind, Measure) {
        let mut other = measure.clone();
        other.set.extend(self.set.clone());
        if let Some(figure) = &self.figure {
            other.figure.clone_from(figure);
        }
        match (&mut other.baseline, self.inverse) {
            (Some(baseline), true) => {
                std::mem::swap(baseline, &mut other.scheme);
                (if kind == Kind::Gap { Kind::Reduction } else { Kind::Gap }, other)
            }
            _ => (kind, other),
        }
    }
}

/// Readings of different assumptions, taken together. The empty variant is the experiment as it is.
pub(crate) type Variant<'a> = Vec<(&'a Assumption, &'a Reading)>;

/// The kind and the measure that take the place of `kind` and `measure` under all readings of a
/// variant.
pub(crate) fn under(variant: &Variant<'_>, kind: Kind, measure: &Measure) -> (Kind, Measure) {
    let start = (kind, measure.clone());
    variant.iter().fold(start, |(kind, measure), (_, reading)| reading.apply(kind, &measure))
}

/// The largest number of variants that are all run. If there are more, only single readings and
/// pairs are run.
const FULL_GRID: usize = 64;

/// The experiment as it is, each reading alone, and readings together: all combinations if there
/// are few, otherwise pairs.
pub(crate) fn variants(assumptions: &[Assumption]) -> Vec<Variant<'_>> {
    let sizes = assumptions.iter().map(|one| one.readings.len() + 1);
    let whole = sizes.fold(1usize, usize::saturating_mul);
    let most = if whole <= FULL_GRID { assumptions.len() } else { 2 };
    let mut found: Vec<Variant<'_>> = vec![Vec::new()];
    for assumption in assumptions {
        let shorter: Vec<_> =
            found.iter().filter(|variant| variant.len() < most).cloned().collect();
        for variant in shorter {
            found.extend(assumption.readings.iter().map(|reading| {
                let mut longer = variant.clone();
                longer.push((assumption, reading));
                longer
            }));
        }
    }
    found.sort_by_key(Vec::len);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assumption(readings: usize) -> Assumption {
        let reading = |number: usize| Reading {
            name: number.to_string(),
            set: Setting::new(),
            figure: None,
            inverse: false,
        };
        let readings = (0..readings).map(reading).collect();
        Assumption { name: String::new(), why: String::new(), readings }
    }

    #[test]
    fn the_inverse_of_a_gap_is_a_reduction_and_the_other_way_around() {
        let text = "experiment = \"e\"\nfigure = \"fct_us.all.mean\"\nscheme = \"rival\"\nbaseline = \"ours\"";
        let measure: Measure = toml::from_str(text).unwrap();
        let inverse = Reading { inverse: true, ..assumption(1).readings.remove(0) };
        let (kind, swapped) = inverse.apply(Kind::Gap, &measure);
        assert_eq!((kind, swapped.scheme.as_str()), (Kind::Reduction, "ours"));
        assert_eq!(inverse.apply(kind, &swapped), (Kind::Gap, measure));
    }

    #[test]
    fn few_readings_are_combined_in_all_ways_and_many_in_pairs() {
        let lengths = |sizes: &[usize]| {
            let assumptions: Vec<_> = sizes.iter().map(|size| assumption(*size)).collect();
            variants(&assumptions).iter().map(Vec::len).collect::<Vec<_>>()
        };
        assert_eq!(lengths(&[]), [0]);
        assert_eq!(lengths(&[2, 1]), [0, 1, 1, 1, 2, 2]);
        assert_eq!(lengths(&[1, 1, 1]), [0, 1, 1, 1, 2, 2, 2, 3]);
        let many = lengths(&[4, 4, 4]);
        assert_eq!((many.len(), many.last()), (1 + 12 + 48, Some(&2)));
    }
}
