//! A soak test: random experiments, run by the real `flowsched` under limits, with signals, kills
//! and full disks.
//!
//! Each run must end in a result or in an error that names the cause. No byte may be lost or come
//! from nowhere, and the same experiment must always give the same tables. [`Case`] draws an
//! experiment from a seed, [`carry_out`] runs it, and the oracles judge the results. [`Soak`]
//! repeats this for many cases and keeps those that fail.
//!
//! What lives here: drawing, running and judging. What may not: anything that a simulation needs.
//!
//! [`carry_out`]: trial::carry_out

mod draw;
pub mod generate;
pub mod oracle;
pub mod plan;
pub mod process;
pub mod soak;
pub mod study;
pub mod tally;
pub mod trial;
pub mod violation;

pub use generate::Case;
pub use soak::Soak;
pub use trial::Subject;
