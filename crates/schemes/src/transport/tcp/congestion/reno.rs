//! Reno: only losses shrink the window (RFC 5681).

use flowsched_units::Settings;

use super::{Algorithm, CongestionControl};
use crate::flow_level::NoFluid;
use crate::on_linux::KernelControl;
use crate::part::{Part, Role};
use crate::transport::tcp::parameters;

/// TCP Reno, which ignores marks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reno;

impl CongestionControl for Reno {
    fn uses_ecn(&self) -> bool {
        false
    }
}

impl Algorithm for Reno {
    const PART: Part = Part {
        role: Role::Transport,
        name: "reno",
        about: "TCP Reno with SACK, fast retransmit and timeouts with back-off.",
        source: "RFC 5681, 6298, 6675",
        parameters: &[parameters::PARAMETERS],
    };
    const HEEDS_MARKS: bool = false;
    const FLUID: Result<(), NoFluid> = Ok(());

    fn from_settings(_settings: &Settings) -> Reno {
        Reno
    }

    fn on_linux(&self) -> Option<KernelControl> {
        Some(KernelControl::plain("reno", false))
    }
}
