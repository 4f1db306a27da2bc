//! What may be set of TCP.

use flowsched_units::{Bytes, Kind, PACKET_PAYLOAD, PacketMeaning, Parameter, Settings, Time};

use super::congestion::{DctcpSettings, L2dctSettings};

/// The keys of every TCP.
pub const PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "initial_window",
        kind: Kind::Count { from: 1, to: 1_000_000_000 },
        default: Some("70"),
        about: "Packets sent before the first ACK comes back.",
        source: "PIAS ToN 2017, V-C: about the bandwidth-delay product",
    },
    Parameter {
        name: "max_window",
        kind: Kind::Count { from: 1, to: 1_000_000_000 },
        default: Some("239"),
        about: "The largest congestion window, packets.",
        source: "the PIAS authors' simulator",
    },
    Parameter {
        name: "receive_window",
        kind: Kind::Size(PacketMeaning::Payload),
        default: Some("unlimited"),
        about: "What a receiver takes beyond the last byte in order; its reader is never slow.",
        source: "RFC 9293, 3.8.6",
    },
    Parameter {
        name: "rto_min",
        kind: Kind::Time,
        default: Some("2ms"),
        about: "The shortest retransmission timeout.",
        source: "PIAS ToN 2017, V-C",
    },
    Parameter {
        name: "rto",
        kind: Kind::Choice(&["estimated", "fixed"]),
        default: Some("estimated"),
        about: "Whether the timeout follows the measured round-trip time or is rto_min always.",
        source: "estimated: RFC 6298; fixed: the PIAS authors' simulator",
    },
    Parameter {
        name: "rto_backoff",
        kind: Kind::Flag,
        default: Some("true"),
        about: "Whether the timeout doubles with each timeout in a row.",
        source: "RFC 6298, 5.5",
    },
    Parameter {
        name: "fast_retransmit",
        kind: Kind::Choice(&["auto", "true", "false"]),
        default: Some("auto"),
        about: "Whether three later segments acknowledged mean that one is lost; \"auto\": \
                unless packets are sprayed, which reorders them.",
        source: "RFC 6675; PIAS ToN 2017, V-C disables it with spraying",
    },
    Parameter {
        name: "ack_ratio",
        kind: Kind::Count { from: 1, to: 64 },
        default: Some("1"),
        about: "Data packets to an ACK; more than 1 delays ACKs.",
        source: "the PIAS authors' simulator; RFC 5681, 4.2 allows 2",
    },
    Parameter {
        name: "ack_delay",
        kind: Kind::Time,
        default: Some("500us"),
        about: "The longest that an ACK is delayed, with an ack_ratio above 1.",
        source: "RFC 5681, 4.2 allows up to 500 ms; scaled to rto_min here",
    },
    Parameter {
        name: "connections",
        kind: Kind::Choice(&["persistent", "new"]),
        default: Some("persistent"),
        about: "\"persistent\": a pair of hosts has an open connection and opens more when all \
                are busy; \"new\": each flow opens its own, with a handshake.",
        source: "PIAS ToN 2017, V-C",
    },
    Parameter {
        name: "restart",
        kind: Kind::Choice(&["idle", "every-flow", "never"]),
        default: Some("idle"),
        about: "When a persistent connection's window falls back to initial_window: after an \
                idle timeout, with every flow, or never.",
        source: "idle: RFC 5681, 4.1; every-flow: the PIAS authors' simulator",
    },
    Parameter {
        name: "growth",
        kind: Kind::Choice(&["rfc", "ns2"]),
        default: Some("rfc"),
        about: "Which marked ACKs do not grow the window: all, or the first of a run only.",
        source: "rfc: RFC 3168, 6.1.2; ns2: the PIAS authors' simulator",
    },
    Parameter {
        name: "probe_timeouts",
        kind: Kind::Count { from: 0, to: 255 },
        default: Some("0"),
        about: "Timeouts in a row after which the sender probes with one byte; 0: never.",
        source: "the PIAS authors' simulator: 5",
    },
    Parameter {
        name: "ack_ecn",
        kind: Kind::Flag,
        default: Some("false"),
        about: "Whether pure ACKs may be marked (ECT).",
        source: "RFC 3168, 6.1.4 forbids it; the PIAS authors' simulator does it",
    },
];

/// The keys of DCTCP.
pub const DCTCP: &[Parameter] = &[
    Parameter {
        name: "g",
        kind: Kind::Number { from: 0.0, to: 1.0 },
        default: Some("0.0625"),
        about: "The weight of the newest window in the estimate of the marked share.",
        source: "RFC 8257, 4.2",
    },
    Parameter {
        name: "initial_alpha",
        kind: Kind::Number { from: 0.0, to: 1.0 },
        default: Some("1"),
        about: "The estimate that a new connection starts from.",
        source: "RFC 8257, 4.2; the PIAS authors' simulator: 0",
    },
];

/// The keys that L2DCT has beside DCTCP's.
pub const L2DCT: &[Parameter] = &[
    Parameter {
        name: "largest_weight",
        kind: Kind::Number { from: 0.001, to: 1000.0 },
        default: Some("2.5"),
        about: "The weight of a flow that has sent no more than weight_falls_from.",
        source: "Munir et al., INFOCOM 2013; the PIAS authors' simulator",
    },
    Parameter {
        name: "smallest_weight",
        kind: Kind::Number { from: 0.0, to: 1000.0 },
        default: Some("0.125"),
        about: "The weight of a flow that has sent weight_falls_to or more.",
        source: "Munir et al., INFOCOM 2013; the PIAS authors' simulator",
    },
    Parameter {
        name: "weight_falls_from",
        kind: Kind::Size(PacketMeaning::Payload),
        default: Some("200KiB"),
        about: "Bytes sent up to which a flow keeps the largest weight.",
        source: "Munir et al., INFOCOM 2013; the PIAS authors' simulator",
    },
    Parameter {
        name: "weight_falls_to",
        kind: Kind::Size(PacketMeaning::Payload),
        default: Some("1MiB"),
        about: "Bytes sent from which on a flow has the smallest weight.",
        source: "Munir et al., INFOCOM 2013; the PIAS authors' simulator",
    },
    Parameter {
        name: "growth_per_window",
        kind: Kind::Choice(&["weighted", "two"]),
        default: Some("weighted"),
        about: "What a window's worth of ACKs adds to the window after slow start: the weight \
                over largest_weight of a segment, or two segments whatever the weight.",
        source: "weighted: Munir et al., INFOCOM 2013; two: the PIAS authors' simulator, which \
                 counts every ACK twice",
    },
];

impl DctcpSettings {
    /// Reads [`DCTCP`].
    pub fn from_settings(settings: &Settings) -> DctcpSettings {
        DctcpSettings { g: settings.number("g"), initial_alpha: settings.number("initial_alpha") }
    }
}

impl L2dctSettings {
    /// Reads [`DCTCP`] and [`L2DCT`].
    pub fn from_settings(settings: &Settings) -> L2dctSettings {
        L2dctSettings {
            dctcp: DctcpSettings::from_settings(settings),
            largest_weight: settings.number("largest_weight"),
            smallest_weight: settings.number("smallest_weight"),
            fall_from: settings.size("weight_falls_from"),
            fall_to: settings.size("weight_falls_to"),
            growth_weighted: settings.text("growth_per_window") == "weighted",
        }
    }
}

/// When a persistent connection's window falls back to the initial one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restart {
    /// After an idle time of one retransmission timeout (RFC 5681, 4.1).
    Idle,
    /// With every flow.
    EveryFlow,
    /// Never.
    Never,
}

/// Which marked ACKs do not grow the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    /// None does.
    Rfc,
    /// The first of a run of marked ACKs does not.
    Ns2,
}

/// Whether later segments acknowledged mean that one is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FastRetransmit {
    /// Yes, unless packets are sprayed.
    Auto,
    /// Yes.
    On,
    /// No: only a timeout does.
    Off,
}

/// TCP's parameters, windows in segments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TcpSettings {
    /// Segments sent before the first ACK.
    pub initial_window: u32,
    /// The largest congestion window.
    pub max_window: u32,
    /// Segments that a receiver takes beyond the last in order.
    pub receive_window: u32,
    /// The shortest timeout.
    pub rto_min: Time,
    /// Whether the timeout follows the measured round-trip time.
    pub rto_estimated: bool,
    /// Whether it doubles with each timeout in a row.
    pub rto_backoff: bool,
    /// Whether later segments acknowledged mean that one is lost.
    pub fast_retransmit: FastRetransmit,
    /// Data packets to an ACK.
    pub ack_ratio: u32,
    /// The longest that an ACK is delayed.
    pub ack_delay: Time,
    /// Whether flows use open connections.
    pub persistent: bool,
    /// When the window falls back to the initial one.
    pub restart: Restart,
    /// Which marked ACKs do not grow the window.
    pub growth: Growth,
    /// Timeouts in a row after which the sender probes; 0: never.
    pub probe_timeouts: u32,
    /// Whether pure ACKs may be marked.
    pub ack_ecn: bool,
}

impl TcpSettings {
    /// Reads [`PARAMETERS`].
    pub fn from_settings(settings: &Settings) -> TcpSettings {
        let receive_window = match settings.size("receive_window") {
            Bytes::MAX => u32::MAX,
            window => (window.get() / PACKET_PAYLOAD).clamp(1, u64::from(u32::MAX)) as u32,
        };
        TcpSettings {
            initial_window: settings.count("initial_window") as u32,
            max_window: settings.count("max_window") as u32,
            receive_window,
            rto_min: settings.time("rto_min"),
            rto_estimated: settings.text("rto") == "estimated",
            rto_backoff: settings.flag("rto_backoff"),
            fast_retransmit: match settings.text("fast_retransmit").as_str() {
                "true" => FastRetransmit::On,
                "false" => FastRetransmit::Off,
                _ => FastRetransmit::Auto,
            },
            ack_ratio: settings.count("ack_ratio") as u32,
            ack_delay: settings.time("ack_delay"),
            persistent: settings.text("connections") == "persistent",
            restart: match settings.text("restart").as_str() {
                "every-flow" => Restart::EveryFlow,
                "never" => Restart::Never,
                _ => Restart::Idle,
            },
            growth: match settings.text("growth").as_str() {
                "ns2" => Growth::Ns2,
                _ => Growth::Rfc,
            },
            probe_timeouts: settings.count("probe_timeouts") as u32,
            ack_ecn: settings.flag("ack_ecn"),
        }
    }
}
