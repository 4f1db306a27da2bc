//! The agent's configuration file: reads and checks it, and converts it to the rule for the BPF
//! program. An invalid file is refused as a whole; the error names what was found and what is
//! allowed.

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
