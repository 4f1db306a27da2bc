//! The agent's configuration file: read, checked, and turned into the rule that the BPF program
//! obeys. Nothing is half accepted: what makes no sense is refused with what was found and what
//! is allowed.

mod checked;
mod file;
mod fleet;
mod metrics;
mod rule;
mod selection;

pub use checked::{Config, GsoCap, MessageEnd};
pub use fleet::Fleet;
pub use metrics::{Metrics, TlsFiles};
pub use selection::Selection;
