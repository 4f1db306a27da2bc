//! Schemes that tag packets, promote them, or agree on rates with switches.

use flowsched_schemes::world::Passage;

use crate::root::is_root;
use crate::tries::{SHORT, counted, fct, run, run_that_counts};

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

/// PDQ 2012, 5.4, Figure 6, with the lab's file, whose sizes are about 1 MB as in the paper. The flows send one after the
/// other, so their ends are as far apart as the link takes for one of them. If they shared the link, all would end
/// together. Sizes differ by less than a bandwidth-delay product, so two flows may change places, in the simulator too.
#[test]
fn flows_of_about_one_size_under_pdq_finish_one_after_the_other() {
    if !is_root("flows_of_about_one_size_under_pdq_finish_one_after_the_other") {
        return;
    }
    let file = include_str!("../../../../experiments/lab-pdq-fig6.toml");
    let Some((lab, _, simulated)) = counted(SHORT, file) else { return };
    let [ends, ideal] = [&lab, &simulated].map(|outcome| {
        let mut ends: Vec<f64> = (0..5).map(|flow| fct(outcome, flow)).collect();
        ends.sort_by(f64::total_cmp);
        ends
    });
    println!("{ends:?}, simulated {ideal:?}");
    // 1.02 MB with the headers of its packets, at 100 Mbps.
    let own = 1.02e6 * 1_516.0 / 1_460.0 * 8.0 / 100e6;
    for pair in ends.windows(2) {
        let apart = pair[1] - pair[0];
        assert!((0.8 * own..1.2 * own).contains(&apart), "{apart} for {own}: {ends:?}");
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
