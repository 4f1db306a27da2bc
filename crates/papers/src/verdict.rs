//! Judges a published figure by a measured one. The rules are those of the book's page on reproduction, and nothing
//! else decides.

use serde::{Deserialize, Serialize};

use crate::kind::{Bound, Kind};
use crate::measured::Measured;
use crate::published::{Expected, Published, meets, widest};

/// The verdict on a published value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The interval meets the published value or range, and not all seeds are on one side of it. The whole interval
    /// agrees with an order. A property holds in every seed.
    Reproduced,
    /// The interval does not meet the published value, but it is wholly on the published side of "no difference".
    SameDirection,
    /// The interval neither meets the published value nor is on its side of "no difference".
    NotReproduced,
    /// There is no interval, it includes "no difference", or it is on the published side and too wide. Or it meets
    /// the published value, although it is too wide or all seeds are on one side.
    Undecided,
    /// Only real packets can tell.
    NeedsTheLab,
    /// Nothing was measured; the claim says why.
    NotRun,
}

impl Verdict {
    /// All verdicts, the best first.
    pub const ALL: [Verdict; 6] = [
        Verdict::Reproduced,
        Verdict::SameDirection,
        Verdict::NotReproduced,
        Verdict::Undecided,
        Verdict::NeedsTheLab,
        Verdict::NotRun,
    ];

    /// The verdict on what a paper states.
    pub fn new(
        kind: Kind,
        bound: Option<Bound>,
        published: Published,
        measured: &Measured,
    ) -> Verdict {
        let Some((low, high)) = measured.interval else { return Verdict::Undecided };
        let is_comparable = low.is_finite() && high.is_finite();
        match (published, published.ends()) {
            _ if !is_comparable => Verdict::Undecided,
            (Published::Order(expected), _) => Verdict::of_order(expected, low, high),
            (_, Some(range)) => {
                Verdict::of_numbers(kind, bound, range, (low, high), measured.extremes)
            }
            (_, None) => Verdict::Undecided,
        }
    }

    /// The verdict on a property that holds in this share of the seeds. A single seed in which it does not hold
    /// decides.
    pub fn of_property(share: f64, seeds: usize) -> Verdict {
        match (share < 1.0, seeds) {
            (true, _) => Verdict::NotReproduced,
            (false, ..=1) => Verdict::Undecided,
            (false, _) => Verdict::Reproduced,
        }
    }

    /// The verdict on an order, from the interval of the gap between the two schemes.
    fn of_order(expected: Expected, low: f64, high: f64) -> Verdict {
        let (least, most) = expected.gaps();
        if least < low && high < most {
            Verdict::Reproduced
        } else if high <= least || most <= low {
            Verdict::NotReproduced
        } else {
            Verdict::Undecided
        }
    }

    fn of_numbers(
        kind: Kind,
        bound: Option<Bound>,
        (least, most): (f64, f64),
        (low, high): (f64, f64),
        extremes: Option<(f64, f64)>,
    ) -> Verdict {
        let is_wide = high - low > widest((least, most), kind);
        if meets((least, most), bound, low, high) {
            // Otherwise an outlier on the same side would reproduce what all seeds miss.
            let is_missed =
                extremes.is_some_and(|(first, last)| !meets((least, most), bound, first, last));
            return if is_wide || is_missed { Verdict::Undecided } else { Verdict::Reproduced };
        }
        let Some(neutral) = kind.neutral() else { return Verdict::NotReproduced };
        let is_ours = (low > neutral) == (least + most > 2.0 * neutral);
        match low <= neutral && neutral <= high {
            true => Verdict::Undecided,
            false if is_ours && is_wide => Verdict::Undecided,
            false if is_ours => Verdict::SameDirection,
            false => Verdict::NotReproduced,
        }
    }

    /// The words for the verdict in tables.
    pub fn words(self) -> &'static str {
        match self {
            Verdict::Reproduced => "reproduced",
            Verdict::SameDirection => "same direction",
            Verdict::NotReproduced => "not reproduced",
            Verdict::Undecided => "undecided",
            Verdict::NeedsTheLab => "needs the lab",
            Verdict::NotRun => "not run",
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::published::any_order;

    fn verdict(kind: Kind, bound: Option<Bound>, published: f64, low: f64, high: f64) -> Verdict {
        let interval = Some((low, high));
        let measured = Measured { figure: (low + high) / 2.0, interval, extremes: None, seeds: 5 };
        Verdict::new(kind, bound, Published::Number(published), &measured)
    }

    #[test]
    fn an_interval_that_meets_the_number_reproduces_it() {
        let reduction = |low, high| verdict(Kind::Reduction, None, 0.3, low, high);
        assert_eq!(reduction(0.25, 0.35), Verdict::Reproduced);
        assert_eq!(reduction(0.31, 0.35), Verdict::SameDirection);
        assert_eq!(reduction(-0.05, 0.05), Verdict::Undecided);
        assert_eq!(reduction(-0.2, -0.1), Verdict::NotReproduced);
        assert_eq!(reduction(0.1, 0.5), Verdict::Undecided, "wider than 0.3");
        assert_eq!(
            reduction(-0.9, -0.1),
            Verdict::NotReproduced,
            "wide, and all of it on the wrong side"
        );
    }

    #[test]
    fn about_and_up_to_allow_a_tenth() {
        for bound in [Bound::About, Bound::UpTo] {
            let found = |low, high| verdict(Kind::Gap, Some(bound), 0.2, low, high);
            assert_eq!(found(0.219, 0.23), Verdict::Reproduced);
            assert_eq!(found(0.17, 0.181), Verdict::Reproduced);
            assert_eq!(found(0.221, 0.23), Verdict::SameDirection);
        }
    }

    #[test]
    fn a_least_and_a_most_bound_one_side() {
        let ratio = |low, high| verdict(Kind::Ratio, Some(Bound::AtLeast), 3.0, low, high);
        assert_eq!(ratio(4.0, 4.1), Verdict::Reproduced);
        assert_eq!(ratio(2.0, 2.8), Verdict::SameDirection);
        assert_eq!(ratio(0.8, 0.9), Verdict::NotReproduced);
        let value = |low, high| verdict(Kind::Value, Some(Bound::AtMost), 0.01, low, high);
        assert_eq!(value(0.002, 0.003), Verdict::Reproduced);
        assert_eq!(value(0.02, 0.021), Verdict::NotReproduced);
    }

    #[test]
    fn absolute_figures_have_no_direction() {
        assert_eq!(verdict(Kind::Value, None, 42.0, 40.0, 41.0), Verdict::NotReproduced);
        assert_eq!(verdict(Kind::Value, Some(Bound::About), 42.0, 40.0, 41.0), Verdict::Reproduced);
        assert_eq!(verdict(Kind::Value, None, 42.0, 10.0, 60.0), Verdict::Undecided);
        assert_eq!(verdict(Kind::Value, None, 42.0, 50.0, 100.0), Verdict::NotReproduced);
    }

    #[test]
    fn a_property_holds_in_every_seed_or_not_at_all() {
        assert_eq!(Verdict::of_property(1.0, 5), Verdict::Reproduced);
        assert_eq!(Verdict::of_property(0.8, 5), Verdict::NotReproduced);
        assert_eq!(Verdict::of_property(0.0, 1), Verdict::NotReproduced);
        assert_eq!(Verdict::of_property(1.0, 1), Verdict::Undecided);
    }

    #[test]
    fn one_seed_decides_nothing() {
        let measured = Measured { figure: 0.3, interval: None, extremes: None, seeds: 1 };
        let found = Verdict::new(Kind::Gap, None, Published::Number(0.3), &measured);
        assert_eq!(found, Verdict::Undecided);
    }

    #[test]
    fn orders_hold_if_the_whole_interval_is_on_one_side() {
        let order = |expected, low, high| {
            let measured =
                Measured { figure: low, interval: Some((low, high)), extremes: None, seeds: 5 };
            Verdict::new(Kind::Order, None, Published::Order(expected), &measured)
        };
        assert_eq!(order(Expected::Lower, -0.3, -0.1), Verdict::Reproduced);
        assert_eq!(order(Expected::Lower, -0.3, 0.1), Verdict::Undecided);
        assert_eq!(order(Expected::Lower, 0.1, 0.2), Verdict::NotReproduced);
        assert_eq!(order(Expected::Lower, 0.0, 0.0), Verdict::NotReproduced);
        assert_eq!(order(Expected::Higher, 0.1, 0.2), Verdict::Reproduced);
        assert_eq!(order(Expected::Higher, -0.2, -0.1), Verdict::NotReproduced);
        assert_eq!(order(Expected::NotHigher, -0.3, 0.09), Verdict::Reproduced);
        assert_eq!(order(Expected::NotHigher, 0.05, 0.15), Verdict::Undecided);
        assert_eq!(order(Expected::NotLower, -0.09, 0.5), Verdict::Reproduced);
        assert_eq!(order(Expected::Alike, -0.09, 0.09), Verdict::Reproduced);
        assert_eq!(order(Expected::Alike, 0.12, 0.2), Verdict::NotReproduced);
        assert_eq!(order(Expected::Alike, -0.12, f64::INFINITY), Verdict::Undecided);
    }

    fn any_kind() -> impl Strategy<Value = Kind> {
        prop::sample::select(vec![Kind::Reduction, Kind::Gap, Kind::Ratio, Kind::Value])
    }

    fn any_bound() -> impl Strategy<Value = Option<Bound>> {
        let bounds = [Bound::UpTo, Bound::About, Bound::AtLeast, Bound::AtMost];
        prop::option::of(prop::sample::select(bounds.to_vec()))
    }

    proptest! {
        /// More seeds never make a failed property hold.
        #[test]
        fn more_seeds_never_reproduce_a_property_that_failed(
            first in prop::collection::vec(any::<bool>(), 1..9),
            more in prop::collection::vec(any::<bool>(), 0..9),
        ) {
            let verdict = |held: &[bool]| {
                let share = held.iter().filter(|held| **held).count() as f64 / held.len() as f64;
                Verdict::of_property(share, held.len())
            };
            if verdict(&first) == Verdict::NotReproduced {
                prop_assert_eq!(verdict(&[first, more].concat()), Verdict::NotReproduced);
            }
        }

        /// More data make an interval narrower. What the wider one excludes stays excluded.
        #[test]
        fn more_data_never_reproduce_what_was_not(
            kind in any_kind(),
            bound in any_bound(),
            published in -5.0..5.0f64,
            low in -5.0..5.0f64,
            width in 0.0..3.0f64,
            from in 0.0..1.0f64,
            to in 0.0..1.0f64,
        ) {
            let wide = verdict(kind, bound, published, low, low + width);
            let (from, to) = (from.min(to), from.max(to));
            let narrow = verdict(kind, bound, published, low + from * width, low + to * width);
            if wide == Verdict::NotReproduced {
                prop_assert_eq!(narrow, Verdict::NotReproduced);
            }
            if wide == Verdict::SameDirection {
                prop_assert_eq!(narrow, Verdict::SameDirection);
            }
        }

        #[test]
        fn more_data_never_reverse_an_order(
            expected in any_order(),
            low in -1.0..1.0f64,
            width in 0.0..1.0f64,
            from in 0.0..1.0f64,
            to in 0.0..1.0f64,
        ) {
            let found = |low, high| {
                let measured = Measured { figure: low, interval: Some((low, high)), extremes: None, seeds: 5 };
                Verdict::new(Kind::Order, None, Published::Order(expected), &measured)
            };
            let wide = found(low, low + width);
            let (from, to) = (from.min(to), from.max(to));
            if wide != Verdict::Undecided {
                prop_assert_eq!(found(low + from * width, low + to * width), wide);
            }
        }
    }
}
