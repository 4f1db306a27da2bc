//! Rules that hold for each port at each sample.

use flowsched_experiment::results::PortRow;
use flowsched_units::{PACKET_HEADER, Time};

use crate::study::RunView;
use crate::violation::Violations;

/// The largest packet with the longest header, bytes.
const LARGEST_PACKET: u64 = 1_600;
/// The share by which a fluid may send more than its link carries. The fluid engine makes room for
/// acknowledgements only if its rates would otherwise be wrong by more than this (`WORTH_A_LOOK` of
/// `flowsched-fluid`).
const FLUID: f64 = 0.002;
/// The share by which packets may exceed the link's rate, for the rounding of times.
const ROUNDING: f64 = 1e-6;

/// Checks all samples of the run.
pub fn judge(run: &RunView, found: &mut Violations) {
    let mut before = vec![PortRow::default(); run.ports.len()];
    let mut last_time = Time::ZERO;
    for sample in &run.samples {
        let port = sample.port as usize;
        let earlier = std::mem::replace(&mut before[port], *sample);
        let detail = || format!("{}: {earlier:?}, then {sample:?}", run.name());
        found.require(last_time <= sample.time, "order of samples", detail);
        found.require(is_plausible(run, sample), "counters of a port", detail);
        found.require(has_not_fallen(&earlier, sample), "counters that fall", detail);
        let rate = run.ports[port].rate.as_bps();
        let is_possible = keeps_rate(run.promises.has_packets, rate, &earlier, sample);
        found.require(is_possible, "faster than its rate", detail);
        last_time = sample.time;
    }
    let is_too_late = run.promises.until.is_some_and(|until| last_time > until);
    found.require(!is_too_late, "samples after the end", || {
        format!("{}: until {:?}, sampled at {last_time}", run.name(), run.promises.until)
    });
}

/// Whether bytes and packets fit each other. With the fluid engine, all counters but the sent bytes
/// must be 0.
fn is_plausible(run: &RunView, sample: &PortRow) -> bool {
    if !run.promises.has_packets {
        let packets = [sample.queue_bytes, sample.queue_packets, sample.tx_packets];
        return packets == [0; 3] && (sample.drops, sample.ecn_marks) == (0, 0);
    }
    let fits = |bytes: u64, packets: u64| {
        (packets * PACKET_HEADER..=packets * LARGEST_PACKET).contains(&bytes)
    };
    fits(sample.queue_bytes, sample.queue_packets) && fits(sample.tx_bytes, sample.tx_packets)
}

fn has_not_fallen(earlier: &PortRow, sample: &PortRow) -> bool {
    earlier.tx_bytes <= sample.tx_bytes
        && earlier.tx_packets <= sample.tx_packets
        && earlier.drops <= sample.drops
        && earlier.ecn_marks <= sample.ecn_marks
}

/// Whether the link could carry the bytes that were sent between two samples. A packet counts as
/// sent when its first bit leaves.
fn keeps_rate(has_packets: bool, rate: u64, earlier: &PortRow, sample: &PortRow) -> bool {
    let sent = sample.tx_bytes.saturating_sub(earlier.tx_bytes) as f64 * 8.0;
    let seconds = sample.time.saturating_sub(earlier.time).as_secs_f64();
    let (part, slack) =
        if has_packets { (ROUNDING, LARGEST_PACKET as f64 * 8.0) } else { (FLUID, 16.0) };
    sent <= rate as f64 * seconds * (1.0 + part) + slack
}

#[cfg(test)]
mod tests {
    use flowsched_experiment::results::PortRecord;
    use flowsched_units::Rate;

    use super::*;

    /// A port of 1 Gbps that sends two packets of 1500 B in 100 us.
    fn good() -> RunView {
        let ends = ("a".to_owned(), "b".to_owned());
        let rate = Rate::from_gbps(1);
        let port = PortRecord { owner: ends.0, peer: ends.1, class: String::new(), rate };
        let sample = |us, packets| PortRow {
            time: Time::from_us(us),
            tx_bytes: 1_500 * packets,
            tx_packets: packets,
            ..PortRow::default()
        };
        let mut run = RunView {
            ports: vec![port],
            samples: vec![sample(50, 1), sample(100, 2)],
            ..RunView::default()
        };
        run.promises.has_packets = true;
        run
    }

    fn kinds(change: impl FnOnce(&mut RunView)) -> Vec<String> {
        let mut run = good();
        change(&mut run);
        let mut found = Violations::default();
        judge(&run, &mut found);
        found.into_vec().into_iter().map(|violation| violation.kind).collect()
    }

    #[test]
    fn good_samples_break_no_rule() {
        assert!(kinds(|_| {}).is_empty());
    }

    #[test]
    fn bad_samples_are_told() {
        assert_eq!(kinds(|run| run.samples[1].time = Time::from_us(40)), ["order of samples"]);
        assert_eq!(kinds(|run| run.samples[1].queue_bytes = 1), ["counters of a port"]);
        assert_eq!(kinds(|run| run.samples[1].tx_packets = 100), ["counters of a port"]);
        assert_eq!(kinds(|run| run.samples[0].drops = 1), ["counters that fall"]);
        let until = Some(Time::from_us(99));
        assert_eq!(kinds(|run| run.promises.until = until), ["samples after the end"]);
        let many = |run: &mut RunView| {
            (run.samples[1].tx_bytes, run.samples[1].tx_packets) = (15_000, 10);
        };
        assert_eq!(kinds(many), ["faster than its rate"]);
        assert!(
            kinds(|run| run.promises.has_packets = false).contains(&"counters of a port".into())
        );
    }
}
