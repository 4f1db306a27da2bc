//! Congestion control: how the window answers ACKs, marks and losses.

mod d2tcp;
mod dctcp;
mod l2dct;
mod window;

pub use d2tcp::D2tcp;
pub use dctcp::{Dctcp, DctcpSettings};
pub use l2dct::{L2dct, L2dctSettings};
pub use window::Window;

use flowsched_units::{Settings, Time};

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

/// What a flow has ahead of it when marks tell it to slow down.
#[derive(Clone, Copy, Debug)]
pub struct Ahead {
    /// The time.
    pub now: Time,
    /// Segments that are not acknowledged.
    pub segments: u32,
    /// The window, in segments.
    pub window: u32,
    /// The smoothed round-trip time; nothing if there is no measurement.
    pub round_trip: Time,
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
    /// Marks by their share, and by what the flow has sent (Munir et al., INFOCOM 2013).
    L2dct(L2dctSettings),
    /// Marks by their share, and by how near the deadline is (Vamanan et al., SIGCOMM 2012).
    D2tcp(DctcpSettings),
}

impl Algorithm {
    /// Reads the parameters of the transport `name`.
    pub fn from_settings(name: &str, settings: &Settings) -> Algorithm {
        match name {
            "dctcp" => Algorithm::Dctcp(super::settings::dctcp(settings)),
            "l2dct" => Algorithm::L2dct(super::settings::l2dct(settings)),
            "d2tcp" => Algorithm::D2tcp(super::settings::dctcp(settings)),
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
            Algorithm::L2dct(settings) => Congestion::L2dct(L2dct::new(settings)),
            Algorithm::D2tcp(settings) => Congestion::D2tcp(D2tcp::new(*settings)),
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
    /// The same, and the flow's weight.
    L2dct(L2dct),
    /// The share of marked packets, and when the flow is due.
    D2tcp(D2tcp),
}

impl Congestion {
    /// A new flow begins, whose segments are numbered from 0.
    pub fn start_flow(&mut self) {
        match self {
            Congestion::Reno | Congestion::EcnStar => {}
            Congestion::Dctcp(dctcp) => dctcp.start_flow(),
            Congestion::L2dct(l2dct) => l2dct.start_flow(),
            Congestion::D2tcp(d2tcp) => d2tcp.start_flow(),
        }
    }

    /// The next flow is due then; [`Time::MAX`] if it has no deadline.
    pub fn set_due(&mut self, due: Time) {
        if let Congestion::D2tcp(d2tcp) = self {
            d2tcp.set_due(due);
        }
    }

    /// Takes note of an ACK; `algorithm` is the one that this is the memory of.
    #[inline]
    pub fn observe(&mut self, algorithm: &Algorithm, acked: &Acked) {
        match (self, algorithm) {
            (Congestion::Dctcp(dctcp), _) => dctcp.observe(acked),
            (Congestion::L2dct(l2dct), Algorithm::L2dct(settings)) => {
                l2dct.observe(settings, acked);
            }
            (Congestion::D2tcp(d2tcp), _) => d2tcp.observe(acked),
            _ => {}
        }
    }

    /// Segments that a window's worth of ACKs adds to the window after slow start.
    #[inline]
    pub fn growth(&self) -> f64 {
        match self {
            Congestion::L2dct(l2dct) => l2dct.growth(),
            _ => 1.0,
        }
    }

    /// What the window is multiplied by when marks say that there is congestion.
    pub fn mark_factor(&self, ahead: &Ahead) -> f64 {
        match self {
            Congestion::Reno => 1.0,
            Congestion::EcnStar => 0.5,
            Congestion::Dctcp(dctcp) => 1.0 - dctcp.alpha() / 2.0,
            Congestion::L2dct(l2dct) => l2dct.mark_factor(),
            Congestion::D2tcp(d2tcp) => d2tcp.mark_factor(ahead),
        }
    }
}
