//! HPCC's hosts: each flow has a window, computed from what the switches on its path write into its
//! packets.
//!
//! Li et al., "HPCC: High Precision Congestion Control", SIGCOMM 2019. What switches write is in
//! [`header`](HpccHeader) and in [`controller::telemetry`](crate::controller::telemetry). The window
//! is in [`Window`]. The rest, delivery and pacing, is in [`Sender`].

mod header;
mod sender;
mod settings;
mod window;
mod wire;

pub use header::{Hop, HpccHeader};
pub use sender::Sender;
pub use settings::{HpccHosts, HpccSettings};
pub use window::Window;

use super::explicit::Explicit;

/// HPCC as all flows of a scheme use it.
pub type Hpcc = Explicit<Sender>;
