//! Formats and protocols that the host agents and the controller of a fleet share.
//!
//! What lives here: levels with their DSCPs, an interface's rate and marking, the bins of message sizes, announcements
//! of thresholds, and following these announcements. What may not: how thresholds are chosen, and how packets are
//! tagged.

pub mod announcement;
pub mod bins;
pub mod dscp;
#[cfg(feature = "follow")]
pub mod follow;
pub mod levels;
pub mod membership;
pub mod names;
pub mod nic;
pub mod refused;
pub mod tc;

pub use announcement::{Announcement, Canary, MAX_BYTES};
pub use levels::{Levels, MOST_LEVELS};
pub use refused::Refused;
