//! What the network is asked to carry: flow sizes, arrivals, patterns, deadlines and flow
//! traces, all drawn from seeded streams.
//!
//! What lives here: what a flow is and when it starts. What may not: how it is carried.

pub mod sizes;

mod application;
mod arrivals;
mod capture;
mod compose;
mod deadlines;
mod flow;
mod generate;
mod listed;
mod load;
pub mod parameters;
mod parts;
mod pattern;
mod racks;
mod random;
mod seconds;
mod starts;
mod trace;
mod turns;
mod workload;

#[doc(hidden)]
pub use arrivals::Arrivals;
pub use capture::{Capture, CaptureError, read_capture};
pub use compose::{Part, PartError, compose};
pub use deadlines::DEADLINE_FORMS;
pub use flow::{Flow, LARGEST_FLOW, LATEST, LONGEST_RUN, wire_bytes};
pub use generate::{generate, replay};
pub use listed::{LISTED_PARAMETERS, Listed};
pub use load::Load;
pub use parameters::{PARAMETERS, PART_NAME, SHARE, WHOLE_KEYS};
pub use parts::FlowParts;
pub use pattern::kinds::{PATTERNS, PatternKind};
pub use random::stream;
pub use starts::check_starts;
pub use trace::{TRACE_COLUMNS, TraceError, parse_trace, write_trace};
pub use workload::Workload;
