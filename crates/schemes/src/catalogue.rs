//! The parts there are, with their parameters: what `flowsched list schemes` prints and what
//! an experiment file may say.

use flowsched_units::Parameter;

use crate::{controller, flow_level, port, tagger, transport};

/// Which of the four parts of a scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// The priority that a packet carries.
    Tagger,
    /// When and how fast to send.
    Transport,
    /// Which packet goes next, which is marked, which is dropped.
    Port,
    /// What the switch tells the hosts.
    Controller,
}

impl Role {
    /// All four, in the order in which a packet meets them.
    pub const ALL: [Role; 4] = [Role::Tagger, Role::Transport, Role::Port, Role::Controller];

    /// The key in a `[[scheme]]` table.
    pub const fn key(self) -> &'static str {
        match self {
            Role::Tagger => "tagger",
            Role::Transport => "transport",
            Role::Port => "port",
            Role::Controller => "controller",
        }
    }
}

/// One choice for one of the four parts.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// What it is a choice for.
    pub role: Role,
    /// Its name in an experiment file.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub about: &'static str,
    /// The paper's section or the RFC.
    pub source: &'static str,
    /// The keys that it adds to a `[[scheme]]` table, in groups that parts share.
    pub parameters: &'static [&'static [Parameter]],
}

impl Part {
    /// The keys that it adds to a `[[scheme]]` table.
    pub fn parameters(&self) -> impl Iterator<Item = &'static Parameter> {
        self.parameters.iter().copied().flatten()
    }
}

/// All parts.
pub const PARTS: &[Part] = &[
    tagger::none::PART,
    tagger::mlfq::PART,
    tagger::size_known::PART,
    tagger::bytes_sent::PART,
    tagger::remaining::PART,
    tagger::priority_mapper::PART,
    transport::RENO,
    transport::ECN_STAR,
    transport::DCTCP,
    transport::L2DCT,
    transport::D2TCP,
    transport::pdq::settings::PART,
    transport::pdq::multipath::settings::PART,
    transport::d3::settings::D3,
    transport::d3::settings::RCP,
    flow_level::OMNISCIENT,
    port::FIFO,
    port::STRICT_PRIORITY,
    port::WEIGHTED_ROUND_ROBIN,
    port::SLYTHERIN,
    port::PFABRIC,
    NO_CONTROLLER,
    controller::epn::PART,
    controller::pdq::PART,
    controller::d3::PART,
];

const NO_CONTROLLER: Part = Part {
    role: Role::Controller,
    name: "none",
    about: "Switches tell the hosts nothing but ECN marks.",
    source: "PIAS ToN 2017, III-B.2",
    parameters: &[],
};

/// The part of that role and name.
pub fn part(role: Role, name: &str) -> Option<&'static Part> {
    PARTS.iter().find(|part| part.role == role && part.name == name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use flowsched_units::Settings;

    use super::*;

    #[test]
    fn every_default_is_of_its_kind_and_every_name_is_unique() {
        let mut names = BTreeSet::new();
        for part in PARTS {
            Settings::defaults(part.parameters());
            assert!(names.insert((part.role.key(), part.name)), "{} twice", part.name);
            for parameter in part.parameters() {
                assert!(!parameter.source.is_empty(), "{} has no source", parameter.name);
            }
        }
    }
}
