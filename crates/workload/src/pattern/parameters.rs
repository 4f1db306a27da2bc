//! The parameters that only some patterns know.

#![expect(missing_docs, reason = "`about` documents each parameter")]

use flowsched_units::{Kind, Parameter};

pub const SENDERS: Parameter = Parameter {
    name: "senders",
    kind: Kind::Choice(&["random", "in-turn"]),
    default: Some("random"),
    about: "Who sends next: a random sender of the pattern, or senders that rotate in random \
            order, so that their numbers of flows differ by at most one.",
    source: "none; PDQ 2012, 5.2 has them in turn",
};

pub const DEGREE: Parameter = Parameter {
    name: "degree",
    kind: Kind::Count { from: 1, to: 1 << 20 },
    default: Some("8"),
    about: "Incast: number of hosts that send at once; the last burst has the rest of `flows`.",
    source: "none; Slytherin 2018, V-D has 24, 32 and 40",
};

pub const RECEIVER: Parameter = Parameter {
    name: "receiver",
    kind: Kind::Text,
    default: Some("random"),
    about: "Incast and many-to-one: the receiving host's number, or \"random\": a new one for \
            every burst of incast, one for the run in many-to-one.",
    source: "none",
};

pub const STRIDE: Parameter = Parameter {
    name: "stride",
    kind: Kind::Count { from: 1, to: 1 << 20 },
    default: Some("1"),
    about: "Stride: the receiver's number less the sender's, modulo the number of hosts.",
    source: "PDQ 2012, 5.3: Stride(1) and Stride(N/2)",
};

pub const SAME_RACK: Parameter = Parameter {
    name: "same_rack",
    kind: Kind::Number { from: 0.0, to: 1.0 },
    default: Some("0.7"),
    about: "Staggered: the probability of a receiver in the sender's own rack.",
    source: "PDQ 2012, 5.3: Staggered Prob(0.7) and Staggered Prob(0.3)",
};
