//! Sixteen agents with real TCP traffic, a real Prometheus and the controller: new thresholds arrive
//! within five seconds of the decision, no packet is untagged meanwhile, counters continue, and
//! Prometheus answers the dashboard's queries. Needs root.

#[path = "../../agent/tests/support/lab.rs"]
mod lab;
#[path = "support/rack.rs"]
mod rack;
#[path = "support/rig.rs"]
mod rig;

use std::process::Command;
use std::time::Duration;

use rack::{CONTROLLER, Rack, Watch, address};
use rig::{Process, Rig, has, wait_until};

const HOSTS: usize = 16;
/// Message sizes in bytes. Thresholds of 2 KB and 4 KB do not suit them.
const SIZES: &[usize] = &[3_000, 20_000, 30_000, 20_000, 200_000];

/// The table `[controller]` of an agent's file.
fn follow(rig: &Rig, number: usize) -> String {
    let host = format!("host{number}");
    let identity = rig.host(&host, "default");
    format!(
        "[controller]\nurl = \"https://{CONTROLLER}:9489\"\nhost = \"{host}\"\nca = {:?}\n\
         certificate = {:?}\nkey = {:?}\nstate = {:?}\n",
        identity.ca,
        identity.certificate,
        identity.key,
        rig.path(&format!("kept{number}")),
    )
}

fn prometheus(rig: &Rig, rack: &Rack) -> Process {
    let agents = (1..=HOSTS).map(|number| format!("{}:9487", address(number))).collect();
    let jobs = [("agents", agents), ("controller", vec!["127.0.0.1:9490".to_owned()])];
    let namespace = format!("--net=/run/netns/{}", rack.switch);
    rig.prometheus(&["nsenter", &namespace], 9090, "500ms", &jobs)
}

/// Prometheus's answer to a query.
fn ask(rack: &Rack, query: &str) -> serde_json::Value {
    let mut command = Command::new("nsenter");
    command.arg(format!("--net=/run/netns/{}", rack.switch));
    command.args(["curl", "-sG", "http://127.0.0.1:9090/api/v1/query", "--data-urlencode"]);
    let output = command.arg(format!("query={query}")).output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap_or_default()
}

/// Starts a controller whose trial allows any number of retransmissions. A busy machine retransmits segments
/// whatever the thresholds, and roll-backs are tested elsewhere (`src/rollout/tests.rs`).
fn controller(rig: &Rig, rack: &Rack) -> Process {
    let config = format!(
        "thresholds = \"2KB 4KB\"\ndscp = [48, 32, 16]\nlink-rate = \"10Gbps\"\n\
         listen = \"{CONTROLLER}:9489\"\nstate = {:?}\n{}\
         [collect]\nprometheus = \"http://127.0.0.1:9090\"\nevery = \"500ms\"\nwindow = \"10s\"\n\
         windows = 1\n[decide]\nevery = \"1s\"\nleast-messages = 1000\n\
         [canary]\ntime = \"15s\"\nshare = 0.1\nretransmissions = 1e9\n\
         [groups.default]\nselector = 'job=\"agents\"'\n",
        rig.path("state"),
        rig.tls(),
    );
    let namespace = format!("--net=/run/netns/{}", rack.switch);
    rig.controller("controller", &config, &["nsenter", &namespace])
}

/// The dashboard's queries, each with its panel.
fn dashboard() -> Vec<(String, String)> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../packaging/grafana/flowsched.json");
    let text = std::fs::read_to_string(path).unwrap();
    let dashboard: serde_json::Value = serde_json::from_str(&text).unwrap();
    let mut queries = Vec::new();
    for panel in dashboard["panels"].as_array().unwrap() {
        for target in panel["targets"].as_array().unwrap() {
            let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
            queries.push((text(&panel["title"]), text(&target["expr"])));
        }
    }
    queries
}

#[test]
fn new_thresholds_arrive_in_time_and_no_packet_goes_untagged() {
    if !lab::is_root("new_thresholds_arrive_in_time") || !has("prometheus") {
        return;
    }
    let rig = Rig::new(&[CONTROLLER]);
    let rack = Rack::new(HOSTS);
    let agents = rack.agents(&rig, |number| follow(&rig, number));
    let _prometheus = prometheus(&rig, &rack);
    let traffic = rack.traffic(SIZES);
    let watch = Watch::start(&rack.switch);
    let packets = |number| rack.metric(&rig, number, "flowsched_packets_total");
    let before: Vec<u64> = (1..=HOSTS).map(packets).collect();
    let controller = controller(&rig, &rack);
    controller.wait_for("group default: version 1: the predicted mean FCT improves");
    wait_until("canaries are on trial", || {
        let canaries = |n| rack.metric(&rig, n, "flowsched_thresholds_canary");
        (1..=HOSTS).map(canaries).sum::<u64>() == 2
    });
    // Query while the trial runs: only then are there canaries.
    let mut unanswered = Vec::new();
    for (panel, query) in dashboard() {
        let answer = ask(&rack, &query);
        if answer["status"] != "success" {
            unanswered.push(format!("{panel}: {query}: {answer}"));
        }
    }
    assert!(unanswered.is_empty(), "{unanswered:#?}");
    let (decided, line) = controller.wait_for_line("group default: version 2");
    assert!(line.contains("the trial went well"), "{line}");
    for (number, agent) in agents.iter().enumerate() {
        let applied = agent.wait_for("version 2 of the thresholds is in force");
        let late = applied.saturating_duration_since(decided);
        println!("host{}: {} ms after the decision", number + 1, late.as_millis());
        assert!(late < Duration::from_secs(5), "host{} is late by {late:?}", number + 1);
    }
    let after: Vec<u64> = (1..=HOSTS).map(packets).collect();
    assert!(
        before.iter().zip(&after).all(|(before, after)| after > before),
        "{before:?} {after:?}"
    );
    let sent = traffic.sent.clone();
    traffic.end();
    let counts = watch.end();
    let tagged: u64 = [48, 32, 16].iter().map(|dscp| counts[*dscp]).sum();
    println!(
        "{} messages, {tagged} data packets seen",
        sent.load(std::sync::atomic::Ordering::Relaxed)
    );
    assert!(tagged > 1000, "{counts:?}");
    assert_eq!(tagged, counts.iter().sum::<u64>(), "untagged packets: {counts:?}");
    wait_until("every panel has figures", || {
        dashboard().iter().filter(|(panel, _)| !panel.starts_with("Retransmissions")).all(
            |(_, query)| {
                ask(&rack, query)["data"]["result"].as_array().is_some_and(|all| !all.is_empty())
            },
        )
    });
    // When the controller is gone, agents notice and change nothing.
    controller.kill();
    wait_until("agents notice", || {
        (1..=HOSTS).all(|n| rack.metric(&rig, n, "flowsched_controller_connected") == 0)
    });
    let versions = (1..=HOSTS).map(|n| rack.metric(&rig, n, "flowsched_thresholds_version"));
    assert!(versions.into_iter().all(|version| version == 2));
    rack.uninstall(&rig);
}
