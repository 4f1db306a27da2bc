//! Slowdown by flow size. The flows of a point are divided into bins of equal numbers of flows, as in
//! papers on transport protocols (HPCC 2019, Figure 11; Homa 2018, Figure 8).

use serde::Serialize;

use super::distribution::{mean, percentile};
use super::in_order::in_order;
use super::{Placed, Point, ResultsError};

/// The largest number of bins. Flows of equal size are always in the same bin.
const BINS: usize = 10;

/// The flows of one range of sizes under every scheme.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SizeBin {
    /// The point of the sweep.
    pub point: Point,
    /// The smallest size in the bin, in payload bytes.
    pub from_bytes: u64,
    /// The largest size in the bin, in payload bytes.
    pub to_bytes: u64,
    /// The slowdown under each scheme, in the order of the runs.
    pub schemes: Vec<SlowdownOfBin>,
}

/// The slowdown of the measured flows of a bin that finished, over all seeds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SlowdownOfBin {
    /// The scheme.
    pub scheme: String,
    /// The number of flows.
    pub flows: u64,
    /// The mean slowdown; `None` without flows.
    pub mean: Option<f64>,
    /// The median.
    pub p50: Option<f64>,
    /// The 95th percentile.
    pub p95: Option<f64>,
    /// The 99th percentile.
    pub p99: Option<f64>,
}

/// A flow that finished, with the places of its point and scheme. Kept small, since there may be
/// millions.
struct Finished {
    point: u32,
    scheme: u32,
    size: u64,
    slowdown: f64,
}

/// The slowdown by size at every point of these folders.
///
/// # Errors
/// If a folder cannot be read.
pub fn slowdown_by_size(placed: &[Placed<'_>]) -> Result<Vec<SizeBin>, ResultsError> {
    let points: Vec<Point> =
        in_order(placed.iter().flat_map(Placed::points)).into_iter().cloned().collect();
    let schemes = in_order(placed.iter().flat_map(|one| one.folder.summary().schemes()));
    let mut all = Vec::new();
    for Placed { folder, point } in placed {
        folder.flows(|of_run| {
            let at = point.unwrap_or(&of_run.run.point);
            let point = points.iter().position(|known| known == at);
            let scheme = schemes.iter().position(|known| *known == of_run.run.scheme);
            let Some((point, scheme)) = point.zip(scheme) else { return };
            let (point, scheme) = (point as u32, scheme as u32);
            for flow in of_run.flows.iter().filter(|flow| flow.measured) {
                if let Some(slowdown) = flow.slowdown() {
                    all.push(Finished { point, scheme, size: flow.size.get(), slowdown });
                }
            }
        })?;
    }
    let bins = points.iter().enumerate().flat_map(|(number, point)| {
        let of_point: Vec<&Finished> =
            all.iter().filter(|flow| flow.point as usize == number).collect();
        let ranges = ranges(of_point.iter().map(|flow| flow.size).collect());
        let bin = |(from, to): (u64, u64)| {
            let inside = of_point.iter().filter(|flow| (from..=to).contains(&flow.size));
            let inside: Vec<&Finished> = inside.copied().collect();
            SizeBin {
                point: point.clone(),
                from_bytes: from,
                to_bytes: to,
                schemes: (0..)
                    .zip(&schemes)
                    .map(|(of, name)| slowdown_of(of, name, &inside))
                    .collect(),
            }
        };
        ranges.into_iter().map(bin).collect::<Vec<_>>()
    });
    Ok(bins.collect())
}

fn slowdown_of(scheme: u32, name: &str, flows: &[&Finished]) -> SlowdownOfBin {
    let of_scheme = flows.iter().filter(|flow| flow.scheme == scheme);
    let mut sorted: Vec<f64> = of_scheme.map(|flow| flow.slowdown).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    SlowdownOfBin {
        scheme: name.to_owned(),
        flows: sorted.len() as u64,
        mean: mean(&sorted),
        p50: percentile(&sorted, 500),
        p95: percentile(&sorted, 950),
        p99: percentile(&sorted, 990),
    }
}

/// The smallest and the largest size of each bin.
fn ranges(mut sizes: Vec<u64>) -> Vec<(u64, u64)> {
    sizes.sort_unstable();
    let last_of =
        |bin: usize| sizes.get((bin * sizes.len()).div_ceil(BINS).checked_sub(1)?).copied();
    let ends = in_order((1..=BINS).filter_map(last_of));
    let mut ranges = Vec::new();
    let mut above = None;
    for end in ends {
        let first = sizes.iter().find(|size| above.is_none_or(|above| **size > above));
        ranges.extend(first.map(|first| (*first, end)));
        above = Some(end);
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_have_equally_many_flows_and_equal_sizes_share_one() {
        let found = ranges((1..=100).collect());
        assert_eq!((found.len(), found[0], found[9]), (10, (1, 10), (91, 100)));
        assert_eq!(ranges(vec![7; 50]), [(7, 7)]);
        assert_eq!(ranges(Vec::new()), []);
        let mixed = ranges([vec![1; 85], (2..=16).collect()].concat());
        assert_eq!(mixed, [(1, 1), (2, 6), (7, 16)]);
    }

    #[test]
    fn percentiles_are_of_the_scheme() {
        let flow = |scheme, slowdown| Finished { point: 0, scheme, size: 1, slowdown };
        let flows: Vec<Finished> =
            (1..=100).map(|i| flow(0, f64::from(i))).chain([flow(1, 1e9)]).collect();
        let found = slowdown_of(0, "a", &flows.iter().collect::<Vec<_>>());
        assert_eq!((found.flows, found.p50, found.p99), (100, Some(50.0), Some(99.0)));
    }
}
