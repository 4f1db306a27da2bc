//! Congestion control: how the window answers ACKs, marks and losses.

mod dctcp;
mod window;

pub use dctcp::{Dctcp, DctcpSettings};
pub use window::Window;

use flowsched_units::Settings;

/// What an ACK tells congestion control.
#[derive(Clone, Copy, Debug)]
pub struct Acked {
    /// Segments newly acknowledged; 1 for a duplicate ACK, which reports one segment too.
    pub segments: u32,
    /// Whether the receiver reports congestion (ECE).
    pub marked: bool,
    /// The first segment not acknowledged, after this ACK.
    pub unacknowledged: u32,
    /// The first segment never sent.
    pub next: u32,
}

/// The algorithm that all flows of a scheme use.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Algorithm {
    /// Losses only (RFC 5681).
    Reno,
    /// Losses, and marks as if they were losses (RFC 3168).
    EcnStar,
    /// Marks by their share (RFC 8257).
    Dctcp(DctcpSettings),
}

impl Algorithm {
    /// Reads the parameters of the transport `name`.
    pub fn from_settings(name: &str, settings: &Settings) -> Algorithm {
        match name {
            "dctcp" => Algorithm::Dctcp(DctcpSettings {
                g: settings.number("g"),
                initial_alpha: settings.number("initial_alpha"),
            }),
            "ecn-star" => Algorithm::EcnStar,
            _ => Algorithm::Reno,
        }
    }

    /// Whether packets are sent as ECN-capable.
    pub fn uses_ecn(&self) -> bool {
        !matches!(self, Algorithm::Reno)
    }

    /// Whether the receiver repeats ECE until it sees CWR (RFC 3168, 6.1.3); otherwise it
    /// echoes each packet's mark (RFC 8257, 3.2).
    pub fn latches_echo(&self) -> bool {
        matches!(self, Algorithm::EcnStar)
    }

    /// What a new connection remembers.
    pub fn start(&self) -> Congestion {
        match self {
            Algorithm::Reno => Congestion::Reno,
            Algorithm::EcnStar => Congestion::EcnStar,
            Algorithm::Dctcp(settings) => Congestion::Dctcp(Dctcp::new(*settings)),
        }
    }
}

/// What one connection remembers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Congestion {
    /// Nothing.
    Reno,
    /// Nothing.
    EcnStar,
    /// The share of marked packets.
    Dctcp(Dctcp),
}

impl Congestion {
    /// A new flow begins, whose segments are numbered from 0.
    pub fn start_flow(&mut self) {
        if let Congestion::Dctcp(dctcp) = self {
            dctcp.start_flow();
        }
    }

    /// Takes note of an ACK.
    #[inline]
    pub fn observe(&mut self, acked: &Acked) {
        if let Congestion::Dctcp(dctcp) = self {
            dctcp.observe(acked);
        }
    }

    /// What the window is multiplied by when marks say that there is congestion.
    pub fn mark_factor(&self) -> f64 {
        match self {
            Congestion::Reno => 1.0,
            Congestion::EcnStar => 0.5,
            Congestion::Dctcp(dctcp) => 1.0 - dctcp.alpha() / 2.0,
        }
    }
}
