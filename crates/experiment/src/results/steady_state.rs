//! Checks whether a run is in steady state: whether the slowdown of its flows stays the same from the first flow to the
//! last.
//!
//! A network starts empty, so its first flows meet shorter queues than later ones. The check takes the measured flows
//! in the order of their starts. It compares the first tenth with the second half (Geweke 1992), by the mean log of
//! slowdown. The variance is estimated from the means of ten batches of the second half, around their trend. It is
//! widened for the correlation between neighbouring batches, and pooled over the seeds. For some workloads, such as a
//! burst, steady state means nothing; this is decided elsewhere.

use serde::{Deserialize, Serialize};

use super::FlowRow;
use super::student::t_9995;

/// The number of cells that a run's measured flows are divided into. However many twentieths of the run are left out,
/// the number of remaining cells is a multiple of [`BATCHES`].
const CELLS: usize = BATCHES * BATCHES;
/// The number of batches of the check.
const BATCHES: usize = 20;
/// The number of batches in the first tenth.
const EARLY: usize = BATCHES / 10;
/// The first batch of the second half, and the number of batches in that half.
const LATE: usize = BATCHES / 2;
/// The longest additional warm-up, in twentieths of the measured flows: half of them.
const LONGEST_WARM_UP: usize = BATCHES / 2;
/// A relative change of slowdown up to this does not matter.
const TOLERANCE: f64 = 0.05;
/// Correlations between neighbouring batches are clamped to at most this.
const MOST_CORRELATION: f64 = 0.9;

/// The course of slowdown in one run, as sums over cells with equal numbers of flows.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Course {
    cells: Vec<Cell>,
    /// The number of all flows, measured or not.
    flows: u64,
    measured: u64,
    /// The number of flows before the first measured flow.
    warm_up: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Cell {
    sum_of_logs: f64,
    finished: u64,
}

/// Whether the runs of a scheme at one point are in steady state.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SteadyState {
    /// The geometric mean of the slowdown of the first tenth of the measured flows.
    pub early_slowdown: f64,
    /// The geometric mean of the slowdown of the second half of the measured flows.
    pub late_slowdown: f64,
    /// Whether the two differ by no more than 5%, as far as the runs show.
    pub is_steady: bool,
    /// The smallest `warm_up_flows` after which the rest of the flows is steady, to a twentieth of the measured flows.
    /// `None` if the runs are steady, or if half of the flows is not enough warm-up.
    pub warm_up_flows: Option<u64>,
    /// The recommended `flows`: larger by the additional warm-up, or twice as many if no warm-up is enough. `None` if
    /// the runs are steady.
    pub flows: Option<u64>,
}

impl Course {
    /// The course over the measured flows among `flows`, which must be sorted by start. `None` if there are too few of
    /// them.
    pub fn from_flows(flows: &[FlowRow]) -> Option<Course> {
        let measured: Vec<&FlowRow> = flows.iter().filter(|flow| flow.measured).collect();
        if measured.len() < CELLS {
            return None;
        }
        let mut cells = vec![Cell::default(); CELLS];
        for (place, flow) in measured.iter().enumerate() {
            if let Some(slowdown) = flow.slowdown().filter(|slowdown| *slowdown > 0.0) {
                let cell = &mut cells[place * CELLS / measured.len()];
                cell.sum_of_logs += libm::log(slowdown);
                cell.finished += 1;
            }
        }
        let warm_up = flows.iter().take_while(|flow| !flow.measured).count() as u64;
        Some(Course { cells, flows: flows.len() as u64, measured: measured.len() as u64, warm_up })
    }

    /// The mean log of slowdown in each batch, after the first `twentieths` of the flows are left out. `None` if some
    /// batch has no flow that finished.
    fn batches(&self, twentieths: usize) -> Option<Vec<f64>> {
        let rest = &self.cells[twentieths * BATCHES..];
        let mean = |cells: &[Cell]| {
            let finished: u64 = cells.iter().map(|cell| cell.finished).sum();
            let sum: f64 = cells.iter().map(|cell| cell.sum_of_logs).sum();
            (finished > 0).then(|| sum / finished as f64)
        };
        rest.chunks(BATCHES - twentieths).map(mean).collect()
    }
}

impl SteadyState {
    /// Checks the runs of a scheme at one point, one for each seed. `None` if there are no runs, or if some run has a
    /// batch without a flow that finished.
    pub(super) fn from_runs(runs: &[&Course]) -> Option<SteadyState> {
        let (first, drift) = (runs.first()?, Drift::from_runs(runs, 0)?);
        let is_steady_after = |twentieths: &usize| {
            Drift::from_runs(runs, *twentieths).is_some_and(|drift| !drift.is_significant())
        };
        let twentieths = (0..=LONGEST_WARM_UP).find(is_steady_after);
        let is_steady = twentieths == Some(0);
        let more = twentieths.map(|count| (first.measured * count as u64).div_ceil(BATCHES as u64));
        let flows = more.map_or(2 * first.flows, |more| first.flows + more);
        Some(SteadyState {
            early_slowdown: libm::exp(drift.early),
            late_slowdown: libm::exp(drift.late),
            is_steady,
            warm_up_flows: more.filter(|_| !is_steady).map(|more| first.warm_up + more),
            flows: (!is_steady).then_some(flows),
        })
    }
}

/// The mean log of slowdown early and late in the runs.
struct Drift {
    early: f64,
    late: f64,
    /// The half-width of the 99.9% interval of their difference.
    half_width: f64,
}

impl Drift {
    fn from_runs(runs: &[&Course], twentieths: usize) -> Option<Drift> {
        let batches: Vec<Vec<f64>> =
            runs.iter().map(|run| run.batches(twentieths)).collect::<Option<_>>()?;
        let count = batches.len() as f64;
        let over_runs = |part: fn(&[f64]) -> &[f64]| {
            batches.iter().map(|of_run| mean(part(of_run))).sum::<f64>() / count
        };
        let (mut squares, mut products) = (0.0, 0.0);
        for of_run in &batches {
            let noise = without_trend(&of_run[LATE..]);
            squares += noise.iter().map(|value| value * value).sum::<f64>();
            products += noise.windows(2).map(|two| two[0] * two[1]).sum::<f64>();
        }
        let degrees = (LATE - 2) as f64 * count;
        let correlation = if squares > 0.0 { products / squares } else { 0.0 };
        let correlation = correlation.clamp(0.0, MOST_CORRELATION);
        let variance = squares / degrees * (1.0 + correlation) / (1.0 - correlation);
        let parts = 1.0 / EARLY as f64 + 1.0 / LATE as f64;
        (!batches.is_empty()).then(|| Drift {
            early: over_runs(|of_run| &of_run[..EARLY]),
            late: over_runs(|of_run| &of_run[LATE..]),
            half_width: t_9995(degrees as u64) * (variance * parts / count).sqrt(),
        })
    }

    /// Whether the drift exceeds the tolerance with a confidence of 99.9%.
    fn is_significant(&self) -> bool {
        (self.late - self.early).abs() - self.half_width > libm::log1p(TOLERANCE)
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Subtracts the least-squares line from `values`, so that a drift does not count as noise.
fn without_trend(values: &[f64]) -> Vec<f64> {
    let (center, middle) = (mean(values), (values.len() - 1) as f64 / 2.0);
    let places = || (0..values.len()).map(|place| place as f64 - middle);
    let products: f64 = places().zip(values).map(|(place, value)| place * value).sum();
    let slope = products / places().map(|place| place * place).sum::<f64>();
    places().zip(values).map(|(place, value)| value - center - slope * place).collect()
}

#[cfg(test)]
mod tests {
    use flowsched_units::Time;
    use proptest::prelude::*;
    use proptest::test_runner::{RngAlgorithm, TestRng};

    use super::*;

    fn uniform(random: &mut TestRng) -> f64 {
        random.random_range(1e-12..1.0)
    }

    fn exponential(random: &mut TestRng) -> f64 {
        -libm::log(uniform(random))
    }

    /// A run whose flows have these slowdowns.
    fn course(slowdowns: impl Iterator<Item = f64>) -> Course {
        let flow = |slowdown: f64| FlowRow {
            fct: Some(Time::from_secs_f64(slowdown * 1e-3)),
            ideal_fct: Time::from_ms(1),
            measured: true,
            ..FlowRow::default()
        };
        Course::from_flows(&slowdowns.map(flow).collect::<Vec<_>>()).unwrap()
    }

    /// The number of alarms in `studies` studies of `seeds` runs each.
    fn alarms(studies: u32, seeds: u32, mut run: impl FnMut(&mut TestRng) -> Course) -> u32 {
        let mut random = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
        let mut is_alarm = || {
            let runs: Vec<Course> = (0..seeds).map(|_| run(&mut random)).collect();
            !SteadyState::from_runs(&runs.iter().collect::<Vec<_>>()).unwrap().is_steady
        };
        (0..studies).map(|_| u32::from(is_alarm())).sum()
    }

    #[test]
    fn independent_flows_raise_no_alarm() {
        for (seeds, flows) in [(1, 400), (1, 4_000), (5, 1_000)] {
            let found = alarms(300, seeds, |random| {
                course((0..flows).map(|_| 1.0 + exponential(random) * exponential(random)))
            });
            assert!(found <= 3, "{found} of 300 with {seeds} seeds of {flows} flows");
        }
    }

    /// Waiting times of an M/M/1 queue (Lindley) in equilibrium: 2,000 arrivals pass before the first that counts. At
    /// load 0.9, neighbouring waiting times are similar for hundreds of arrivals.
    #[test]
    fn a_queue_in_steady_state_raises_few_alarms() {
        for (load, seeds, flows) in
            [(0.5, 1, 1_000), (0.8, 5, 2_000), (0.8, 20, 500), (0.9, 3, 4_000), (0.9, 9, 1_000)]
        {
            let found = alarms(100, seeds, |random| {
                let mut wait = 0.0;
                let mut next = || {
                    wait = f64::max(0.0, wait + exponential(random) - exponential(random) / load);
                    1.0 + wait
                };
                (0..2_000).for_each(|_| _ = next());
                course((0..flows).map(|_| next()))
            });
            assert!(found < 3, "{found} of 100 at load {load} with {seeds} seeds");
        }
    }

    #[test]
    fn a_drift_raises_an_alarm() {
        for seeds in [1, 3] {
            let found = alarms(50, seeds, |random| {
                let slowdown = |i| (1.5 + f64::from(i) / 2_000.0) * (0.5 + exponential(random));
                course((0..2_000).map(slowdown))
            });
            assert_eq!(found, 50, "{seeds} seeds");
        }
    }

    /// Runs whose slowdown rises towards its level with a time constant of `tau` flows.
    fn transient(tau: f64, flows: u32) -> SteadyState {
        let mut random = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
        let mut run = || {
            let level = |i| 4.0 * libm::exp(-libm::exp(-f64::from(i) / tau));
            course((0..flows).map(|i| level(i) * (0.5 + exponential(&mut random))))
        };
        let runs = [run(), run(), run()];
        SteadyState::from_runs(&runs.iter().collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn the_warm_up_covers_a_known_transient() {
        let found = transient(1_000.0, 20_000);
        assert!(!found.is_steady && found.early_slowdown < 0.7 * found.late_slowdown, "{found:?}");
        // After two time constants 13% of the transient are left, after four 2%.
        let warm_up = found.warm_up_flows.unwrap();
        assert!((1_000..=4_000).contains(&warm_up), "{found:?}");
        assert_eq!(found.flows, Some(20_000 + warm_up));
    }

    #[test]
    fn a_transient_of_the_whole_run_needs_more_flows() {
        let found = transient(20_000.0, 20_000);
        assert_eq!((found.warm_up_flows, found.flows), (None, Some(40_000)), "{found:?}");
    }

    #[test]
    fn what_is_left_out_already_is_part_of_the_warm_up() {
        let flow = |i: u32| FlowRow {
            fct: Some(Time::from_us(if i < 1_000 { 10 } else { 20 + u64::from(i % 7) })),
            ideal_fct: Time::from_us(10),
            measured: (500..4_500).contains(&i),
            ..FlowRow::default()
        };
        let course = Course::from_flows(&(0..5_000).map(flow).collect::<Vec<_>>()).unwrap();
        let found = SteadyState::from_runs(&[&course]).unwrap();
        // 500 of 4,000 measured flows are two and a half twentieths.
        assert_eq!((found.warm_up_flows, found.flows), (Some(1_100), Some(5_600)), "{found:?}");
    }

    #[test]
    fn few_flows_and_no_runs_say_nothing() {
        let flow = FlowRow { measured: true, ..FlowRow::default() };
        assert_eq!(Course::from_flows(&[flow; 399]), None);
        let unfinished = Course::from_flows(&[flow; 400]).unwrap();
        assert_eq!(SteadyState::from_runs(&[&unfinished]), None);
        assert_eq!(SteadyState::from_runs(&[]), None);
    }
}
