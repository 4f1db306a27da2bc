//! The parameters of workloads.

#![expect(missing_docs, reason = "`about` documents each parameter")]

use flowsched_units::{Kind, PacketMeaning, Parameter};

use crate::pattern::kinds;
pub use crate::pattern::parameters::{DEGREE, RECEIVER, SAME_RACK, SENDERS, STRIDE};

pub const SIZES: Parameter = Parameter {
    name: "sizes",
    kind: Kind::Text,
    default: None,
    about: "Flow sizes: a built-in name, a form such as \"fixed 20KB\", or a CDF file.",
    source: "none: must be given, unless there is a trace",
};

pub const LOAD: Parameter = Parameter {
    name: "load",
    kind: Kind::Number { from: 0.0, to: 1.0 },
    default: None,
    about: "Data on the wire, 1500 B a full packet, as a share of what the links of `load_of` \
            can carry: over 0, at most 1. Acknowledgements do not count.",
    source: "none: must be given, unless start times are fixed or there is a trace",
};

pub const AT: Parameter = Parameter {
    name: "at",
    kind: Kind::Time,
    default: None,
    about: "Start time of the first flow or burst. Start times are then fixed instead of random.",
    source: "none: starts are drawn",
};

pub const EVERY: Parameter = Parameter {
    name: "every",
    kind: Kind::Time,
    default: Some("0ms"),
    about: "With `at`: time from one flow or burst to the next; \"0ms\": all start at once.",
    source: "PDQ 2012, 5.2: all flows at the same time",
};

pub const STAGGER: Parameter = Parameter {
    name: "stagger",
    kind: Kind::Time,
    default: Some("0ms"),
    about: "With `at`: each flow starts later by a random time below this.",
    source: "none: exactly then",
};

pub const TRACE: Parameter = Parameter {
    name: "trace",
    kind: Kind::Text,
    default: None,
    about: "A CSV file of flows that replaces random flows; its columns are \
            start_s,src,dst,size_bytes and, optionally, deadline_s.",
    source: "none: flows are drawn",
};

pub const PATTERN: Parameter = Parameter {
    name: "pattern",
    kind: Kind::Choice(kinds::NAMES),
    default: Some("all-to-all"),
    about: "Who sends to whom.",
    source: "PIAS ToN 2017, V-C",
};

pub const LOAD_OF: Parameter = Parameter {
    name: "load_of",
    kind: Kind::Choice(&["hosts", "core"]),
    default: Some("hosts"),
    about: "The links that the load refers to: the busiest host links (the receiver's if all flows \
            go to one host), or the links between switches, on average.",
    source: "PIAS ToN 2017, V-C",
};

pub const FLOWS: Parameter = Parameter {
    name: "flows",
    kind: Kind::Count { from: 1, to: 100_000_000 },
    default: Some("10000"),
    about: "Number of flows.",
    source: "none; PIAS ToN 2017, V-C runs 100000",
};

pub const WARM_UP_FLOWS: Parameter = Parameter {
    name: "warm_up_flows",
    kind: Kind::Count { from: 0, to: 100_000_000 },
    default: Some("0"),
    about: "This many first flows are simulated but not measured.",
    source: "none: every flow counts",
};

pub const COOL_DOWN_FLOWS: Parameter = Parameter {
    name: "cool_down_flows",
    kind: Kind::Count { from: 0, to: 100_000_000 },
    default: Some("0"),
    about: "This many last flows are simulated but not measured.",
    source: "none: every flow counts",
};

pub const DEADLINES: Parameter = Parameter {
    name: "deadlines",
    kind: Kind::Text,
    default: Some("none"),
    about: "Time from a flow's start to its deadline: \"none\", or a form such as \"exponential \
            20ms 3ms\".",
    source: "none; PDQ 2012, 5.1 has \"exponential 20ms 3ms\"",
};

pub const DEADLINE_SIZES_FROM: Parameter = Parameter {
    name: "deadline_sizes_from",
    kind: Kind::Size(PacketMeaning::Payload),
    default: Some("0B"),
    about: "Smaller flows have no deadline.",
    source: "none: flows of every size",
};

pub const DEADLINE_SIZES_BELOW: Parameter = Parameter {
    name: "deadline_sizes_below",
    kind: Kind::Size(PacketMeaning::Payload),
    default: Some("unlimited"),
    about: "Flows of this size, and larger ones, have no deadline.",
    source: "none; PDQ 2012, 5.3 has 40KB",
};

pub const APPLICATION_RATE: Parameter = Parameter {
    name: "application_rate",
    kind: Kind::Rate,
    default: None,
    about: "Rate at which the application of each flow hands over payload, from the flow's start on. \
            Senders send no more than was handed over. Needs a transport that is TCP, and \
            `engine = \"packet\"`.",
    source: "none: all at once; EPN 2018, IV-D discusses such flows",
};

pub const SERVED_BY: Parameter = Parameter {
    name: "served_by",
    kind: Kind::Choice(&["memcached"]),
    default: None,
    about: "What serves the flows in the lab. With \"memcached\", each flow is a value that its receiver \
            gets from a real memcached on its sender. In a simulation they are plain flows.",
    source: "none: the hosts; PIAS ToN 2017, V-A has memcached",
};

pub const SIZE_PARTS: Parameter = Parameter {
    name: "size_parts",
    kind: Kind::Text,
    default: None,
    about: "Divides the flows into parts of the results by size: names with sizes between them. With \
            \"short 40KB long\", flows below 40 KB are the part `short` and all others the part `long`.",
    source: "none: no such parts; PDQ 2012, 5.3 has short and long flows",
};

/// The keys of `[workload]`. Of those without a default, `sizes` and one of `load` and `at` must be
/// given, or `trace` in their place. The keys that only some patterns know are in
/// [`crate::PatternKind::own_keys`]. Parts have all keys except [`WHOLE_KEYS`], and also
/// [`PART_NAME`] and [`SHARE`].
pub const PARAMETERS: &[Parameter] = &[
    SIZES,
    LOAD,
    AT,
    EVERY,
    STAGGER,
    TRACE,
    PATTERN,
    LOAD_OF,
    FLOWS,
    WARM_UP_FLOWS,
    COOL_DOWN_FLOWS,
    SENDERS,
    DEGREE,
    RECEIVER,
    STRIDE,
    SAME_RACK,
    DEADLINES,
    DEADLINE_SIZES_FROM,
    DEADLINE_SIZES_BELOW,
    APPLICATION_RATE,
    SERVED_BY,
    SIZE_PARTS,
];

/// The keys that only a workload as a whole has. Besides them, the whole has `flows`, which the
/// parts without `flows` of their own share.
pub const WHOLE_KEYS: &[&str] =
    &[TRACE.name, WARM_UP_FLOWS.name, COOL_DOWN_FLOWS.name, SIZE_PARTS.name];

/// A part's name.
pub const PART_NAME: Parameter = Parameter {
    name: "name",
    kind: Kind::Text,
    default: None,
    about: "The part's name in results.",
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
        assert_eq!(settings.text(&PATTERN), "all-to-all");
        for key in PATTERNS.iter().flat_map(|pattern| pattern.own_keys) {
            assert!(PARAMETERS.iter().any(|parameter| parameter.name == *key), "{key}");
        }
    }
}
