use proptest::prelude::RngExt;
use proptest::test_runner::{RngAlgorithm, TestRng};
use tempfile::tempdir;

use super::*;

fn comparisons(runs: Vec<RunRecord>) -> Vec<Comparison> {
    let dir = tempdir().unwrap();
    write_all(dir.path(), &meta(), runs).unwrap().comparisons
}

fn near(found: Option<f64>, expected: f64) {
    let found = found.expect("a value");
    assert!((found - expected).abs() < 1e-4, "{found} instead of {expected}");
}

#[test]
fn only_flows_that_finished_under_both_are_compared() {
    let unfinished = |number| FlowRow { fct: None, ..flow(number, 1, 0) };
    let tcp = vec![flow(0, 1, 100), flow(1, 1, 900), unfinished(2), flow(3, 1, 300)];
    let pias = vec![flow(0, 1, 50), unfinished(1), flow(2, 1, 10), flow(3, 1, 150), flow(4, 1, 9)];
    let all = comparisons(vec![run("tcp", 1, tcp), run("pias", 1, pias)]);
    assert_eq!((all[0].scheme.as_str(), all[0].against.as_str()), ("pias", "tcp"));
    let small = all[0].fct.small;
    assert_eq!((small.seeds, small.pairs, small.left_out), (1, 2, 3));
    near(small.mean.change, -0.5);
    near(small.p99.change, -0.5);
    assert_eq!(small.p99.low, None, "one seed says nothing of a percentile");
    assert_eq!(all[0].fct.large, ClassComparison::default());
}

/// Over two seeds, four flows take 50, 200, 100 and 257 us instead of 100 us each.
#[test]
fn flows_are_compared_one_by_one() {
    let mut runs = Vec::new();
    for (seed, of_first, of_second) in [(1, 50, 200), (2, 100, 257)] {
        runs.push(run("rcp", seed, vec![flow(0, 1, 100), flow(1, 1, 100)]));
        runs.push(run("pdq", seed, vec![flow(0, 1, of_first), flow(1, 1, of_second)]));
    }
    let all = comparisons(runs)[0].fct;
    let OneByOne { halved, longer, doubled, worst } = all.small.one_by_one;
    assert_eq!((halved, longer, doubled, worst), (Some(0.25), Some(0.5), Some(0.5), Some(2.57)));
    assert_eq!(all.large.one_by_one, OneByOne::default());
}

/// Each run is compared with its own seed alone. Runs of the first scheme have no shares.
#[test]
fn every_run_has_its_own_flows_one_by_one() {
    let mut runs = Vec::new();
    for (seed, fct) in [(1, 50), (2, 200)] {
        runs.push(run("rcp", seed, vec![flow(0, 1, 100)]));
        runs.push(run("pdq", seed, vec![flow(0, 1, fct)]));
    }
    let dir = tempdir().unwrap();
    let summary = write_all(dir.path(), &meta(), runs).unwrap();
    let found: Vec<_> = summary.runs.iter().map(|run| run.one_by_one.worst).collect();
    assert_eq!(found, [None, Some(0.5), None, Some(2.0)]);
}

/// Computed by hand: ratios of 0.9, 0.6 and 0.4 have the geometric mean 0.6, and their logs have
/// the standard error ln(1.5)/sqrt(3). t with 2 degrees of freedom is 4.3027.
#[test]
fn several_seeds_give_students_interval_of_the_logs() {
    let mut runs = Vec::new();
    for (seed, fct) in [(1, 90), (2, 60), (3, 40)] {
        runs.push(run("tcp", seed, vec![flow(0, 1, 100)]));
        runs.push(run("pias", seed, vec![flow(0, 1, fct)]));
    }
    let small = comparisons(runs)[0].fct.small;
    assert_eq!((small.seeds, small.samples, small.pairs), (3, 3, 3));
    let half_width = 4.3027 * libm::log(1.5) / 3f64.sqrt();
    for change in [small.mean, small.p99] {
        near(change.change, -0.4);
        near(change.low, 0.6 / libm::exp(half_width) - 1.0);
        near(change.high, 0.6 * libm::exp(half_width) - 1.0);
    }
}

/// On the linear scale, the interval of these two seeds would reach down to -567%.
#[test]
fn no_change_is_below_minus_one() {
    let mut runs = Vec::new();
    for (seed, fct) in [(1, 10), (2, 90)] {
        runs.push(run("tcp", seed, vec![flow(0, 1, 100), flow(1, 1, 100)]));
        runs.push(run("pias", seed, vec![flow(0, 1, fct), flow(1, 1, fct)]));
    }
    let small = comparisons(runs)[0].fct.small;
    for change in [small.mean, small.p99] {
        near(change.change, -0.7);
        assert!(change.low > Some(-1.0) && change.high > Some(0.0), "{change:?}");
    }
}

#[test]
fn seeds_that_change_nothing_are_one_sample_without_an_interval() {
    let study = |fct_of_last: u64| {
        let mut runs = Vec::new();
        for seed in 1..=3 {
            let large = flow(1, 20_000_000, if seed == 3 { fct_of_last } else { 500 });
            runs.push(run("tcp", seed, vec![flow(0, 1, 100), large]));
            runs.push(run("pias", seed, vec![flow(0, 1, 90), large]));
        }
        comparisons(runs)[0].fct
    };
    let same = study(500);
    for class in [same.all, same.small, same.large] {
        assert_eq!((class.seeds, class.samples), (3, 1));
        assert!(class.mean.change.is_some() && class.p99.change.is_some());
        assert_eq!((class.mean.low, class.mean.high, class.p99.low), (None, None, None));
    }
    near(same.small.mean.change, -0.1);
    let differing = study(501);
    assert_eq!(
        (differing.small.samples, differing.large.samples, differing.all.samples),
        (1, 2, 2)
    );
    assert!(differing.all.mean.low.is_some() && differing.small.mean.low.is_none());
}

#[test]
fn one_pair_has_a_change_and_no_interval() {
    let runs = vec![run("tcp", 1, vec![flow(0, 1, 100)]), run("pias", 1, vec![flow(0, 1, 90)])];
    let small = comparisons(runs)[0].fct.small;
    near(small.mean.change, -0.1);
    assert_eq!((small.mean.low, small.mean.high), (None, None));
}

#[test]
fn runs_cut_short_and_points_apart_are_not_compared() {
    let at = |load: &str, record: RunRecord| RunRecord {
        point: Point(vec![("load".to_owned(), load.to_owned())]),
        ..record
    };
    let flows = || vec![flow(0, 1, 100)];
    let runs = vec![
        at("0.5", run("tcp", 1, flows())),
        at("0.5", RunRecord { stopped: true, ..run("pias", 1, flows()) }),
        at("0.6", run("tcp", 1, flows())),
        at("0.6", run("pias", 1, vec![flow(0, 1, 50)])),
    ];
    let dir = tempdir().unwrap();
    let meta = Meta { keys: vec![VariedKey::new("load", ["0.5", "0.6"].into_iter())], ..meta() };
    let all = write_all(dir.path(), &meta, runs).unwrap().comparisons;
    assert_eq!(all.len(), 2);
    assert_eq!(all[0].fct.all, ClassComparison::default());
    near(all[1].fct.all.mean.change, -0.5);
    assert_eq!(all[1].point.get("load"), Some("0.6"));
}

/// The bootstrap is a second way to compute the interval over the flows of one seed.
#[test]
fn the_interval_over_flows_is_that_of_the_bootstrap() {
    let mut random = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let count = 400;
    let fct = |random: &mut TestRng| {
        let first = 50.0 - 400.0 * libm::log(random.random_range(1e-9..1.0));
        (first, first * random.random_range(0.4..1.2))
    };
    let fcts: Vec<(f64, f64)> = (0..count).map(|_| fct(&mut random)).collect();
    let flows = |of: fn(&(f64, f64)) -> f64| {
        let flow_of = |(i, pair)| {
            let fct = Some(Time::from_secs_f64(of(pair) * 1e-6));
            FlowRow { fct, ..flow(i, 1, 0) }
        };
        (0..).zip(&fcts).map(flow_of).collect()
    };
    let runs = vec![run("tcp", 1, flows(|p| p.0)), run("pias", 1, flows(|p| p.1))];
    let mean = comparisons(runs)[0].fct.small.mean;

    let mut resampled: Vec<f64> = (0..4_000)
        .map(|_| {
            let draw = |(a, b): (f64, f64), i: usize| (a + fcts[i].0, b + fcts[i].1);
            let picks = (0..count).map(|_| random.random_range(0..count));
            let (first, other) = picks.fold((0.0, 0.0), draw);
            other / first - 1.0
        })
        .collect();
    resampled.sort_unstable_by(f64::total_cmp);
    let (low, high) = (resampled[100], resampled[3_900]);
    let width = high - low;
    assert!((mean.low.unwrap() - low).abs() < 0.15 * width, "{mean:?} against {low}");
    assert!((mean.high.unwrap() - high).abs() < 0.15 * width, "{mean:?} against {high}");
}

/// One order is stated the wrong way round: TCP takes 11%, 12% and 13% longer.
#[test]
fn an_order_is_reported_for_each_two_neighbours() {
    let mut runs = Vec::new();
    for (seed, fct) in [(1, 900), (2, 890), (3, 880)] {
        runs.push(run("tcp", seed, vec![flow(0, 1, 1000)]));
        runs.push(run("pias", seed, vec![flow(0, 1, fct)]));
    }
    let orders = "small mean: tcp < pias; small mean: pias < tcp; small p99: pias < tcp < las";
    let meta = Meta { orders: Order::parse_all(orders).unwrap(), ..meta() };
    let dir = tempdir().unwrap();
    let found = write_all(dir.path(), &meta, runs).unwrap().orders;
    let verdicts: Vec<OrderVerdict> = found.iter().map(|order| order.verdict).collect();
    use OrderVerdict::{Holds, Reversed, Undecided};
    assert_eq!(verdicts, [Reversed, Holds, Holds, Undecided]);
    let ratios = 1000.0f64.powi(3) / (900.0 * 890.0 * 880.0);
    near(found[1].change.change, libm::cbrt(ratios) - 1.0);
}

#[test]
fn where_nothing_is_random_the_change_decides_on_an_order() {
    let mut runs = Vec::new();
    for seed in 1..=2 {
        runs.push(run("tcp", seed, vec![flow(0, 1, 1000)]));
        runs.push(run("pias", seed, vec![flow(0, 1, 900)]));
    }
    let orders = Order::parse_all("small mean: pias < tcp; small mean: tcp < pias").unwrap();
    let dir = tempdir().unwrap();
    let found = write_all(dir.path(), &Meta { orders, ..meta() }, runs).unwrap().orders;
    assert_eq!(found[0].change.low, None);
    assert_eq!((found[0].verdict, found[1].verdict), (OrderVerdict::Holds, OrderVerdict::Reversed));
}
