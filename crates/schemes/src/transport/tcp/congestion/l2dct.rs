//! L2DCT: DCTCP whose flows grow less and are cut more, the more they have sent.
//!
//! Munir et al., INFOCOM 2013, III: a flow's weight falls from the largest weight to the smallest with the
//! bytes that the flow has sent. A window's worth of ACKs adds weight / largest weight segments to the
//! window. Congestion multiplies the window by 1 - alpha^weight / 2.

use flowsched_units::{Bytes, PACKET_PAYLOAD, Settings, Time};

use super::{Acked, Ahead, Algorithm, CongestionControl, Dctcp, DctcpSettings};
use crate::flow_level::{BY_WINDOWS, NoFluid};
use crate::on_linux::KernelControl;
use crate::part::{Part, Role};
use crate::transport::tcp::parameters;

/// L2DCT's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct L2dctSettings {
    /// The parameters of the estimate of the marked share.
    pub dctcp: DctcpSettings,
    /// The weight of a flow that has sent little.
    pub largest_weight: f64,
    /// The weight of a flow that has sent much.
    pub smallest_weight: f64,
    /// A flow that has sent up to this many bytes has the largest weight.
    pub fall_from: Bytes,
    /// A flow that has sent at least this many bytes has the smallest weight.
    pub fall_to: Bytes,
    /// Whether the window's growth follows the weight. Otherwise a window's worth of ACKs adds two segments.
    pub growth_weighted: bool,
}

impl L2dctSettings {
    /// The weight of a flow that has sent `sent` bytes.
    #[inline]
    fn weight(&self, sent: u64) -> f64 {
        let (from, to) = (self.fall_from.get(), self.fall_to.get());
        if sent <= from {
            return self.largest_weight;
        }
        if sent >= to {
            return self.smallest_weight;
        }
        let fallen = (sent - from) as f64 / (to - from) as f64;
        self.largest_weight - fallen * (self.largest_weight - self.smallest_weight)
    }

    /// Segments that a window's worth of ACKs adds to the window of a flow of this weight.
    #[inline]
    fn growth(&self, weight: f64) -> f64 {
        if self.growth_weighted { weight / self.largest_weight } else { 2.0 }
    }
}

/// What one connection remembers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct L2dct {
    settings: L2dctSettings,
    marks: Dctcp,
    weight: f64,
}

impl L2dct {
    /// The state of a new connection.
    pub fn new(settings: L2dctSettings) -> L2dct {
        let (marks, weight) = (Dctcp::new(settings.dctcp), settings.largest_weight);
        L2dct { settings, marks, weight }
    }
}

impl CongestionControl for L2dct {
    fn start_flow(&mut self, due: Time) {
        self.marks.start_flow(due);
    }

    #[inline(always)]
    fn on_ack(&mut self, acked: &Acked) -> f64 {
        self.marks.on_ack(acked);
        self.weight = self.settings.weight(u64::from(acked.next) * PACKET_PAYLOAD);
        self.settings.growth(self.weight)
    }

    fn mark_factor(&self, _ahead: &Ahead) -> f64 {
        1.0 - libm::pow(self.marks.alpha(), self.weight) / 2.0
    }

    fn marked_share(&self) -> Option<f64> {
        Some(self.marks.alpha())
    }
}

impl Algorithm for L2dct {
    const PART: Part = Part {
        role: Role::Transport,
        name: "l2dct",
        about: "DCTCP whose flows grow less and are cut more, the more they have sent.",
        source: "Munir et al., INFOCOM 2013 (PIAS ToN 2017, V-C.1)",
        parameters: &[parameters::PARAMETERS, parameters::DCTCP, parameters::L2DCT],
    };
    const HEEDS_MARKS: bool = true;
    const FLUID: Result<(), NoFluid> = Err(BY_WINDOWS);

    fn from_settings(settings: &Settings) -> L2dct {
        L2dct::new(L2dctSettings::from_settings(settings))
    }

    fn on_linux(&self) -> Option<KernelControl> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AHEAD: Ahead = Ahead { now: Time::ZERO, segments: 1, window: 1, round_trip: Time::ZERO };

    fn settings() -> L2dctSettings {
        L2dctSettings {
            dctcp: DctcpSettings { g: 1.0, initial_alpha: 0.5 },
            largest_weight: 2.5,
            smallest_weight: 0.125,
            fall_from: Bytes::new(200 << 10),
            fall_to: Bytes::new(1 << 20),
            growth_weighted: true,
        }
    }

    /// The state after ACKs of a flow that has sent `next` segments, and the growth that the last ACK gives.
    /// In the last observation window half of the segments are marked.
    fn after(next: u32, settings: L2dctSettings) -> (L2dct, f64) {
        let mut l2dct = L2dct::new(settings);
        let first = Acked { unacknowledged: 1, next: 2, ..Acked::plain() };
        l2dct.on_ack(&first);
        l2dct.on_ack(&Acked { marked: true, unacknowledged: 2, next, ..Acked::plain() });
        let growth = l2dct.on_ack(&Acked { unacknowledged: 3, next, ..Acked::plain() });
        (l2dct, growth)
    }

    #[test]
    fn the_weight_falls_from_200_kib_to_1_mib_sent() {
        // Munir et al., INFOCOM 2013, III, with the PIAS authors' simulator's numbers: 2.5 up to
        // 200 KiB sent, falling linearly to 0.125 at 1 MiB.
        let weight = |sent| settings().weight(sent);
        assert_eq!([weight(0), weight(200 << 10)], [2.5, 2.5]);
        assert_eq!([weight(1 << 20), weight(u64::MAX)], [0.125, 0.125]);
        let middle = ((200 << 10) + (1 << 20)) / 2;
        assert_eq!(weight(middle), (2.5 + 0.125) / 2.0);
    }

    #[test]
    fn the_window_grows_by_the_weights_share_and_shrinks_by_alpha_to_its_power() {
        // Munir et al., INFOCOM 2013, III: a window's worth of ACKs adds w/2.5 of a segment;
        // congestion multiplies the window by 1 - alpha^w / 2.
        let (short, growth) = after(3, settings());
        assert_eq!(short.marks.alpha(), 0.5);
        assert_eq!(growth, 1.0);
        assert!((short.mark_factor(&AHEAD) - (1.0 - 0.5f64.powf(2.5) / 2.0)).abs() < 1e-15);
        let (long, growth) = after(1000, settings());
        assert_eq!(growth, 0.125 / 2.5);
        assert!((long.mark_factor(&AHEAD) - (1.0 - 0.5f64.powf(0.125) / 2.0)).abs() < 1e-15);
        assert!(long.mark_factor(&AHEAD) < short.mark_factor(&AHEAD), "long flows are cut more");
    }

    #[test]
    fn growth_without_weights_is_two_segments_a_window() {
        let unweighted = L2dctSettings { growth_weighted: false, ..settings() };
        assert_eq!([3, 1000].map(|next| after(next, unweighted).1), [2.0, 2.0]);
    }

    #[test]
    fn a_new_flow_on_the_connection_has_the_largest_weight_again() {
        let (mut l2dct, _) = after(1000, settings());
        l2dct.start_flow(Time::MAX);
        let growth = l2dct.on_ack(&Acked { next: 70, ..Acked::plain() });
        assert_eq!((growth, l2dct.marks.alpha()), (1.0, 0.5), "alpha stays");
    }
}
