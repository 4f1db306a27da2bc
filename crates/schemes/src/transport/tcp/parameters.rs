//! The parameters of TCP and of its congestion controls.

#![expect(missing_docs, reason = "`about` documents each parameter")]

use flowsched_units::{Kind, PacketMeaning, Parameter};

use crate::on_linux::LAB_SENDERS;

pub const INITIAL_WINDOW: Parameter = Parameter {
    name: "initial_window",
    kind: Kind::Count { from: 1, to: 1_000_000_000 },
    default: Some("70"),
    about: "Packets sent before the first ACK comes back.",
    source: "PIAS ToN 2017, V-C: about the bandwidth-delay product",
};

pub const MAX_WINDOW: Parameter = Parameter {
    name: "max_window",
    kind: Kind::Count { from: 1, to: 1_000_000_000 },
    default: Some("239"),
    about: "The largest congestion window, packets.",
    source: "the PIAS authors' simulator",
};

pub const MIN_WINDOW: Parameter = Parameter {
    name: "min_window",
    kind: Kind::Count { from: 1, to: 1_000 },
    default: Some("1"),
    about: "The congestion window, packets, below which marks do not reduce it.",
    source: "the PIAS authors' simulator; Linux: 2",
};

pub const RECEIVE_WINDOW: Parameter = Parameter {
    name: "receive_window",
    kind: Kind::Size(PacketMeaning::Payload),
    default: Some("unlimited"),
    about: "What a receiver accepts beyond the last byte in order; its application reads at once.",
    source: "RFC 9293, 3.8.6",
};

pub const RTO_MIN: Parameter = Parameter {
    name: "rto_min",
    kind: Kind::Time,
    default: Some("2ms"),
    about: "The shortest retransmission timeout.",
    source: "PIAS ToN 2017, V-C",
};

pub const RTO: Parameter = Parameter {
    name: "rto",
    kind: Kind::Choice(&["estimated", "linux", "fixed"]),
    default: Some("estimated"),
    about: "Whether the timeout follows the measured round-trip time, with rto_min as the least timeout \
            (`estimated`) or the least allowance for variation (`linux`), or is rto_min always (`fixed`). With \
            `linux` every ACK of segments that were sent once is a measurement, and the allowance grows at once and \
            falls slowly.",
    source: "estimated: RFC 6298; linux: tcp_rtt_estimator in tcp_input.c, without timestamps; fixed: the PIAS \
             authors' simulator",
};

pub const RTO_BACKOFF: Parameter = Parameter {
    name: "rto_backoff",
    kind: Kind::Flag,
    default: Some("true"),
    about: "Whether the timeout doubles with each timeout in a row.",
    source: "RFC 6298, 5.5",
};

pub const FAST_RETRANSMIT: Parameter = Parameter {
    name: "fast_retransmit",
    kind: Kind::Choice(&["auto", "true", "false"]),
    default: Some("auto"),
    about: "Whether three later segments acknowledged mean that one is lost; \"auto\": \
            unless packets are sprayed, which reorders them.",
    source: "RFC 6675; PIAS ToN 2017, V-C disables it with spraying",
};

pub const ACK_RATIO: Parameter = Parameter {
    name: "ack_ratio",
    kind: Kind::Count { from: 1, to: 64 },
    default: Some("1"),
    about: "Data packets per ACK; more than 1 delays ACKs.",
    source: "the PIAS authors' simulator; RFC 5681, 4.2 allows 2",
};

pub const ACK_DELAY: Parameter = Parameter {
    name: "ack_delay",
    kind: Kind::Time,
    default: Some("500us"),
    about: "The longest delay of an ACK, with an ack_ratio above 1.",
    source: "RFC 5681, 4.2 allows up to 500 ms; scaled to rto_min here",
};

pub const CONNECTIONS: Parameter = Parameter {
    name: "connections",
    kind: Kind::Choice(&["persistent", "new"]),
    default: Some("persistent"),
    about: "\"persistent\": a pair of hosts has open_connections from the start and opens more when all \
            are busy; \"new\": each flow opens its own, with a handshake.",
    source: "PIAS ToN 2017, V-C",
};

pub const OPEN_CONNECTIONS: Parameter = Parameter {
    name: "open_connections",
    kind: Kind::Count { from: 1, to: 1000 },
    default: Some("1"),
    about: "How many connections each pair of hosts has open from the start, if connections are \
            persistent.",
    source: "PIAS ToN 2017, V-A: 5 on the testbed",
};

pub const RESTART: Parameter = Parameter {
    name: "restart",
    kind: Kind::Choice(&["idle", "every-flow", "never"]),
    default: Some("idle"),
    about: "When a persistent connection's window falls back to initial_window: after an \
            idle timeout, with every flow, or never.",
    source: "idle: RFC 5681, 4.1; every-flow: the PIAS authors' simulator",
};

pub const GROWTH: Parameter = Parameter {
    name: "growth",
    kind: Kind::Choice(&["rfc", "ns2"]),
    default: Some("rfc"),
    about: "Which marked ACKs do not grow the window: all, or the first of a run only.",
    source: "rfc: RFC 3168, 6.1.2; ns2: the PIAS authors' simulator",
};

pub const PROBE_TIMEOUTS: Parameter = Parameter {
    name: "probe_timeouts",
    kind: Kind::Count { from: 0, to: 255 },
    default: Some("0"),
    about: "Timeouts in a row after which the sender probes with one byte; 0: never.",
    source: "the PIAS authors' simulator: 5",
};

pub const ECT_ON: Parameter = Parameter {
    name: "ect_on",
    kind: Kind::Choice(&["data", "new-data", "every-packet"]),
    default: Some("data"),
    about: "Which packets may be marked (ECT), if the sender reacts to marks: packets with data; \
            packets with data that is sent for the first time, as under Linux; or all, SYNs and \
            probes too.",
    source: "new-data: RFC 3168, 6.1.1 and 6.1.5; every-packet: PIAS ToN 2017, IV-A.3",
};

pub const ACK_ECN: Parameter = Parameter {
    name: "ack_ecn",
    kind: Kind::Flag,
    default: Some("false"),
    about: "Whether pure ACKs may be marked (ECT).",
    source: "RFC 3168, 6.1.4 forbids it; the PIAS authors' simulator does it",
};

/// The keys of every TCP.
pub const PARAMETERS: &[Parameter] = &[
    INITIAL_WINDOW,
    MAX_WINDOW,
    MIN_WINDOW,
    RECEIVE_WINDOW,
    RTO_MIN,
    RTO,
    RTO_BACKOFF,
    FAST_RETRANSMIT,
    ACK_RATIO,
    ACK_DELAY,
    CONNECTIONS,
    OPEN_CONNECTIONS,
    RESTART,
    GROWTH,
    PROBE_TIMEOUTS,
    ECT_ON,
    ACK_ECN,
    LAB_SENDERS,
];

pub const G: Parameter = Parameter {
    name: "g",
    kind: Kind::Number { from: 0.0, to: 1.0 },
    default: Some("0.0625"),
    about: "The weight of the newest window in the estimate of the marked share.",
    source: "RFC 8257, 4.2",
};

pub const INITIAL_ALPHA: Parameter = Parameter {
    name: "initial_alpha",
    kind: Kind::Number { from: 0.0, to: 1.0 },
    default: Some("1"),
    about: "The estimate that a new connection starts from.",
    source: "RFC 8257, 4.2; the PIAS authors' simulator: 0",
};

/// The keys of DCTCP.
pub const DCTCP: &[Parameter] = &[G, INITIAL_ALPHA];

pub const LARGEST_WEIGHT: Parameter = Parameter {
    name: "largest_weight",
    kind: Kind::Number { from: 0.001, to: 1000.0 },
    default: Some("2.5"),
    about: "The weight of a flow that has sent no more than weight_falls_from.",
    source: "Munir et al., INFOCOM 2013; the PIAS authors' simulator",
};

pub const SMALLEST_WEIGHT: Parameter = Parameter {
    name: "smallest_weight",
    kind: Kind::Number { from: 0.0, to: 1000.0 },
    default: Some("0.125"),
    about: "The weight of a flow that has sent weight_falls_to or more.",
    source: "Munir et al., INFOCOM 2013; the PIAS authors' simulator",
};

pub const WEIGHT_FALLS_FROM: Parameter = Parameter {
    name: "weight_falls_from",
    kind: Kind::Size(PacketMeaning::Payload),
    default: Some("200KiB"),
    about: "Bytes sent up to which a flow keeps the largest weight.",
    source: "Munir et al., INFOCOM 2013; the PIAS authors' simulator",
};

pub const WEIGHT_FALLS_TO: Parameter = Parameter {
    name: "weight_falls_to",
    kind: Kind::Size(PacketMeaning::Payload),
    default: Some("1MiB"),
    about: "Bytes sent from which on a flow has the smallest weight.",
    source: "Munir et al., INFOCOM 2013; the PIAS authors' simulator",
};

pub const GROWTH_PER_WINDOW: Parameter = Parameter {
    name: "growth_per_window",
    kind: Kind::Choice(&["weighted", "two"]),
    default: Some("weighted"),
    about: "Segments that a window's worth of ACKs adds to the window after slow start: the flow's \
            weight over largest_weight, or always two.",
    source: "weighted: Munir et al., INFOCOM 2013; two: the PIAS authors' simulator, which \
             counts every ACK twice",
};

/// The keys that L2DCT has beside DCTCP's.
pub const L2DCT: &[Parameter] =
    &[LARGEST_WEIGHT, SMALLEST_WEIGHT, WEIGHT_FALLS_FROM, WEIGHT_FALLS_TO, GROWTH_PER_WINDOW];
