//! What may be set of a port's memory, queues and marking.

use flowsched_units::{Bytes, Kind, PACKET_WIRE, PacketMeaning, Parameter, Settings};

/// The keys of ports with several queues.
pub(super) const QUEUES: &[Parameter] = &[
    Parameter {
        name: "queues",
        kind: Kind::Count { from: 1, to: 64 },
        default: Some("8"),
        about: "Priority queues of a port.",
        source: "PIAS ToN 2017, V-A",
    },
    Parameter {
        name: "ecn_scope",
        kind: Kind::Choice(&["port", "queue"]),
        default: Some("port"),
        about: "Whether the marking threshold is compared with what waits in the whole port or \
                in the packet's queue.",
        source: "PIAS ToN 2017, IV-A.2",
    },
];

/// The keys of every port that drops and marks by what waits in it.
pub(super) const BUFFER: &[Parameter] = &[
    Parameter {
        name: "buffer",
        kind: Kind::Size(PacketMeaning::Wire),
        default: Some("360KB"),
        about: "Memory of a port, or of each of its queues with buffer_sharing = \"queue\".",
        source: "PIAS ToN 2017, V-C",
    },
    Parameter {
        name: "buffer_sharing",
        kind: Kind::Choice(&["port", "queue", "switch"]),
        default: Some("port"),
        about: "Who shares memory: the queues of a port, nobody, or all queues of a switch by \
                dynamic thresholds (a host's card is a port by itself).",
        source: "PIAS ToN 2017, V-C; switch: Choudhury and Hahne, ToN 1998",
    },
    Parameter {
        name: "switch_memory",
        kind: Kind::Size(PacketMeaning::Wire),
        default: Some("4MB"),
        about: "Memory of a switch, with buffer_sharing = \"switch\".",
        source: "PIAS ToN 2017, IV-A.2",
    },
    Parameter {
        name: "dynamic_alpha",
        kind: Kind::Number { from: 0.0, to: 1024.0 },
        default: Some("1"),
        about: "A queue may hold at most this many times the switch's free memory, with \
                buffer_sharing = \"switch\".",
        source: "Choudhury and Hahne, ToN 1998",
    },
    Parameter {
        name: "ecn_threshold",
        kind: Kind::Size(PacketMeaning::Wire),
        default: Some("65pkt"),
        about: "Packets are marked while more than this waits, the packet itself counted; \
                \"unlimited\": never.",
        source: "PIAS ToN 2017, V-C (20 packets at 1 Gbps: IV-A.2)",
    },
    Parameter {
        name: "ecn_at",
        kind: Kind::Choice(&["enqueue", "dequeue"]),
        default: Some("enqueue"),
        about: "Whether a packet is marked by what waits when it comes or when it leaves.",
        source: "PIAS ToN 2017, III-B.2",
    },
    Parameter {
        name: "count_in",
        kind: Kind::Choice(&["bytes", "packets"]),
        default: Some("bytes"),
        about: "Whether memory and the marking threshold are counted in bytes, or in packets \
                whatever their size (1500 B of the setting each).",
        source: "the PIAS authors' simulator",
    },
];

/// Who shares a port's memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sharing {
    /// The queues of a port share this much.
    Port(u64),
    /// Each queue has this much.
    Queue(u64),
    /// All queues of the switch share `memory`; each may hold `alpha` times what is free.
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
    /// When it leaves, by what stays behind.
    Dequeue,
}

/// What memory and thresholds are counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// Bytes on the wire.
    Bytes,
    /// Packets, whatever their size.
    Packets,
}

/// A port's memory, queues and marking; amounts are in what `count` says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PortSettings {
    /// Priority queues.
    pub queues: usize,
    /// Memory.
    pub sharing: Sharing,
    /// Packets are marked while more than this waits.
    pub ecn_threshold: u64,
    /// What is compared with the threshold.
    pub ecn_scope: EcnScope,
    /// When.
    pub mark_at: MarkAt,
    /// What amounts are counted in.
    pub count: Count,
}

impl PortSettings {
    /// A port with one queue, `buffer` bytes of memory and marking above `ecn_threshold` bytes.
    pub fn fifo(buffer: Bytes, ecn_threshold: Bytes) -> PortSettings {
        PortSettings {
            queues: 1,
            sharing: Sharing::Port(buffer.get()),
            ecn_threshold: ecn_threshold.get(),
            ecn_scope: EcnScope::Port,
            mark_at: MarkAt::Enqueue,
            count: Count::Bytes,
        }
    }

    /// Reads the parameters above; a port without the keys of several queues has one.
    pub fn from_settings(settings: &Settings) -> PortSettings {
        let count = match settings.text("count_in").as_str() {
            "packets" => Count::Packets,
            _ => Count::Bytes,
        };
        let amount = |size: Bytes| match (count, size) {
            (_, Bytes::MAX) | (Count::Bytes, _) => size.get(),
            (Count::Packets, _) => size.get() / PACKET_WIRE,
        };
        let buffer = amount(settings.size("buffer"));
        let has_queues = settings.get("queues").is_some();
        PortSettings {
            queues: if has_queues { settings.count("queues") as usize } else { 1 },
            sharing: match settings.text("buffer_sharing").as_str() {
                "queue" => Sharing::Queue(buffer),
                "switch" => Sharing::Switch {
                    memory: amount(settings.size("switch_memory")),
                    alpha: settings.number("dynamic_alpha"),
                },
                _ => Sharing::Port(buffer),
            },
            ecn_threshold: amount(settings.size("ecn_threshold")),
            ecn_scope: if has_queues && settings.text("ecn_scope") == "queue" {
                EcnScope::Queue
            } else {
                EcnScope::Port
            },
            mark_at: match settings.text("ecn_at").as_str() {
                "dequeue" => MarkAt::Dequeue,
                _ => MarkAt::Enqueue,
            },
            count,
        }
    }
}
