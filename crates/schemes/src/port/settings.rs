//! A port's memory, queues and marking, as its settings give them.

use std::sync::Arc;

use flowsched_units::{Bytes, PACKET_WIRE, Settings};

use super::parameters::{
    BUFFER, BUFFER_SHARING, COUNT_IN, DYNAMIC_ALPHA, ECN_AT, ECN_SCOPE, ECN_THRESHOLD, HOST_PORT,
    HOST_RATE, OVERFLOW, SAME_FLOW, SWITCH_MEMORY, WITHOUT_ECT,
};

/// What counts as one flow at a port that keeps a flow's packets in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SameFlow {
    /// A flow's packets in one direction.
    Flow,
    /// All packets from one host to another on connections of the same number, ACKs of the
    /// opposite direction's flows included.
    Connection,
}

impl SameFlow {
    /// Reads [`SAME_FLOW`].
    pub(super) fn from_settings(settings: &Settings) -> SameFlow {
        if settings.is(&SAME_FLOW, "connection") { SameFlow::Connection } else { SameFlow::Flow }
    }
}

/// The ports of hosts' network cards, where these differ from switches'.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HostPort {
    /// Whether a card queues, marks and drops as a switch's port does.
    pub is_like_switch: bool,
    /// The rate at which it sends, as a share of the link's rate.
    pub rate: f64,
}

impl HostPort {
    /// Reads the keys of hosts' cards. A port without these keys is the same at hosts and switches.
    pub fn from_settings(settings: &Settings) -> HostPort {
        let has_keys = settings.get(&HOST_RATE).is_some();
        HostPort {
            is_like_switch: !has_keys || settings.is(&HOST_PORT, "scheme"),
            rate: if has_keys { settings.number(&HOST_RATE) } else { 1.0 },
        }
    }
}

/// The settings of all ports of a network: of switches' ports, and of hosts' cards.
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkPorts {
    // Ports that are alike share their settings.
    switch: Arc<PortSettings>,
    card: Arc<PortSettings>,
    host: HostPort,
}

impl NetworkPorts {
    /// Ports with this many queues; memory, marking and hosts' cards are as the settings say.
    pub(super) fn from_settings(settings: &Settings, queues: usize) -> NetworkPorts {
        NetworkPorts {
            switch: Arc::new(PortSettings::from_settings(settings, queues)),
            card: Arc::new(PortSettings::card()),
            host: HostPort::from_settings(settings),
        }
    }

    /// The settings of a switch's port.
    pub(super) fn of_switch(&self) -> &Arc<PortSettings> {
        &self.switch
    }

    /// The settings of a host's or a switch's port.
    pub fn of(&self, is_host: bool) -> &Arc<PortSettings> {
        if is_host && !self.host.is_like_switch { &self.card } else { &self.switch }
    }

    /// The rate at which a host's card sends, as a share of its link's rate.
    pub fn host_rate(&self) -> f64 {
        self.host.rate
    }
}

/// What happens to a packet whose queue has no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnFull {
    /// It is dropped.
    Drop,
    /// It joins the next lower queue that has room.
    Demote,
}

/// Who shares a port's memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MemorySharing {
    /// The queues of a port share this much.
    Port(u64),
    /// Each queue has this much.
    Queue(u64),
    /// All queues of the switch share `memory`. Each may hold up to `alpha` times the free memory.
    Switch {
        /// The switch's memory.
        memory: u64,
        /// The factor.
        alpha: f64,
    },
}

/// What is compared with the marking threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EcnScope {
    /// All that waits in the port.
    Port,
    /// What waits in the packet's queue.
    Queue,
}

/// When a packet is marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkAt {
    /// When it comes.
    Enqueue,
    /// When it leaves, by what still waits then.
    Dequeue,
}

/// What happens to a packet without ECT that comes while more than the threshold waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WithoutEct {
    /// It is queued, and not marked.
    Queue,
    /// It is dropped (PIAS ToN 2017, IV-A.3).
    Drop,
}

/// What memory and thresholds are counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// Bytes on the wire.
    Bytes,
    /// Packets, whatever their size.
    Packets,
}

/// A port's memory, queues and marking; `count` gives the unit of amounts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PortSettings {
    /// Priority queues.
    pub queues: usize,
    /// Memory.
    pub sharing: MemorySharing,
    /// Packets are marked while more than this waits.
    pub ecn_threshold: u64,
    /// What is compared with the threshold.
    pub ecn_scope: EcnScope,
    /// When packets are marked.
    pub mark_at: MarkAt,
    /// What happens to packets above the threshold that cannot be marked.
    pub without_ect: WithoutEct,
    /// What amounts are counted in.
    pub count: Count,
    /// What happens to a packet whose queue has no room.
    pub on_full: OnFull,
}

impl PortSettings {
    /// A port with one queue, `buffer` bytes of memory and marking above `ecn_threshold` bytes.
    pub fn fifo(buffer: Bytes, ecn_threshold: Bytes) -> PortSettings {
        PortSettings {
            queues: 1,
            sharing: MemorySharing::Port(buffer.get()),
            ecn_threshold: ecn_threshold.get(),
            ecn_scope: EcnScope::Port,
            mark_at: MarkAt::Enqueue,
            without_ect: WithoutEct::Queue,
            count: Count::Bytes,
            on_full: OnFull::Drop,
        }
    }

    /// One unlimited queue without marking: a network card that knows nothing of schemes.
    pub fn card() -> PortSettings {
        PortSettings::fifo(Bytes::MAX, Bytes::MAX)
    }

    /// Reads the port's parameters; missing ones are as in [`PortSettings::fifo`].
    pub fn from_settings(settings: &Settings, queues: usize) -> PortSettings {
        let count = if settings.is(&COUNT_IN, "packets") { Count::Packets } else { Count::Bytes };
        let amount = |size: Bytes| match (count, size) {
            (_, Bytes::MAX) | (Count::Bytes, _) => size.get(),
            (Count::Packets, _) => size.get() / PACKET_WIRE,
        };
        let buffer = amount(settings.size(&BUFFER));
        PortSettings {
            queues,
            sharing: if settings.is(&BUFFER_SHARING, "queue") {
                MemorySharing::Queue(buffer)
            } else if settings.is(&BUFFER_SHARING, "switch") {
                MemorySharing::Switch {
                    memory: amount(settings.size(&SWITCH_MEMORY)),
                    alpha: settings.number(&DYNAMIC_ALPHA),
                }
            } else {
                MemorySharing::Port(buffer)
            },
            ecn_threshold: amount(settings.size(&ECN_THRESHOLD)),
            ecn_scope: if settings.is(&ECN_SCOPE, "queue") {
                EcnScope::Queue
            } else {
                EcnScope::Port
            },
            mark_at: if settings.is(&ECN_AT, "dequeue") {
                MarkAt::Dequeue
            } else {
                MarkAt::Enqueue
            },
            without_ect: if settings.is(&WITHOUT_ECT, "drop") {
                WithoutEct::Drop
            } else {
                WithoutEct::Queue
            },
            count,
            on_full: if settings.is(&OVERFLOW, "demote") { OnFull::Demote } else { OnFull::Drop },
        }
    }
}
