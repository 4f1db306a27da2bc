//! HPCC's hosts: a window for each flow, from what the switches on its path write into its packets.
//!
//! Li et al., "HPCC: High Precision Congestion Control", SIGCOMM 2019. What switches write is in
//! [`header`](HpccHeader) and in [`controller::telemetry`](crate::controller::telemetry), the window
//! in [`Window`], and the rest, delivery and pacing, in [`Sender`].

mod header;
mod sender;
mod settings;
mod window;

pub use header::{Hop, HpccHeader};
pub use sender::Sender;
pub use settings::{HpccHosts, HpccSettings};
pub use window::Window;

use super::explicit::Explicit;

/// HPCC as all flows of a scheme use it.
pub type Hpcc = Explicit<Sender>;
