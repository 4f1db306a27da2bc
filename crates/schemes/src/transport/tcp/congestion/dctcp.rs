//! DCTCP's estimate of the share of marked packets (RFC 8257, 3.3).

use flowsched_units::{Settings, Time};

use super::{Acked, Ahead, Algorithm, CongestionControl};
use crate::flow_level::NoFluid;
use crate::on_linux::{KernelControl, KernelDctcp};
use crate::part::{Part, Role};
use crate::transport::tcp::parameters;

/// DCTCP's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DctcpSettings {
    /// The weight of the newest window.
    pub g: f64,
    /// The estimate that a new connection starts from.
    pub initial_alpha: f64,
}

/// The estimate of one connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dctcp {
    g: f64,
    alpha: f64,
    /// The observation window ends when this segment is acknowledged.
    window_end: u32,
    acknowledged: u32,
    marked: u32,
}

impl Dctcp {
    /// The estimate of a new connection.
    pub fn new(settings: DctcpSettings) -> Dctcp {
        let DctcpSettings { g, initial_alpha } = settings;
        Dctcp { g, alpha: initial_alpha, window_end: 0, acknowledged: 0, marked: 0 }
    }

    /// The share of packets marked, from 0 to 1.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }
}

impl CongestionControl for Dctcp {
    fn start_flow(&mut self, _due: Time) {
        (self.window_end, self.acknowledged, self.marked) = (0, 0, 0);
    }

    #[inline(always)]
    fn on_ack(&mut self, acked: &Acked) -> f64 {
        self.acknowledged += acked.segments;
        if acked.marked {
            self.marked += acked.segments;
        }
        if acked.unacknowledged > self.window_end {
            let share = f64::from(self.marked) / f64::from(self.acknowledged);
            self.alpha = self.alpha * (1.0 - self.g) + self.g * share;
            self.window_end = acked.next;
            (self.acknowledged, self.marked) = (0, 0);
        }
        1.0
    }

    fn mark_factor(&self, _ahead: &Ahead) -> f64 {
        1.0 - self.alpha / 2.0
    }

    fn marked_share(&self) -> Option<f64> {
        Some(self.alpha)
    }
}

impl Algorithm for Dctcp {
    const PART: Part = Part {
        role: Role::Transport,
        name: "dctcp",
        about: "TCP whose window shrinks by the share of packets that were marked.",
        source: "RFC 8257",
        parameters: &[parameters::PARAMETERS, parameters::DCTCP],
    };
    const HEEDS_MARKS: bool = true;
    const FLUID: Result<(), NoFluid> = Ok(());

    fn from_settings(settings: &Settings) -> Dctcp {
        Dctcp::new(DctcpSettings::from_settings(settings))
    }

    fn on_linux(&self) -> Option<KernelControl> {
        Some(KernelControl {
            name: "dctcp",
            uses_ecn: true,
            dctcp: Some(KernelDctcp { g: self.g, initial_alpha: self.alpha }),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_estimate_moves_once_a_window_by_the_share_of_marks() {
        let mut dctcp = Dctcp::new(DctcpSettings { g: 0.5, initial_alpha: 1.0 });
        let mut observe = |unacknowledged, next, marked| {
            dctcp.on_ack(&Acked { marked, unacknowledged, next, ..Acked::plain() });
            dctcp.alpha()
        };
        assert_eq!(observe(1, 10, false), 0.5, "the first window ends with the first ACK");
        for unacknowledged in 2..=10 {
            assert_eq!(observe(unacknowledged, 20, unacknowledged % 2 == 0), 0.5);
        }
        assert_eq!(observe(11, 21, true), 0.5 * 0.5 + 0.5 * 0.6, "6 of 10 were marked");
    }
}
