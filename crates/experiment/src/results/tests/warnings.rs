use tempfile::tempdir;

use super::*;

fn summary_of(runs: Vec<RunRecord>) -> Summary {
    let dir = tempdir().unwrap();
    write_all(dir.path(), &meta(), runs).unwrap()
}

fn unsampled_summary(runs: Vec<RunRecord>) -> Summary {
    let dir = tempdir().unwrap();
    write_unsampled(dir.path(), runs)
}

/// A run of one scheme and seed at a requested load of 0.8.
fn at_load(seed: u64, realised: f64, flows: Vec<FlowRow>) -> RunRecord {
    let load = OfferedLoad {
        ports: vec![0, 1],
        requested: Some(0.8),
        realised: Some(realised),
        ..OfferedLoad::default()
    };
    RunRecord { load, ..run("tcp", seed, flows) }
}

/// Flows with slowdowns of about 2 before flow `until`, and of about 3 from there on.
fn ramp(seed: u64, until: u64) -> Vec<FlowRow> {
    let fct = |number| (if number < until { 20 } else { 30 }) + (number * 7 + seed) % 3;
    (0..2_000).map(|number| flow(number, 1, fct(number))).collect()
}

#[test]
fn sound_studies_have_no_warnings() {
    let flows = |seed| ramp(seed, 0);
    let runs = [1, 2].map(|seed| at_load(seed, 0.81, flows(seed)));
    assert_eq!(unsampled_summary(runs.to_vec()).warnings, [""; 0]);
}

#[test]
fn another_load_than_the_requested_one_is_a_warning() {
    let flows = |seed| ramp(seed, 0);
    let runs = [(1, 0.83), (2, 0.9), (3, 0.7)].map(|(seed, load)| at_load(seed, load, flows(seed)));
    assert_eq!(
        unsampled_summary(runs.to_vec()).warnings,
        ["The realised load differs from the requested load by more than 5% in 2 of 3 flow \
          sequences: at worst it is 0.700 instead of 0.800 (seed 3). Few flows, or few large ones, \
          make up the load. Use more flows."]
    );
}

/// Flows start until 3 us; each of the two ports of 10 Gbps then has sent 9,000 of 3,750 B.
#[test]
fn links_that_carry_another_load_are_a_warning() {
    let flows = vec![flow(0, 1, 9), flow(3, 1, 9)];
    let summary = summary_of(vec![at_load(1, 0.8, flows)]);
    assert_eq!(summary.runs[0].load.utilisation, Some(2.4));
    assert_eq!(
        summary.warnings,
        [
            "The utilisation of the links that the load refers to differs from the requested load by \
          more than 5% in 1 of 1 runs: at worst it is 2.400 instead of 0.800 (scheme \"tcp\", seed \
          1). ACKs and retransmissions add to the requested load, which counts neither."
        ]
    );
}

fn drifting(flows: impl Fn(u64) -> Vec<FlowRow>) -> Summary {
    let run = |seed| at_load(seed, 0.8, flows(seed));
    unsampled_summary(vec![run(1), run(2)])
}

#[test]
fn a_drift_is_a_warning_that_says_how_long_to_warm_up() {
    let summary = drifting(|seed| ramp(seed, 590));
    let state = summary.across_seeds[0].steady_state.unwrap();
    assert_eq!((state.warm_up_flows, state.flows), (Some(600), Some(2_600)));
    assert_eq!(
        summary.warnings,
        ["1 of 1 combinations of scheme and point are not in steady state: under \"tcp\" the \
          slowdown of flows (geometric mean) rises from 2.10 in the first tenth of the measured \
          flows to 3.10 in the second half. Set workload.warm_up_flows to about 600 and \
          workload.flows to about 2600."]
    );
}

#[test]
fn a_drift_of_the_whole_run_asks_for_more_flows() {
    let steadily =
        |seed| (0..2_000).map(|n| flow(n, 1, 20 + n / 30 + (7 * n + seed) % 3)).collect();
    let [warning] = &drifting(steadily).warnings[..] else { panic!("not one warning") };
    assert!(warning.contains("A warm-up of half of the flows is not enough."), "{warning}");
    assert!(warning.ends_with("Set workload.flows to 4000 or more."), "{warning}");
}

#[test]
fn starts_that_are_not_random_have_no_steady_state() {
    let runs = vec![run("tcp", 1, ramp(1, 590)), run("tcp", 2, ramp(2, 590))];
    let summary = summary_of(runs);
    assert_eq!(summary.across_seeds[0].steady_state, None);
    assert_eq!(summary.warnings, [""; 0]);
}

#[test]
fn seeds_that_repeat_the_same_run_are_a_warning() {
    let runs = (1..=5).map(|seed| run("tcp", seed, vec![flow(0, 1, 100)])).collect();
    let summary = summary_of(runs);
    assert_eq!((summary.across_seeds[0].seeds, summary.across_seeds[0].samples), (5, 1));
    assert_eq!(
        summary.warnings,
        ["5 seeds, 1 distinct sample: nothing is random, so that one seed is enough and there \
          is no confidence interval."]
    );
}

#[test]
fn summaries_from_before_warnings_open() {
    let summary = summary_of(vec![at_load(1, 0.5, ramp(1, 590))]);
    assert!(!summary.warnings.is_empty());
    let mut json: serde_json::Value = serde_json::from_str(&summary.to_json()).unwrap();
    let top = json.as_object_mut().unwrap();
    assert!(top.remove("warnings").is_some() && top.remove("across_seeds").is_some());
    assert!(top["runs"][0].as_object_mut().unwrap().remove("load").is_some());
    let old: Summary = serde_json::from_value(json).unwrap();
    assert_eq!((old.warnings.len(), old.runs[0].load), (0, LoadFigures::default()));
}
