//! TCP's settings, read from its parameters.

use flowsched_units::{Bytes, PACKET_PAYLOAD, Settings, Time};

use super::congestion::{DctcpSettings, L2dctSettings};
use super::parameters::{
    ACK_DELAY, ACK_ECN, ACK_RATIO, CONNECTIONS, ECT_ON, FAST_RETRANSMIT, G, GROWTH,
    GROWTH_PER_WINDOW, INITIAL_ALPHA, INITIAL_WINDOW, LARGEST_WEIGHT, MAX_WINDOW, MIN_WINDOW,
    OPEN_CONNECTIONS, PROBE_TIMEOUTS, RECEIVE_WINDOW, RESTART, RTO, RTO_BACKOFF, RTO_MIN,
    SMALLEST_WEIGHT, WEIGHT_FALLS_FROM, WEIGHT_FALLS_TO,
};

impl DctcpSettings {
    /// Reads [`DCTCP`](super::parameters::DCTCP).
    pub fn from_settings(settings: &Settings) -> DctcpSettings {
        DctcpSettings { g: settings.number(&G), initial_alpha: settings.number(&INITIAL_ALPHA) }
    }
}

impl L2dctSettings {
    /// Reads [`L2DCT`](super::parameters::L2DCT), and what it shares with DCTCP.
    pub fn from_settings(settings: &Settings) -> L2dctSettings {
        L2dctSettings {
            dctcp: DctcpSettings::from_settings(settings),
            largest_weight: settings.number(&LARGEST_WEIGHT),
            smallest_weight: settings.number(&SMALLEST_WEIGHT),
            fall_from: settings.size(&WEIGHT_FALLS_FROM),
            fall_to: settings.size(&WEIGHT_FALLS_TO),
            growth_weighted: settings.text(&GROWTH_PER_WINDOW) == "weighted",
        }
    }
}

/// Which packets of a sender that heeds marks may be marked (ECT).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EctOn {
    /// Packets with data.
    Data,
    /// Packets with data that is sent for the first time (RFC 3168, 6.1.5).
    NewData,
    /// All packets, SYNs and probes too (PIAS ToN 2017, IV-A.3).
    EveryPacket,
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
    /// No marked ACK grows the window.
    Rfc,
    /// The first of a run of marked ACKs does not grow the window, but the others do.
    Ns2,
}

/// How long the retransmission timeout is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rto {
    /// By RFC 6298, and never less than the shortest timeout.
    Estimated,
    /// As in Linux without timestamps: the round-trip time, measured with every ACK of segments that were sent once,
    /// plus an allowance for its variation, which is never less than the shortest timeout, grows at once and falls
    /// slowly.
    Linux,
    /// The shortest timeout, always.
    Fixed,
}

/// Whether a segment counts as lost once three later ones are acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FastRetransmit {
    /// Yes, unless packets are sprayed.
    Auto,
    /// Yes.
    On,
    /// No: segments count as lost only after a timeout.
    Off,
}

/// TCP's parameters, windows in segments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TcpSettings {
    /// Segments sent before the first ACK.
    pub initial_window: u32,
    /// The largest congestion window.
    pub max_window: u32,
    /// The congestion window below which marks do not reduce it.
    pub min_window: u32,
    /// Segments that a receiver accepts beyond the last one in order.
    pub receive_window: u32,
    /// The shortest timeout.
    pub rto_min: Time,
    /// How long the timeout is.
    pub rto: Rto,
    /// Whether the timeout doubles with each timeout in a row.
    pub rto_backoff: bool,
    /// Whether a segment counts as lost once three later ones are acknowledged.
    pub fast_retransmit: FastRetransmit,
    /// Data packets per ACK.
    pub ack_ratio: u32,
    /// The longest delay of an ACK.
    pub ack_delay: Time,
    /// Connections that a pair of hosts has open from the start; 0 if every flow opens its own.
    pub open_connections: u32,
    /// When the window falls back to the initial one.
    pub restart: Restart,
    /// Which marked ACKs do not grow the window.
    pub growth: Growth,
    /// Timeouts in a row after which the sender probes: 0 if it never does.
    pub probe_timeouts: u32,
    /// Which packets of a sender may be marked, if it heeds marks.
    pub ect_on: EctOn,
    /// Whether pure ACKs may be marked.
    pub ack_ecn: bool,
}

impl TcpSettings {
    /// Reads [`PARAMETERS`](super::parameters::PARAMETERS).
    pub fn from_settings(settings: &Settings) -> TcpSettings {
        let receive_window = match settings.size(&RECEIVE_WINDOW) {
            Bytes::MAX => u32::MAX,
            window => (window.get() / PACKET_PAYLOAD).clamp(1, u64::from(u32::MAX)) as u32,
        };
        TcpSettings {
            initial_window: settings.count(&INITIAL_WINDOW) as u32,
            max_window: settings.count(&MAX_WINDOW) as u32,
            min_window: settings.count(&MIN_WINDOW) as u32,
            receive_window,
            rto_min: settings.time(&RTO_MIN),
            rto: match settings.text(&RTO).as_str() {
                "linux" => Rto::Linux,
                "fixed" => Rto::Fixed,
                _ => Rto::Estimated,
            },
            rto_backoff: settings.flag(&RTO_BACKOFF),
            fast_retransmit: match settings.text(&FAST_RETRANSMIT).as_str() {
                "true" => FastRetransmit::On,
                "false" => FastRetransmit::Off,
                _ => FastRetransmit::Auto,
            },
            ack_ratio: settings.count(&ACK_RATIO) as u32,
            ack_delay: settings.time(&ACK_DELAY),
            open_connections: match settings.text(&CONNECTIONS).as_str() {
                "new" => 0,
                _ => settings.count(&OPEN_CONNECTIONS) as u32,
            },
            restart: match settings.text(&RESTART).as_str() {
                "every-flow" => Restart::EveryFlow,
                "never" => Restart::Never,
                _ => Restart::Idle,
            },
            growth: match settings.text(&GROWTH).as_str() {
                "ns2" => Growth::Ns2,
                _ => Growth::Rfc,
            },
            probe_timeouts: settings.count(&PROBE_TIMEOUTS) as u32,
            ect_on: match settings.text(&ECT_ON).as_str() {
                "new-data" => EctOn::NewData,
                "every-packet" => EctOn::EveryPacket,
                _ => EctOn::Data,
            },
            ack_ecn: settings.flag(&ACK_ECN),
        }
    }
}
