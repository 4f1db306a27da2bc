//! What may be set of a port's memory, queues and marking.

use flowsched_units::{Bytes, Kind, PACKET_WIRE, PacketMeaning, Parameter, Settings, Value};

/// The most queues a port may have: what a bitmap in one word holds.
pub(super) const MOST_QUEUES: usize = 64;

/// The keys of ports with strict-priority queues.
pub(super) const QUEUES: &[Parameter] = &[
    Parameter {
        name: "queues",
        kind: Kind::Count { from: 1, to: MOST_QUEUES as u64 },
        default: Some("8"),
        about: "Priority queues of a port.",
        source: "PIAS ToN 2017, V-A",
    },
    ecn_scope("port", "PIAS ToN 2017, IV-A.2"),
    OVERFLOW,
];

/// The keys of ports whose queues take turns.
pub(super) const TURNS: &[Parameter] = &[
    Parameter {
        name: "queues",
        kind: Kind::Count { from: 1, to: MOST_QUEUES as u64 },
        default: Some("2"),
        about: "Queues of a port.",
        source: "EPN 2018",
    },
    Parameter {
        name: "weights",
        kind: Kind::Text,
        default: Some("100 1"),
        about: "How many packets each queue sends in a row while others wait, the highest \
                queue's first.",
        source: "EPN 2018",
    },
    ecn_scope("port", "PIAS ToN 2017, IV-A.2"),
    OVERFLOW,
];

/// The keys of Slytherin's two queues.
pub(super) const CONGESTED_AND_NORMAL: &[Parameter] = &[
    ecn_scope("queue", "Slytherin 2018, III-C.2: \"the ECN threshold at each switch queue\""),
    OVERFLOW,
];

const fn ecn_scope(default: &'static str, source: &'static str) -> Parameter {
    Parameter {
        name: "ecn_scope",
        kind: Kind::Choice(&["port", "queue"]),
        default: Some(default),
        about: "Whether the marking threshold is compared with what waits in the whole port or \
                in the packet's queue.",
        source,
    }
}

const OVERFLOW: Parameter = Parameter {
    name: "overflow",
    kind: Kind::Choice(&["drop", "demote"]),
    default: Some("drop"),
    about: "What becomes of a packet whose queue has no room: it is dropped, or joins the next \
            lower queue that has.",
    source: "Slytherin 2018, V-F",
};

/// The keys of the ports of hosts' network cards, where these may differ from switches'.
pub(super) const HOST: &[Parameter] = &[
    Parameter {
        name: "host_port",
        kind: Kind::Choice(&["scheme", "fifo"]),
        default: Some("scheme"),
        about: "Whether a host's card queues, marks and drops as a switch's port does, or has \
                one unlimited queue without marking.",
        source: "scheme: PIAS ToN 2017, IV-A.2 (\"we perform ECN marking and priority queueing \
                 at the end host as well as the switches\"); fifo: Slytherin 2018, III-B",
    },
    Parameter {
        name: "host_rate",
        kind: Kind::Number { from: 0.01, to: 1.0 },
        default: Some("1"),
        about: "The share of its link's rate that a host sends at: a little less than 1 keeps \
                packets where they are scheduled, out of the card's own queues.",
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

/// The keys of ports that order by rank.
pub(super) const RANKED: &[Parameter] = &[
    Parameter {
        name: "buffer",
        kind: Kind::Size(PacketMeaning::Wire),
        default: Some("210KB"),
        about: "Memory of a port.",
        source: "PIAS ToN 2017, V-C: about twice the bandwidth-delay product",
    },
    Parameter {
        name: "ecn_threshold",
        kind: Kind::Size(PacketMeaning::Wire),
        default: Some("unlimited"),
        about: "Packets are marked while more than this waits, the packet itself counted; \
                \"unlimited\": never.",
        source: "pFabric does not mark: Alizadeh et al., SIGCOMM 2013",
    },
    Parameter {
        name: "same_flow",
        kind: Kind::Choice(&["flow", "connection"]),
        default: Some("flow"),
        about: "What is one flow, whose packets stay in order: a flow in one direction, or all \
                that one host sends to another on connections of the same number, ACKs of the \
                opposite direction's flows included.",
        source: "flow: Alizadeh et al., SIGCOMM 2013; connection: fits what the PIAS authors' \
                 simulator gives",
    },
];

/// What a port that keeps a flow's packets in order takes for one flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SameFlow {
    /// A flow's packets in one direction.
    Flow,
    /// All packets from one host to another on connections of the same number, ACKs of the
    /// opposite direction's flows included.
    Connection,
}

impl SameFlow {
    /// Reads the key of [`RANKED`].
    pub(super) fn from_settings(settings: &Settings) -> SameFlow {
        match settings.text("same_flow").as_str() {
            "connection" => SameFlow::Connection,
            _ => SameFlow::Flow,
        }
    }
}

/// The ports of hosts' network cards, where these differ from switches'.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HostPort {
    /// Whether a card queues, marks and drops as a switch's port does.
    pub is_like_switch: bool,
    /// The share of the link's rate that it sends at.
    pub rate: f64,
}

impl HostPort {
    /// Reads the keys of hosts' cards; a port without them is the same everywhere.
    pub fn from_settings(settings: &Settings) -> HostPort {
        let has_keys = settings.get("host_rate").is_some();
        HostPort {
            is_like_switch: !has_keys || settings.text("host_port") == "scheme",
            rate: if has_keys { settings.number("host_rate") } else { 1.0 },
        }
    }
}

/// What becomes of a packet whose queue has no room.
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
    pub sharing: MemorySharing,
    /// Packets are marked while more than this waits.
    pub ecn_threshold: u64,
    /// What is compared with the threshold.
    pub ecn_scope: EcnScope,
    /// When.
    pub mark_at: MarkAt,
    /// What amounts are counted in.
    pub count: Count,
    /// What becomes of a packet whose queue has no room.
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
            count: Count::Bytes,
            on_full: OnFull::Drop,
        }
    }

    /// One unlimited queue without marking: a network card that knows nothing of schemes.
    pub fn card() -> PortSettings {
        PortSettings::fifo(Bytes::MAX, Bytes::MAX)
    }

    /// Reads the parameters above; what a port has no key for is as in [`PortSettings::fifo`].
    pub fn from_settings(settings: &Settings, queues: usize) -> PortSettings {
        let is = |name: &str, word: &str| match settings.get(name) {
            Some(Value::Text(text)) => text == word,
            _ => false,
        };
        let count = if is("count_in", "packets") { Count::Packets } else { Count::Bytes };
        let amount = |size: Bytes| match (count, size) {
            (_, Bytes::MAX) | (Count::Bytes, _) => size.get(),
            (Count::Packets, _) => size.get() / PACKET_WIRE,
        };
        let buffer = amount(settings.size("buffer"));
        PortSettings {
            queues,
            sharing: if is("buffer_sharing", "queue") {
                MemorySharing::Queue(buffer)
            } else if is("buffer_sharing", "switch") {
                MemorySharing::Switch {
                    memory: amount(settings.size("switch_memory")),
                    alpha: settings.number("dynamic_alpha"),
                }
            } else {
                MemorySharing::Port(buffer)
            },
            ecn_threshold: amount(settings.size("ecn_threshold")),
            ecn_scope: if is("ecn_scope", "queue") { EcnScope::Queue } else { EcnScope::Port },
            mark_at: if is("ecn_at", "dequeue") { MarkAt::Dequeue } else { MarkAt::Enqueue },
            count,
            on_full: if is("overflow", "demote") { OnFull::Demote } else { OnFull::Drop },
        }
    }
}
