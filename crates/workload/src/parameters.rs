//! What can be set about a workload.

use flowsched_units::{Kind, PacketMeaning, Parameter};

use crate::pattern;

/// The keys of `[workload]`. Of those without a default, `sizes` and one of `load` and `at` must be
/// given, or in their place `trace`. Those that only some patterns know are in
/// [`crate::PatternKind::own_keys`]. Parts have all but [`WHOLE_KEYS`], and [`PART_NAME`] and
/// [`SHARE`].
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
        source: "none: must be given, unless starts are laid down or there is a trace",
    },
    Parameter {
        name: "at",
        kind: Kind::Time,
        default: None,
        about: "When the first flow starts, or the first burst: starts are then laid down, not a \
                Poisson process of some load.",
        source: "none: starts are drawn",
    },
    Parameter {
        name: "every",
        kind: Kind::Time,
        default: Some("0ms"),
        about: "With `at`: from one start, or burst, to the next; \"0ms\": all start at once.",
        source: "PDQ 2012, 5.2: all flows at the same time",
    },
    Parameter {
        name: "stagger",
        kind: Kind::Time,
        default: Some("0ms"),
        about: "With `at`: every flow starts later by a random time below this.",
        source: "none: exactly then",
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
        name: "senders",
        kind: Kind::Choice(&["random", "in-turn"]),
        default: Some("random"),
        about: "Who sends next: any of the pattern's senders, or one that has not sent since all \
                have, so that each has as many flows as the others, or one more.",
        source: "none; PDQ 2012, 5.2 has them in turn",
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
        name: "stride",
        kind: Kind::Count { from: 1, to: 1 << 20 },
        default: Some("1"),
        about: "Stride: how much higher the receiver's number is, counted around.",
        source: "PDQ 2012, 5.3: Stride(1) and Stride(N/2)",
    },
    Parameter {
        name: "same_rack",
        kind: Kind::Number { from: 0.0, to: 1.0 },
        default: Some("0.7"),
        about: "Staggered: the probability of a receiver in the sender's own rack.",
        source: "PDQ 2012, 5.3: Staggered Prob(0.7) and Staggered Prob(0.3)",
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

/// The keys that are of a workload as a whole, and `flows` beside them: what parts that do not
/// say how many flows they have share.
pub const WHOLE_KEYS: &[&str] = &["trace", "warm_up_flows", "cool_down_flows"];

/// A part's name.
pub const PART_NAME: Parameter = Parameter {
    name: "name",
    kind: Kind::Text,
    default: None,
    about: "What the part is called in results.",
    source: "none: must be given",
};

/// A part's share of the load.
pub const SHARE: Parameter = Parameter {
    name: "share",
    kind: Kind::Number { from: 0.0, to: 1.0 },
    default: Some("1"),
    about: "The part's share of the workload's `load`. The shares of the parts that have no load of \
            their own add up to 1.",
    source: "none: all of it",
};

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
