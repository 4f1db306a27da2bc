//! The utilisation of the links that a load refers to: what they send, including ACKs and
//! retransmissions. The load itself is defined elsewhere.

use flowsched_units::{Bytes, Time};

use super::{PortRecord, PortRow};

/// Samples must cover at least this share of the time from the first start to the last.
const ENOUGH: f64 = 0.9;

/// Computes the utilisation of the links of a load from port samples, one sample time after
/// another. Its memory is proportional to the number of ports.
///
/// Nothing is sent before the first start. The utilisation therefore takes the bytes that the links
/// have sent by the last sample at or before the last start. It divides them by the capacity of the
/// links from the first start to this sample.
#[derive(Clone, Debug)]
pub(super) struct UtilisationMeter {
    /// Whether each port counts.
    counts: Vec<bool>,
    bytes_per_second: f64,
    /// The times of the first and the last start.
    window: Option<(Time, Time)>,
    /// The time of the last sample in this window, and the bytes sent until then.
    sent: Option<(Time, Bytes)>,
}

impl UtilisationMeter {
    /// A meter for a run with these `ports`, of which the load refers to `load_ports`. `arrivals`
    /// has the times of the first and the last start.
    pub(super) fn new(
        load_ports: &[u32],
        ports: &[PortRecord],
        arrivals: Option<(Time, Time)>,
    ) -> UtilisationMeter {
        let mut counts = vec![false; ports.len()];
        let mut bytes_per_second = 0.0;
        for &place in load_ports {
            if let Some(port) = ports.get(place as usize) {
                counts[place as usize] = true;
                bytes_per_second += port.rate.as_bytes_per_sec_f64();
            }
        }
        UtilisationMeter { counts, bytes_per_second, window: arrivals, sent: None }
    }

    /// Adds the samples of one sample time, one for each port. Sample times must not decrease.
    pub(super) fn add(&mut self, samples: &[PortRow]) {
        let Some(time) = samples.first().map(|sample| sample.time) else { return };
        if self.window.is_none_or(|(first, last)| time < first || time > last) {
            return;
        }
        let counts = |sample: &&PortRow| self.counts.get(sample.port as usize) == Some(&true);
        let bytes = samples.iter().filter(counts).map(|sample| sample.tx_bytes).sum();
        self.sent = Some((time, Bytes::new(bytes)));
    }

    /// The utilisation of the links so far, from 0 to 1. `None` if the samples cover less than nine
    /// tenths of the time from the first start to the last.
    pub(super) fn utilisation(&self) -> Option<f64> {
        let (first, last) = self.window?;
        let (time, bytes) = self.sent?;
        let covered = time.saturating_sub(first).as_secs_f64();
        let is_enough =
            covered > 0.0 && covered >= ENOUGH * last.saturating_sub(first).as_secs_f64();
        let capacity = self.bytes_per_second * covered;
        (is_enough && capacity > 0.0).then(|| bytes.get() as f64 / capacity)
    }
}

#[cfg(test)]
mod tests {
    use flowsched_units::Rate;

    use super::*;

    /// Three ports of 8 Gbps, the first two of which count.
    fn meter(starts_us: &[u64]) -> UtilisationMeter {
        let port = PortRecord {
            owner: String::new(),
            peer: String::new(),
            class: String::new(),
            rate: Rate::from_gbps(8),
        };
        let starts = || starts_us.iter().map(|us| Time::from_us(*us));
        let arrivals = starts().min().zip(starts().max());
        UtilisationMeter::new(&[0, 1], &vec![port; 3], arrivals)
    }

    fn samples(us: u64, sent: [u64; 3]) -> Vec<PortRow> {
        let sample = |(port, tx_bytes)| PortRow {
            time: Time::from_us(us),
            port,
            tx_bytes,
            ..PortRow::default()
        };
        (0..).zip(sent).map(sample).collect()
    }

    #[test]
    fn utilisation_is_of_the_links_of_the_load_while_flows_arrive() {
        let mut meter = meter(&[5, 20, 105]);
        meter.add(&samples(0, [0, 0, 0]));
        meter.add(&samples(50, [9_000, 9_000, 0]));
        // 8 Gbps are 1,000 B/us, and 95 us have passed since the first start.
        meter.add(&samples(100, [95_000, 19_000, 7]));
        assert_eq!(meter.utilisation(), Some(0.6));
        meter.add(&samples(150, [400_000, 400_000, 400_000]));
        assert_eq!(meter.utilisation(), Some(0.6), "after the last start");
    }

    #[test]
    fn samples_that_are_missing_or_too_far_apart_give_no_utilisation() {
        assert_eq!(meter(&[0, 100]).utilisation(), None);
        assert_eq!(meter(&[]).utilisation(), None);
        let mut end_only = meter(&[0, 100]);
        end_only.add(&samples(200, [1, 1, 1]));
        assert_eq!(end_only.utilisation(), None);
        let mut coarse = meter(&[0, 100]);
        coarse.add(&samples(89, [1, 1, 1]));
        assert_eq!(coarse.utilisation(), None);
        let mut burst = meter(&[100, 100]);
        burst.add(&samples(100, [0, 0, 0]));
        assert_eq!(burst.utilisation(), None, "all flows start at once");
    }
}
