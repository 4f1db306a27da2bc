//! What may be set of PDQ's switches.

use flowsched_units::{Kind, Parameter, Settings};

use super::comparator::Comparator;
use super::flow_controller::FlowControl;

/// The keys of PDQ's switches.
pub const PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "comparator",
        kind: Kind::Choice(&["edf-sjf", "sjf"]),
        default: Some("edf-sjf"),
        about: "Which flow is more critical: the one with the earlier deadline, then with the \
                shorter expected transmission time; or by transmission time alone.",
        source: "PDQ 2012, 3.3",
    },
    Parameter {
        name: "early_start",
        kind: Kind::Number { from: 0.0, to: 1000.0 },
        default: Some("2"),
        about: "K of Early Start: flows that end within so many round-trip times let the next \
                one start; 0: none.",
        source: "PDQ 2012, 3.3.2: \"we set K = 2\"",
    },
    Parameter {
        name: "probe_spacing",
        kind: Kind::Number { from: 0.0, to: 1000.0 },
        default: Some("0.2"),
        about: "X of Suppressed Probing: a paused flow probes every X round-trip times its place \
                in the list; 0: every round-trip time.",
        source: "PDQ 2012, 3.3.2: \"we conservatively set X to 0.2\"",
    },
    Parameter {
        name: "dampening",
        kind: Kind::Number { from: 0.0, to: 1000.0 },
        default: Some("0.5"),
        about: "After a switch has accepted a flow, it accepts no other paused one for so many \
                round-trip times.",
        source: "none: \"a given small period of time\" (PDQ 2012, 3.3.2); with half a round trip a \
                 burst's queue is that of Figure 7",
    },
    Parameter {
        name: "max_flows",
        kind: Kind::Count { from: 1, to: 1_000_000 },
        default: Some("100"),
        about: "M: a switch remembers at most so many flows of a link; the others share what \
                these leave.",
        source: "PDQ 2012, 3.3.1; 100 is common in simulators",
    },
];

impl FlowControl {
    /// Reads the keys.
    pub fn from_settings(settings: &Settings) -> FlowControl {
        FlowControl {
            comparator: match settings.text("comparator").as_str() {
                "sjf" => Comparator::Size,
                _ => Comparator::DeadlineThenSize,
            },
            early_start: settings.number("early_start"),
            probe_spacing: settings.number("probe_spacing"),
            dampening: settings.number("dampening"),
            most_flows: settings.count("max_flows") as usize,
        }
    }
}
