//! What can be set about a workload.

use flowsched_units::{Kind, PacketMeaning, Parameter};

use crate::pattern;

/// The keys of `[workload]`. Those without a default must be given: `sizes` and `load`, or in
/// their place `trace`. Those that only some patterns know are in [`crate::PatternKind::own_keys`].
pub const PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "sizes",
        kind: Kind::Text,
        default: None,
        about: "Flow sizes: a built-in name, a form such as \"fixed 20KB\", or a CDF file.",
        source: "none: must be given, unless there is a trace",
    },
    Parameter {
        name: "load",
        kind: Kind::Number { from: 0.0, to: 1.0 },
        default: None,
        about: "Data on the wire, 1500 B a full packet, as a share of what the links of `load_of` \
                can carry: over 0, at most 1. Acknowledgements do not count.",
        source: "none: must be given, unless there is a trace",
    },
    Parameter {
        name: "trace",
        kind: Kind::Text,
        default: None,
        about: "A CSV file of flows, start_s,src,dst,size_bytes and perhaps deadline_s, in place \
                of drawn ones.",
        source: "none: flows are drawn",
    },
    Parameter {
        name: "pattern",
        kind: Kind::Choice(pattern::NAMES),
        default: Some("all-to-all"),
        about: "Who sends to whom.",
        source: "PIAS ToN 2017, V-C",
    },
    Parameter {
        name: "load_of",
        kind: Kind::Choice(&["hosts", "core"]),
        default: Some("hosts"),
        about: "What the load is a share of: the busiest host links (the receiver's where all \
                flows have the same one), or the links between switches, on average.",
        source: "PIAS ToN 2017, V-C",
    },
    Parameter {
        name: "flows",
        kind: Kind::Count { from: 1, to: 100_000_000 },
        default: Some("10000"),
        about: "How many flows there are.",
        source: "none; PIAS ToN 2017, V-C runs 100000",
    },
    Parameter {
        name: "warm_up_flows",
        kind: Kind::Count { from: 0, to: 100_000_000 },
        default: Some("0"),
        about: "The first so many flows are run and kept out of the statistics.",
        source: "none: every flow counts",
    },
    Parameter {
        name: "cool_down_flows",
        kind: Kind::Count { from: 0, to: 100_000_000 },
        default: Some("0"),
        about: "The last so many flows are run and kept out of the statistics.",
        source: "none: every flow counts",
    },
    Parameter {
        name: "degree",
        kind: Kind::Count { from: 1, to: 1 << 20 },
        default: Some("8"),
        about: "Incast: how many hosts send at once; the last burst is what is left of `flows`.",
        source: "none; Slytherin 2018, V-D has 24, 32 and 40",
    },
    Parameter {
        name: "receiver",
        kind: Kind::Text,
        default: Some("random"),
        about: "Incast and many-to-one: the receiving host's number, or \"random\": a new one for \
                every burst of incast, one for the run in many-to-one.",
        source: "none",
    },
    Parameter {
        name: "deadlines",
        kind: Kind::Text,
        default: Some("none"),
        about: "How long after its start a flow is due: \"none\", or a form such as \"exponential \
                20ms 3ms\".",
        source: "none; PDQ 2012, 5.1 has \"exponential 20ms 3ms\"",
    },
    Parameter {
        name: "deadline_sizes_from",
        kind: Kind::Size(PacketMeaning::Payload),
        default: Some("0B"),
        about: "Smaller flows have no deadline.",
        source: "none: flows of every size",
    },
    Parameter {
        name: "deadline_sizes_below",
        kind: Kind::Size(PacketMeaning::Payload),
        default: Some("unlimited"),
        about: "Flows of this size, and larger ones, have no deadline.",
        source: "none; PDQ 2012, 5.3 has 40KB",
    },
];

#[cfg(test)]
mod tests {
    use flowsched_units::Settings;

    use super::*;
    use crate::PATTERNS;

    #[test]
    fn defaults_are_of_their_kinds_and_own_keys_are_parameters() {
        let settings = Settings::defaults(PARAMETERS);
        assert_eq!(settings.text("pattern"), "all-to-all");
        for key in PATTERNS.iter().flat_map(|pattern| pattern.own_keys) {
            assert!(PARAMETERS.iter().any(|parameter| parameter.name == *key), "{key}");
        }
    }
}
