//! What the applications of hosts tell the taggers at their edges: which flow a connection carries.
//!
//! EPN 2018 calls a flow a burst if its connection carries many flows: "EPN relies on application to specify the
//! start and end packets of the flow" (IV-B).

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};

use flowsched_units::{Bytes, Time};

/// A flow on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Burst {
    /// The flow's number in the experiment.
    pub flow: u32,
    /// Bytes that the connection carried before the flow.
    pub before: u64,
    /// The flow's size.
    pub size: Bytes,
    /// When the flow should have finished.
    pub deadline: Option<Time>,
}

/// The flow of each connection, by the sender's address.
#[derive(Debug, Default)]
pub struct Bursts(Mutex<HashMap<SocketAddr, Burst>>);

impl Bursts {
    /// Records that a flow begins on the connection of this sender. Call it before the flow's first byte is
    /// written, since the edge looks the flow up for each packet.
    pub fn begin(&self, sender: SocketAddr, burst: Burst) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(sender, burst);
    }

    /// The flow that began last on the connection of this sender.
    pub fn find(&self, sender: SocketAddr) -> Option<Burst> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&sender).copied()
    }
}
