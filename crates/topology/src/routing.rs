//! How a packet's port is chosen among equal-cost ones: the words, not the choosing.

use flowsched_units::{Kind, Parameter};

/// The choice among equal-cost ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Routing {
    /// By a seeded hash of the flow: all its packets take one path.
    Ecmp,
    /// Packet by packet.
    Spray,
}

/// The parameter `routing`, which every topology has beside its own.
pub const ROUTING: Parameter = Parameter {
    name: "routing",
    kind: Kind::Choice(&["ecmp", "spray"]),
    default: Some("ecmp"),
    about: "How a packet's path is chosen among equal ones: by a hash of its flow, or packet by \
            packet.",
    source: "RFC 2992; PIAS ToN 2017, V-C sprays",
};

impl Routing {
    /// The routing that the word stands for.
    pub fn from_word(word: &str) -> Option<Routing> {
        match word {
            "ecmp" => Some(Routing::Ecmp),
            "spray" => Some(Routing::Spray),
            _ => None,
        }
    }

    /// The word for it in an experiment file.
    pub const fn word(self) -> &'static str {
        match self {
            Routing::Ecmp => "ecmp",
            Routing::Spray => "spray",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_stands_for_a_routing() {
        let Kind::Choice(words) = ROUTING.kind else { panic!("routing is a choice") };
        for word in words {
            assert_eq!(Routing::from_word(word).map(Routing::word), Some(*word));
        }
        assert_eq!(Routing::from_word("shortest"), None);
    }
}
