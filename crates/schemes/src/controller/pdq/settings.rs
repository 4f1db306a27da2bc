//! The parameters of PDQ's switches, and their values.

use flowsched_units::{Kind, Parameter, Settings};

use super::comparator::Comparator;
use super::flow_controller::FlowControl;

pub(crate) const COMPARATOR: Parameter = Parameter {
    name: "comparator",
    kind: Kind::Choice(&["edf-sjf", "sjf"]),
    default: Some("edf-sjf"),
    about: "Which flow is more critical: the one with the earlier deadline, then with the \
            shorter expected transmission time; or by transmission time alone.",
    source: "PDQ 2012, 3.3",
};

pub(crate) const EARLY_START: Parameter = Parameter {
    name: "early_start",
    kind: Kind::Number { from: 0.0, to: 1000.0 },
    default: Some("2"),
    about: "K of Early Start: flows that end within this many round-trip times let the next one \
            start; 0: none.",
    source: "PDQ 2012, 3.3.2: \"we set K = 2\"",
};

pub(crate) const PROBE_SPACING: Parameter = Parameter {
    name: "probe_spacing",
    kind: Kind::Number { from: 0.0, to: 1000.0 },
    default: Some("0.2"),
    about: "X of Suppressed Probing: a paused flow probes every X n round-trip times, where n is \
            its place in the list; 0: every round-trip time.",
    source: "PDQ 2012, 3.3.2: \"we conservatively set X to 0.2\"",
};

pub(crate) const DAMPENING: Parameter = Parameter {
    name: "dampening",
    kind: Kind::Number { from: 0.0, to: 1000.0 },
    default: Some("0.5"),
    about: "After a switch has accepted a flow, it accepts no other paused flow for this many \
            round-trip times.",
    source: "none: \"a given small period of time\" (PDQ 2012, 3.3.2); with half a round trip a \
             burst's queue is that of Figure 7",
};

pub(crate) const MAX_FLOWS: Parameter = Parameter {
    name: "max_flows",
    kind: Kind::Count { from: 1, to: 1_000_000 },
    default: Some("100"),
    about: "M: the most flows of a link that a switch remembers; other flows share what these \
            leave.",
    source: "PDQ 2012, 3.3.1; 100 is common in simulators",
};

pub(crate) const LINK_SHARE: Parameter = Parameter {
    name: "link_share",
    kind: Kind::Number { from: 0.001, to: 1.0 },
    default: Some("1"),
    about: "r_PDQ: the share of every link's rate that PDQ's flows may use together; the rest is \
            for other traffic.",
    source: "PDQ 2012, 3.3.3: \"if all traffic is transported using PDQ, one can configure the \
             r_PDQ to be equal to the link rate\"",
};

/// The keys of PDQ's switches.
pub const PARAMETERS: &[Parameter] =
    &[COMPARATOR, EARLY_START, PROBE_SPACING, DAMPENING, MAX_FLOWS, LINK_SHARE];

impl FlowControl {
    /// Reads the keys.
    pub fn from_settings(settings: &Settings) -> FlowControl {
        FlowControl {
            comparator: match settings.text(&COMPARATOR).as_str() {
                "sjf" => Comparator::Size,
                _ => Comparator::DeadlineThenSize,
            },
            early_start: settings.number(&EARLY_START),
            probe_spacing: settings.number(&PROBE_SPACING),
            dampening: settings.number(&DAMPENING),
            most_flows: settings.count(&MAX_FLOWS) as usize,
            link_share: settings.number(&LINK_SHARE),
        }
    }
}
