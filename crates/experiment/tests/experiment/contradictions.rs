//! Settings that contradict each other give a warning, and others give none.

use crate::common::{arguments, read};

/// The settings of PIAS ToN 2017, V-C, which do not contradict each other.
const SOUND: &str = r#"
[topology]
kind = "leaf-spine"
leaves = 3
hosts_per_leaf = 4
spines = 2

[workload]
sizes = "web-search-packets"
load = 0.5
flows = 100

[[scheme]]
preset = "dctcp"

[[scheme]]
preset = "tcp"

[[scheme]]
preset = "pias"
queues = 3
thresholds = "100KB 10MB"
"#;

/// The warnings of [`SOUND`] with these keys set.
fn warnings(set: &[&str]) -> Vec<String> {
    varied(set, &[])
}

fn varied(set: &[&str], vary: &[&str]) -> Vec<String> {
    let experiment = read(SOUND, &arguments(set, vary), &[("flows.csv", TRACE)]);
    experiment.unwrap_or_else(|mistakes| panic!("{mistakes}")).warnings
}

const TRACE: &str = "start_s,src,dst,size_bytes\n0,0,1,50000\n1,1,2,20000\n";

/// Checks that there is one warning, and that it contains all `parts`.
fn assert_only(warnings: &[String], parts: &[&str]) {
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    for part in parts {
        assert!(warnings[0].contains(part), "no {part} in {}", warnings[0]);
    }
}

#[test]
fn settings_of_the_papers_go_together() {
    assert_eq!(warnings(&[]), Vec::<String>::new());
    // "20 packets at 1 Gbps": PIAS ToN 2017, IV-A.2.
    let slow =
        ["topology.host_link=1Gbps", "topology.fabric_link=4Gbps", "scheme.tcp.rto_min=10ms"];
    let slow =
        [&slow[..], &["scheme.dctcp.ecn_threshold=20pkt", "scheme.pias.ecn_threshold=20pkt"]];
    assert_eq!(warnings(&slow.concat()), Vec::<String>::new());
}

#[test]
fn a_wait_below_the_marking_threshold_longer_than_the_timeout_is_told() {
    let slow = ["topology.host_link=100Mbps", "topology.fabric_link=400Mbps"];
    let found = warnings(&[&slow[..], &["scheme.pias.ecn_threshold=8pkt"]].concat());
    let of_timeouts: Vec<&String> = found.iter().filter(|text| text.contains("rto_min")).collect();
    assert_eq!(of_timeouts.len(), 1, "TCP has no marks, PIAS another threshold: {found:?}");
    assert!(of_timeouts[0].starts_with("scheme \"dctcp\": packets may wait 7.8ms at 100Mbps"));
    assert!(of_timeouts[0].contains("rto_min = 2ms"), "{}", of_timeouts[0]);
    let longer = warnings(&[&slow[..], &["scheme.dctcp.rto_min=8ms"]].concat());
    assert!(!longer.iter().any(|text| text.contains("\"dctcp\"") && text.contains("rto_min")));
}

#[test]
fn a_marking_threshold_of_another_rate_is_told() {
    for (host_link, fabric_link, harm) in [
        ("1Gbps", "4Gbps", "queues stay long"),
        ("100Gbps", "400Gbps", "too low to keep links busy"),
    ] {
        let host_link = format!("topology.host_link={host_link}");
        let fabric_link = format!("topology.fabric_link={fabric_link}");
        let buffers =
            ["scheme.dctcp.buffer=4MB", "scheme.tcp.buffer=4MB", "scheme.pias.buffer=4MB"];
        let found = warnings(&[&[host_link.as_str(), &fabric_link][..], &buffers].concat());
        let start = "schemes \"dctcp\", \"pias\": the marking threshold of 65 packets is";
        assert_only(&found, &[start, harm]);
    }
}

#[test]
fn a_marking_threshold_that_nothing_reaches_is_told() {
    for threshold in ["360KB", "400KB", "1MB"] {
        let found = warnings(&[&format!("scheme.dctcp.ecn_threshold={threshold}")]);
        let start = "scheme \"dctcp\": no packet is marked: at most 360KB wait";
        assert_only(&found, &[start, &format!("threshold is {threshold}"), "dctcp hears"]);
    }
    let unlimited = warnings(&["scheme.pias.ecn_threshold=unlimited"]);
    assert_only(&unlimited, &["scheme \"pias\": no packet is marked with", "unlimited"]);
    let without_marks = ["scheme.tcp.ecn_threshold=unlimited", "scheme.tcp.buffer=60MB"];
    assert_eq!(warnings(&without_marks), Vec::<String>::new());
    let of_queues = ["scheme.pias.buffer_sharing=queue", "scheme.pias.ecn_threshold=400KB"];
    assert_eq!(warnings(&of_queues), Vec::<String>::new(), "three queues hold 1080 KB");
    let own = [&of_queues[..], &["scheme.pias.ecn_scope=queue"]].concat();
    assert_only(&warnings(&own), &["no packet is marked: at most 360KB wait"]);
    let shared = ["scheme.pias.buffer_sharing=switch", "scheme.pias.switch_memory=400KB"];
    let shared = [&shared[..], &["scheme.pias.ecn_threshold=310KB"]].concat();
    assert_only(&warnings(&shared), &["no packet is marked: at most 300KB wait"]);
}

#[test]
fn initial_windows_above_the_buffer_are_told() {
    let incast = ["workload.pattern=incast", "workload.degree=8"];
    let found = warnings(&incast);
    assert_only(&found, &["\"dctcp\", \"tcp\", \"pias\": 8 flows that start together", "360KB"]);
    assert_eq!(warnings(&[incast[0], "workload.degree=3"]), Vec::<String>::new());
    let small = [&incast[..], &["workload.sizes=fixed 20KB"]].concat();
    let small = [&small[..], &["scheme.pias.thresholds=2KB 10KB"]].concat();
    assert_eq!(warnings(&small), Vec::<String>::new(), "8 flows of 14 packets fit");
    let pfabric = ["scheme.0.preset=pfabric", "scheme.1.preset=las", "scheme.2.buffer=2MB"];
    assert_eq!(warnings(&[&incast[..], &pfabric].concat()), Vec::<String>::new());
}

/// The warnings about initial windows in a star of 16 hosts, with this workload and these schemes.
fn of_initial_windows(workload: &str, schemes: &[&str]) -> Vec<String> {
    let schemes: String =
        schemes.iter().map(|scheme| format!("[[scheme]]\npreset = \"{scheme}\"\n")).collect();
    let text =
        format!("[topology]\nkind = \"star\"\nhosts = 16\n\n[workload]\n{workload}\n{schemes}");
    let trace: String = (1..16).map(|src| format!("5,{src},0,1000000\n")).collect();
    let trace = format!("start_s,src,dst,size_bytes\n1,1,0,20000\n{trace}");
    let experiment = read(&text, &arguments(&[], &[]), &[("together.csv", &trace)]);
    let warnings = experiment.unwrap_or_else(|mistakes| panic!("{mistakes}")).warnings;
    warnings.into_iter().filter(|text| text.contains("initial windows")).collect()
}

fn listed(src: u32, start_us: u32, copies: u32) -> String {
    format!(
        "[[workload.flow]]\nsrc = {src}\ndst = 0\nsize = \"1MB\"\nstart = \"{start_us}us\"\n\
         copies = {copies}\n"
    )
}

#[test]
fn initial_windows_of_listed_flows_are_counted() {
    let together: String = (1..16).map(|src| listed(src, 0, 1)).collect();
    let found = of_initial_windows(&together, &["dctcp", "las"]);
    assert_only(&found, &["15 flows that start together send", "360KB"]);
    let two_senders = [listed(1, 0, 30), listed(2, 0, 30)].concat();
    assert_only(&of_initial_windows(&two_senders, &["dctcp"]), &["30 flows that start together"]);
    let apart: String = (1..16).map(|src| listed(src, 100 * src, 1)).collect();
    assert_eq!(of_initial_windows(&apart, &["dctcp"]), [""; 0]);
    let few: String = (1..5).map(|src| listed(src, 0, 1)).collect();
    assert_eq!(of_initial_windows(&few, &["dctcp"]), [""; 0]);
}

#[test]
fn initial_windows_above_the_buffer_of_their_sender_are_told() {
    let one_sender = listed(1, 0, 20);
    let found = of_initial_windows(&one_sender, &["dctcp"]);
    assert_only(&found, &["20 flows that start together send 1400 packets"]);
    let card = format!("{one_sender}[[scheme]]\npreset = \"tcp\"\nhost_port = \"fifo\"\n");
    let of_card = |text: &&String| text.contains("\"tcp\"");
    assert_eq!(of_initial_windows(&card, &["dctcp"]).iter().filter(of_card).count(), 0);
}

#[test]
fn initial_windows_of_a_trace_are_counted() {
    let found = of_initial_windows("trace = \"together.csv\"\n", &["dctcp"]);
    assert_only(&found, &["15 flows that start together send"]);
}

#[test]
fn flows_that_start_a_little_apart_start_together() {
    let workload = "sizes = \"fixed 1MB\"\nat = \"0ms\"\nflows = 15\npattern = \"many-to-one\"\nsenders = \"in-turn\"\n";
    for every in ["0ns", "1ns", "1us"] {
        let workload = format!("{workload}every = \"{every}\"\n");
        assert_only(&of_initial_windows(&workload, &["dctcp"]), &["15 flows that start"]);
    }
    let apart = format!("{workload}every = \"100us\"\n");
    assert_eq!(of_initial_windows(&apart, &["dctcp"]), [""; 0]);
    let chance = "sizes = \"fixed 1MB\"\nload = 0.9\nflows = 20000\npattern = \"many-to-one\"\n";
    assert_eq!(of_initial_windows(chance, &["dctcp"]), [""; 0]);
}

#[test]
fn a_buffer_below_the_bandwidth_delay_product_is_told() {
    let found = warnings(&["scheme.tcp.buffer=100KB"]);
    assert_only(
        &found,
        &["scheme \"tcp\": a buffer of 100KB is below the bandwidth-delay product"],
    );
    assert_eq!(warnings(&["scheme.tcp.buffer=120KB"]), Vec::<String>::new());
    let shared = ["scheme.tcp.buffer_sharing=switch", "scheme.tcp.switch_memory=150KB"];
    assert_only(&warnings(&shared), &["a buffer of 75KB"]);
    let own = ["scheme.pias.buffer_sharing=queue", "scheme.pias.buffer=60KB"];
    assert_only(&warnings(&own), &["scheme \"pias\": a buffer of 60KB"]);
    let demoted = [&own[..], &["scheme.pias.overflow=demote"]].concat();
    assert_eq!(warnings(&demoted), Vec::<String>::new(), "three queues have 180 KB");
}

#[test]
fn thresholds_that_no_flow_reaches_are_told() {
    let found = warnings(&["scheme.pias.thresholds=10MB 50MB"]);
    assert_only(&found, &["scheme \"pias\": the last threshold, 50MB, is above the largest flow"]);
    let traced = varied(&["workload.trace=flows.csv"], &["workload.load=0.5"]);
    let of_thresholds = traced.iter().filter(|text| text.contains("no flow reaches the last 2"));
    assert_eq!(of_thresholds.count(), 1, "{traced:?}");
    let messages = ["scheme.pias.thresholds=10MB 50MB", "scheme.pias.message_start=idle"];
    assert_eq!(warnings(&messages), Vec::<String>::new(), "a message may be of several flows");
    let endless = ["scheme.pias.thresholds=10MB 50MB", "workload.sizes=exponential 1MB"];
    assert_eq!(warnings(&endless), Vec::<String>::new());
    assert_eq!(warnings(&["scheme.pias.thresholds=optimal"]), Vec::<String>::new());
}

#[test]
fn a_load_that_overloads_the_core_is_told() {
    let found = warnings(&["topology.fabric_link=5Gbps"]);
    assert_only(&found, &["workload: a load of 0.500 of the host links asks for", "load_of"]);
    let of_core = ["topology.fabric_link=5Gbps", "workload.load_of=core"];
    assert!(!warnings(&of_core).iter().any(|text| text.starts_with("workload")));
}

/// The load is measured if the flows have no common load.
#[test]
fn thresholds_are_worked_out_beside_an_overloaded_core() {
    let between_leaves = "start_s,src,dst,size_bytes\n0,0,4,1000000\n0.001,1,5,2000000\n";
    let text = SOUND.replace(
        "sizes = \"web-search-packets\"\nload = 0.5\nflows = 100\n",
        "trace = \"flows.csv\"\n",
    );
    let set = ["topology.fabric_link=1Gbps", "scheme.pias.thresholds=optimal"];
    let experiment = read(&text, &arguments(&set, &[]), &[("flows.csv", between_leaves)]);
    assert!(experiment.is_ok(), "{}", experiment.unwrap_err());
}

#[test]
fn a_contradiction_at_several_points_is_told_once() {
    let found = varied(&[], &["scheme.tcp.buffer=50KB,100KB,200KB"]);
    assert_only(
        &found,
        &["of 50KB", "First at scheme.tcp.buffer = 50KB, in all at 2 of 3 points."],
    );
}
