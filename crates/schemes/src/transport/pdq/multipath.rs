//! M-PDQ: a flow over several paths (PDQ 2012, 6).
//!
//! "When a flow arrives, the M-PDQ sender splits the flow into multiple subflows, and sends a SYN
//! packet for each subflow." To switches a subflow is a flow of its own, and it sends as PDQ's
//! sender does. Each file has one idea:
//!
//! - `header`: what a subflow's packets carry.
//! - `subflow`: which of the flow's segments a subflow sent.
//! - `shifting`: which subflow sends what is left.
//! - `receiver`: how the flow is put together again.

mod header;
mod receiver;
mod sender;
pub mod settings;
mod shifting;
mod subflow;
#[cfg(test)]
mod tests;
mod wire;

pub use header::MultipathHeader;
pub use receiver::MultipathReceiver;
pub use sender::MultipathSender;
pub use settings::MultipathSettings;

use crate::transport::explicit::Explicit;

/// M-PDQ as all flows of a scheme use it.
pub type MultipathPdq = Explicit<MultipathSender>;
