//! The terminal's tables.

mod synthetic;

use flowsched_experiment::results::{self, PortsOfRun, RunRecord, Summary, World};
use flowsched_units::Time;
use flowsched_workload::FlowParts;
use synthetic::Study;
use unicode_width::UnicodeWidthStr;

fn summary(study: &Study, change: impl FnOnce(&mut Vec<(RunRecord, PortsOfRun)>)) -> Summary {
    let dir = tempfile::tempdir().unwrap();
    let mut runs = study.runs();
    change(&mut runs);
    results::write(dir.path(), &study.meta(), runs).unwrap()
}

/// The number of columns that the longest line takes at a width.
fn widest(summary: &Summary, width: usize) -> usize {
    let text = flowsched_report::terminal(summary, width);
    text.lines().map(UnicodeWidthStr::width).max().unwrap_or(0)
}

#[test]
fn eighty_columns() {
    let summary = summary(&Study::default(), |_| {});
    insta::assert_snapshot!(flowsched_report::terminal(&summary, 80));
}

#[test]
fn a_hundred_columns_and_a_sweep() {
    let study = Study { loads: vec!["0.5", "0.8"], flows: 600, seeds: 2, ..Study::default() };
    let summary = summary(&study, |_| {});
    insta::assert_snapshot!(flowsched_report::terminal(&summary, 100));
}

#[test]
fn one_scheme_one_seed_cut_short_without_large_flows() {
    let study =
        Study { schemes: vec!["dctcp"], seeds: 1, flows: 200, largest: 5e4, ..Study::default() };
    let summary = summary(&study, |runs| runs[0].0.stopped = true);
    insta::assert_snapshot!(flowsched_report::terminal(&summary, 80));
}

#[test]
fn classes_without_flows_differ_from_flows_that_have_not_finished() {
    let study = Study { schemes: vec!["dctcp"], seeds: 1, flows: 20, ..Study::default() };
    let finished = summary(&study, |_| {});
    assert!(!flowsched_report::terminal(&finished, 80).contains("no finished flows"));
    let unfinished = summary(&study, |runs| runs[0].0.flows.iter_mut().for_each(|f| f.fct = None));
    let text = flowsched_report::terminal(&unfinished, 80);
    assert_eq!(text.matches("  no finished flows\n").count(), 4, "{text}");
}

#[test]
fn completion_times_end_where_the_world_measures_them() {
    let mut summary = summary(&Study { flows: 20, ..Study::default() }, |_| {});
    assert!(flowsched_report::terminal(&summary, 80).contains("FCT at the sender of"));
    summary.program.world = World::Machines;
    assert!(flowsched_report::terminal(&summary, 80).contains("FCT at the client of"));
}

#[test]
fn no_line_is_longer_than_the_terminal() {
    let long = "dctcp with a name that no table has room for";
    let study = Study {
        schemes: vec!["tcp", long, "速い速い速い速い速い速い"],
        loads: vec!["0.5", "0.8"],
        seeds: 2,
        flows: 300,
        ..Study::default()
    };
    let mut summary = summary(&study, |runs| runs[3].0.stopped = true);
    summary.name = "word ".repeat(60);
    for width in [80, 90, 100, 120] {
        assert!(widest(&summary, width) <= width, "{} of {width}", widest(&summary, width));
    }
}

#[test]
fn nothing_at_all_is_said_to_be_nothing() {
    let text = flowsched_report::terminal(&Summary::default(), 80);
    assert!(text.contains("There are no runs"), "{text}");
}

/// Four flows to one host, in 30, 50, 100 and 300 us. The first two start together.
fn divide(runs: &mut [(RunRecord, PortsOfRun)], names: [&str; 4]) {
    for (run, _) in runs {
        run.parts = FlowParts::from_names(names);
        for (flow, us) in run.flows.iter_mut().zip([30, 50, 100, 300]) {
            (flow.fct, flow.receiver_fct) = (Some(Time::from_us(us)), Some(Time::from_us(us)));
            (flow.start, flow.dst, flow.measured) = (Time::from_us(us / 60), 3, true);
        }
    }
}

#[test]
fn parts_have_a_table_and_queries_last_as_long_as_their_slowest_flow() {
    let study = Study { schemes: vec!["dctcp"], seeds: 2, flows: 4, ..Study::default() };
    let divided = summary(&study, |runs| divide(runs, ["query", "query", "bulk", "bulk"]));
    insta::assert_snapshot!(flowsched_report::terminal(&divided, 80));
    let without_queries = summary(&study, |runs| divide(runs, ["a", "b", "c", "c"]));
    let text = flowsched_report::terminal(&without_queries, 80);
    assert!(text.contains("Part a") && !text.contains("query"), "{text}");
}

#[test]
fn long_names_of_parts_fit_too() {
    let study = Study { schemes: vec!["dctcp"], seeds: 1, flows: 4, ..Study::default() };
    let long = "a part with a name that is longer than any terminal has columns, as it says itself";
    let divided = summary(&study, |runs| divide(runs, [long, long, "b", "b"]));
    assert!(widest(&divided, 80) <= 80, "{}", widest(&divided, 80));
}
