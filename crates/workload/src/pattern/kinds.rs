//! The patterns that a workload can name.

use flowsched_topology::Network;
use flowsched_units::{SettingError, Settings};
use rand_chacha::ChaCha8Rng;

use super::parameters::{DEGREE, RECEIVER, SAME_RACK, SENDERS, STRIDE};
use super::rule::{self, Pairs, Rule};

/// A pattern that describes itself.
#[derive(Clone, Copy, Debug)]
pub struct PatternKind {
    /// Its name in the experiment file.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
    /// Who uses it.
    pub source: &'static str,
    /// The keys of [`crate::PARAMETERS`] that mean something to this pattern only.
    pub own_keys: &'static [&'static str],
    /// The rule that the settings describe on a network of at least two hosts.
    pub(super) rule: fn(&Settings, &Network, &mut ChaCha8Rng) -> Result<Rule, SettingError>,
}

/// Every pattern there is.
pub const PATTERNS: &[PatternKind] = &[
    PatternKind {
        name: "all-to-all",
        about: "Every flow is between two hosts drawn at random.",
        source: "PIAS ToN 2017, V-C",
        own_keys: &[SENDERS.name],
        rule: |_, _, _| Ok(Rule::One(Pairs::AllToAll)),
    },
    PatternKind {
        name: "rising",
        about: "Every flow is from a host to one with a higher number; all such pairs are equally \
                likely.",
        source: "PIAS ToN 2017, V-C.4: flows from host i to j with i < j",
        own_keys: &[],
        rule: |_, _, _| Ok(Rule::One(Pairs::Rising)),
    },
    PatternKind {
        name: "falling",
        about: "Every flow is from a host to one with a lower number; all such pairs are equally \
                likely.",
        source: "PIAS ToN 2017, V-C.4",
        own_keys: &[],
        rule: |_, _, _| Ok(Rule::One(Pairs::Falling)),
    },
    PatternKind {
        name: "incast",
        about: "At every arrival, some hosts drawn at random send a flow each to one receiver.",
        source: "Slytherin 2018, V-D",
        own_keys: &[DEGREE.name, RECEIVER.name],
        rule: rule::incast,
    },
    PatternKind {
        name: "permutation",
        about: "Every host sends to a partner of its own, drawn once for the run, and receives \
                from one host.",
        source: "PDQ 2012, 5.3",
        own_keys: &[SENDERS.name],
        rule: rule::permutation,
    },
    PatternKind {
        name: "many-to-one",
        about: "All flows go to one receiver; with `senders = \"in-turn\"` this is PDQ's \
                aggregation.",
        source: "PIAS ToN 2017, V-A: one client fetches from 15 servers",
        own_keys: &[RECEIVER.name, SENDERS.name],
        rule: rule::many_to_one,
    },
    PatternKind {
        name: "stride",
        about: "Host x sends to host x + stride, modulo the number of hosts.",
        source: "PDQ 2012, 5.3",
        own_keys: &[STRIDE.name, SENDERS.name],
        rule: rule::stride,
    },
    PatternKind {
        name: "staggered",
        about: "A host sends to another one in its rack with some probability, otherwise to one \
                in another rack.",
        source: "PDQ 2012, 5.3",
        own_keys: &[SAME_RACK.name, SENDERS.name],
        rule: rule::staggered,
    },
];

/// The names in [`PATTERNS`], for the parameter's kind.
pub(crate) const NAMES: &[&str] = &names();

const fn names() -> [&'static str; PATTERNS.len()] {
    let mut names = [""; PATTERNS.len()];
    let mut index = 0;
    while index < names.len() {
        names[index] = PATTERNS[index].name;
        index += 1;
    }
    names
}
