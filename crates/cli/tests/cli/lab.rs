//! `flowsched lab`: real packets, the agent's tags, and what a lab leaves behind.

use std::fs;
use std::process::Stdio;

use crate::captures::{counted, tshark};
use crate::common::{Done, Place};

/// A flow of 100 packets, on a port with three strict priorities.
const ONE_FLOW: &str = r#"name = "one flow"
seeds = 1
sample_interval = "0us"

[topology]
kind = "star"
hosts = 3
host_link = "50Mbps"

[workload]
pattern = "permutation"
sizes = "fixed 100pkt"
flows = 1
at = "0ms"

[[scheme]]
name = "pias"
preset = "pias"
transport = "ecn-star"
queues = 3
thresholds = "10pkt 50pkt"
buffer = "1MB"
ecn_threshold = "500KB"
initial_window = 10
rto_min = "200ms"
"#;

fn is_root(test: &str) -> bool {
    let root = nix::unistd::geteuid().is_root();
    if !root {
        eprintln!("skipped: {test} needs root");
    }
    root
}

fn number(value: &serde_json::Value) -> u64 {
    value.as_u64().unwrap()
}

/// 11 packets of data leave at the top priority (the eleventh starts at the threshold), beside those that open
/// connections and acknowledge, 40 at the second and 49 at the third. There are no others, except those that the kernel
/// sends again on a busy machine.
#[test]
fn the_agent_tags_what_the_ports_of_the_lab_serve() {
    if !is_root("the_agent_tags_what_the_ports_of_the_lab_serve") {
        return;
    }
    let place = Place::new();
    place.write("one.toml", ONE_FLOW);
    let output = place.command(&["lab", "run", "one.toml", "--out", "out"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let text = fs::read_to_string(place.path("out/lab.json")).unwrap();
    let runs: serde_json::Value = serde_json::from_str(&text).unwrap();
    let priorities: Vec<u64> =
        runs[0]["priorities"].as_array().unwrap().iter().map(number).collect();
    let summary = fs::read_to_string(place.path("out/summary.json")).unwrap();
    let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
    let run = &summary["runs"][0];
    assert_eq!(number(&run["finished"]), 1);
    let resent = number(&run["retransmissions"]);
    for (found, sent) in priorities.iter().zip([12, 40, 49]) {
        assert!(*found >= sent, "{priorities:?}");
    }
    assert!(priorities[1] + priorities[2] <= 89 + resent, "{priorities:?}, {resent} resent");
    assert_eq!(priorities[3..], [0; 5], "{priorities:?}");
}

/// The summary has every scheme twice, how late the lab was, and the scale.
#[test]
fn json_has_the_lab_beside_its_simulation() {
    if !is_root("json_has_the_lab_beside_its_simulation") {
        return;
    }
    let place = Place::new();
    place.write("one.toml", ONE_FLOW);
    let set = ["--set", "scheme.pias.ack_ratio=4"];
    let arguments = ["lab", "run", "one.toml", "--format", "json", "--pcap", "switch0:0"];
    let arguments = [&arguments[..], &set].concat();
    let output = place.command(&arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let kept = fs::read_to_string(place.path("results/one/summary.json")).unwrap();
    assert_eq!(serde_json::from_str::<serde_json::Value>(&kept).unwrap(), json);
    let page = fs::read_to_string(place.path("results/one/report.html")).unwrap();
    for text in ["The lab beside the simulation", "The lab, in real time", "us with transmission"] {
        assert!(page.contains(text), "{text}");
    }
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("warning: scheme \"pias\": the lab ignores `ack_ratio = 4`"), "{said}");
    let of_runs = |key: &str| [0, 1].map(|run| json["runs"][run][key].clone());
    for (run, is_counted) in [(0, false), (1, true)] {
        let (overhead, packets) = (&of_runs("overhead")[run], &of_runs("packets")[run]);
        for figure in [&overhead["header_bytes"], &packets["duplicate_acks"]] {
            assert!(if is_counted { figure.is_number() } else { figure.is_null() }, "{figure}");
        }
        assert!(number(&packets["arrived"]) >= 100, "{packets}");
    }
    let names: Vec<&str> = json["runs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| run["scheme"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["pias", "pias (simulated)"]);
    assert_eq!(json["lab"].as_array().unwrap().len(), 1, "simulations are never late");
    assert!(number(&json["lab"][0]["packets"]) > 100, "100 packets, and at least one ACK");
    let scale: Vec<&str> =
        json["scale"].as_array().unwrap().iter().map(|line| line.as_str().unwrap()).collect();
    assert!(scale[0].contains("us with transmission"), "{scale:?}");
    assert!(scale[0].contains("50Mbps") && scale[1].contains("thresholds"), "{scale:?}");
    let folder = place.path("results/one");
    for (run, scheme) in [("pias-1", "pias"), ("pias_%28simulated%29-1", "pias (simulated)")] {
        let capture = folder.join(format!("captures/{run}/switch0-0.pcapng"));
        let packets = tshark(&capture, &["frame.len", "frame.protocols", "_ws.malformed"]);
        let bytes: u64 = packets.iter().map(|row| row[0].parse::<u64>().unwrap() - 14).sum();
        let (sent, sent_bytes, _) = counted(&folder, scheme, "switch 0", "host 0");
        assert_eq!((packets.len() as u64, bytes), (sent, sent_bytes), "{scheme}");
        for row in &packets {
            assert!(!row[1].contains("gsm") && row[2].is_empty(), "{row:?}");
        }
    }
}

#[test]
fn a_scheme_that_no_real_packet_carries_is_refused_by_name() {
    let place = Place::new();
    let network_and_flow = &ONE_FLOW[..ONE_FLOW.find("[[scheme]]").unwrap()];
    let of_epn = "with `controller = \"epn\"` does not run on real packets";
    for (preset, change, why) in [
        ("epn", "transport=l2dct", of_epn),
        ("epn", "lab_senders=simulator", of_epn),
        ("pfabric", "same_flow=connection", "`same_flow = \"connection\"` does not run over UDP"),
    ] {
        let scheme = format!("[[scheme]]\npreset = \"{preset}\"\n");
        place.write("one.toml", &format!("{network_and_flow}{scheme}"));
        let change = format!("scheme.{preset}.{change}");
        let output = place.command(&["lab", "run", "one.toml", "--set", &change]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success());
        assert!(said.contains(why), "{said}");
        assert!(!said.contains("panicked"), "{said}");
    }
}

/// The kernel has no L2DCT, so the simulator's hosts send over UDP, and the scale says so. It has the thresholds too.
#[test]
fn what_the_kernel_does_not_have_runs_over_udp() {
    if !is_root("what_the_kernel_does_not_have_runs_over_udp") {
        return;
    }
    let place = Place::new();
    place.write("one.toml", ONE_FLOW);
    for change in ["transport=l2dct", "lab_senders=simulator"] {
        let set = format!("scheme.pias.{change}");
        let arguments = ["lab", "run", "one.toml", "--set", &set, "--out", change];
        let output = place.command(&arguments).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        let table = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{said}");
        let scale = table.lines().find(|line| line.contains("the simulator's hosts, over UDP"));
        assert!(scale.is_some_and(|line| line.contains("thresholds")), "{table}");
    }
}

/// Processes of this machine whose command line has `text`.
fn processes_with(text: &str) -> usize {
    let folders = fs::read_dir("/proc").unwrap().flatten();
    let lines = folders.filter_map(|folder| fs::read(folder.path().join("cmdline")).ok());
    lines.filter(|line| String::from_utf8_lossy(line).contains(text)).count()
}

/// The message of an interrupted lab names the command that continues, and neither command takes the other's folder.
#[test]
fn results_of_the_lab_and_of_the_simulator_are_kept_apart() {
    if !is_root("results_of_the_lab_and_of_the_simulator_are_kept_apart") {
        return;
    }
    let place = Place::new();
    place.write("one.toml", &ONE_FLOW.replace("fixed 100pkt", "fixed 30MB"));
    let lab = place
        .command(&["lab", "run", "one.toml", "--out", "lab"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let run = place.path("lab/runs/000000.partial");
    while !run.exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let twice = format!("kill -INT {id}; sleep 0.3; kill -INT {id}", id = lab.id());
    assert!(std::process::Command::new("sh").args(["-c", &twice]).status().unwrap().success());
    let stopped = Done::from_output(lab.wait_with_output().unwrap());
    assert_eq!(stopped.status, Some(1), "{}", stopped.errors);
    // The second signal comes before the results are written, or after that.
    let names_it = stopped.errors.contains("`flowsched lab run --resume`");
    assert!(names_it || stopped.errors.contains("`--resume` runs the rest"), "{}", stopped.errors);
    assert!(!stopped.errors.contains("`flowsched run --resume`"), "{}", stopped.errors);
    place.write("one.toml", ONE_FLOW);
    for (first, second, owner) in [
        (&["lab", "run"][..], &["run"][..], "`flowsched lab run`"),
        (&["run"], &["lab", "run"], "`flowsched run`"),
    ] {
        let out = ["one.toml", "--out", if first.len() == 2 { "real" } else { "simulated" }];
        let done = place.flowsched(&[first, &out].concat());
        assert_eq!(done.status, Some(0), "{}", done.errors);
        for more in [&["--resume"][..], &[]] {
            let refused = place.flowsched(&[second, &out, more].concat());
            assert_eq!(refused.status, Some(2), "{}", refused.errors);
            let words = refused.errors.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(words.contains(&format!("has results of {owner}")), "{words}");
        }
        let again = place.flowsched(&[first, &out, &["--resume"]].concat());
        assert!(again.errors.contains("every run is there already"), "{}", again.errors);
    }
}

/// Kills a lab while its agents run. The agents end, and the next lab removes the folder.
#[test]
fn a_killed_lab_leaves_no_agent() {
    if !is_root("a_killed_lab_leaves_no_agent") {
        return;
    }
    let place = Place::new();
    place.write("one.toml", &ONE_FLOW.replace("fixed 100pkt", "fixed 1GB"));
    let mut lab = place
        .command(&["lab", "run", "one.toml", "--out", "out"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let folder = format!("/run/flowsched-lab/{}-0/", lab.id());
    while processes_with(&folder) < 3 {
        assert!(lab.try_wait().unwrap().is_none(), "the lab ended before its agents started");
        std::thread::yield_now();
    }
    lab.kill().unwrap();
    lab.wait().unwrap();
    while processes_with(&folder) > 0 {
        std::thread::yield_now();
    }
    let output = place.command(&["lab", "down"]).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("removed "));
    assert!(!fs::exists(&folder).unwrap());
}
