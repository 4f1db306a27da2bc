//! Exit statuses and messages: 2 for a mistake in the input, 1 for anything else.

use std::fs;

use crate::common::{Place, SMALL};

#[test]
fn mistakes_in_a_file_are_named_with_their_line() {
    let place = Place::new();
    place.write("bad.toml", &SMALL.replace("load = 0.5", "laod = 0.5").replace("dctcp", "dctpc"));
    for command in ["run", "check"] {
        let done = place.flowsched(&[command, "bad.toml"]);
        assert_eq!(done.status, Some(2));
        assert_eq!(done.output, "");
        let lines: Vec<&str> = done.errors.lines().collect();
        assert_eq!(lines.len(), 3, "the key, that it is missing, the preset: {}", done.errors);
        assert!(lines[1].starts_with("error: bad.toml:10:1: workload.laod: found"), "{}", lines[1]);
        assert!(lines[1].ends_with("did you mean \"load\"?"), "{}", lines[1]);
        assert!(
            lines[2].starts_with("error: bad.toml:14:10: scheme.dctpc.preset: found \"dctpc\"")
        );
    }
    assert!(!place.path("results").exists(), "nothing is left behind");
}

#[test]
fn a_good_file_passes_the_check() {
    let place = Place::new();
    let done = place.flowsched(&["check", "small.toml", "--vary", "workload.load=0.1,0.2,0.3"]);
    assert_eq!(done.status, Some(0), "{}", done.errors);
    assert!(done.output.contains("2 schemes, 3 points, 2 seeds: 12 runs"), "{}", done.output);
}

#[test]
fn every_experiment_passes_the_check() {
    check_every_experiment(&[]);
}

/// A newcomer adds `--quick` to the first experiment.
#[test]
fn every_experiment_has_a_quick_form() {
    check_every_experiment(&["--quick"]);
}

fn check_every_experiment(arguments: &[&str]) {
    let place = Place::new();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../experiments");
    let mut experiments = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            let check = ["check", path.to_str().unwrap()];
            let done = place.flowsched(&[&check[..], arguments].concat());
            assert_eq!(done.status, Some(0), "{}", done.errors);
            experiments += 1;
        }
    }
    assert!(experiments >= 3, "{folder}");
}

/// A message stays readable, whatever a user wrote, and wherever.
#[test]
fn long_texts_are_cut_in_messages() {
    let place = Place::new();
    let long = "x".repeat(100_000);
    place.write("long.cdf", &format!("0 0\n{long}\n"));
    place.write("long.csv", &format!("start_s,src,dst,size_bytes\n0,{long},1,10\n"));
    for (from, to) in [
        ("fixed 20pkt", "long.cdf".to_owned()),
        ("sizes = \"fixed 20pkt\"\nload = 0.5", "trace = \"long.csv\"".to_owned()),
        ("fixed 20pkt", format!("fixed {long}")),
        ("fixed 20pkt", long.clone()),
        ("load = 0.5", format!("load = \"{long}\"")),
        ("load = 0.5", format!("{long} = 0.5")),
        ("\"dctcp\"", format!("\"{long}\"")),
        ("\"10pkt\"", format!("\"{long}pkt\"")),
        ("\"dctcp\"", format!("\"dctcp\"\nname = \"{long}\"\nqueues = 3")),
        ("\"pias\"", format!("\"pias\"\nname = \"{long}\"\n[vary]\nscheme.pisa.g = \"1\"")),
        ("hosts = 4", format!("hosts = 4\n[vary]\n{long} = \"1\"")),
        ("hosts = 4", format!("hosts = 4\n[vary]\nworkload.load = \"{long}\"")),
    ] {
        place.write("long.toml", &SMALL.replace(from, &to));
        let done = place.flowsched(&["check", "long.toml"]);
        assert_eq!(done.status, Some(2), "{from}");
        assert!(done.errors.len() < 5_000, "{from}: {} bytes", done.errors.len());
    }
    for argument in [format!("workload.load={long}"), long.clone(), format!("{long}=1")] {
        let done = place.flowsched(&["check", "small.toml", "--set", &argument]);
        assert_eq!(done.status, Some(2));
        assert!(done.errors.len() < 5_000, "{} bytes", done.errors.len());
    }
}

#[test]
fn mistakes_on_the_command_line_are_named() {
    let place = Place::new();
    let cases: [&[&str]; 11] = [
        &["run", "small.toml", "--set", "workload.load=2"],
        &["run", "small.toml", "--vary", "workload.load=0.1..0.9"],
        &["run", "missing.toml"],
        &["run", "."],
        &["run"],
        &["run", "small.toml", "--threads", "0"],
        &["run", "small.toml", "--format", "xml"],
        &["list", "planets"],
        &["fly"],
        &["report", "missing"],
        &["man", "fly"],
    ];
    for arguments in cases {
        let done = place.flowsched(arguments);
        assert_eq!(done.status, Some(2), "{arguments:?}: {}", done.errors);
        assert!(
            done.errors.contains(arguments[arguments.len() - 1]) || arguments == ["run"],
            "{arguments:?}: {}",
            done.errors
        );
    }
    let none = place.flowsched(&[]);
    assert_eq!(none.status, Some(2), "nothing asked for: {}", none.errors);
}

#[test]
fn results_of_another_experiment_are_not_written_over() {
    let place = Place::new();
    assert_eq!(place.flowsched(&["run", "small.toml"]).status, Some(0));
    let before = fs::read(place.path("results/small/flows.parquet")).unwrap();
    let other = place.flowsched(&["run", "small.toml", "--set", "workload.load=0.6"]);
    assert_eq!(other.status, Some(2));
    assert!(other.errors.contains("results/small has the results of another"), "{}", other.errors);
    assert_eq!(fs::read(place.path("results/small/flows.parquet")).unwrap(), before);
    let same = place.flowsched(&["run", "small.toml"]);
    assert_eq!(same.status, Some(0), "its own results are replaced: {}", same.errors);
}

#[test]
fn an_unreadable_report_is_told_from_a_broken_one() {
    let place = Place::new();
    assert_eq!(place.flowsched(&["run", "small.toml"]).status, Some(0));
    place.write("results/small/summary.json", "{");
    let done = place.flowsched(&["report", "results/small"]);
    assert_eq!(done.status, Some(1), "{}", done.errors);
}
