//! Thresholds to compare with: equal split, exponential, and those of the PIAS authors' runs.

use flowsched_units::{Bytes, PACKET_PAYLOAD};
use flowsched_workload::sizes::{LARGEST_SIZE, SizeDistribution};

/// The same share of flows in every queue: the first threshold at the 100/K-th percentile, and so
/// on (PIAS ToN 2017, V-B, after pFabric).
pub fn equal_split(sizes: &SizeDistribution, queues: usize) -> Vec<Bytes> {
    let threshold = |index: usize| sizes.quantile(index as f64 / queues as f64);
    (1..queues).map(|index| Bytes::new((threshold(index) + 0.5) as u64)).collect()
}

/// The first threshold of [`exponential`] in the EPN paper.
pub const EXPONENTIAL_BASE: Bytes = Bytes::new(200_000);
/// The factor of [`exponential`] in the EPN paper.
pub const EXPONENTIAL_FACTOR: f64 = 2.0;

/// Thresholds that begin with `base`, each `factor` times the one before, whatever the workload
/// (EPN 2018: 200 KB and 2). A factor under 1 counts as 1.
pub fn exponential(base: Bytes, factor: f64, queues: usize) -> Vec<Bytes> {
    let factor = factor.max(1.0);
    let threshold = |index: usize| base.get() as f64 * libm::pow(factor, index as f64);
    (0..queues.saturating_sub(1))
        .map(|index| Bytes::new(threshold(index).min(LARGEST_SIZE) as u64))
        .collect()
}

/// How many queues the published thresholds are for.
pub const PUBLISHED_QUEUES: usize = 8;

/// The thresholds of a published run, for [`PUBLISHED_QUEUES`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Published {
    /// `web-search` or `data-mining`.
    pub workload: &'static str,
    /// The load of the run.
    pub load: f64,
    /// In packets of 1460 B.
    pub packets: [u64; PUBLISHED_QUEUES - 1],
}

impl Published {
    /// The thresholds in bytes.
    pub fn thresholds(&self) -> Vec<Bytes> {
        self.packets.iter().map(|packets| Bytes::new(packets * PACKET_PAYLOAD)).collect()
    }

    /// Where they come from.
    pub fn source(&self) -> String {
        format!("PIAS authors' packet simulation, {} at load {}", self.workload, self.load)
    }
}

/// The published thresholds for the sizes `name`, such as `web-search-packets` or
/// `data-mining-bytes`, at the load nearest to `load`, the higher of two; `None` for other sizes.
pub fn published(name: &str, load: f64) -> Option<&'static Published> {
    let of_workload = PUBLISHED.iter().filter(|row| name.starts_with(row.workload));
    let distance = |row: &Published| (row.load - load).abs();
    of_workload.min_by(|a, b| distance(a).total_cmp(&distance(b)))
}

const fn web_search(load: f64, packets: [u64; PUBLISHED_QUEUES - 1]) -> Published {
    Published { workload: "web-search", load, packets }
}

const fn data_mining(load: f64, packets: [u64; PUBLISHED_QUEUES - 1]) -> Published {
    Published { workload: "data-mining", load, packets }
}

/// All of them, from the highest load down.
pub const PUBLISHED: &[Published] = &[
    web_search(0.9, [759, 1132, 1456, 1737, 2010, 2199, 2325]),
    web_search(0.8, [909, 1329, 1648, 1960, 2143, 2337, 2484]),
    web_search(0.7, [999, 1305, 1564, 1763, 1956, 2149, 2309]),
    web_search(0.6, [956, 1381, 1718, 2028, 2297, 2551, 2660]),
    web_search(0.5, [1059, 1412, 1643, 1869, 2008, 2115, 2184]),
    data_mining(0.9, [750, 1083, 1416, 13705, 14952, 21125, 28253]),
    data_mining(0.8, [745, 1083, 1391, 13689, 14936, 21149, 27245]),
    data_mining(0.7, [907, 1301, 1619, 12166, 12915, 21313, 26374]),
    data_mining(0.6, [840, 1232, 1617, 11950, 12238, 21494, 25720]),
    data_mining(0.5, [805, 1106, 1401, 10693, 11970, 21162, 22272]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_thresholds_are_those_of_workload_and_load() {
        let row = |name, load| published(name, load).map(|row| (row.workload, row.load));
        for load in [0.5, 0.6, 0.7, 0.8, 0.9] {
            assert_eq!(row("web-search-packets", load), Some(("web-search", load)));
            assert_eq!(row("data-mining-bytes", load), Some(("data-mining", load)));
        }
        assert_eq!(row("web-search-bytes", 0.2), Some(("web-search", 0.5)));
        assert_eq!(row("data-mining-packets", 0.99), Some(("data-mining", 0.9)));
        assert_eq!(row("fixed 1MB", 0.8), None);
    }

    #[test]
    fn published_thresholds_do_not_fall() {
        for row in PUBLISHED {
            let thresholds = row.thresholds();
            assert_eq!(thresholds.len() + 1, PUBLISHED_QUEUES);
            assert!(thresholds.is_sorted(), "{row:?}");
        }
    }
}
