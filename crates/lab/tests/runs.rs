//! Whole runs: real TCP through the network of an experiment.

#[path = "support/first_run.rs"]
mod first_run;
#[path = "support/root.rs"]
mod root;
#[path = "support/unwatched.rs"]
mod unwatched;

use std::sync::{Mutex, PoisonError};

use first_run::FirstRun;
use flowsched_lab::conduct::Conduct;
use flowsched_lab::run::{Extras, Lab};
use flowsched_schemes::preset::PRESETS;
use flowsched_schemes::transport::Timeouts;
use flowsched_schemes::world::{Outcome, Passage, Progress, Uncounted};
use flowsched_units::Time;
use root::is_root;
use unwatched::unwatched;

/// Allows one lab at a time, because two would be late.
static MACHINE: Mutex<()> = Mutex::new(());

/// When a run counts, and how often it is tried. A lab is late if the machine has something else to do, and then the
/// run is done again.
#[derive(Clone, Copy)]
struct Tries {
    most: u32,
    /// The largest lateness of a packet or of a host in a run that counts.
    latest: Time,
}

const TRIES: Tries = Tries { most: 5, latest: Time::MAX };
/// For runs of a fraction of a second, in which one late packet can delay a flow by more than the test allows.
const SHORT: Tries = Tries { most: 20, latest: Time::from_ms(1) };

impl Tries {
    /// Why a run does not count; empty if it counts.
    fn faults(self, conduct: &Conduct) -> String {
        let mut faults = conduct.faults();
        let late = conduct.most.max(conduct.host_most);
        if late > self.latest {
            faults.push(format!("a packet or a host was {late} late"));
        }
        faults.join("; ")
    }
}

/// The first run of an experiment: in the lab, and in the simulator.
fn run(file: &str) -> (Outcome, Conduct, Outcome) {
    run_in(TRIES, file)
}

/// Runs an experiment as [`run`] does, until a run counts or there are no more tries.
fn run_in(tries: Tries, file: &str) -> (Outcome, Conduct, Outcome) {
    let first = FirstRun::of(file);
    let (job, scheme) = (first.job(), first.scheme());
    let _machine = MACHINE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut in_lab = run_in_lab(&first);
    for number in 1..tries.most {
        let faults = tries.faults(&in_lab.1);
        if faults.is_empty() {
            break;
        }
        eprintln!("try {number} of {} does not count: {faults}", tries.most);
        in_lab = run_in_lab(&first);
    }
    let (outcome, conduct) = in_lab;
    (outcome, conduct, flowsched_sim::run(&job, scheme, &Progress::default()))
}

/// Runs an experiment as [`run`] does, for assertions that only hold in runs that count.
///
/// # Panics
/// As [`counted`].
fn run_that_counts(file: &str) -> Option<(Outcome, Conduct, Outcome)> {
    counted(TRIES, file)
}

/// The share of the processors' time above which a hypervisor that takes it makes a lab late.
const MOST_STOLEN: f64 = 0.005;

/// Runs an experiment as [`run_in`] does. Returns `None` if no try counts because a hypervisor gave the processors to
/// other machines.
///
/// # Panics
/// If no try counts although the machine had its processors, because assertions would then say nothing.
fn counted(tries: Tries, file: &str) -> Option<(Outcome, Conduct, Outcome)> {
    let [stolen, all] = processor_time();
    let ran = run_in(tries, file);
    let faults = tries.faults(&ran.1);
    if faults.is_empty() {
        return Some(ran);
    }
    let [stolen_then, all_then] = processor_time();
    let share = (stolen_then - stolen) / (all_then - all);
    assert!(share > MOST_STOLEN, "no try counts, so that nothing is tested: {faults}");
    eprintln!("not tested, since a hypervisor took {:.1}% of the time: {faults}", 100.0 * share);
    None
}

/// The processor time that a hypervisor gave to others, and all processor time, since the machine started
/// (proc_stat(5)).
fn processor_time() -> [f64; 2] {
    let text = std::fs::read_to_string("/proc/stat").unwrap();
    let all = text.lines().next().unwrap().split_whitespace().skip(1);
    let fields: Vec<f64> = all.map(|field| field.parse().unwrap()).collect();
    [fields[7], fields[..8].iter().sum()]
}

fn run_in_lab(first: &FirstRun) -> (Outcome, Conduct) {
    let (job, parts) = (first.job(), &first.workload.parts);
    let folder = tempfile::tempdir().unwrap();
    let of_query = |flow: usize| parts.name_of(flow) == "query";
    let memcached = (0..job.flows.len()).map(of_query).collect();
    let extras = Extras { memcached, ..Extras::default() };
    let lab = Lab::in_folder(folder.path());
    let ran = unwatched(|watch| lab.run(&job, first.scheme(), extras, watch));
    let (outcome, conduct) = ran.unwrap();
    println!("{conduct:?}");
    (outcome, conduct)
}

fn fct(outcome: &Outcome, flow: usize) -> f64 {
    outcome.flows[flow].finished_at_sender.unwrap().as_secs_f64()
}

/// 20 MB over a link of 200 Mbps take 0.822 s with headers. No run can be faster than the link, and a run that counts
/// is as fast.
#[test]
fn a_bulk_flow_fills_the_link() {
    if !is_root("a_bulk_flow_fills_the_link") {
        return;
    }
    let Some((lab, _, simulated)) = run_that_counts(
        "
        topology = { kind = \"star\", hosts = 3, host_link = \"200Mbps\", host_delay = \"20us\" }
        workload = { pattern = \"permutation\", sizes = \"fixed 20MB\", flows = 1, at = \"0ms\" }
        scheme = [{ preset = \"tcp\", buffer = \"300KB\" }]
    ",
    ) else {
        return;
    };
    let (real, ideal) = (fct(&lab, 0), fct(&simulated, 0));
    println!("{real} s, simulated {ideal} s; {} and {} drops", lab.drops, simulated.drops);
    assert!(real > 0.99 * ideal, "{real} s, simulated {ideal} s");
    assert!(real < 1.01 * ideal, "{real} s, simulated {ideal} s");
    assert!(lab.drops > 0, "slow start overruns a buffer of 300 KB");
    assert!(lab.retransmissions >= lab.drops, "{} packets resent", lab.retransmissions);
    let passage = lab.passage.unwrap();
    assert!(passage.arrived >= 20_000_000_u32.div_ceil(1_460), "{passage:?}");
    assert_eq!((passage.reordered, passage.marked), (0, 0), "one queue, which marks nothing");
}

/// Slytherin 2018, V-F: packets that are promoted after they were marked overtake unmarked ones of their flow.
#[test]
fn the_switch_counts_packets_that_overtake() {
    if !is_root("the_switch_counts_packets_that_overtake") {
        return;
    }
    let (lab, _, _) = run("
        topology = { kind = \"dumbbell\", hosts_per_side = 4, host_link = \"50Mbps\", bottleneck_link = \"100Mbps\" }
        workload = { flow = [
            { src = 0, dst = 4, size = \"1MB\", start = \"0ms\" },
            { src = 1, dst = 4, size = \"1MB\", start = \"0ms\" },
            { src = 2, dst = 4, size = \"1MB\", start = \"0ms\" },
            { src = 3, dst = 4, size = \"1MB\", start = \"0ms\" },
        ] }
        scheme = [{ preset = \"slytherin\", ecn_threshold = \"10KB\", host_port = \"fifo\" }]
    ");
    let Passage { arrived, marked, reordered, .. } = lab.passage.unwrap();
    println!("{reordered} of {arrived} out of order, {marked} marked");
    assert!(marked > 0 && marked < arrived, "{marked} of {arrived}");
    assert!(reordered > 0 && reordered < marked, "{reordered}, and {marked} marked");
}

/// Fifteen hosts send to a sixteenth. In a run that counts, its port is paced within 1% of its rate, and the
/// queueing delay within 5%. Applications receive no faster than the link allows.
#[test]
fn a_busy_port_keeps_its_rate_and_its_delay() {
    if !is_root("a_busy_port_keeps_its_rate_and_its_delay") {
        return;
    }
    for (mbps, bits) in [(100, 100e6), (200, 200e6)] {
        let Some((lab, conduct, _)) = run_that_counts(&format!(
            "
            topology = {{ kind = \"star\", hosts = 16, host_link = \"{mbps}Mbps\" }}
            workload = {{ pattern = \"many-to-one\", receiver = 0, sizes = \"fixed 1MB\", flows = 15, at = \"0ms\" }}
            scheme = [{{ preset = \"ecn-star\", buffer = \"1MB\", ecn_threshold = \"60KB\", initial_window = 10 }}]
            "
        )) else {
            continue;
        };
        let ends = lab.flows.iter().map(|flow| flow.finished_at_receiver.unwrap().as_secs_f64());
        let goodput = 15e6 * 8.0 / ends.fold(0.0, f64::max);
        assert!(goodput < 0.98 * bits, "{mbps} Mbps: {goodput}");
        let pacing = conduct.pacing.unwrap();
        assert!((pacing.rate - 1.0).abs() < 0.01, "{mbps} Mbps: {pacing:?}");
        assert!(pacing.late * 20 < pacing.queueing, "{mbps} Mbps: {pacing:?}");
    }
}

/// Compares the kernel's Reno with ECN with the simulator's, on the same flows. If the run counts, nothing is dropped,
/// and the mean completion time is that of the simulator.
#[test]
fn ecn_star_agrees_with_the_simulator() {
    if !is_root("ecn_star_agrees_with_the_simulator") {
        return;
    }
    let Some((lab, _, simulated)) = run_that_counts("
        topology = { kind = \"star\", hosts = 4, host_link = \"100Mbps\", host_delay = \"100us\" }
        workload = { pattern = \"many-to-one\", receiver = 0, sizes = \"fixed 200KB\", load = 0.8, flows = 80 }
        scheme = [{ preset = \"ecn-star\", ecn_threshold = \"15KB\", buffer = \"200KB\", initial_window = 10 }]
    ") else {
        return;
    };
    let mean = |outcome: &Outcome| (0..80).map(|flow| fct(outcome, flow)).sum::<f64>() / 80.0;
    let (real, ideal) = (mean(&lab), mean(&simulated));
    println!("{real} s, simulated {ideal} s; {} and {} marks", lab.ecn_marks, simulated.ecn_marks);
    assert!(lab.ecn_marks > 0);
    assert_eq!((lab.drops, simulated.drops), (0, 0));
    assert!((real / ideal - 1.0).abs() < 0.25, "{real} s, simulated {ideal} s");
}

/// Schemes that need nothing beside the kernel's TCP but ports and tags. Every flow ends, and the switch sees the
/// priorities that the sizes call for.
#[test]
fn schemes_of_ports_and_known_sizes_run() {
    if !is_root("schemes_of_ports_and_known_sizes_run") {
        return;
    }
    let two = "{ preset = \"tcp2q\", thresholds = \"100KB\"";
    let eight = "{ preset = \"tcp8q\", thresholds = \"5KB 10KB 15KB 20KB 25KB 30KB 100KB\"";
    for (scheme, used) in [
        ("{ preset = \"dctcp\"", &[true, false] as &[bool]),
        ("{ preset = \"slytherin\"", &[true, false]),
        (two, &[true, true]),
        (eight, &[true, false, false, false, false, false, true, true]),
    ] {
        let (lab, conduct, _) = run(&format!(
            "
            topology = {{ kind = \"star\", hosts = 3, host_link = \"20Mbps\", host_delay = \"200us\" }}
            workload = {{ flow = [
                {{ src = 1, dst = 0, size = \"300KB\", start = \"0ms\" }},
                {{ src = 2, dst = 0, size = \"40KB\", start = \"20ms\" }},
                {{ src = 1, dst = 0, size = \"2KB\", start = \"25ms\" }},
            ] }}
            scheme = [{scheme}, buffer = \"500KB\", ecn_threshold = \"10KB\" }}]
            "
        ));
        assert!(lab.flows.iter().all(|flow| flow.finished_at_sender.is_some()), "{scheme}");
        assert!(lab.ecn_marks > 0 && lab.drops == 0, "{scheme}: {lab:?}");
        for (priority, used) in used.iter().enumerate() {
            assert_eq!(conduct.priorities[priority] > 0, *used, "{scheme}: {conduct:?}");
        }
    }
}

/// Eight windows of ten packets at once overrun a buffer of three. The run's time-outs are those of its flows.
#[test]
fn timeouts_of_the_kernel_are_counted() {
    if !is_root("timeouts_of_the_kernel_are_counted") {
        return;
    }
    let (lab, _, simulated) = run("
        topology = { kind = \"star\", hosts = 9, host_link = \"20Mbps\", host_delay = \"100us\" }
        workload = { pattern = \"incast\", degree = 8, receiver = \"0\", sizes = \"fixed 30KB\", flows = 8, at = \"0ms\" }
        scheme = [{ preset = \"tcp\", buffer = \"4500B\", initial_window = 10, rto_min = \"5ms\" }]
    ");
    if lab.uncounted.timeouts {
        eprintln!("skipped: this kernel counts no time-outs");
        return;
    }
    println!("{} time-outs, simulated {}", lab.timeouts, simulated.timeouts);
    assert!(lab.timeouts > 0 && lab.timeouts <= lab.retransmissions, "{lab:?}");
    assert!(lab.uncounted.arrivals && !lab.uncounted.retransmissions, "{:?}", lab.uncounted);
    assert_eq!(simulated.uncounted, Uncounted::default());
}

/// The SYN is lost, sent again after a second, and lost again. The flow has one time-out when the run is cut off.
#[test]
fn flows_that_do_not_end_have_their_timeouts_too() {
    if !is_root("flows_that_do_not_end_have_their_timeouts_too") {
        return;
    }
    let (lab, _, _) = run("
        until = \"1.5s\"
        topology = { kind = \"star\", hosts = 2, host_link = \"20Mbps\", loss = 0.9999 }
        workload = { flow = [{ src = 0, dst = 1, size = \"30KB\" }] }
        scheme = [{ preset = \"tcp\" }]
    ");
    let flow = lab.flows[0];
    assert_eq!(flow.finished_at_sender, None);
    assert_eq!(flow.retransmissions, 1);
    if !lab.uncounted.timeouts {
        let expected = Timeouts { all: 1, longest: 1, ..Timeouts::default() };
        assert_eq!((flow.timeouts, lab.timeouts), (expected, 1));
    }
}

/// PDQ 2012, Figure 6, at 20 Mbps: flows that start together send one after the other, the shortest first. No flow
/// sends before the one before it has nearly finished, so each ends later than that one by at least its own time.
///
/// Sizes differ by four bandwidth-delay products of 10 KB. If they differed by one, a flow whose probe comes a round
/// trip late could find that the next longer flow has sent enough to be the more critical of the two, and would wait
/// for it.
#[test]
fn flows_under_pdq_finish_one_after_the_other() {
    if !is_root("flows_under_pdq_finish_one_after_the_other") {
        return;
    }
    let Some((lab, _, simulated)) = run_that_counts("
        topology = { kind = \"star\", hosts = 6, host_link = \"20Mbps\", link_delay = \"1ms\", host_delay = \"0us\" }
        workload = { flow = [
            { src = 1, dst = 0, size = \"60KB\", start = \"0ms\" },
            { src = 2, dst = 0, size = \"100KB\", start = \"0ms\" },
            { src = 3, dst = 0, size = \"140KB\", start = \"0ms\" },
            { src = 4, dst = 0, size = \"180KB\", start = \"0ms\" },
            { src = 5, dst = 0, size = \"220KB\", start = \"0ms\" },
        ] }
        scheme = [{ preset = \"pdq\", rto_min = \"100ms\" }]
    ") else {
        return;
    };
    let ends: Vec<f64> = (0..5).map(|flow| fct(&lab, flow)).collect();
    let ideal: Vec<f64> = (0..5).map(|flow| fct(&simulated, flow)).collect();
    println!("{ends:?}, simulated {ideal:?}");
    for (flow, pair) in ends.windows(2).enumerate() {
        let own = f64::from(100_000 + 40_000 * flow as u32) * 8.0 / 20e6;
        let waited = pair[1] - pair[0] > 0.8 * own;
        assert!(waited, "flow {}: {ends:?}", flow + 1);
    }
    assert!(ends[4] > 0.99 * ideal[4], "no faster than the link");
    assert_eq!(lab.drops, 0);
}

/// RCP shares the link: of two flows of one size, neither waits for the other. D3 grants a far deadline the rate that
/// it needs, and shares the rest.
#[test]
fn flows_under_rcp_and_d3_end() {
    if !is_root("flows_under_rcp_and_d3_end") {
        return;
    }
    for (scheme, deadline) in [("rcp", ""), ("d3", ", deadline = \"5s\"")] {
        let (lab, _, simulated) = run(&format!(
            "
            topology = {{ kind = \"star\", hosts = 3, host_link = \"20Mbps\", link_delay = \"1ms\" }}
            workload = {{ flow = [
                {{ src = 1, dst = 0, size = \"200KB\", start = \"0ms\" }},
                {{ src = 2, dst = 0, size = \"200KB\", start = \"0ms\"{deadline} }},
            ] }}
            scheme = [{{ preset = \"{scheme}\", rto_min = \"100ms\" }}]
            "
        ));
        let ends = [0, 1].map(|flow| fct(&lab, flow));
        let ideal = [0, 1].map(|flow| fct(&simulated, flow));
        println!("{scheme}: {ends:?}, simulated {ideal:?}");
        assert!(ends[0].max(ends[1]) > 0.16, "no faster than the link: {ends:?}");
        assert!((ends[0] - ends[1]).abs() < 0.5 * ends[0], "{scheme}: {ends:?}");
    }
}

/// Sends 3 MB over a link with a round trip of 100 ms, with at most 60 segments in flight.
#[test]
fn windows_are_bounded_as_in_the_simulator() {
    if !is_root("windows_are_bounded_as_in_the_simulator") {
        return;
    }
    let (lab, _, simulated) = run("
        topology = { kind = \"star\", hosts = 2, host_link = \"100Mbps\", link_delay = \"25ms\" }
        workload = { flow = [{ src = 0, dst = 1, size = \"3MB\" }] }
        scheme = [{ preset = \"tcp\", max_window = 60, initial_window = 10, buffer = \"1MB\" }]
        ");
    let (real, ideal) = (fct(&lab, 0), fct(&simulated, 0));
    println!("{real} s, simulated {ideal} s");
    assert!(real > 0.9 * ideal, "more was in flight: {real} s, simulated {ideal} s");
}

/// EPN 2018, Figure 9, at 20 Mbps, over TCP with and without ECN: f3 goes before f2 at the receiver's link, and f2
/// before f1 between the switches. While f2 waits for f3, f1 has the link between the switches. Intervals are long, so
/// that a flow on a busy machine does not look dead.
#[test]
fn three_flows_under_epn_end_in_the_order_of_their_desires() {
    if !is_root("three_flows_under_epn_end_in_the_order_of_their_desires") {
        return;
    }
    for transport in ["ecn-star", "reno"] {
        let Some((lab, conduct, simulated)) = run_that_counts(&format!(
            "
            [topology]
            kind = \"custom\"
            hosts = \"h1 h2 h13 h14 h15\"
            links = \"h1 A; h2 A; A B; h13 B; h14 B; h15 B\"
            link = \"20Mbps\"
            link_delay = \"500us\"
            [workload]
            flow = [
                {{ src = 0, dst = 2, size = \"4.7MB\" }},
                {{ src = 1, dst = 3, size = \"2.36MB\" }},
                {{ src = 4, dst = 3, size = \"2.34MB\" }},
            ]
            [[scheme]]
            preset = \"epn\"
            dp = \"size\"
            transport = \"{transport}\"
            buffer = \"1MB\"
            ecn_threshold = \"30KB\"
            rto_min = \"200ms\"
            ack_ratio = 2
            initial_window = 10
            mark_interval = \"20ms\"
            probe_interval = \"100ms\"
            counter_interval = \"200ms\"
            flow_timeout = \"10s\"
            "
        )) else {
            continue;
        };
        let ends = [0, 1, 2].map(|flow| fct(&lab, flow));
        let ideal = [0, 1, 2].map(|flow| fct(&simulated, flow));
        println!("{transport}: {ends:?}, simulated {ideal:?}");
        assert!(lab.flows.iter().all(|flow| flow.finished_at_receiver.is_some()));
        let in_order = ends[2] < ends[1] && ends[1] < ends[0];
        assert!(in_order, "{transport}: {ends:?}");
        for (real, ideal) in ends.iter().zip(ideal) {
            let agrees = (0.95 * ideal..1.25 * ideal).contains(real);
            assert!(agrees, "{ends:?}, simulated {ideal:?}");
        }
        // The paper's shares: f3 has the receiver's link until it ends, f2 has it then, and f1 has the link between
        // the switches before and after that. Headers, VXLAN's included, take 7% of a link, and f2's
        // probes find the link free up to 100 ms after f3, a tenth of f2's turn.
        let turn = ends[1] - ends[2];
        let turns = [(4.7e6, ends[0] - turn), (2.36e6, turn), (2.34e6, ends[2])];
        let shares = turns.map(|(bytes, seconds)| bytes * 8.0 / 20e6 / seconds);
        println!("{transport}: shares {shares:?}");
        assert!(shares.iter().all(|share| (0.75..1.0).contains(share)), "{transport}: {shares:?}");
        assert!(conduct.priorities[1] > 0, "f2 waits in the LOW queue: {conduct:?}");
    }
}

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

/// Values of real servers beside a bulk flow. Each value comes whole, and the flow comes too. Times are not compared.
#[test]
fn memcached_answers_beside_the_traffic() {
    if !is_root("memcached_answers_beside_the_traffic") {
        return;
    }
    let (lab, _, simulated) = run(r#"
        topology = { kind = "star", hosts = 4, host_link = "100Mbps", host_delay = "100us" }
        scheme = [{ preset = "tcp", buffer = "100KB" }]
        [[workload.part]]
        name = "bulk"
        pattern = "many-to-one"
        receiver = "0"
        sizes = "fixed 2MB"
        flows = 1
        at = "0ms"
        [[workload.part]]
        name = "query"
        pattern = "incast"
        degree = 3
        receiver = "0"
        sizes = "fixed 1KB"
        flows = 30
        at = "10ms"
        every = "10ms"
    "#);
    assert_eq!(lab.flows.len(), simulated.flows.len());
    assert!(lab.uncounted.retransmissions && lab.uncounted.timeouts, "memcached has the sockets");
    // The client has compared every byte of a value that has arrived.
    for flow in &lab.flows {
        assert!(flow.finished_at_receiver.is_some());
    }
}
