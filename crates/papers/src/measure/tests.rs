//! Takes figures from made-up runs.

use flowsched_experiment::results::RunSummary;
use proptest::prelude::*;

use super::*;
use crate::published::{Expected, Published};
use crate::verdict::Verdict;

/// Runs of `s` and `t` with two seeds at three loads: the application throughput of `t` falls below 99% at 10 flows,
/// that of `s` at 10, 20 and then `last` flows.
fn runs(last: f64) -> Summary {
    let mut summary = Summary::default();
    for (load, reach) in [("0.1", 10.0), ("0.2", 20.0), ("0.3", last)] {
        for flows in [5.0, 10.0, 15.0, 20.0, 25.0, 30.0, 35.0] {
            let point = [("load", load.to_owned()), ("flows", flows.to_string())];
            let point = point.map(|(key, value)| (key.to_owned(), value));
            for seed in [1, 2] {
                let run = |scheme: &str, reach: f64| RunSummary {
                    point: Point(point.to_vec()),
                    scheme: scheme.to_owned(),
                    seed,
                    complete: true,
                    flows: 10,
                    finished: if flows > reach { 9 } else { 10 },
                    application_throughput: Some(if flows > reach { 0.9 } else { 1.0 }),
                    ..RunSummary::default()
                };
                summary.runs.extend([run("s", reach), run("t", 10.0)]);
            }
        }
    }
    summary
}

/// An order between `s` and `t`, whose figures in each seed are these.
fn order(expected: Expected, pairs: &[(f64, f64)]) -> (Verdict, Measured) {
    let mut summary = Summary::default();
    for (seed, (ours, theirs)) in (1..).zip(pairs) {
        let run = |scheme: &str, figure: f64| RunSummary {
            scheme: scheme.to_owned(),
            seed,
            complete: true,
            application_throughput: Some(figure),
            ..RunSummary::default()
        };
        summary.runs.extend([run("s", *ours), run("t", *theirs)]);
    }
    let text = "figure = \"application_throughput\"\nbaseline = \"t\"";
    let found = measure(text).of_runs(Kind::Order, &summary).unwrap();
    (Verdict::new(Kind::Order, None, Published::Order(expected), &found), found)
}

#[test]
fn an_order_without_ratios_follows_from_the_means() {
    let (verdict, found) =
        order(Expected::Higher, &[(1.0, 0.0), (1.0, 0.5), (0.5, 0.5), (1.0, 0.0), (1.0, 0.5)]);
    assert_eq!(verdict, Verdict::Reproduced);
    assert!((found.figure - 2.0).abs() < 1e-9, "the means are 0.9 and 0.3: {found:?}");
    // Ours is less in every seed, and 0 in one.
    let (verdict, found) = order(Expected::Higher, &[(0.0, 0.5), (0.1, 0.5), (0.1, 0.5)]);
    assert_eq!((verdict, found.extremes), (Verdict::NotReproduced, Some((-1.0, -0.8))));
    let mixed = [(1.0, 0.0), (0.0, 1.0), (0.5, 0.5)];
    assert_eq!(order(Expected::Higher, &mixed).0, Verdict::Undecided);
    assert_eq!(order(Expected::Alike, &[(0.0, 0.0), (0.0, 0.0)]).0, Verdict::Reproduced);
    let (verdict, found) = order(Expected::Higher, &[(0.5, 0.0), (1.0, 0.0)]);
    assert_eq!(verdict, Verdict::Undecided, "no gap to a mean of 0 is finite: {found:?}");
    // With ratios in every seed, the gap is theirs.
    let (_, found) = order(Expected::Higher, &[(1.0, 0.5), (1.0, 0.125)]);
    assert!((found.figure - 3.0).abs() < 1e-9, "{found:?}");
}

fn measure(more: &str) -> Measure {
    toml::from_str(&format!("experiment = \"e\"\nscheme = \"s\"\n{more}")).unwrap()
}

#[test]
fn a_ratio_that_grows_at_each_step_is_an_order() {
    let text = "figure = \"application_throughput\"\nreach = { key = \"flows\", least = 0.99 }\n\
                baseline = \"t\"\ngrows_along = \"load\"\nover = \"least\"";
    let (growth, higher) = (measure(text), Published::Order(Expected::Higher));
    let verdict = |last: f64| {
        let found = growth.of_runs(Kind::Order, &runs(last)).unwrap();
        (Verdict::new(Kind::Order, None, higher, &found), found)
    };
    let (grown, found) = verdict(30.0);
    assert_eq!((grown, found.extremes), (Verdict::Reproduced, None));
    // From 20 flows to 30, where the other step is from 10 to 20; each falls in the following step of 5 flows.
    assert!((found.figure - (30.5 / 20.5 - 1.0)).abs() < 1e-9, "{found:?}");
    assert_eq!(verdict(10.0).0, Verdict::NotReproduced, "it shrinks from 20 to 10");
    let never = growth.of_runs(Kind::Order, &runs(35.0));
    assert_eq!(never, None, "nobody knows how far the ratio grows");
    let said = growth.missing(Some(&runs(35.0)));
    assert!(said.contains("of s and t in experiments/e.toml does not fall below 0.99"), "{said}");
}

/// Runs of `s` and of `t`, whose application throughput in each seed falls below 99% at these numbers of flows.
fn falls(reaches: &[(u32, u32)]) -> Summary {
    let mut summary = Summary::default();
    for flows in 1..=30 {
        for (seed, (ours, theirs)) in (1..).zip(reaches) {
            let run = |scheme: &str, reach: u32| RunSummary {
                point: Point(vec![("flows".to_owned(), flows.to_string())]),
                scheme: scheme.to_owned(),
                seed,
                complete: true,
                application_throughput: Some(if flows > reach { 0.9 } else { 1.0 }),
                ..RunSummary::default()
            };
            summary.runs.extend([run("s", *ours), run("t", *theirs)]);
        }
    }
    summary
}

const REACH: &str =
    "figure = \"application_throughput\"\nreach = { key = \"flows\", least = 0.99 }\n";

#[test]
fn extremes_of_a_reach_are_those_of_each_seeds_own() {
    let found = |more: &str, kind| {
        measure(&format!("{REACH}{more}")).of_runs(kind, &falls(&[(20, 10), (25, 10)])).unwrap()
    };
    let is_close = |(found, wanted): (f64, f64)| (found - wanted).abs() < 1e-9;
    // The figure falls from 100% to 90% within one flow, and so below 99% after a tenth of a flow.
    let (least, most) = found("", Kind::Value).extremes.unwrap();
    assert!([(least, 20.1), (most, 25.1)].into_iter().all(is_close), "{least} to {most}");
    let (least, most) = found("baseline = \"t\"", Kind::Ratio).extremes.unwrap();
    let wanted = [(least, 20.1 / 10.1), (most, 25.1 / 10.1)];
    assert!(wanted.into_iter().all(is_close), "{least} to {most}");
}

/// The runs do not tell which of two schemes reaches farther if neither falls below the limit. They do if one falls.
#[test]
fn an_order_of_reaches_needs_a_scheme_that_falls() {
    let order = |reaches: &[(u32, u32)]| {
        measure(&format!("{REACH}baseline = \"t\"")).of_runs(Kind::Order, &falls(reaches))
    };
    assert_eq!(order(&[(30, 30), (30, 30)]), None);
    assert!(
        order(&[(30, 10), (30, 11)])
            .is_some_and(|found| found.interval.is_some_and(|(low, _)| low > 0.0))
    );
}

proptest! {
    /// If all seeds alone reach less far than was published, or all farther, more of them reproduce nothing.
    #[test]
    fn more_seeds_on_one_side_never_reproduce_a_reach(
        reaches in prop::collection::vec((1u32..30, 1u32..30), 2..10),
        is_farther in any::<bool>(),
        published in 0.2..20.0f64,
        kind in prop::sample::select(vec![Kind::Value, Kind::Ratio]),
    ) {
        let number = |(ours, theirs): &(u32, u32)| {
            let [ours, theirs] = [ours, theirs].map(|reach| f64::from(*reach) + 0.1);
            if kind == Kind::Value { ours } else { ours / theirs }
        };
        // Beyond the tolerance of a number that stands for all that round to it.
        let misses = |one: &(u32, u32)| match is_farther {
            true => number(one) > published * 1.1,
            false => number(one) < published / 1.1,
        };
        let reaches: Vec<(u32, u32)> = reaches.into_iter().filter(misses).collect();
        let baseline = if kind == Kind::Value { "" } else { "baseline = \"t\"" };
        let found = measure(&format!("{REACH}{baseline}")).of_runs(kind, &falls(&reaches));
        let verdict = found.map(|one| Verdict::new(kind, None, Published::Number(published), &one));
        prop_assert_ne!(verdict, Some(Verdict::Reproduced));
    }
}

#[test]
fn a_property_holds_in_the_seeds_in_all_of_whose_runs_it_holds() {
    let text = "figure = \"finished\"\nequals = \"flows\"\n";
    let held = |at: &str, summary: &Summary| {
        let found = measure(&format!("{text}{at}")).of_runs(Kind::Property, summary).unwrap();
        (found.figure, found.seeds, found.interval)
    };
    let mut summary = runs(30.0);
    assert_eq!(held("at = { flows = \"10\" }", &summary), (1.0, 2, None));
    assert_eq!(held("", &summary), (0.0, 2, None), "some point is enough");
    summary.runs.retain(|run| run.seed == 1 || run.finished == run.flows);
    assert_eq!(held("", &summary).0, 0.5);
    assert_eq!(measure(text).of_runs(Kind::Property, &Summary::default()), None);
}

#[test]
fn what_the_runs_lack_is_named() {
    let said =
        |more: &str| measure(&format!("figure = \"drops\"\n{more}")).missing(Some(&runs(30.0)));
    assert_eq!(said("baseline = \"u\""), "experiments/e.toml has no scheme `u`, but s, t");
    assert_eq!(said("at = { load = \"0.5\" }"), "experiments/e.toml has no run at load = 0.5");
    assert_eq!(said(""), "the runs of experiments/e.toml do not have the figure `drops` of s");
    assert!(measure("figure = \"drops\"").missing(None).contains("no table has it yet"));
}
