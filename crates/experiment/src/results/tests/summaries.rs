use std::collections::BTreeSet;

use flowsched_schemes::world::Uncounted;
use flowsched_workload::FlowParts;
use serde_json::{Value as Json, json};
use tempfile::tempdir;

use super::*;

fn summary_of(runs: Vec<RunRecord>) -> Json {
    let dir = tempdir().unwrap();
    let summary = write_all(dir.path(), &meta(), runs).unwrap();
    serde_json::from_str(&summary.to_json()).unwrap()
}

#[test]
fn figures_are_of_the_measured_flows_that_finished() {
    let unfinished = FlowRow { fct: None, ..flow(4, 100, 0) };
    let with_worse_ideal = FlowRow { ideal_fct: Time::from_us(40), ..flow(1, 1, 30) };
    let warm_up = FlowRow { measured: false, ..flow(5, 100, 1_000_000) };
    let flows = vec![
        flow(0, 100_000, 10),
        with_worse_ideal,
        flow(2, 100_001, 50),
        flow(3, 10_000_000, 70),
        unfinished,
        warm_up,
    ];
    let summary = summary_of(vec![run("pias", 7, flows)]);
    let run = &summary["runs"][0];
    assert_eq!(run["scheme"], "pias");
    assert_eq!(run["seed"], 7);
    assert_eq!(
        (&run["flows"], &run["finished"], &run["unmeasured"]),
        (&json!(5), &json!(4), &json!(1))
    );
    let small = json!({
        "count": 2, "mean": 20.0, "p50": 10.0, "p95": 30.0, "p99": 30.0, "p999": 30.0, "max": 30.0,
    });
    assert_eq!(run["fct_us"]["small"], small);
    assert_eq!(run["fct_us"]["all"]["mean"], 40.0);
    assert_eq!(run["fct_us"]["medium"]["count"], 2);
    assert_eq!(run["slowdown"]["medium"]["mean"], 6.0);
    assert_eq!(run["normalised_fct"]["small"], 0.8);
    assert_eq!(run["normalised_fct"]["large"], json!(null));
}

#[test]
fn an_empty_class_has_null() {
    let summary = summary_of(vec![run("pias", 1, vec![flow(0, 1, 1)])]);
    let empty = json!({
        "count": 0, "mean": null, "p50": null, "p95": null, "p99": null, "p999": null,
        "max": null,
    });
    assert_eq!(summary["runs"][0]["fct_us"]["large"], empty);
    assert_eq!(summary["runs"][0]["slowdown"]["large"], empty);
}

#[test]
fn a_point_is_an_object_in_the_order_of_its_keys() {
    let text = r#"{"workload.load":"0.8","topology.spines":"4"}"#;
    let point: Point = serde_json::from_str(text).unwrap();
    assert_eq!(point.keys().collect::<Vec<_>>(), ["workload.load", "topology.spines"]);
    assert_eq!(serde_json::to_string(&point).unwrap(), text);
    assert_eq!(point.get("topology.spines"), Some("4"));
}

/// Adds every path to a value, without the places in arrays.
fn paths(json: &Json, at: &str, into: &mut BTreeSet<String>) {
    match json {
        Json::Object(object) if !at.ends_with("point") => {
            for (key, value) in object {
                let dot = if at.is_empty() { "" } else { "." };
                paths(value, &format!("{at}{dot}{key}"), into);
            }
        }
        Json::Array(array) => array.iter().for_each(|e| paths(e, &format!("{at}[]"), into)),
        _ => _ = into.insert(at.to_owned()),
    }
}

/// Expands `a.{b,c}` to `a.b` and `a.c`.
fn expand(path: &str) -> Vec<String> {
    let Some((before, rest)) = path.split_once('{') else { return vec![path.to_owned()] };
    let (choices, after) = rest.split_once('}').expect("braces come in pairs");
    choices.split(',').flat_map(|choice| expand(&format!("{before}{choice}{after}"))).collect()
}

#[test]
fn every_key_is_described_and_every_description_has_a_key() {
    let parts = FlowParts::from_names(["short"; 400]);
    let load = OfferedLoad { requested: Some(0.8), realised: Some(0.7), ..OfferedLoad::default() };
    let study = ["tcp", "pias"].map(|scheme| RunRecord {
        parts: parts.clone(),
        load: load.clone(),
        ..run(scheme, 1, (0..400).map(|number| flow(number, 1, 1)).collect())
    });
    let summary = summary_of(study.to_vec());
    let mut found = BTreeSet::new();
    paths(&summary, "", &mut found);
    paths(&serde_json::to_value(LinkFigures::default()).unwrap(), "runs[].links[]", &mut found);
    // The summary of other worlds lacks these keys. The page on the lab describes them.
    found.extend(["lab[]", "scale[]"].map(str::to_owned));
    let described: BTreeSet<String> = SUMMARY.iter().flat_map(|key| expand(key.path)).collect();
    assert_eq!(found, described);
}

/// Refuses columns with the same name, without a meaning, or without a unit although the name ends
/// in one.
fn check_columns<R>(columns: &[Column<R>]) {
    let names: BTreeSet<&str> = columns.iter().map(|column| column.name).collect();
    assert_eq!(names.len(), columns.len());
    for column in columns {
        assert!(column.about.ends_with('.'), "{}: {}", column.name, column.about);
        let unit = column.name.rsplit('_').next().unwrap_or_default();
        if ["ps", "us", "bytes", "bps"].contains(&unit) {
            assert!(!column.unit.is_empty(), "{} has no unit", column.name);
        }
    }
}

#[test]
fn every_column_has_one_name_and_a_meaning() {
    check_columns(FLOWS);
    check_columns(PORTS);
}

#[test]
fn deadlines_are_met_at_the_sender() {
    let met = |fct, deadline| {
        FlowRow { deadline: Some(Time::from_us(deadline)), ..flow(0, 1, fct) }.deadline_met()
    };
    assert_eq!((met(10, 10), met(11, 10)), (Some(true), Some(false)));
    assert_eq!(flow(0, 1, 1).deadline_met(), None);
    let never = FlowRow { fct: None, deadline: Some(Time::from_us(1)), ..flow(0, 1, 1) };
    assert_eq!(never.deadline_met(), Some(false));
}

#[test]
fn application_throughput_is_the_share_of_measured_flows_that_met_their_deadlines() {
    let due = |number, fct, deadline| FlowRow {
        deadline: Some(Time::from_us(deadline)),
        ..flow(number, 1, fct)
    };
    let flows = vec![
        due(0, 5, 5),
        due(1, 6, 5),
        FlowRow { fct: None, ..due(2, 0, 5) },
        due(3, 1, 5),
        FlowRow { measured: false, ..due(4, 9, 5) },
        flow(5, 1, 1),
    ];
    let summary = summary_of(vec![run("pdq", 1, flows), run("tcp", 1, vec![flow(0, 1, 1)])]);
    let figures = |run: usize| {
        let run = &summary["runs"][run];
        [&run["deadline_flows"], &run["deadlines_met"], &run["application_throughput"]]
            .map(Json::clone)
    };
    assert_eq!(figures(0), [json!(4), json!(2), json!(0.5)]);
    assert_eq!(figures(1), [json!(0), json!(0), Json::Null]);
}

#[test]
fn what_nobody_counted_is_null() {
    let parts = FlowParts::from_names(["short"]);
    let of = |uncounted| {
        let run = run("tcp", 1, vec![flow(0, 1, 10)]);
        summary_of(vec![RunRecord { parts: parts.clone(), uncounted, ..run }])["runs"][0].clone()
    };
    let all = of(Uncounted {
        retransmissions: true,
        timeouts: true,
        arrivals: true,
        overhead: true,
        ports: true,
        ..Uncounted::default()
    });
    assert_eq!([&all["drops"], &all["ecn_marks"]], [&Json::Null; 2]);
    let counts = |run: &Json| {
        ["timeouts", "repeated_timeouts", "longest_timeouts", "terminations", "retransmissions"]
            .map(|key| run[key].clone())
    };
    assert_eq!(counts(&all), [const { Json::Null }; 5]);
    assert_eq!(all["overhead"]["header_bytes"], Json::Null);
    assert_eq!(all["packets"]["arrived"], Json::Null);
    assert_eq!(all["parts"][0]["timeouts"], Json::Null);
    assert_eq!(all["parts"][0]["packets"]["arrived"], Json::Null);
    let rows = of(Uncounted { timeout_rows: true, ..Uncounted::default() });
    let [timeouts, repeated, longest, terminations, retransmissions] = counts(&rows);
    assert_eq!([timeouts, retransmissions], [json!(0), json!(0)]);
    assert_eq!([repeated, longest, terminations], [const { Json::Null }; 3]);
}

#[test]
fn parts_have_figures_of_their_own() {
    let flows = vec![
        flow(0, 1, 10),
        flow(1, 1_000_000, 70),
        FlowRow { measured: false, ..flow(2, 1, 90) },
        FlowRow { deadline: Some(Time::from_us(1)), ..flow(3, 1, 30) },
    ];
    let parts = FlowParts::from_names(["short", "long", "short", "short"]);
    let summary = summary_of(vec![RunRecord { parts, ..run("tcp", 1, flows) }]);
    let parts = summary["runs"][0]["parts"].as_array().unwrap();
    let figures = |part: &Json| {
        [&part["name"], &part["flows"], &part["fct_us"]["mean"], &part["application_throughput"]]
            .map(Json::clone)
    };
    assert_eq!(figures(&parts[0]), [json!("short"), json!(2), json!(20.0), json!(0.0)]);
    assert_eq!(figures(&parts[1]), [json!("long"), json!(1), json!(70.0), Json::Null]);
    let whole = summary_of(vec![run("tcp", 1, vec![flow(0, 1, 1)])]);
    assert_eq!(whole["runs"][0]["parts"], json!([]));
}
