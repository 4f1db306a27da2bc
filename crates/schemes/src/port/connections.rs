//! Which connection carries which flow, for ports that treat all packets of a connection as one
//! flow.

use std::cell::Cell;
use std::rc::Rc;

/// By flow: the connection that carries it, once it has started. The world that starts the flows
/// notes their connections.
#[derive(Clone, Debug)]
pub struct Connections(Rc<[Cell<ConnectionId>]>);

/// Which connection of which two hosts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConnectionId {
    /// The host that sends the flows' data.
    pub from: u32,
    /// The host that receives it.
    pub to: u32,
    /// The connection's number among those of the two hosts.
    pub number: u32,
}

impl Connections {
    /// Of this many flows, none of which has started.
    pub fn new(flows: usize) -> Connections {
        Connections(vec![Cell::default(); flows].into())
    }

    /// The flow starts on this connection.
    #[inline]
    pub fn note(&self, flow: u32, connection: ConnectionId) {
        self.0[flow as usize].set(connection);
    }

    /// The flow's connection.
    #[inline]
    pub(super) fn connection_of(&self, flow: u32) -> ConnectionId {
        self.0[flow as usize].get()
    }
}
