//! A flow: so many bytes from one host to another.

use flowsched_topology::HostId;
use flowsched_units::{Bytes, Time};

/// One flow, or one message on a persistent connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Its place among the flows of a run, which are in the order of their starts.
    pub id: u32,
    /// Who sends.
    pub src: HostId,
    /// Who receives.
    pub dst: HostId,
    /// How much, at least one byte.
    pub size: Bytes,
    /// When the sender has it.
    pub start: Time,
    /// When it should be finished, counted from the start of the run.
    pub deadline: Option<Time>,
}
