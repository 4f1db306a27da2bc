//! Hosts of the simulator's, which send over UDP instead of the kernel's TCP.

use flowsched_schemes::preset::PRESETS;
use flowsched_units::Time;

use crate::root::is_root;
use crate::tries::{SHORT, counted, fct};

/// The presets whose hosts speak TCP.
const TCP: [&str; 13] = [
    "tcp",
    "cubic",
    "ecn-star",
    "dctcp",
    "l2dct",
    "d2tcp",
    "pias",
    "tcp2q",
    "tcp8q",
    "sjf",
    "slytherin",
    "las",
    "pfabric",
];
/// The presets whose hosts have a protocol of their own.
const OWN: [&str; 10] =
    ["pdq", "pdq-basic", "pdq-es", "pdq-es-et", "m-pdq", "d3", "rcp", "homa", "hpcc", "phost"];
/// EPN needs the kernel's TCP, and a schedule sends no packets.
const OTHERS: [&str; 3] = ["epn", "epn-agnostic", "optimal"];

/// Under every preset the simulator's hosts finish their flows over UDP, with real packets, as in a simulation. The
/// kernel's TCP has no part in this. With TCP each flow ends within 5% of the simulation.
/// Where hosts and switches agree on rates, the order of packets within microseconds decides who waits for a probe, so
/// the mean alone is compared.
#[test]
fn the_simulators_hosts_do_the_same_on_real_packets() {
    if !is_root("the_simulators_hosts_do_the_same_on_real_packets") {
        return;
    }
    let mut all: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
    let mut tested = [&TCP[..], &OWN, &OTHERS].concat();
    all.sort_unstable();
    tested.sort_unstable();
    assert_eq!(all, tested);
    for preset in TCP {
        let file = over_udp(preset, ", lab_senders = \"simulator\"");
        compare(&file, each_ends_alike);
    }
    for preset in OWN {
        compare(&over_udp(preset, ""), |real, simulated| {
            let (real, simulated): (f64, f64) = (real.iter().sum(), simulated.iter().sum());
            (real - simulated).abs() <= 0.25 * simulated
        });
    }
}

/// Every topology whose hosts have one card carries real packets as in a simulation.
#[test]
fn every_topology_carries_real_packets() {
    if !is_root("every_topology_carries_real_packets") {
        return;
    }
    for topology in [
        "kind = \"star\", hosts = 6, host_link = \"50Mbps\", host_delay = \"200us\"",
        "kind = \"dumbbell\", hosts_per_side = 3, host_link = \"50Mbps\", bottleneck_link = \"50Mbps\", host_delay = \"200us\"",
        "kind = \"single-rooted-tree\", racks = 3, hosts_per_rack = 2, host_link = \"50Mbps\", fabric_link = \"50Mbps\", link_delay = \"100us\"",
        "kind = \"leaf-spine\", leaves = 2, spines = 2, hosts_per_leaf = 3, host_link = \"50Mbps\", fabric_link = \"50Mbps\", host_delay = \"200us\"",
        "kind = \"fat-tree\", k = 4, link = \"50Mbps\", link_delay = \"100us\"",
        "kind = \"jellyfish\", switches = 6, ports = 4, degree = 3, link = \"50Mbps\", link_delay = \"100us\"",
        "kind = \"custom\", hosts = \"a b c d e f\", links = \"a A; b A; c A; A B; B d; B e; B f\", link = \"50Mbps\", link_delay = \"100us\"",
    ] {
        let file = format!(
            "
            topology = {{ {topology} }}
            workload = {{ flow = [
                {{ src = 0, dst = 5, size = \"100KB\", start = \"0ms\" }},
                {{ src = 1, dst = 4, size = \"60KB\", start = \"5ms\" }},
                {{ src = 2, dst = 5, size = \"60KB\", start = \"10ms\" }},
            ] }}
            scheme = [{{ preset = \"dctcp\", lab_senders = \"simulator\", rto_min = \"100ms\" }}]
            "
        );
        compare(&file, each_ends_alike);
    }
}

/// Runs an experiment whose hosts are the simulator's. `agrees` compares the ends of its three flows, in seconds, with
/// those in the simulation.
///
/// # Panics
/// If the ends do not agree.
fn compare(file: &str, agrees: impl Fn(&[f64], &[f64]) -> bool) {
    let Some((lab, conduct, simulated)) = counted(SHORT, file) else { return };
    assert!(lab.passage.is_none(), "the switch reads no TCP: {file}");
    assert!(conduct.host_most > Time::ZERO, "the hosts' lateness is measured: {file}");
    let ends = |outcome| [0, 1, 2].map(|flow| fct(outcome, flow));
    let (real, simulated) = (ends(&lab), ends(&simulated));
    println!("{real:?}, simulated {simulated:?}");
    assert!(agrees(&real, &simulated), "{real:?}, simulated {simulated:?}: {file}");
}

/// Whether each flow ends within 5% of the simulated time.
fn each_ends_alike(real: &[f64], simulated: &[f64]) -> bool {
    let mut flows = real.iter().zip(simulated);
    flows.all(|(real, simulated)| (real - simulated).abs() <= 0.05 * simulated)
}

/// Three flows to one host under a preset.
fn over_udp(preset: &str, senders: &str) -> String {
    // The defaults of the time-outs are for faster networks. After a time-out, microseconds become milliseconds.
    let settings = match preset {
        "pias" | "tcp2q" | "tcp8q" => ", queues = 2, thresholds = \"20KB\", rto_min = \"100ms\"",
        "ecn-star" | "dctcp" | "l2dct" | "d2tcp" => {
            ", ecn_threshold = \"20KB\", initial_window = 10, rto_min = \"100ms\""
        }
        "las" | "pfabric" => ", buffer = \"1MB\", rto_min = \"1s\"",
        "homa" => ", resend_interval = \"100ms\"",
        "phost" => {
            ", resend_time = \"100ms\", request_interval = \"100ms\", downgrade_time = \"100ms\""
        }
        "hpcc" => ", base_rtt = \"1.5ms\", rto_min = \"100ms\"",
        _ => ", rto_min = \"100ms\"",
    };
    format!(
        "
        topology = {{ kind = \"star\", hosts = 4, host_link = \"50Mbps\", host_delay = \"200us\" }}
        workload = {{ flow = [
            {{ src = 1, dst = 0, size = \"60KB\", start = \"0ms\" }},
            {{ src = 2, dst = 0, size = \"100KB\", start = \"0ms\" }},
            {{ src = 3, dst = 0, size = \"140KB\", start = \"0ms\" }},
        ] }}
        scheme = [{{ preset = \"{preset}\"{senders}{settings} }}]
        "
    )
}
