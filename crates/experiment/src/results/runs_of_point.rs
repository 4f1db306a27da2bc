//! Compares and combines the runs of one point of a sweep. What is read and written is decided
//! elsewhere.

use super::comparison::{ClassComparison, compare};
use super::in_order::in_order;
use super::outcomes::Outcomes;
use super::samples::distinct;
use super::steady_state::{Course, SteadyState};
use super::{
    AcrossSeeds, Comparison, Figure, OneByOne, Order, OrderFound, OrderVerdict, PerClass, Point,
    RunSummary, SizeClass,
};

/// The runs of one point, with the outcomes of their flows.
pub(super) struct RunsOfPoint<'a>(pub(super) Vec<(&'a RunSummary, &'a Outcomes)>);

impl RunsOfPoint<'_> {
    /// The schemes' names, in the order of the runs.
    pub(super) fn schemes(&self) -> Vec<&str> {
        in_order(self.0.iter().map(|(run, _)| run.scheme.as_str()))
    }

    /// Compares every other scheme with `against`.
    pub(super) fn compare_all(&self, point: &Point, against: &str) -> Vec<Comparison> {
        let others = self.schemes().into_iter().filter(|scheme| *scheme != against);
        let comparison = |scheme: &str| Comparison {
            point: point.clone(),
            scheme: scheme.to_owned(),
            against: against.to_owned(),
            fct: PerClass::from_fn(|class| self.compare(against, scheme, class)),
        };
        others.map(comparison).collect()
    }

    fn outcomes(&self, scheme: &str, seed: u64) -> Option<&Outcomes> {
        let mut complete = self.0.iter().filter(|(run, _)| run.complete);
        let wanted = complete.find(|(run, _)| run.scheme == scheme && run.seed == seed);
        wanted.map(|(_, outcomes)| *outcomes)
    }

    /// Compares `scheme` with `against`, seed by seed.
    pub(super) fn compare(
        &self,
        against: &str,
        scheme: &str,
        class: Option<SizeClass>,
    ) -> ClassComparison {
        let seeds = in_order(self.0.iter().map(|(run, _)| run.seed));
        let both = |seed: &u64| self.outcomes(against, *seed).zip(self.outcomes(scheme, *seed));
        let pairs: Vec<_> = seeds.iter().filter_map(both).collect();
        compare(&pairs, class)
    }

    /// For each run, compares its flows with those of the scheme `against` with the same seed.
    pub(super) fn one_by_one(&self, against: &str) -> Vec<OneByOne> {
        let compared = self.0.iter().map(|(run, outcomes)| {
            let first = self.outcomes(against, run.seed).filter(|_| run.scheme != against);
            let pairs: Vec<_> = first.map(|first| (first, *outcomes)).into_iter().collect();
            compare(&pairs, None).one_by_one
        });
        compared.collect()
    }

    pub(super) fn across_seeds(&self, point: &Point, scheme: &str) -> AcrossSeeds {
        let complete = self.0.iter().filter(|(run, _)| run.complete && run.scheme == scheme);
        let outcomes: Vec<&Outcomes> = complete.map(|(_, outcomes)| *outcomes).collect();
        let courses: Option<Vec<&Course>> =
            outcomes.iter().map(|outcomes| outcomes.course.as_ref()).collect();
        AcrossSeeds {
            point: point.clone(),
            scheme: scheme.to_owned(),
            seeds: outcomes.len() as u64,
            samples: distinct(&outcomes),
            steady_state: courses.and_then(|courses| SteadyState::from_runs(&courses)),
        }
    }

    /// Checks each pair of neighbours in an order.
    pub(super) fn find(&self, order: &Order, point: &Point) -> Vec<OrderFound> {
        let neighbours = order.schemes.windows(2);
        let found = neighbours.map(|pair| {
            let compared = self.compare(&pair[0], &pair[1], order.class);
            let change = match order.figure {
                Figure::Mean => compared.mean,
                Figure::P99 => compared.p99,
            };
            OrderFound {
                point: point.clone(),
                class: order.class.map_or("all", SizeClass::name).to_owned(),
                figure: order.figure,
                lower: pair[0].clone(),
                higher: pair[1].clone(),
                change,
                verdict: OrderVerdict::from_change(&change, compared.nothing_is_random()),
            }
        });
        found.collect()
    }
}
