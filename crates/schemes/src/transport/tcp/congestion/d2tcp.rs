//! D2TCP: DCTCP in which marks cut a flow's window less, the nearer the flow's deadline is.
//!
//! The rule is that of Vamanan, Hasan and Vijaykumar, SIGCOMM 2012, 3, told from memory. Marks
//! multiply the window by 1 - p/2. The penalty p is alpha^d, and d is Tc/D, between 0.5 and 2:
//!
//! - Tc is the time that the rest of the flow takes with a window that saws between half of the
//!   present one and all of it, three quarters on average.
//! - D is the time to the deadline.
//!
//! Without a deadline d is 1, which is DCTCP. After the deadline d is 1, too, as there is nothing
//! left to meet; this is a choice made here.

use flowsched_units::{Settings, Time};

use super::{Acked, Ahead, Algorithm, CongestionControl, Dctcp, DctcpSettings};
use crate::flow_level::{BY_WINDOWS, NoFluid};
use crate::on_linux::KernelControl;
use crate::part::{Part, Role};
use crate::transport::tcp::parameters;

/// The bounds of d.
const LEAST_IMMINENT: f64 = 0.5;
const MOST_IMMINENT: f64 = 2.0;

/// What one connection remembers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct D2tcp {
    marks: Dctcp,
    /// When its flow is due; [`Time::MAX`] without a deadline.
    due: Time,
}

impl D2tcp {
    /// The state of a new connection.
    pub fn new(settings: DctcpSettings) -> D2tcp {
        D2tcp { marks: Dctcp::new(settings), due: Time::MAX }
    }

    /// d.
    fn imminence(&self, ahead: &Ahead) -> f64 {
        if self.due == Time::MAX || self.due <= ahead.now {
            return 1.0;
        }
        let windows = f64::from(ahead.segments) / (0.75 * f64::from(ahead.window.max(1)));
        let needed = windows * ahead.round_trip.as_secs_f64();
        let left = self.due.saturating_sub(ahead.now).as_secs_f64();
        (needed / left).clamp(LEAST_IMMINENT, MOST_IMMINENT)
    }
}

impl CongestionControl for D2tcp {
    fn start_flow(&mut self, due: Time) {
        self.marks.start_flow(due);
        self.due = due;
    }

    #[inline(always)]
    fn on_ack(&mut self, acked: &Acked) -> f64 {
        self.marks.on_ack(acked)
    }

    fn mark_factor(&self, ahead: &Ahead) -> f64 {
        1.0 - libm::pow(self.marks.alpha(), self.imminence(ahead)) / 2.0
    }

    fn marked_share(&self) -> Option<f64> {
        Some(self.marks.alpha())
    }
}

impl Algorithm for D2tcp {
    const PART: Part = Part {
        role: Role::Transport,
        name: "d2tcp",
        about: "DCTCP whose flows are cut less, the nearer their deadlines are.",
        source: "Vamanan et al., SIGCOMM 2012",
        parameters: &[parameters::PARAMETERS, parameters::DCTCP],
    };
    const HEEDS_MARKS: bool = true;
    const FLUID: Result<(), NoFluid> = Err(BY_WINDOWS);

    fn from_settings(settings: &Settings) -> D2tcp {
        D2tcp::new(DctcpSettings::from_settings(settings))
    }

    fn on_linux(&self) -> Option<KernelControl> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 30 segments left with a window of 10 and round trips of 100 us: 400 us in all.
    fn ahead(now_us: u64) -> Ahead {
        let round_trip = Time::from_us(100);
        Ahead { now: Time::from_us(now_us), segments: 30, window: 10, round_trip }
    }

    fn flow(due: Time) -> D2tcp {
        let mut flow = D2tcp::new(DctcpSettings { g: 0.0625, initial_alpha: 0.25 });
        flow.start_flow(due);
        flow
    }

    #[test]
    fn the_nearer_the_deadline_the_smaller_the_cut() {
        let due = flow(Time::from_us(1_000));
        for (now, imminence) in [(0, 0.5), (400, 2.0 / 3.0), (600, 1.0), (750, 1.6), (990, 2.0)] {
            assert!((due.imminence(&ahead(now)) - imminence).abs() < 1e-12, "at {now} us");
        }
        assert!((due.mark_factor(&ahead(0)) - 0.75).abs() < 1e-12, "the root of 0.25");
        assert!((due.mark_factor(&ahead(990)) - 0.96875).abs() < 1e-12, "the square of 0.25");
    }

    #[test]
    fn without_a_deadline_and_after_it_it_is_dctcp() {
        assert_eq!(flow(Time::MAX).mark_factor(&ahead(5)), 0.875);
        assert_eq!(flow(Time::from_us(1_000)).mark_factor(&ahead(1_000)), 0.875);
    }
}
