//! Which connection carries which flow, for ports that treat all packets of a connection as one
//! flow.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// The connection that carries each flow that has started. The world that starts the flows notes their
/// connections.
#[derive(Clone, Debug)]
pub struct Connections(Arc<[Noted]>);

/// The [`ConnectionId`] of a flow, in a form that ports may read while hosts on other threads note those
/// of other flows. A flow's packets come to ports after its connection was noted.
#[derive(Debug, Default)]
struct Noted {
    from: AtomicU32,
    to: AtomicU32,
    number: AtomicU32,
}

/// A connection between two hosts.
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
    /// The connections of this many flows, none of which has started.
    pub fn new(flows: usize) -> Connections {
        Connections((0..flows).map(|_| Noted::default()).collect())
    }

    /// Notes that the flow starts on this connection.
    #[inline]
    pub fn note(&self, flow: u32, connection: ConnectionId) {
        let Noted { from, to, number } = &self.0[flow as usize];
        from.store(connection.from, Ordering::Relaxed);
        to.store(connection.to, Ordering::Relaxed);
        number.store(connection.number, Ordering::Relaxed);
    }

    /// The flow's connection.
    #[inline]
    pub(super) fn connection_of(&self, flow: u32) -> ConnectionId {
        let Noted { from, to, number } = &self.0[flow as usize];
        ConnectionId {
            from: from.load(Ordering::Relaxed),
            to: to.load(Ordering::Relaxed),
            number: number.load(Ordering::Relaxed),
        }
    }
}
