//! Thresholds for flows whose sizes are known. Each flow is in the queue of its size from its first
//! byte on. This is what pFabric's section 6 needs for a few priorities (Alizadeh et al., SIGCOMM
//! 2013).
//!
//! The model is the M/G/1 queue with preemptive priorities, first come first served inside one
//! (Kleinrock, Queueing Systems volume 2, 3.6): a flow of size x in the class `(a, b]` takes
//! `W(b) / (1 - rho(a)) + x / (1 - rho(a))`, where `rho(s)` is the load of the flows up to s and
//! `W(s)` the mean work in the system if only these came. The mean is a sum of terms that each
//! depend on the two ends of one class only, so the best thresholds are a shortest path.

use flowsched_units::Bytes;
use flowsched_workload::sizes::SizeDistribution;

use crate::candidates;
use crate::error::{MOST_QUEUES, ThresholdsError};
use crate::forecast::Forecast;

/// The number of sizes among which the optimum is exact.
const SIZES: usize = 1_000;

/// The thresholds for `queues` queues on one link at `load` that minimise the mean flow
/// completion time when sizes are known; the optimum among a thousand candidate sizes. Where
/// fewer queues are as good, the last thresholds are equal.
///
/// # Errors
/// [`ThresholdsError::Load`] and [`ThresholdsError::Queues`].
pub fn optimal_known_sizes(
    sizes: &SizeDistribution,
    load: f64,
    queues: usize,
) -> Result<Vec<Bytes>, ThresholdsError> {
    let bounds = optimal_among(sizes, load, queues, SIZES)?;
    let last = bounds.last().copied().unwrap_or(sizes.max().min(u64::MAX as f64));
    let all = bounds.into_iter().chain(std::iter::repeat(last)).take(queues - 1);
    Ok(all.map(|size| Bytes::new(size as u64)).collect())
}

/// Chooses at most `queues - 1` of about `count` sizes.
fn optimal_among(
    sizes: &SizeDistribution,
    load: f64,
    queues: usize,
    count: usize,
) -> Result<Vec<f64>, ThresholdsError> {
    if !(load > 0.0 && load < 1.0) {
        return Err(ThresholdsError::Load { found: load });
    }
    if !(1..=MOST_QUEUES).contains(&queues) {
        return Err(ThresholdsError::Queues { found: queues });
    }
    let grid = candidates::grid(&[Forecast::new(sizes, load)], &[], count);
    let places = [0.0].into_iter().chain(grid).chain([sizes.max()]);
    let places: Vec<Place> = places.map(|size| Place::new(sizes, load, size)).collect();
    Ok(cheapest(&places, queues).into_iter().map(|index| places[index].size).collect())
}

/// Sums over the flows up to a size. Times are in bytes of service.
#[derive(Clone, Copy, Debug)]
struct Place {
    size: f64,
    /// Their share of all flows.
    share: f64,
    /// Their bytes per flow, `E[S; S <= size]`.
    bytes: f64,
    /// `1 - rho(size)`.
    idle: f64,
    /// `W(size)`.
    work: f64,
}

impl Place {
    fn new(sizes: &SizeDistribution, load: f64, size: f64) -> Place {
        let arrival_rate = load / sizes.mean();
        let share = sizes.cdf(size);
        // Leaves out longer flows, which were counted up to the size.
        let above = 1.0 - share;
        let cut_off = if above > 0.0 { size * above } else { 0.0 };
        let bytes = sizes.partial_mean(size) - cut_off;
        let squares =
            sizes.partial_second_moment(size) - if above > 0.0 { size * cut_off } else { 0.0 };
        let idle = 1.0 - arrival_rate * bytes;
        Place { size, share, bytes, idle, work: arrival_rate * squares / (2.0 * idle) }
    }

    /// What the class from here to `end` adds to the mean.
    fn cost_to(&self, end: &Place) -> f64 {
        ((end.share - self.share) * end.work + end.bytes - self.bytes) / self.idle
    }
}

/// The indices of the places between the classes of the cheapest choice of at most `queues`
/// classes from the first place to the last; of equal choices, the one with the fewest.
fn cheapest(places: &[Place], queues: usize) -> Vec<usize> {
    let last = places.len() - 1;
    // For each place, the cost of the cheapest way there with this many classes. For each layer and
    // place, where the last class begins.
    let mut costs: Vec<f64> = places.iter().map(|place| places[0].cost_to(place)).collect();
    let mut origins: Vec<Vec<usize>> = Vec::new();
    for _ in 1..queues {
        let mut better = costs.clone();
        let mut from = vec![usize::MAX; places.len()];
        for end in 1..places.len() {
            for begin in 1..end {
                let cost = costs[begin] + places[begin].cost_to(&places[end]);
                if cost < better[end] {
                    (better[end], from[end]) = (cost, begin);
                }
            }
        }
        origins.push(from);
        costs = better;
    }
    let mut bounds = Vec::new();
    let mut end = last;
    for from in origins.iter().rev() {
        if from[end] != usize::MAX {
            end = from[end];
            bounds.push(end);
        }
    }
    bounds.reverse();
    bounds
}

#[cfg(test)]
mod tests {
    use flowsched_theory::Mg1;
    use flowsched_workload::sizes::by_name;

    use super::*;

    /// The mean FCT in bytes of service.
    fn mean(sizes: &SizeDistribution, load: f64, bounds: &[f64]) -> f64 {
        let ends = [0.0].into_iter().chain(bounds.iter().copied()).chain([sizes.max()]);
        let places: Vec<Place> = ends.map(|size| Place::new(sizes, load, size)).collect();
        places.windows(2).map(|pair| pair[0].cost_to(&pair[1])).sum()
    }

    #[test]
    fn one_class_is_first_come_first_served_and_many_are_near_shortest_job_first() {
        for name in ["web-search-bytes", "data-mining-bytes"] {
            let sizes = by_name(name).unwrap();
            let theory = Mg1::new(&sizes, 0.8);
            let one = mean(&sizes, 0.8, &optimal_among(&sizes, 0.8, 1, 200).unwrap());
            assert!((one / theory.fcfs_mean() - 1.0).abs() < 1e-6, "{one}");
            let many = mean(&sizes, 0.8, &optimal_among(&sizes, 0.8, 64, 1000).unwrap());
            // Inside a class nothing is preempted. This is better than to preempt a flow for one
            // that is hardly shorter, and worse than to know what is left.
            let (best, finest) = (theory.srpt_mean(), theory.psjf_mean());
            assert!(best <= many && many <= finest, "{best} {many} {finest}");
        }
    }

    #[test]
    fn nothing_is_better_among_the_same_sizes() {
        let sizes = by_name("web-search-bytes").unwrap();
        let grid = candidates::grid(&[Forecast::new(&sizes, 0.7)], &[], 40);
        let found = mean(&sizes, 0.7, &optimal_among(&sizes, 0.7, 3, 40).unwrap());
        let mut best = f64::INFINITY;
        for (index, first) in grid.iter().enumerate() {
            for second in &grid[index..] {
                best = best.min(mean(&sizes, 0.7, &[*first, *second]));
            }
        }
        assert!((found / best - 1.0).abs() < 1e-12, "{found} against {best}");
    }

    #[test]
    fn more_queues_are_no_worse_and_thresholds_rise() {
        let sizes = by_name("web-search-bytes").unwrap();
        let mut before = f64::INFINITY;
        for queues in 1..=8 {
            let thresholds = optimal_known_sizes(&sizes, 0.8, queues).unwrap();
            assert_eq!(thresholds.len(), queues - 1);
            assert!(thresholds.is_sorted());
            let bounds: Vec<f64> = thresholds.iter().map(|size| size.get() as f64).collect();
            let mean = mean(&sizes, 0.8, &bounds);
            assert!(mean <= before * (1.0 + 1e-9), "{mean} with {queues} queues after {before}");
            before = mean;
        }
    }

    #[test]
    fn one_size_needs_no_thresholds_but_has_them() {
        let sizes = SizeDistribution::fixed(Bytes::new(10_000));
        assert_eq!(optimal_known_sizes(&sizes, 0.5, 3).unwrap(), [Bytes::new(10_000); 2]);
    }

    #[test]
    fn impossible_loads_and_queues_are_refused() {
        let sizes = by_name("web-search-bytes").unwrap();
        assert!(optimal_known_sizes(&sizes, 1.0, 8).is_err());
        assert!(optimal_known_sizes(&sizes, f64::NAN, 8).is_err());
        assert!(optimal_known_sizes(&sizes, 0.5, 0).is_err());
        assert!(optimal_known_sizes(&sizes, 0.5, 65).is_err());
    }
}
