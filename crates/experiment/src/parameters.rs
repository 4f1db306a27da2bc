//! The keys of an experiment file before its first table, and the key that names a topology.

use flowsched_units::{Kind, Parameter};

use crate::engine::Engine;

pub(crate) const NAME: Parameter = Parameter {
    name: "name",
    kind: Kind::Text,
    default: None,
    about: "The title of the report; by default the file's name.",
    source: "the project",
};

pub(crate) const SEEDS: Parameter = Parameter {
    name: "seeds",
    kind: Kind::Count { from: 1, to: 1_000_000 },
    default: Some("1"),
    about: "Number of seeds. Every scheme runs the flows of each seed once.",
    source: "the project",
};

pub(crate) const SEED: Parameter = Parameter {
    name: "seed",
    kind: Kind::Count { from: 0, to: 1 << 53 },
    default: Some("1"),
    about: "The first seed; the others follow it.",
    source: "the project",
};

pub(crate) const ENGINE: Parameter = Parameter {
    name: "engine",
    kind: Kind::Choice(Engine::WORDS),
    default: Some("packet"),
    about: "The engine: \"packet\" simulates every packet, \"fluid\" the rates of flows, for \
            networks of up to a hundred thousand hosts.",
    source: "the project",
};

pub(crate) const ORDERS: Parameter = Parameter {
    name: "orders",
    kind: Kind::Text,
    default: None,
    about: "Orders of schemes that a paper states, the lowest FCT first, \"small mean: pias < \
            dctcp; all p99: pias < l2dct < dctcp\". For each two neighbours the results say \
            whether the order holds, is reversed or is undecided.",
    source: "none; the claims of kind order in papers/claims.toml",
};

pub(crate) const LINKS: Parameter = Parameter {
    name: "links",
    kind: Kind::Text,
    default: None,
    about: "Links whose utilisation and queue the summary states. Each has a name, its two ends as \
            in ports.parquet and, optionally, a time: \"bottleneck: switch 0 to host 51 from 10ms \
            to 19ms; uplink: leaf 0 to spine 0\". The figures come from the samples that \
            `sample_interval` takes.",
    source: "the project",
};

pub(crate) const SAMPLE_INTERVAL: Parameter = Parameter {
    name: "sample_interval",
    kind: Kind::Time,
    default: Some("1ms"),
    about: "Time between two samples of every port; \"0us\": one sample, at the end.",
    source: "the project",
};

pub(crate) const UNTIL: Parameter = Parameter {
    name: "until",
    kind: Kind::Time,
    default: None,
    about: "When a run stops, finished or not; by default when all flows have ended.",
    source: "the project",
};

/// The keys before the first table of an experiment file.
pub const PARAMETERS: &[Parameter] =
    &[NAME, SEEDS, SEED, ENGINE, ORDERS, LINKS, SAMPLE_INTERVAL, UNTIL];

/// The key `kind` of a `[topology]` table. The other keys are those of the kind, `routing` and
/// [`flowsched_topology::LOSS`].
pub const KIND: Parameter = Parameter {
    name: "kind",
    kind: Kind::Text,
    default: None,
    about: "Which network.",
    source: "flowsched list topologies",
};
