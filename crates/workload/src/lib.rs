//! What the network is asked to carry: flow sizes, arrivals, patterns, deadlines and flow
//! traces, all drawn from seeded streams.
//!
//! What lives here: what a flow is and when it starts. What may not: how it is carried.

pub mod sizes;

mod flow;
pub use flow::Flow;
