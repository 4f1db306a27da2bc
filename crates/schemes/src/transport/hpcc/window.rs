//! HPCC's window: Algorithm 1 of SIGCOMM 2019, with the paper's names.

use flowsched_units::{Bytes, Rate, Time};

use super::{HpccHeader, HpccSettings};

/// The window of one flow, in bytes on the wire.
#[derive(Clone, Debug)]
pub struct Window {
    /// W: bytes that may be in flight.
    window: f64,
    /// W^c: the window of the last round trip, from which W is computed.
    reference: f64,
    /// U: bytes in flight on the most loaded link, in units of its bandwidth times T.
    in_flight: f64,
    /// incStage: round trips of additive increase in a row.
    stage: u64,
    /// lastUpdateSeq: an ACK beyond this segment answers a packet sent at the present W^c.
    update_after: u32,
    /// L: the records of the last ACK; none before the first one.
    last: Option<HpccHeader>,
    /// B x T of the sender's card: the first window and the largest.
    largest: f64,
}

impl Window {
    /// The window of a flow from a card of this rate. The flow starts at the card's rate. Links
    /// count as full until there is a measurement, as in the authors' simulator.
    pub fn new(settings: &HpccSettings, rate: Rate) -> Window {
        let largest = rate.as_bytes_per_sec_f64() * settings.base_rtt.as_secs_f64();
        Window {
            window: largest,
            reference: largest,
            in_flight: 1.0,
            stage: 0,
            update_after: 0,
            last: None,
            largest,
        }
    }

    /// Whether the window has room for a packet beside `in_flight` bytes in flight.
    #[inline]
    pub fn has_room(&self, in_flight: Bytes) -> bool {
        (in_flight.get() as f64) < self.window
    }

    /// W, the window.
    pub fn size(&self) -> Bytes {
        Bytes::new(self.window as u64)
    }

    /// R = W / T, the rate.
    pub fn rate(&self, settings: &HpccSettings) -> Rate {
        let bps = self.window * 8.0 / settings.base_rtt.as_secs_f64();
        Rate::from_bps((bps as u64).max(1))
    }

    /// NewAck: handles an ACK that expects `segment`. `next` is the first segment never sent.
    pub fn on_ack(
        &mut self,
        settings: &HpccSettings,
        header: &HpccHeader,
        segment: u32,
        next: u32,
    ) {
        let is_new = segment > self.update_after;
        if self.measure(settings, header) {
            self.compute(settings, is_new);
        }
        if is_new {
            self.update_after = next;
        }
    }

    /// MeasureInflight: computes U. Returns false if there is no earlier record to compare with.
    fn measure(&mut self, settings: &HpccSettings, header: &HpccHeader) -> bool {
        let Some(last) = self.last.replace(*header) else { return false };
        let (mut most, mut tau) = (0.0, Time::ZERO);
        for (now, before) in header.hops().iter().zip(last.hops()) {
            let between = now.time.saturating_sub(before.time);
            if between == Time::ZERO {
                continue;
            }
            let bandwidth = now.rate.as_bytes_per_sec_f64();
            let sent = now.sent.saturating_sub(before.sent).get() as f64;
            let queue = now.queue.min(before.queue).get() as f64;
            let in_flight = queue / (bandwidth * settings.base_rtt.as_secs_f64())
                + sent / between.as_secs_f64() / bandwidth;
            if in_flight > most {
                (most, tau) = (in_flight, between);
            }
        }
        let weight = tau.min(settings.base_rtt).as_secs_f64() / settings.base_rtt.as_secs_f64();
        self.in_flight = (1.0 - weight) * self.in_flight + weight * most;
        true
    }

    /// ComputeWind: computes W, and W^c too if `is_new`.
    fn compute(&mut self, settings: &HpccSettings, is_new: bool) {
        let HpccSettings { eta, max_stage, additive_increase, .. } = *settings;
        let is_multiplicative = self.in_flight >= eta || self.stage >= max_stage;
        let base = if is_multiplicative {
            self.reference / (self.in_flight / eta)
        } else {
            self.reference
        };
        // A card cannot send faster: the authors' simulator bounds rates by it.
        self.window = (base + additive_increase.get() as f64).min(self.largest);
        if is_new {
            self.reference = self.window;
            self.stage = if is_multiplicative { 0 } else { self.stage + 1 };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::explicit::ExplicitSettings;
    use crate::transport::hpcc::Hop;

    /// T of 100 us and links of 8 Gbps: a bandwidth-delay product of 100,000 B.
    const SETTINGS: HpccSettings = HpccSettings {
        explicit: ExplicitSettings { rto_min: Time::from_ms(1) },
        base_rtt: Time::from_us(100),
        eta: 0.95,
        max_stage: 5,
        additive_increase: Bytes::new(80),
    };
    const LINK: Rate = Rate::from_gbps(8);

    /// Records of ports, each with its time in us, the bytes that left and those that wait.
    fn header(hops: &[(u64, u64, u64)]) -> HpccHeader {
        let mut header = HpccHeader::default();
        for (us, sent, queue) in hops {
            let (sent, queue) = (Bytes::new(*sent), Bytes::new(*queue));
            header.push(Hop { rate: LINK, time: Time::from_us(*us), sent, queue });
        }
        header
    }

    /// A window that has seen one ACK.
    fn started(hops: &[(u64, u64, u64)]) -> Window {
        let mut window = Window::new(&SETTINGS, LINK);
        window.on_ack(&SETTINGS, &header(hops), 1, 60);
        assert_eq!(window.window, 100_000.0, "nothing is known from one record");
        window
    }

    #[track_caller]
    fn is_near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-6 * expected, "{value} for {expected}");
    }

    /// On the most loaded link, bytes in flight are those in the queue and those that pass in T.
    #[test]
    fn the_most_loaded_link_counts() {
        let mut window = started(&[(0, 0, 0), (10, 0, 30_000), (20, 0, 0)]);
        // Half a link; a full link with the smaller queue of 20,000 B; a link with nothing.
        let hops = [(100, 50_000, 9_000), (110, 100_000, 20_000), (120, 0, 40_000)];
        window.on_ack(&SETTINGS, &header(&hops), 2, 60);
        is_near(window.in_flight, 1.2);
        is_near(window.window, 100_000.0 / (1.2 / 0.95) + 80.0);
    }

    /// U is averaged over T: each ACK counts by the time since the last one.
    #[test]
    fn an_ack_counts_by_the_time_since_the_last_one() {
        let mut window = started(&[(0, 0, 0)]);
        window.on_ack(&SETTINGS, &header(&[(10, 5_000, 0)]), 2, 60);
        is_near(window.in_flight, 0.9 + 0.1 * 0.5);
        window.on_ack(&SETTINGS, &header(&[(1010, 405_000, 0)]), 3, 60);
        is_near(window.in_flight, 0.4);
    }

    /// All ACKs of a round trip set W from the same W^c, so that no sender reacts twice to the same
    /// queue.
    #[test]
    fn the_reference_moves_once_a_round_trip() {
        let mut window = started(&[(0, 0, 0)]);
        for ack in 1..=4 {
            let hop = (100 * ack, 200_000 * ack, 0);
            window.on_ack(&SETTINGS, &header(&[hop]), 10 + ack as u32, 100);
            is_near(window.window, 100_000.0 / (2.0 / 0.95) + 80.0);
            assert_eq!(window.reference, 100_000.0);
        }
        window.on_ack(&SETTINGS, &header(&[(500, 1_000_000, 0)]), 61, 100);
        is_near(window.reference, 100_000.0 / (2.0 / 0.95) + 80.0);
        window.on_ack(&SETTINGS, &header(&[(600, 1_200_000, 0)]), 62, 100);
        is_near(window.window, (100_000.0 / (2.0 / 0.95) + 80.0) / (2.0 / 0.95) + 80.0);
    }

    /// After maxStage additive steps, the window takes what is free in one step.
    #[test]
    fn a_link_that_stays_free_is_taken_after_max_stage_steps() {
        let mut window = started(&[(0, 0, 0)]);
        window.reference = 10_000.0;
        let mut windows = Vec::new();
        for round in 1..=6 {
            let hop = (1_000 * round, 190_000 * round, 0);
            let segment = 100 * round as u32;
            window.on_ack(&SETTINGS, &header(&[hop]), segment, segment + 50);
            windows.push(window.window.round());
        }
        // A fifth of what may be in flight is in flight: the window grows to five times its size.
        assert_eq!(windows, [10_080.0, 10_160.0, 10_240.0, 10_320.0, 10_400.0, 52_080.0]);
    }

    #[test]
    fn the_window_never_exceeds_the_first_one_and_always_leaves_a_rate() {
        let mut window = started(&[(0, 0, 0)]);
        for round in 1..100 {
            window.on_ack(&SETTINGS, &header(&[(1_000 * round, round, 0)]), 100 * round as u32, 0);
        }
        assert_eq!(window.window, 100_000.0);
        let mut window = started(&[(0, 0, 0)]);
        for round in 1..100 {
            let hop = (1_000 * round, 1_000_000 * round, 10_000_000);
            window.on_ack(&SETTINGS, &header(&[hop]), 100 * round as u32, 0);
        }
        assert!(window.window > 80.0 && window.window < 82.0, "{}", window.window);
        assert!(window.rate(&SETTINGS) > Rate::from_bps(6_400_000));
    }
}
