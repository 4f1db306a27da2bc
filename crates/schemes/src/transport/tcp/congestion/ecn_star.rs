//! ECN*: a mark halves the window, as a loss does (RFC 3168).

use flowsched_units::Settings;

use super::{Ahead, Algorithm, CongestionControl};
use crate::flow_level::NoFluid;
use crate::on_linux::KernelControl;
use crate::part::{Part, Role};
use crate::transport::tcp::parameters;

/// TCP Reno that halves its window on marks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EcnStar;

impl CongestionControl for EcnStar {
    fn latches_echo(&self) -> bool {
        true
    }

    fn mark_factor(&self, _ahead: &Ahead) -> f64 {
        0.5
    }
}

impl Algorithm for EcnStar {
    const PART: Part = Part {
        role: Role::Transport,
        name: "ecn-star",
        about: "TCP Reno that halves its window once a round trip on ECN marks.",
        source: "RFC 3168; Wu et al., CoNEXT 2012",
        parameters: &[parameters::PARAMETERS],
    };
    const HEEDS_MARKS: bool = true;
    const FLUID: Result<(), NoFluid> = Ok(());

    fn from_settings(_settings: &Settings) -> EcnStar {
        EcnStar
    }

    fn on_linux(&self) -> Option<KernelControl> {
        Some(KernelControl::plain("reno", true))
    }
}

#[cfg(test)]
mod tests {
    use flowsched_units::Time;

    use super::*;

    #[test]
    fn a_mark_halves_the_window_and_is_echoed_until_the_sender_says_so() {
        let ahead = Ahead { now: Time::ZERO, segments: 9, window: 4, round_trip: Time::ZERO };
        assert_eq!(EcnStar.mark_factor(&ahead), 0.5);
        assert!(EcnStar.uses_ecn() && EcnStar.latches_echo());
    }
}
