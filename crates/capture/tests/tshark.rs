//! Compares what tshark reads in the captures of a simulation with the ports' counters.

#[path = "../../lab/tests/support/first_run.rs"]
mod first_run;

use std::path::Path;
use std::process::Command;

use first_run::FirstRun;
use flowsched_capture::{Captures, find_port, run_captured};
use flowsched_schemes::world::{Outcome, PortSample, Progress, collecting};
use flowsched_sim::Job;
use flowsched_topology::{Link, NetworkBuilder, PortId};
use flowsched_units::{Rate, Time};

const PORTS: [&str; 2] = ["switch0:0", "host1:switch0"];

/// Runs a simulation with captures of [`PORTS`] in `folder` and without, and checks that the outcomes are
/// the same. Returns the last sample of each port.
fn run(scheme: &str, folder: &Path) -> Vec<PortSample> {
    let file = format!(
        r#"
        topology = {{ kind = "star", hosts = 4 }}
        workload = {{ pattern = "many-to-one", receiver = "0", sizes = "fixed 100pkt", load = 0.9, flows = 60 }}
        scheme = [{{ {scheme} }}]
    "#
    );
    let first = FirstRun::of(&file);
    let (network, scheme) = (&first.network, first.scheme());
    let job = Job { sample_interval: Time::from_us(100), ..first.job() };
    let progress = Progress::default();
    let plain = flowsched_sim::run(&job, scheme, &progress);
    let names = PORTS.map(str::to_owned);
    let captures = Captures::create(folder, network, &names).unwrap();
    let captured: Outcome =
        collecting(&progress, |watch| run_captured(&job, scheme, captures, watch).unwrap());
    assert_eq!(captured.flows, plain.flows);
    assert_eq!(captured.ports, plain.ports);
    assert_eq!(captured.overhead, plain.overhead);
    let last = |name: &&str| {
        let port = find_port(network, name).unwrap().0;
        *captured.ports.iter().rfind(|sample| sample.port == port).unwrap()
    };
    PORTS.iter().map(last).collect()
}

/// The values of these fields that tshark prints, one row per packet.
fn tshark(capture: &Path, fields: &[&str]) -> Vec<Vec<String>> {
    let mut command = Command::new("tshark");
    command.args(["-o", "ip.check_checksum:TRUE", "-r"]).arg(capture).args(["-T", "fields"]);
    for field in fields {
        command.args(["-e", field]);
    }
    let done = command.output().expect("tshark is installed");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let text = String::from_utf8(done.stdout).unwrap();
    text.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}

#[test]
fn tshark_agrees_with_the_ports() {
    let folder = tempfile::tempdir().unwrap();
    // Hosts' ports do not mark packets, so that every mark comes from the switch.
    let pias = r#"preset = "pias", queues = 2, thresholds = "10pkt", ecn_threshold = "15KB",
        host_port = "fifo""#;
    for scheme in [pias, r#"preset = "pdq""#, r#"preset = "pfabric""#] {
        let counted = run(scheme, folder.path());
        for (port, file) in counted.iter().zip(["switch0-0", "host1-switch0"]) {
            let capture = folder.path().join(format!("{file}.pcapng"));
            let packets = tshark(
                &capture,
                &[
                    "frame.len",
                    "frame.time_relative",
                    "ip.dsfield.dscp",
                    "ip.dsfield.ecn",
                    "ip.checksum.status",
                    "_ws.malformed",
                    "tcp.seq",
                    "tcp.ack",
                ],
            );
            let bytes: u64 = packets.iter().map(|row| row[0].parse::<u64>().unwrap() - 14).sum();
            assert_eq!((packets.len() as u64, bytes), (port.sent_packets, port.sent_bytes));
            let times: Vec<f64> = packets.iter().map(|row| row[1].parse().unwrap()).collect();
            assert!(times.is_sorted(), "{scheme} {file}");
            let count = |column: usize, value: &str| {
                packets.iter().filter(|row| row[column] == value).count()
            };
            assert_eq!((count(4, "1"), count(5, "")), (packets.len(), packets.len()), "{scheme}");
            assert_eq!((count(6, ""), count(7, "")), (0, 0), "{scheme} {file}");
            if scheme == pias {
                assert!(count(2, "8") > 0 && count(2, "0") > 0, "two priorities");
                assert_eq!(count(2, "8") + count(2, "0"), packets.len());
                let is_switch = file == "switch0-0";
                assert_eq!(count(3, "3") as u64, if is_switch { port.marks } else { 0 });
                assert!(!is_switch || port.marks > 0);
            }
        }
    }
}

#[test]
fn ports_are_found_by_number_and_by_the_other_end() {
    let link = Link { rate: Rate::from_gbps(1), delay: Time::ZERO };
    let mut builder = NetworkBuilder::new();
    let leaf = builder.tier("leaf", 2);
    let spine = builder.tier("spine", 1);
    builder.hosts(3, leaf[0], link);
    builder.hosts(3, leaf[1], link);
    for one in leaf {
        builder.connect(one, spine[0], link);
    }
    let network = builder.finish().unwrap();
    let names = |port: PortId| {
        let end = network.port(port);
        (network.name(end.owner), network.name(end.peer))
    };
    for (name, owner, peer) in [
        ("leaf1:2", "leaf 1", "host 5"),
        ("leaf 1:host 5", "leaf 1", "host 5"),
        ("leaf1:3", "leaf 1", "spine 0"),
        ("host4:0", "host 4", "leaf 1"),
    ] {
        let port = find_port(&network, name).unwrap();
        assert_eq!(names(port), (owner.to_owned(), peer.to_owned()), "{name}");
    }
    for (name, why) in [
        ("leaf1:4", "leaf 1 has ports 0 to 3"),
        ("leaf2:0", "no such host or switch"),
        ("leaf1:host0", "leaf 1 has no link to host0"),
        ("leaf1", "no colon"),
    ] {
        let error = find_port(&network, name).unwrap_err().to_string();
        assert!(error.contains(why) && error.contains(name), "{error}");
    }
}
