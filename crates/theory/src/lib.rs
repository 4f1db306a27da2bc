//! Closed forms that the engines are tested against: the M/G/1 queue under the disciplines that
//! schemes approximate, DCTCP's saw-tooth, and optimal schedules on one link.
//!
//! What lives here: pure functions of a size distribution, a load or a handful of flows. What may
//! not: anything that the engines use, so that a test compares two independent things.
//!
//! Times are in *bytes of service*: how many bytes the link could have sent meanwhile. Multiply
//! by the time that a byte of payload takes on the link, headers included (for full packets
//! 1500/1460 of its own transmission time).

pub mod dctcp;
mod mg1;
mod multilevel;
pub mod schedule;

pub use mg1::Mg1;
pub use multilevel::{MultilevelFcfs, MultilevelPs};
