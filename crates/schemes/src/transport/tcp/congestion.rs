//! Congestion control: how the window answers ACKs, marks and losses.
//!
//! Each file has one algorithm, behind [`CongestionControl`]. The transport's settings hold an algorithm as
//! it is at the start of a connection. Every connection has a copy of its own.

mod cubic;
mod d2tcp;
mod dctcp;
mod ecn_star;
mod l2dct;
mod reno;
mod window;

pub use cubic::Cubic;
pub use d2tcp::D2tcp;
pub use dctcp::{Dctcp, DctcpSettings};
pub use ecn_star::EcnStar;
pub use l2dct::{L2dct, L2dctSettings};
pub use reno::Reno;
pub use window::Window;

use flowsched_units::{Settings, Time};

use crate::flow_level::NoFluid;
use crate::on_linux::KernelControl;
use crate::part::Part;

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
    /// The time.
    pub now: Time,
    /// The window before this ACK.
    pub window: Window,
    /// Whether the window may grow with this ACK. The ACK must acknowledge new data outside fast recovery,
    /// and must not be a marked ACK that the setting `growth` excludes.
    pub may_grow: bool,
    /// The smoothed round-trip time; zero before the first measurement.
    pub round_trip: Time,
}

#[cfg(test)]
impl Acked {
    /// An ACK without a mark, under a window of ten.
    fn plain() -> Acked {
        Acked {
            segments: 1,
            marked: false,
            unacknowledged: 0,
            next: 0,
            now: Time::ZERO,
            window: Window::new(10, 1_000_000),
            may_grow: true,
            round_trip: Time::ZERO,
        }
    }
}

/// How a loss was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// Later segments arrived (RFC 6675).
    Reported,
    /// Nothing arrived for too long.
    TimedOut,
}

/// What a flow still has to do when marks tell it to slow down.
#[derive(Clone, Copy, Debug)]
pub struct Ahead {
    /// The time.
    pub now: Time,
    /// Segments that are not acknowledged.
    pub segments: u32,
    /// The window, in segments.
    pub window: u32,
    /// The smoothed round-trip time; zero before the first measurement.
    pub round_trip: Time,
}

/// The congestion control of one connection.
///
/// The defaults are those of Reno with ECN switched on: a window grows by one segment for each
/// round trip, and marks change nothing.
pub trait CongestionControl: Copy + std::fmt::Debug + PartialEq + Send + Sync {
    /// Whether packets are sent as ECN-capable (ECT).
    fn uses_ecn(&self) -> bool {
        true
    }

    /// Whether the receiver repeats ECE until it sees CWR (RFC 3168, 6.1.3). Otherwise, it echoes
    /// each packet's mark (RFC 8257, 3.2).
    fn latches_echo(&self) -> bool {
        false
    }

    /// A flow starts on the connection. Its segments are numbered from 0, and it should finish by
    /// `due`: [`Time::MAX`] without a deadline.
    fn start_flow(&mut self, _due: Time) {}

    /// An ACK arrives. Returns the segments that a window's worth of such ACKs adds to the window after
    /// slow start, if the window may grow.
    fn on_ack(&mut self, _acked: &Acked) -> f64 {
        1.0
    }

    /// A loss is found under this window. Returns the factor that gives the slow-start threshold from
    /// the segments in flight (RFC 5681, 3.1).
    fn on_loss(&mut self, _loss: Loss, _window: Window) -> f64 {
        0.5
    }

    /// The factor that multiplies the window when marks report congestion.
    fn mark_factor(&self, _ahead: &Ahead) -> f64 {
        1.0
    }

    /// Its estimate of the share of marked packets, if it has one.
    fn marked_share(&self) -> Option<f64> {
        None
    }
}

/// An algorithm that experiment files name as their transport.
pub trait Algorithm: CongestionControl {
    /// Its entry in the catalogue.
    const PART: Part;
    /// Whether senders slow down on marks.
    const HEEDS_MARKS: bool;
    /// Why its flows have no counterpart among fluid flows, if they have none.
    const FLUID: Result<(), NoFluid>;

    /// The algorithm at the start of a connection.
    fn from_settings(settings: &Settings) -> Self;

    /// The same congestion control in the Linux kernel, if it has one. Called only on the algorithm of a new
    /// connection.
    fn on_linux(&self) -> Option<KernelControl>;
}

/// Defines a type for any of the algorithms, so that all TCPs share one compiled engine.
///
/// A lint rejects a method of [`CongestionControl`] that the type does not forward.
macro_rules! any_algorithm {
    ($($Name:ident),*) => {
        /// Any of the algorithms of the catalogue.
        // With the discriminant in a byte of its own, each ACK finds its algorithm in fewer steps.
        #[derive(Clone, Copy, Debug, PartialEq)]
        #[repr(u8)]
        pub enum AnyAlgorithm {
            $(#[allow(missing_docs, reason = "the type says it")] $Name($Name)),*
        }

        $(impl From<$Name> for AnyAlgorithm {
            fn from(algorithm: $Name) -> AnyAlgorithm {
                AnyAlgorithm::$Name(algorithm)
            }
        })*

        impl AnyAlgorithm {
            /// The parts of all algorithms.
            pub const PARTS: &[Part] = &[$(<$Name as Algorithm>::PART),*];

            /// The algorithm that the settings name, as it is at the start of a connection.
            pub(crate) fn from_settings(settings: &Settings) -> Option<AnyAlgorithm> {
                $(if <$Name as Algorithm>::PART.is_named_by(settings) {
                    return Some(<$Name as Algorithm>::from_settings(settings).into());
                })*
                None
            }

            /// Whether the settings name an algorithm whose senders slow down on marks.
            pub(crate) fn heeds_marks(settings: &Settings) -> bool {
                $((<$Name as Algorithm>::PART.is_named_by(settings) && <$Name as Algorithm>::HEEDS_MARKS))||*
            }

            /// The same congestion control in the Linux kernel, if it has one.
            pub(crate) fn on_linux(&self) -> Option<KernelControl> {
                match self { $(AnyAlgorithm::$Name(algorithm) => Algorithm::on_linux(algorithm)),* }
            }

            /// Why its flows have no counterpart among fluid flows, if they have none.
            pub(crate) fn fluid(&self) -> Result<(), NoFluid> {
                match self { $(AnyAlgorithm::$Name(_) => <$Name as Algorithm>::FLUID),* }
            }
        }

        #[deny(clippy::missing_trait_methods)]
        impl CongestionControl for AnyAlgorithm {
            #[inline]
            fn uses_ecn(&self) -> bool {
                match self { $(AnyAlgorithm::$Name(algorithm) => algorithm.uses_ecn()),* }
            }

            #[inline]
            fn latches_echo(&self) -> bool {
                match self { $(AnyAlgorithm::$Name(algorithm) => algorithm.latches_echo()),* }
            }

            fn start_flow(&mut self, due: Time) {
                match self { $(AnyAlgorithm::$Name(algorithm) => algorithm.start_flow(due)),* }
            }

            // If this were not inlined, all of `Acked` would be written to memory for every ACK.
            #[inline(always)]
            fn on_ack(&mut self, acked: &Acked) -> f64 {
                match self { $(AnyAlgorithm::$Name(algorithm) => algorithm.on_ack(acked)),* }
            }

            fn on_loss(&mut self, loss: Loss, window: Window) -> f64 {
                match self { $(AnyAlgorithm::$Name(algorithm) => algorithm.on_loss(loss, window)),* }
            }

            fn mark_factor(&self, ahead: &Ahead) -> f64 {
                match self { $(AnyAlgorithm::$Name(algorithm) => algorithm.mark_factor(ahead)),* }
            }

            fn marked_share(&self) -> Option<f64> {
                match self { $(AnyAlgorithm::$Name(algorithm) => algorithm.marked_share()),* }
            }
        }
    };
}

any_algorithm!(Reno, Cubic, EcnStar, Dctcp, L2dct, D2tcp);
