//! The columns of `flows.parquet` and `ports.parquet`: names, units and meaning. The tables and the
//! reference pages are both made from this list.

use super::record::{PortsOfRun, RunRecord};

/// One column of a table whose rows come from an `R`.
#[derive(Debug)]
pub struct Column<R: 'static> {
    /// Its name.
    pub name: &'static str,
    /// The unit, or nothing for a name, a number of things or a truth value.
    pub unit: &'static str,
    /// The meaning, in one sentence.
    pub about: &'static str,
    /// How to find the value of a row, given the `R` and the row's place in it.
    pub value: Value<R>,
}

/// The type of a column, and how to find a row's value.
#[derive(Debug)]
pub enum Value<R: 'static> {
    /// A text (Parquet `STRING`).
    Text(fn(&R, usize) -> &str),
    /// A whole number (Parquet `INT64`).
    Count(fn(&R, usize) -> u64),
    /// A whole number or null.
    MaybeCount(fn(&R, usize) -> Option<u64>),
    /// A number (Parquet `DOUBLE`) or null.
    MaybeNumber(fn(&R, usize) -> Option<f64>),
    /// True or false (Parquet `BOOLEAN`).
    Flag(fn(&R, usize) -> bool),
    /// True, false or null.
    MaybeFlag(fn(&R, usize) -> Option<bool>),
}

impl<R> Value<R> {
    /// The type in words.
    pub const fn kind(&self) -> &'static str {
        match self {
            Value::Text(_) => "text",
            Value::Count(_) => "64-bit integer",
            Value::MaybeCount(_) => "64-bit integer or null",
            Value::MaybeNumber(_) => "64-bit float or null",
            Value::Flag(_) => "true or false",
            Value::MaybeFlag(_) => "true, false or null",
        }
    }
}

pub(super) const fn column<R>(
    name: &'static str,
    unit: &'static str,
    value: Value<R>,
    about: &'static str,
) -> Column<R> {
    Column { name, unit, about, value }
}

/// `flows.parquet`: one row per flow of every run. Before these columns there is one for every
/// varied key, named after the key. Its values are whole numbers, numbers or text, depending on the
/// values of the key.
pub const FLOWS: &[Column<RunRecord>] = &[
    column("scheme", "", Value::Text(|run, _| &run.scheme), "The scheme's name."),
    column("seed", "", Value::Count(|run, _| run.seed), "The seed of the run."),
    column(
        "flow",
        "",
        Value::Count(|run, i| run.flows[i].flow),
        "The flow's number; equal for the same flow under every scheme of one seed.",
    ),
    column("src", "", Value::Count(|run, i| run.flows[i].src.into()), "The sending host's number."),
    column(
        "dst",
        "",
        Value::Count(|run, i| run.flows[i].dst.into()),
        "The receiving host's number.",
    ),
    column(
        "src_name",
        "",
        Value::Text(|run, i| run.host_name(run.flows[i].src)),
        "The sending host's name in the topology, as in ports.parquet.",
    ),
    column(
        "dst_name",
        "",
        Value::Text(|run, i| run.host_name(run.flows[i].dst)),
        "The receiving host's name.",
    ),
    column("size_bytes", "B", Value::Count(|run, i| run.flows[i].size.get()), "Payload bytes."),
    column(
        "class",
        "",
        Value::Text(|run, i| run.flows[i].class().name()),
        "\"small\" up to 100 KB, \"medium\" up to 10 MB, \"large\" above.",
    ),
    column(
        "part",
        "",
        Value::Text(|run, i| run.parts.name_of(i)),
        "The part of the workload that the flow belongs to; empty where there is only one.",
    ),
    column(
        "start_ps",
        "ps",
        Value::Count(|run, i| run.flows[i].start.as_ps()),
        "When the flow started, since the start of the run.",
    ),
    column(
        "finished",
        "",
        Value::Flag(|run, i| run.flows[i].finished()),
        "Whether the sender knew, before the run ended, that the last byte had arrived.",
    ),
    column(
        "fct_ps",
        "ps",
        Value::MaybeCount(|run, i| run.flows[i].fct.map(|t| t.as_ps())),
        "Flow completion time at the sender: from the start until it knows that the last byte \
         has arrived. Null if unfinished.",
    ),
    column(
        "fct_receiver_ps",
        "ps",
        Value::MaybeCount(|run, i| run.flows[i].receiver_fct.map(|t| t.as_ps())),
        "From the start until the last byte arrived. Null if it never did.",
    ),
    column(
        "ideal_fct_ps",
        "ps",
        Value::Count(|run, i| run.flows[i].ideal_fct.as_ps()),
        "fct_ps of the same flow alone on the idle network, without a handshake and without a window limit.",
    ),
    column(
        "fct_us",
        "us",
        Value::MaybeNumber(|run, i| run.flows[i].fct.map(|t| t.as_us_f64())),
        "fct_ps in microseconds.",
    ),
    column(
        "slowdown",
        "",
        Value::MaybeNumber(|run, i| run.flows[i].slowdown()),
        "fct_ps over ideal_fct_ps. Null if unfinished.",
    ),
    column(
        "deadline_ps",
        "ps",
        Value::MaybeCount(|run, i| run.flows[i].deadline.map(|t| t.as_ps())),
        "Time from the flow's start to its deadline. Null if it has no deadline.",
    ),
    column(
        "deadline_met",
        "",
        Value::MaybeFlag(|run, i| run.flows[i].deadline_met()),
        "Whether it finished and fct_ps is at most deadline_ps. Null if it has no deadline.",
    ),
    column(
        "gave_up",
        "",
        Value::Flag(|run, i| run.flows[i].gave_up),
        "Whether the sender gave it up, because it would not finish by its deadline.",
    ),
    column(
        "retransmissions",
        "",
        Value::Count(|run, i| run.flows[i].retransmissions),
        "Data packets of the flow that were sent again.",
    ),
    column(
        "timeouts",
        "",
        Value::Count(|run, i| run.flows[i].timeouts),
        "Retransmission timeouts of the flow.",
    ),
    column(
        "packets_arrived",
        "",
        Value::Count(|run, i| run.flows[i].packets.arrived),
        "Data packets that arrived while the flow was under way.",
    ),
    column(
        "packets_marked",
        "",
        Value::Count(|run, i| run.flows[i].packets.marked),
        "Arrived packets that some port marked.",
    ),
    column(
        "packets_marked_again",
        "",
        Value::Count(|run, i| run.flows[i].packets.marked_again),
        "Arrived packets that more than one port marked.",
    ),
    column(
        "packets_reordered",
        "",
        Value::Count(|run, i| run.flows[i].packets.reordered),
        "Arrived packets, sent for the first time, that came after a packet sent later.",
    ),
    column(
        "packets_lost",
        "",
        Value::Count(|run, i| run.flows[i].packets.lost),
        "Data packets of the flow that were dropped or lost.",
    ),
    column(
        "acks",
        "",
        Value::Count(|run, i| run.flows[i].packets.acks),
        "ACKs that reached the sender while the flow was under way.",
    ),
    column(
        "duplicate_acks",
        "",
        Value::Count(|run, i| run.flows[i].packets.duplicate_acks),
        "ACKs that acknowledged nothing new.",
    ),
    column(
        "third_duplicate_acks",
        "",
        Value::Count(|run, i| run.flows[i].packets.third_duplicate_acks),
        "ACKs that were at least the third duplicate in a row.",
    ),
    column(
        "measured",
        "",
        Value::Flag(|run, i| run.flows[i].measured),
        "False for the flows of warm-up and cool-down, which no figure includes.",
    ),
];

/// `ports.parquet`: one row per port and sample time. Counters count from the start of the run. The
/// rows of the end of a run come last. Before these columns there are those of the varied keys, as
/// in [`FLOWS`].
pub const PORTS: &[Column<PortsOfRun>] = &[
    column("scheme", "", Value::Text(|rows, _| &rows.run.scheme), "The scheme's name."),
    column("seed", "", Value::Count(|rows, _| rows.run.seed), "The seed of the run."),
    column(
        "time_ps",
        "ps",
        Value::Count(|rows, i| rows.samples[i].time.as_ps()),
        "When the sample was taken, since the start of the run.",
    ),
    column(
        "port",
        "",
        Value::Count(|rows, i| rows.samples[i].port.into()),
        "The port's number; equal for the same port in every run on one topology.",
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
        "class",
        "",
        Value::Text(|rows, i| &rows.port_of(i).class),
        "The group of ports that it belongs to.",
    ),
    column(
        "rate_bps",
        "bit/s",
        Value::Count(|rows, i| rows.port_of(i).rate.as_bps()),
        "The rate of its link.",
    ),
    column(
        "queue_bytes",
        "B",
        Value::Count(|rows, i| rows.samples[i].queue_bytes),
        "Bytes waiting at that time.",
    ),
    column(
        "queue_packets",
        "",
        Value::Count(|rows, i| rows.samples[i].queue_packets),
        "Packets waiting at that time.",
    ),
    column(
        "tx_bytes",
        "B",
        Value::Count(|rows, i| rows.samples[i].tx_bytes),
        "Bytes sent so far, headers and ACKs included.",
    ),
    column(
        "tx_packets",
        "",
        Value::Count(|rows, i| rows.samples[i].tx_packets),
        "Packets sent so far.",
    ),
    column(
        "drops",
        "",
        Value::Count(|rows, i| rows.samples[i].drops),
        "Packets dropped at the port or lost on its link so far.",
    ),
    column(
        "ecn_marks",
        "",
        Value::Count(|rows, i| rows.samples[i].ecn_marks),
        "Packets marked so far.",
    ),
];
