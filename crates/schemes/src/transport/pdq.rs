//! PDQ's hosts: they send at the rate that the switches allow, probe while paused, and give up
//! flows that cannot meet their deadlines (PDQ 2012, 3.1 and 3.2).

mod criticality;
mod header;
pub mod multipath;
mod part;
mod sender;
pub mod settings;
mod termination;
mod wire;

pub use criticality::{AgeingOf, Announced, Knowledge};
pub use header::{Pauser, PdqHeader, Scheduled};
pub use part::{acceptance, by_critical_flows};
pub use sender::Sender;
pub use settings::PdqSettings;
pub use termination::Outlook;

use super::explicit::Explicit;

/// PDQ as all flows of a scheme use it.
pub type Pdq = Explicit<Sender>;
