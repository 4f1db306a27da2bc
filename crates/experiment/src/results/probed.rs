//! Rows that a probe recorded of ports and flows over time, and their columns.

use flowsched_units::Time;

use super::columns::{Column, Value, column};
use super::{PortRecord, PortRow, RunKey};

/// A port at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ProbedPort {
    /// The port.
    pub port: PortRow,
    /// The rate at which it has sent since its last row, in bits per second; `None` in the first row.
    pub rate_bps: Option<f64>,
}

/// A flow at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ProbedFlow {
    /// The time of the row.
    pub time: Time,
    /// The flow's number.
    pub flow: u64,
    /// The window: bytes that may be in flight.
    pub window_bytes: Option<u64>,
    /// The rate at which it may send, or at which it has sent since its last row.
    pub rate_bps: Option<f64>,
    /// Its estimate of the share of marked packets.
    pub alpha: Option<f64>,
    /// The priority of its last data packet.
    pub priority: Option<u64>,
    /// Bytes in flight.
    pub in_flight_bytes: Option<u64>,
}

/// Rows of one run's ports.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProbedPorts {
    /// The run.
    pub run: RunKey,
    /// All ports of the network, by number.
    pub ports: Vec<PortRecord>,
    /// The rows.
    pub rows: Vec<ProbedPort>,
}

/// Rows of one run's flows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProbedFlows {
    /// The run.
    pub run: RunKey,
    /// The rows.
    pub rows: Vec<ProbedFlow>,
}

impl ProbedPorts {
    fn port_of(&self, row: usize) -> &PortRecord {
        &self.ports[self.rows[row].port.port as usize]
    }
}

/// `probe_ports.parquet`: one row per recorded port and time. Before these columns there are those of
/// the varied keys.
pub const PROBE_PORTS: &[Column<ProbedPorts>] = &[
    column("scheme", "", Value::Text(|rows, _| &rows.run.scheme), "The scheme's name."),
    column("seed", "", Value::Count(|rows, _| rows.run.seed), "The seed of the run."),
    column(
        "time_ps",
        "ps",
        Value::Count(|rows, i| rows.rows[i].port.time.as_ps()),
        "The time, since the start of the run.",
    ),
    column(
        "port",
        "",
        Value::Count(|rows, i| rows.rows[i].port.port.into()),
        "The port's number, as in ports.parquet.",
    ),
    column(
        "owner",
        "",
        Value::Text(|rows, i| &rows.port_of(i).owner),
        "The host or switch that the port belongs to.",
    ),
    column(
        "peer",
        "",
        Value::Text(|rows, i| &rows.port_of(i).peer),
        "The host or switch at the other end of its link.",
    ),
    column(
        "queue_bytes",
        "B",
        Value::Count(|rows, i| rows.rows[i].port.queue_bytes),
        "Bytes waiting from then on.",
    ),
    column(
        "queue_packets",
        "",
        Value::Count(|rows, i| rows.rows[i].port.queue_packets),
        "Packets waiting from then on.",
    ),
    column(
        "rate_bps",
        "bit/s",
        Value::MaybeNumber(|rows, i| rows.rows[i].rate_bps),
        "What left the port since its last row, over the time since then. Null in the first row.",
    ),
    column(
        "tx_bytes",
        "B",
        Value::Count(|rows, i| rows.rows[i].port.tx_bytes),
        "Bytes sent so far, headers and ACKs and all of the packet being sent included.",
    ),
    column(
        "drops",
        "",
        Value::Count(|rows, i| rows.rows[i].port.drops),
        "Packets dropped at the port or lost on its link so far.",
    ),
    column(
        "ecn_marks",
        "",
        Value::Count(|rows, i| rows.rows[i].port.ecn_marks),
        "Packets marked so far.",
    ),
];

/// `probe_flows.parquet`: one row per recorded flow and time while the flow is under way. Before these
/// columns there are those of the varied keys.
pub const PROBE_FLOWS: &[Column<ProbedFlows>] = &[
    column("scheme", "", Value::Text(|rows, _| &rows.run.scheme), "The scheme's name."),
    column("seed", "", Value::Count(|rows, _| rows.run.seed), "The seed of the run."),
    column(
        "time_ps",
        "ps",
        Value::Count(|rows, i| rows.rows[i].time.as_ps()),
        "The time, since the start of the run.",
    ),
    column(
        "flow",
        "",
        Value::Count(|rows, i| rows.rows[i].flow),
        "The flow's number, as in flows.parquet.",
    ),
    column(
        "window_bytes",
        "B",
        Value::MaybeCount(|rows, i| rows.rows[i].window_bytes),
        "Bytes that may be in flight. Null if the transport has no window.",
    ),
    column(
        "rate_bps",
        "bit/s",
        Value::MaybeNumber(|rows, i| rows.rows[i].rate_bps),
        "The rate at which the sender may send. If the transport sets no rate: with an `interval`, what \
         the flow sent since its last row, over the time since then; null otherwise.",
    ),
    column(
        "alpha",
        "",
        Value::MaybeNumber(|rows, i| rows.rows[i].alpha),
        "DCTCP's estimate of the share of marked packets. Null if the transport has none.",
    ),
    column(
        "priority",
        "",
        Value::MaybeCount(|rows, i| rows.rows[i].priority),
        "The priority of the last data packet that it sent; 0 is the highest. Null before the first.",
    ),
    column(
        "in_flight_bytes",
        "B",
        Value::MaybeCount(|rows, i| rows.rows[i].in_flight_bytes),
        "Bytes sent and neither acknowledged nor found lost. Null if the transport does not count them.",
    ),
];
