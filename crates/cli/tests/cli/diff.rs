//! How two results folders differ.

use crate::common::Place;

#[test]
fn the_same_experiment_gives_the_same_bytes() {
    let place = Place::new();
    for out in ["a", "b"] {
        assert_eq!(place.flowsched(&["run", "small.toml", "--out", out]).status, Some(0));
    }
    let done = place.flowsched(&["diff", "a", "b"]);
    assert_eq!(done.status, Some(0), "{}", done.errors);
    assert!(done.output.contains("The experiments are the same."), "{}", done.output);
    assert!(done.output.contains("Flows and ports are the same to the byte."), "{}", done.output);
}

#[test]
fn changes_are_of_the_same_flows_before_and_after() {
    let place = Place::new();
    place.flowsched(&["run", "small.toml", "--out", "before"]);
    place.flowsched(&[
        "run",
        "small.toml",
        "--out",
        "after",
        "--set",
        "scheme.pias.initial_window=2",
    ]);
    let done = place.flowsched(&["diff", "before", "after"]);
    assert!(done.output.contains("scheme.pias.initial_window: "), "{}", done.output);
    let json = place.flowsched(&["diff", "before", "after", "--format", "json"]).json();
    let scheme = |name: &str| {
        let all = json["schemes"].as_array().unwrap();
        all.iter().find(|one| one["scheme"] == name).unwrap().clone()
    };
    let (same, changed) = (scheme("dctcp"), scheme("pias"));
    assert_eq!(same["fct"]["all"]["mean"]["change"], 0.0);
    assert_eq!((&changed["seeds"], &changed["other_flows"]), (&2.into(), &0.into()));
    assert_ne!(changed["fct"]["all"]["mean"]["change"], 0.0);
}

#[test]
fn other_flows_are_left_out_and_other_runs_are_named() {
    let place = Place::new();
    place.flowsched(&["run", "small.toml", "--out", "before"]);
    let set = ["--set", "workload.load=0.3", "--set", "seeds=3"];
    place.flowsched(&[&["run", "small.toml", "--out", "after"][..], &set].concat());
    let json = place.flowsched(&["diff", "before", "after", "--format", "json"]).json();
    assert_eq!(json["schemes"][0]["other_flows"], 2);
    assert_eq!(json["schemes"][0]["fct"]["all"]["pairs"], 0);
    assert_eq!(json["only_after"].as_array().unwrap().len(), 2);
    let nowhere = place.flowsched(&["diff", "before", "nowhere"]);
    assert_eq!(nowhere.status, Some(2));
    assert!(nowhere.errors.contains("nowhere is not a results folder"), "{}", nowhere.errors);
}
