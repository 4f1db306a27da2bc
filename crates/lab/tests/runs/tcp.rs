//! The kernel's TCP over one switch: rates, delays, losses and windows.

use flowsched_schemes::transport::Timeouts;
use flowsched_schemes::world::{Outcome, Uncounted};

use crate::root::is_root;
use crate::tries::{fct, run, run_that_counts};

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

/// Compares the kernel's Reno with ECN, and DCTCP, with the simulator's, on the same flows. If the run counts, nothing is
/// dropped, and the mean completion time is that of the simulator.
#[test]
fn schemes_with_ecn_agree_with_the_simulator() {
    if !is_root("schemes_with_ecn_agree_with_the_simulator") {
        return;
    }
    for preset in ["ecn-star", "dctcp"] {
        let Some((lab, _, simulated)) = run_that_counts(&format!(
            "
            topology = {{ kind = \"star\", hosts = 4, host_link = \"100Mbps\", host_delay = \"100us\" }}
            workload = {{ pattern = \"many-to-one\", receiver = 0, sizes = \"fixed 200KB\", load = 0.8, flows = 80 }}
            scheme = [{{ preset = \"{preset}\", ecn_threshold = \"15KB\", buffer = \"200KB\", initial_window = 10 }}]
            "
        )) else {
            continue;
        };
        let mean = |outcome: &Outcome| (0..80).map(|flow| fct(outcome, flow)).sum::<f64>() / 80.0;
        let (real, ideal) = (mean(&lab), mean(&simulated));
        let marks = (lab.ecn_marks, simulated.ecn_marks);
        println!("{preset}: {real} s, simulated {ideal} s; {marks:?} marks");
        assert!(lab.ecn_marks > 0, "{preset}");
        assert_eq!((lab.drops, simulated.drops), (0, 0), "{preset}");
        assert!((real / ideal - 1.0).abs() < 0.25, "{preset}: {real} s, simulated {ideal} s");
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

/// Receivers acknowledge every packet, or every second one, as the file says. Linux acknowledges the first ones at once
/// in both cases.
#[test]
fn receivers_acknowledge_as_often_as_the_file_says() {
    if !is_root("receivers_acknowledge_as_often_as_the_file_says") {
        return;
    }
    let packets = |ack_ratio: u32| {
        let ran = run_that_counts(&format!(
            "
            topology = {{ kind = \"star\", hosts = 2, host_link = \"100Mbps\" }}
            workload = {{ flow = [{{ src = 0, dst = 1, size = \"3MB\" }}] }}
            scheme = [{{ preset = \"tcp\", initial_window = 10, buffer = \"1MB\", ack_ratio = {ack_ratio} }}]
            "
        ));
        ran.map(|(lab, conduct, _)| {
            assert_eq!(lab.drops, 0);
            conduct.packets
        })
    };
    let (Some(each), Some(second)) = (packets(1), packets(2)) else { return };
    let data = 3_000_000_u64.div_ceil(1_460);
    println!("{data} packets of data, {each} and {second} with ACKs");
    // Linux may answer packets together that come while the application reads.
    assert!(each - data > data * 9 / 10, "{each}");
    assert!(second - data < data * 6 / 10, "{second}");
}
