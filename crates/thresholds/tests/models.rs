//! The models against theory, and against what is known of them.

use flowsched_theory::{Mg1, MultilevelFcfs, MultilevelPs};
use flowsched_thresholds::{
    Forecast, ModelName, Objective, Path, Predicted, Predictor, Solution, ThresholdsError,
    optimal_for,
};
use flowsched_units::{Bytes, Rate, Time};
use flowsched_workload::sizes::{SizeDistribution, by_name};

fn sizes(name: &str) -> SizeDistribution {
    by_name(name).unwrap()
}

fn bytes(thresholds: &[f64]) -> Vec<Bytes> {
    thresholds.iter().map(|threshold| Bytes::new(*threshold as u64)).collect()
}

fn close(found: f64, expected: f64, relative: f64) {
    assert!((found - expected).abs() <= relative * expected.abs(), "{found} for {expected}");
}

/// Seconds of a full packet at 10 Gbps.
const PACKET: f64 = 1.2e-6;
/// Seconds of a byte of a full packet's payload at 10 Gbps.
const BYTE: f64 = PACKET / 1460.0;

#[test]
fn multilevel_fcfs_is_the_formula() {
    for name in ["web-search-packets", "web-search-bytes", "exponential 100KB"] {
        let sizes = sizes(name);
        let thresholds = [20_440.0, 200_020.0, 1_460_000.0];
        let forecast = Forecast::new(&sizes, 0.7);
        let predictor = Predictor::new(&forecast, ModelName::MultilevelFcfs, &bytes(&thresholds));
        let predictor = predictor.unwrap();
        let theory = MultilevelFcfs::new(Mg1::new(&sizes, 0.7), &thresholds);
        for size in [1460.0, 20_440.0, 21_900.0, 1_460_000.0, 2_920_000.0] {
            let expected = BYTE * (theory.response(size) - size);
            close(predictor.delay_seconds(size), expected, 1e-9);
        }
    }
}

#[test]
fn one_queue_is_pollaczek_khinchine_or_processor_sharing() {
    let sizes = sizes("web-search-packets");
    let forecast = Forecast::new(&sizes, 0.8);
    let mean = |model| {
        let solution = optimal_for(&forecast, 1, model, &Objective::MeanFct).unwrap();
        assert!(solution.thresholds_bytes.is_empty());
        solution.objective_value / 1.2
    };
    let queue = Mg1::new(&sizes, 0.8);
    close(mean(ModelName::MultilevelFcfs), queue.fcfs_mean() / 1460.0, 1e-9);
    close(mean(ModelName::MultilevelPs), queue.ps_mean() / 1460.0, 1e-9);
    close(mean(ModelName::MultilevelPs), 1140.98 / 0.2, 1e-9);
}

#[test]
fn ever_finer_levels_tend_to_foreground_background() {
    let sizes = sizes("web-search-bytes");
    let forecast = Forecast::new(&sizes, 0.8);
    let queue = Mg1::new(&sizes, 0.8);
    for model in [ModelName::MultilevelFcfs, ModelName::MultilevelPs] {
        let error = |levels: u64| {
            let step = 30_000_000 / levels;
            let thresholds: Vec<Bytes> = (1..levels).map(|i| Bytes::new(i * step)).collect();
            let predictor = Predictor::new(&forecast, model, &thresholds).unwrap();
            let mean = predictor.objective(&Objective::MeanFct).unwrap();
            (mean / (BYTE * queue.fb_mean()) - 1.0).abs()
        };
        let errors = [error(30), error(300), error(3000)];
        assert!(errors[2] < errors[1] && errors[1] < errors[0] && errors[2] < 0.01, "{errors:?}");
    }
}

/// How far the approximation of sharing inside a level is off, against the numerical solution of
/// Kleinrock's integral equation: the mean over all flows, and over those that end in one level.
#[test]
fn multilevel_ps_is_near_the_solution_of_its_integral_equation() {
    let (mut worst_mean, mut worst_level): (f64, f64) = (0.0, 0.0);
    for (name, load, thresholds) in [
        ("web-search-bytes", 0.5, vec![1.2e6]),
        ("web-search-bytes", 0.8, vec![1.2e6]),
        ("web-search-bytes", 0.8, vec![1e5, 1e6, 6e6]),
        ("web-search-packets", 0.5, best("web-search-packets", 0.5, 8)),
        ("web-search-packets", 0.9, best("web-search-packets", 0.9, 4)),
        ("data-mining-bytes", 0.8, vec![1e5, 3e6, 8e7]),
        ("data-mining-packets", 0.5, best("data-mining-packets", 0.5, 8)),
        ("data-mining-packets", 0.9, best("data-mining-packets", 0.9, 4)),
        ("pareto 1.2 1KB 100MB", 0.8, vec![1e4, 1e6]),
    ] {
        let sizes = sizes(name);
        let forecast = Forecast::new(&sizes, load);
        let predictor = Predictor::new(&forecast, ModelName::MultilevelPs, &bytes(&thresholds));
        let predictor = predictor.unwrap();
        let theory = MultilevelPs::new(Mg1::new(&sizes, load), &thresholds);
        let (mut from, mut sums) = (0.0, [0.0; 2]);
        let mut levels = Vec::new();
        for to in thresholds.iter().copied().chain([f64::INFINITY]) {
            let both = |size| [size + predictor.delay_seconds(size) / BYTE, theory.response(size)];
            let [approximate, exact] = sizes.expectations(from, to, both);
            levels.push(if exact > 0.0 { approximate / exact - 1.0 } else { 0.0 });
            sums = [sums[0] + approximate, sums[1] + exact];
            from = to;
        }
        let mean = sums[0] / sums[1] - 1.0;
        let level = levels.iter().fold(0.0_f64, |most, level| most.max(level.abs()));
        let ends: Vec<f64> = thresholds.iter().map(|end| end / 1460.0).collect();
        println!(
            "{name} load {load} {ends:.0?} packets: mean off by {:.2}%, a level by up to {:.2}%",
            100.0 * mean,
            100.0 * level
        );
        (worst_mean, worst_level) = (worst_mean.max(mean.abs()), worst_level.max(level));
        // Inside the first level there is nothing to approximate.
        let small = thresholds[0] / 2.0;
        let own = small + predictor.delay_seconds(small) / BYTE;
        close(own, theory.response(small), 1e-9);
    }
    assert!(worst_mean < 0.03, "{worst_mean}");
    assert!(worst_level < 0.05, "{worst_level}");
}

/// The model's best thresholds for the mean FCT.
fn best(name: &str, load: f64, queues: usize) -> Vec<f64> {
    let sizes = sizes(name);
    let forecast = Forecast::new(&sizes, load);
    let best =
        optimal_for(&forecast, queues, ModelName::MultilevelPs, &Objective::MeanFct).unwrap();
    best.thresholds_bytes.iter().map(|threshold| *threshold as f64).collect()
}

#[test]
fn the_papers_bound_is_unstable_above_a_load() {
    let sizes = sizes("web-search-packets");
    let optimum = |load| {
        let forecast = Forecast::new(&sizes, load);
        optimal_for(&forecast, 8, ModelName::PiasMm1Bound, &Objective::MeanFct)
    };
    let Err(ThresholdsError::Unstable { highest, .. }) = optimum(0.8) else {
        panic!("stable at 0.8");
    };
    close(highest, 0.756, 2e-3);
    assert!(matches!(optimum(highest * 1.001), Err(ThresholdsError::Unstable { .. })));
    assert!(optimum(highest * 0.999).is_ok());
    let found = optimum(0.7).unwrap();
    assert!(matches!(found.predicted, Predicted::PacketDelays { .. }));
    assert!(found.objective_value.is_finite() && found.objective_value > 0.0);
    // The bound is above the exact traffic, and so are its delays.
    let forecast = Forecast::new(&sizes, 0.7);
    let exact = optimal_for(&forecast, 8, ModelName::PiasMm1, &Objective::MeanFct).unwrap();
    assert!(exact.objective_value < found.objective_value);
}

#[test]
fn the_papers_bound_is_no_worse_than_any_of_many_tries() {
    let sizes = sizes("web-search-bytes");
    let forecast = Forecast::new(&sizes, 0.5);
    let model = ModelName::PiasMm1Bound;
    let best = optimal_for(&forecast, 4, model, &Objective::MeanFct).unwrap().objective_value;
    let grid: Vec<Bytes> =
        (1..24).map(|step| Bytes::new(200 << step).min(Bytes::new(30_000_000))).collect();
    for (i, a) in grid.iter().enumerate() {
        for (j, b) in grid.iter().enumerate().skip(i) {
            for c in &grid[j..] {
                let tried =
                    Solution::evaluate(&forecast, model, &Objective::MeanFct, &[*a, *b, *c]);
                let value = tried.map_or(f64::INFINITY, |tried| tried.objective_value);
                assert!(best <= value * (1.0 + 1e-12), "{best} for {value} of {a} {b} {c}");
            }
        }
    }
}

/// Optima that were found once by a separate program on a coarser grid (which cannot be lower).
#[test]
fn web_search_at_load_0_8() {
    let sizes = sizes("web-search-packets");
    let forecast = Forecast::new(&sizes, 0.8);
    let mean = |queues| {
        let model = ModelName::MultilevelFcfs;
        optimal_for(&forecast, queues, model, &Objective::MeanFct).unwrap().objective_value / 1.2
    };
    for (queues, expected) in [(1, 15_679.0), (2, 5_887.0), (4, 4_468.0), (8, 4_466.0)] {
        let found = mean(queues);
        assert!(found <= expected && found > 0.999 * expected, "{queues}: {found}");
    }
}

#[test]
fn packets_and_round_trips_lower_the_slowdown() {
    let sizes = sizes("web-search-packets");
    let mut path = Path::of_link(Rate::from_gbps(10), 0.8);
    let slowdown = |path: &Path| {
        let forecast = Forecast { sizes: &sizes, path: path.clone() };
        let model = ModelName::MultilevelFcfs;
        optimal_for(&forecast, 4, model, &Objective::MeanSlowdown).unwrap().objective_value
    };
    let fluid = slowdown(&path);
    path.whole_packets = true;
    let whole = slowdown(&path);
    path.base_rtt = Time::from_ns(85_200);
    let far = slowdown(&path);
    assert!(1.0 < far && far < fluid && fluid < whole, "{far} {fluid} {whole}");
}
