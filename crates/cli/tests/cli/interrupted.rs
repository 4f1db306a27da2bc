//! Tests what can go wrong during a run: Ctrl-C, a reader that goes away, a full disk.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, Stdio};
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
        let done = Done::from_output(done);
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
    assert_eq!(Done::from_output(done).status, Some(1));
}

#[test]
fn a_disk_that_fills_up_leaves_the_runs_that_were_finished() {
    let place = Place::new();
    let program = env!("CARGO_BIN_EXE_flowsched");
    // A limit on the size of files, whose signal is ignored, acts like a disk that fills up.
    let script = format!(
        "trap '' XFSZ; ulimit -f 1100; exec {program} run small.toml --set workload.flows=5000 \
         --set seeds=9"
    );
    let done = Command::new("bash").args(["-c", &script]).current_dir(place.path("")).output();
    let done = Done::from_output(done.unwrap());
    assert_eq!(done.status, Some(1), "{}", done.errors);
    assert!(done.errors.contains("cannot write"), "{}", done.errors);
    let folder = Folder::open(&place.path("results/small")).unwrap();
    assert!(!folder.summary().complete && !folder.summary().runs.is_empty());
    let mut rows = 0;
    folder.flows(|run| rows += run.flows.len()).unwrap();
    assert_eq!(rows, 5000 * folder.summary().runs.len());
}

/// Starts a run that would take minutes, in `results/small`.
fn long_run(place: &Place, more: &[&str]) -> Child {
    let long = ["run", "small.toml", "--set", "workload.flows=3000000", "--threads", "1"];
    let mut command = place.command(&[&long, more].concat());
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for(&place.path("results/small/runs/000000.partial/ports.parquet"));
    child
}

fn wait_for(path: &Path) {
    while !path.exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn signal(child: &Child, name: &str) {
    let status = Command::new("kill").args([name, &child.id().to_string()]).status();
    assert!(status.unwrap().success());
}

#[test]
fn ctrl_c_keeps_what_there_is_and_marks_it() {
    let place = Place::new();
    for name in ["-INT", "-TERM", "-HUP"] {
        // Slow links: long to simulate, and little to write.
        let slow = ["--set", "topology.host_link=100Kbps", "--set", "sample_interval=1us"];
        let child = long_run(&place, &[&slow[..], &["--set", "workload.flows=20"]].concat());
        signal(&child, name);
        let done = Done::from_output(child.wait_with_output().unwrap());
        assert_eq!(done.status, Some(1), "{}", done.errors);
        assert!(done.errors.contains("interrupted"), "{}", done.errors);
        let folder = Folder::open(&place.path("results/small")).unwrap();
        assert!(!folder.summary().complete);
    }
    let report = place.flowsched(&["report", "results/small"]);
    assert_eq!(report.status, Some(0), "{}", report.errors);
}

/// GNU `timeout` signals the program, and then its process group.
#[test]
fn two_signals_at_once_are_one_request() {
    let place = Place::new();
    let slow = ["--set", "topology.host_link=100Kbps", "--set", "sample_interval=1us"];
    let child = long_run(&place, &[&slow[..], &["--set", "workload.flows=20"]].concat());
    let both = format!("kill -TERM {id}; kill -INT {id}", id = child.id());
    assert!(Command::new("bash").args(["-c", &both]).status().unwrap().success());
    let done = Done::from_output(child.wait_with_output().unwrap());
    assert_eq!(done.status, Some(1), "{}", done.errors);
    let folder = Folder::open(&place.path("results/small"));
    assert!(!folder.unwrap().summary().complete, "{}", done.errors);
}

/// Results that take too long to write are left for `--resume`.
#[test]
fn a_signal_ends_the_program_soon() {
    let place = Place::new();
    let child = long_run(&place, &[]);
    signal(&child, "-TERM");
    let done = Done::from_output(child.wait_with_output().unwrap());
    assert_eq!(done.status, Some(1), "{}", done.errors);
    let is_left = done.errors.contains("before all results were written");
    assert!(is_left, "three million flows take longer to write: {}", done.errors);
}

/// Limits on the size of files end processes that do not handle the signal.
#[test]
fn a_limit_on_files_is_an_error() {
    let place = Place::new();
    let program = env!("CARGO_BIN_EXE_flowsched");
    let script = format!("ulimit -f 20; exec {program} run small.toml --set workload.flows=5000");
    let done = Command::new("bash").args(["-c", &script]).current_dir(place.path("")).output();
    let done = Done::from_output(done.unwrap());
    assert_eq!(done.status, Some(1), "{}", done.errors);
    assert!(done.errors.contains("cannot write"), "{}", done.errors);
}

/// A thread that draws flows does not check whether to stop. The program ends without waiting for it.
#[test]
fn ctrl_c_is_obeyed_before_a_run_simulates() {
    let place = Place::new();
    let many = ["run", "small.toml", "--set", "workload.flows=20000000", "--set", "seeds=1"];
    let child = place.command(&many).stderr(Stdio::piped()).spawn().unwrap();
    wait_for(&place.path("results/small/runs/process"));
    signal(&child, "-TERM");
    let done = Done::from_output(child.wait_with_output().unwrap());
    assert_eq!(done.status, Some(1), "{}", done.errors);
    let folder = Folder::open(&place.path("results/small")).unwrap();
    assert!(!folder.summary().complete && folder.summary().runs.is_empty());
}

#[test]
fn nohup_lets_a_run_go_on() {
    let place = Place::new();
    let child = Command::new("nohup")
        .arg(env!("CARGO_BIN_EXE_flowsched"))
        .args(["run", "small.toml", "--set", "workload.flows=20000", "--threads", "1"])
        .current_dir(place.path(""))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_for(&place.path("results/small/runs/000000.partial/ports.parquet"));
    signal(&child, "-HUP");
    let done = Done::from_output(child.wait_with_output().unwrap());
    assert_eq!(done.status, Some(0), "{}", done.errors);
    assert_eq!(summary(&place.path("results/small"))["complete"], true);
}

#[test]
fn what_had_finished_before_a_kill_is_not_run_again() {
    let place = Place::new();
    let arguments = ["run", "small.toml", "--set", "workload.flows=3000", "--set", "seeds=6"];
    let whole = place.flowsched(&[&arguments[..], &["--out", "whole"]].concat());
    assert_eq!(whole.status, Some(0), "{}", whole.errors);

    let out = ["--out", "killed", "--threads", "1"];
    let mut child =
        place.command(&[&arguments[..], &out].concat()).stderr(Stdio::null()).spawn().unwrap();
    wait_for(&place.path("killed/runs/000001"));
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!place.path("killed/summary.json").exists());

    let resumed = place.flowsched(&[&arguments[..], &out, &["--resume"]].concat());
    assert_eq!(resumed.status, Some(0), "{}", resumed.errors);
    assert!(!resumed.errors.contains("run 1 of 12"), "{}", resumed.errors);
    assert!(resumed.errors.contains("run 12 of 12"), "{}", resumed.errors);
    for table in ["flows.parquet", "ports.parquet"] {
        let [whole, killed] = ["whole", "killed"].map(|dir| fs::read(place.path(dir).join(table)));
        assert!(whole.unwrap() == killed.unwrap(), "{table} differs");
    }
    let again = place.flowsched(&[&arguments[..], &out, &["--resume"]].concat());
    assert!(again.errors.contains("every run is there already"), "{}", again.errors);
}

#[test]
fn a_second_run_in_the_folder_is_refused() {
    let place = Place::new();
    let mut first = long_run(&place, &[]);
    let second = place.flowsched(&["run", "small.toml", "--set", "workload.flows=3000000"]);
    assert_eq!(second.status, Some(1), "{}", second.errors);
    let process = format!("process {}", first.id());
    assert!(second.errors.contains(&process), "{}", second.errors);
    first.kill().unwrap();
    first.wait().unwrap();
    let third = place.flowsched(&["run", "small.toml"]);
    assert_eq!(third.status, Some(2), "the killed run is of another experiment: {}", third.errors);
}

const NOTE: &str = "finished runs of an earlier attempt are run again";

#[test]
fn only_what_had_finished_is_said_to_run_again() {
    let place = Place::new();
    let folder = place.path("results/small");
    for (left, note) in [("000000.partial", false), ("000001.cut", false), ("000001", true)] {
        assert_eq!(place.flowsched(&["run", "small.toml"]).status, Some(0));
        fs::remove_file(folder.join("summary.json")).unwrap();
        fs::create_dir_all(folder.join("runs").join(left)).unwrap();
        let done = place.flowsched(&["run", "small.toml"]);
        assert_eq!(done.status, Some(0), "{}", done.errors);
        assert_eq!(done.errors.contains(&format!("{NOTE} (1)")), note, "{left}: {}", done.errors);
        assert_eq!(done.errors.contains(NOTE), note, "{left}: {}", done.errors);
    }
}

#[test]
fn a_run_that_is_refused_runs_nothing_again() {
    let place = Place::new();
    let mut first = long_run(&place, &[]);
    fs::create_dir(place.path("results/small/runs/000003")).unwrap();
    let busy = place.flowsched(&["run", "small.toml", "--set", "workload.flows=3000000"]);
    assert_eq!(busy.status, Some(1), "{}", busy.errors);
    first.kill().unwrap();
    first.wait().unwrap();
    let occupied = place.flowsched(&["run", "small.toml"]);
    assert_eq!(occupied.status, Some(2), "{}", occupied.errors);
    for errors in [busy.errors, occupied.errors] {
        assert!(!errors.contains(NOTE), "{errors}");
    }
}

/// Runs the program with this many KB of address space.
fn with_memory(place: &Place, kilobytes: u64, arguments: &str) -> Done {
    let program = env!("CARGO_BIN_EXE_flowsched");
    let script = format!("ulimit -v {kilobytes}; exec {program} {arguments}");
    let done = Command::new("bash").args(["-c", &script]).current_dir(place.path("")).output();
    Done::from_output(done.unwrap())
}

#[test]
fn what_needs_too_much_memory_is_refused_with_the_estimate() {
    let place = Place::new();
    for command in ["check", "run"] {
        let many = format!("{command} small.toml --set workload.flows=100000000");
        let done = with_memory(&place, 4_000_000, &many);
        assert_eq!(done.status, Some(2), "{}", done.errors);
        let is_said =
            done.errors.contains("GB of memory") && done.errors.contains("workload.flows");
        assert!(is_said, "{}", done.errors);
    }
    let done = with_memory(
        &place,
        4_000_000,
        "run small.toml --set topology.hosts=1048576 --set workload.flows=1 --threads 1",
    );
    assert_eq!(done.status, Some(2), "{}", done.errors);
    let cause = "a network of 2.1 million ports and 1 flow, 1 run at a time";
    assert!(done.errors.contains(cause), "{}", done.errors);
    assert!(done.errors.contains("`[topology]`"), "{}", done.errors);
    assert!(!done.errors.contains("--threads"), "{}", done.errors);
    let late = "\n[[workload.flow]]\nsrc = 0\ndst = 1\nsize = \"1KB\"\nstart = \"4000000s\"\n";
    let text =
        crate::common::SMALL.replace("sizes = \"fixed 20pkt\"\nload = 0.5\nflows = 50\n", "");
    place.write(
        "late.toml",
        &text.replace(
            "\n[[scheme]]\npreset = \"dctcp\"",
            &format!("{late}\n[[scheme]]\npreset = \"dctcp\""),
        ),
    );
    let done = place.flowsched(&["run", "late.toml"]);
    assert_eq!(done.status, Some(2), "{}", done.errors);
    assert!(done.errors.contains("rows of port samples"), "{}", done.errors);
    let done = place.flowsched(&["run", "late.toml", "--set", "sample_interval=0us"]);
    assert_eq!(done.status, Some(0), "{}", done.errors);
}

#[test]
fn memory_that_runs_out_is_an_error() {
    let place = Place::new();
    place.flowsched(&["run", "small.toml"]);
    // An estimate cannot know of a file that takes more memory to read than there is.
    place.write("large.toml", &"# ".repeat(200_000_000));
    let done = with_memory(&place, 200_000, "check large.toml");
    assert_eq!(done.status, Some(1), "{}", done.errors);
    assert!(done.errors.contains("memory ran out"), "{}", done.errors);
}

#[test]
fn more_threads_than_runs_are_not_started() {
    let place = Place::new();
    // Each thread would take address space for its stack.
    let done = with_memory(&place, 1_000_000, "run small.toml --threads 100000");
    assert_eq!(done.status, Some(0), "{}", done.errors);
}

/// A disk that is full before an input is copied leaves half of the copy, or none of it. Neither is
/// taken for the input of another experiment.
#[test]
fn a_run_that_was_cut_short_while_it_copied_its_inputs_is_resumed() {
    let place = Place::new();
    let program = env!("CARGO_BIN_EXE_flowsched");
    const LINES: u32 = 100_000;
    let points = (1..=LINES).map(|n| format!("{:010} {:.9}\n", 1000 + n, f64::from(n) / 1e5));
    fs::write(place.path("large.cdf"), points.collect::<String>()).unwrap();
    let run = "run small.toml --set workload.sizes=large.cdf --set workload.flows=20";
    // Room for all that comes before the input.
    let script = format!("trap '' XFSZ; ulimit -f 1200; exec {program} {run}");
    let done = Command::new("bash").args(["-c", &script]).current_dir(place.path("")).output();
    let done = Done::from_output(done.unwrap());
    assert_eq!(done.status, Some(1), "{}", done.errors);
    assert!(done.errors.contains("inputs/large.cdf"), "{}", done.errors);
    let words: Vec<&str> = run.split(' ').chain(["--resume"]).collect();
    let done = place.flowsched(&words);
    assert_eq!(done.status, Some(0), "{}", done.errors);
}
