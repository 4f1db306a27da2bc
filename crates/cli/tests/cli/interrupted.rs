//! What goes wrong while it runs: Ctrl-C, a reader that goes away, a full disk.

use std::fs::File;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::common::{Done, Place, summary};
use flowsched_experiment::results::Folder;

#[test]
fn a_reader_that_goes_away_is_an_error_that_leaves_the_results() {
    let place = Place::new();
    let cases: [&[&str]; 4] = [
        &["run", "small.toml"],
        &["run", "small.toml", "--format", "json"],
        &["list", "schemes"],
        &["--help"],
    ];
    for arguments in cases {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let done = place.command(arguments).stdout(writer).stderr(Stdio::piped()).output().unwrap();
        let done = Done::of(done);
        assert_eq!(done.status, Some(1), "{arguments:?}: {}", done.errors);
        assert!(done.errors.contains("cannot write to standard output"), "{}", done.errors);
    }
    assert_eq!(summary(&place.path("results/small"))["complete"], true);
}

#[test]
fn nobody_listening_to_errors_changes_nothing() {
    let place = Place::new();
    for (arguments, status) in [(["run", "small.toml"], 0), (["run", "missing.toml"], 2)] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let done = place.command(&arguments).stdout(Stdio::null()).stderr(writer).status().unwrap();
        assert_eq!(done.code(), Some(status));
    }
}

#[test]
fn a_full_disk_behind_standard_output_is_an_error() {
    let place = Place::new();
    let full = File::options().write(true).open("/dev/full").unwrap();
    let done = place.command(&["list", "topologies"]).stdout(full).output().unwrap();
    assert_eq!(Done::of(done).status, Some(1));
}

#[test]
fn a_disk_that_fills_up_leaves_the_runs_that_were_finished() {
    let place = Place::new();
    let program = env!("CARGO_BIN_EXE_flowsched");
    // A limit on the size of files, whose signal is ignored, is a disk that fills up.
    let script = format!(
        "trap '' XFSZ; ulimit -f 1100; exec {program} run small.toml --set workload.flows=5000 \
         --set seeds=9"
    );
    let done = Command::new("bash").args(["-c", &script]).current_dir(place.path("")).output();
    let done = Done::of(done.unwrap());
    assert_eq!(done.status, Some(1), "{}", done.errors);
    assert!(done.errors.contains("cannot write"), "{}", done.errors);
    let folder = Folder::open(&place.path("results/small")).unwrap();
    assert!(!folder.summary().complete && !folder.summary().runs.is_empty());
    let mut rows = 0;
    folder.flows(|run| rows += run.flows.len()).unwrap();
    assert_eq!(rows, 5000 * folder.summary().runs.len());
}

#[test]
fn ctrl_c_keeps_what_there_is_and_marks_it() {
    let place = Place::new();
    // The first run draws its flows, then simulates for long enough to be interrupted.
    let long = ["run", "small.toml", "--set", "workload.flows=300000", "--threads", "1"];
    let mut command = place.command(&long);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while !place.path("results/small/flows.parquet.partial").exists() {
        std::thread::sleep(Duration::from_millis(20));
    }
    let status = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(status.unwrap().success());
    let done = Done::of(child.wait_with_output().unwrap());
    assert_eq!(done.status, Some(1), "{}", done.errors);
    assert!(done.errors.contains("interrupted"), "{}", done.errors);
    let folder = Folder::open(&place.path("results/small")).unwrap();
    assert!(!folder.summary().complete);
    let report = place.flowsched(&["report", "results/small"]);
    assert_eq!(report.status, Some(0), "{}", report.errors);
}
