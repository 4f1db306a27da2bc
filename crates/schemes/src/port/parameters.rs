//! The parameters of ports: queues, memory, marking, and hosts' network cards.
//!
//! The module `settings` says what they mean to a port.

use flowsched_units::{Kind, PacketMeaning, Parameter};

/// The most queues that a port may have: as many as a bitmap in one word holds.
pub const MOST_QUEUES: usize = 64;

/// Priority queues of a port.
pub const QUEUES: Parameter = Parameter {
    name: "queues",
    kind: Kind::Count { from: 1, to: MOST_QUEUES as u64 },
    default: Some("8"),
    about: "Priority queues of a port.",
    source: "PIAS ToN 2017, V-A",
};

/// The keys of ports with strict-priority queues.
pub const STRICT_PRIORITY: &[Parameter] = &[QUEUES, ECN_SCOPE, OVERFLOW];

const TURN_QUEUES: Parameter =
    Parameter { default: Some("2"), about: "Queues of a port.", source: "EPN 2018", ..QUEUES };

/// Packets that each queue sends in a row.
pub const WEIGHTS: Parameter = Parameter {
    name: "weights",
    kind: Kind::Text,
    default: Some("100 1"),
    about: "Packets that each queue sends in a row while others wait, from the highest queue to \
            the lowest.",
    source: "EPN 2018",
};

/// The keys of ports whose queues take turns.
pub const TURNS: &[Parameter] = &[TURN_QUEUES, WEIGHTS, ECN_SCOPE, OVERFLOW];

/// The keys of Slytherin's two queues.
pub const CONGESTED_AND_NORMAL: &[Parameter] = &[ECN_SCOPE_QUEUE, OVERFLOW];

/// Whether the marking threshold applies to a port or to a queue.
pub const ECN_SCOPE: Parameter = Parameter {
    name: "ecn_scope",
    kind: Kind::Choice(&["port", "queue"]),
    default: Some("port"),
    about: "Whether the marking threshold applies to the whole port or to the packet's queue.",
    source: "PIAS ToN 2017, IV-A.2",
};

const ECN_SCOPE_QUEUE: Parameter = Parameter {
    default: Some("queue"),
    source: "Slytherin 2018, III-C.2: \"the ECN threshold at each switch queue\"",
    ..ECN_SCOPE
};

/// What happens to a packet whose queue is full.
pub const OVERFLOW: Parameter = Parameter {
    name: "overflow",
    kind: Kind::Choice(&["drop", "demote"]),
    default: Some("drop"),
    about: "What happens to a packet whose queue is full: it is dropped, or joins the next lower \
            queue with room.",
    source: "Slytherin 2018, V-F",
};

/// Whether a host's card behaves as a switch's port.
pub const HOST_PORT: Parameter = Parameter {
    name: "host_port",
    kind: Kind::Choice(&["scheme", "fifo"]),
    default: Some("scheme"),
    about: "Whether a host's card queues, marks and drops as a switch's port does, or has \
            one unlimited queue without marking.",
    source: "scheme: PIAS ToN 2017, IV-A.2 (\"we perform ECN marking and priority queueing \
             at the end host as well as the switches\"); fifo: Slytherin 2018, III-B",
};

/// The share of its link's rate that a host sends at.
pub const HOST_RATE: Parameter = Parameter {
    name: "host_rate",
    kind: Kind::Number { from: 0.01, to: 1.0 },
    default: Some("1"),
    about: "The share of its link's rate that a host sends at: a little less than 1 keeps \
            packets where they are scheduled, out of the card's own queues.",
    source: "PIAS ToN 2017, IV-A.2",
};

/// The keys of the ports of hosts' network cards, where these may differ from switches'.
pub const HOST: &[Parameter] = &[HOST_PORT, HOST_RATE];

/// Memory of a port.
pub const BUFFER: Parameter = Parameter {
    name: "buffer",
    kind: Kind::Size(PacketMeaning::Wire),
    default: Some("360KB"),
    about: "Memory of a port, or of each of its queues with buffer_sharing = \"queue\".",
    source: "PIAS ToN 2017, V-C",
};

/// Who shares memory.
pub const BUFFER_SHARING: Parameter = Parameter {
    name: "buffer_sharing",
    kind: Kind::Choice(&["port", "queue", "switch"]),
    default: Some("port"),
    about: "Who shares memory: the queues of a port, nobody, or all queues of a switch by \
            dynamic thresholds (a host's card is a port by itself).",
    source: "PIAS ToN 2017, V-C; switch: Choudhury and Hahne, ToN 1998",
};

/// Memory of a switch.
pub const SWITCH_MEMORY: Parameter = Parameter {
    name: "switch_memory",
    kind: Kind::Size(PacketMeaning::Wire),
    default: Some("4MB"),
    about: "Memory of a switch, with buffer_sharing = \"switch\".",
    source: "PIAS ToN 2017, IV-A.2",
};

/// The most memory of a queue, as a multiple of the switch's free memory.
pub const DYNAMIC_ALPHA: Parameter = Parameter {
    name: "dynamic_alpha",
    kind: Kind::Number { from: 0.0, to: 1024.0 },
    default: Some("1"),
    about: "A queue may hold at most this many times the switch's free memory, with \
            buffer_sharing = \"switch\".",
    source: "Choudhury and Hahne, ToN 1998",
};

/// The queue length above which packets are marked.
pub const ECN_THRESHOLD: Parameter = Parameter {
    name: "ecn_threshold",
    kind: Kind::Size(PacketMeaning::Wire),
    default: Some("65pkt"),
    about: "A packet is marked if more than this waits, the packet itself included; \"unlimited\": \
            never.",
    source: "PIAS ToN 2017, V-C (20 packets at 1 Gbps: IV-A.2)",
};

/// When a packet is marked.
pub const ECN_AT: Parameter = Parameter {
    name: "ecn_at",
    kind: Kind::Choice(&["enqueue", "dequeue"]),
    default: Some("enqueue"),
    about: "Whether the queue is compared with the marking threshold when a packet arrives or when \
            it leaves.",
    source: "PIAS ToN 2017, III-B.2",
};

/// What happens to packets that cannot be marked.
pub const WITHOUT_ECT: Parameter = Parameter {
    name: "without_ect",
    kind: Kind::Choice(&["queue", "drop"]),
    default: Some("queue"),
    about: "What happens to a packet without ECT that arrives while more than the marking \
            threshold waits: it is queued like any other, or dropped as by the switch of PIAS's \
            testbed.",
    source: "PIAS ToN 2017, IV-A.3",
};

/// The unit of memory and of the marking threshold.
pub const COUNT_IN: Parameter = Parameter {
    name: "count_in",
    kind: Kind::Choice(&["bytes", "packets"]),
    default: Some("bytes"),
    about: "Whether memory and the marking threshold are counted in bytes, or in packets of any \
            size (1500 B of the setting are one packet).",
    source: "the PIAS authors' simulator",
};

/// The keys of every port that drops and marks by what waits in it.
pub const QUEUED: &[Parameter] = &[
    BUFFER,
    BUFFER_SHARING,
    SWITCH_MEMORY,
    DYNAMIC_ALPHA,
    ECN_THRESHOLD,
    ECN_AT,
    WITHOUT_ECT,
    COUNT_IN,
];

const RANKED_BUFFER: Parameter = Parameter {
    default: Some("210KB"),
    about: "Memory of a port.",
    source: "PIAS ToN 2017, V-C: about twice the bandwidth-delay product",
    ..BUFFER
};

const RANKED_ECN_THRESHOLD: Parameter = Parameter {
    default: Some("unlimited"),
    source: "pFabric does not mark: Alizadeh et al., SIGCOMM 2013",
    ..ECN_THRESHOLD
};

/// Which packets stay in order.
pub const SAME_FLOW: Parameter = Parameter {
    name: "same_flow",
    kind: Kind::Choice(&["flow", "connection"]),
    default: Some("flow"),
    about: "What counts as one flow, whose packets stay in order: a flow in one direction, or all \
            that one host sends to another on connections of one number, ACKs of flows in the \
            opposite direction included.",
    source: "flow: Alizadeh et al., SIGCOMM 2013; connection: fits what the PIAS authors' \
             simulator gives",
};

/// The keys of ports that order by rank.
pub const RANKED: &[Parameter] = &[RANKED_BUFFER, RANKED_ECN_THRESHOLD, SAME_FLOW];
