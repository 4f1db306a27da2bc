//! Configurations of switches for PIAS (ToN 2017, III-B.2, IV-A.2): strict-priority queues chosen by
//! DSCP, and ECN marking at one threshold.
//!
//! What lives here: pure functions from levels and rates to text, and back from text to what a
//! switch does. What may not: files, networks, the command line.

mod check;
mod eos;
mod junos;
mod linux;
mod nvue;
mod nxos;
mod platform;
mod request;
mod scan;
mod sonic;

pub use check::{Finding, compare};
pub use platform::{PLATFORMS, Platform, Printed};
pub use request::Request;
