//! The hosts of D3 and of RCP: they ask for a rate every round-trip time, and send at the rate that
//! is granted.
//!
//! Wilson et al., "Better never than late", SIGCOMM 2011, as PDQ 2012, 5.1 uses it. RCP with the
//! exact number of flows "is exactly equivalent to D3 when flows have no deadlines".

mod header;
mod sender;
pub mod settings;
mod wire;

pub use header::D3Header;
pub use sender::Sender;
pub use settings::{D3Hosts, D3Settings, RcpHosts};

use super::explicit::Explicit;

/// D3 as all flows of a scheme use it.
pub type D3 = Explicit<Sender>;
