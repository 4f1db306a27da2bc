//! Words that stand for ways to share links, in place of the fluid form of a scheme's parts.

use flowsched_units::{Kind, Parameter, SettingError};

use crate::flow_level::{FlowLevel, Sharing};
use crate::transport::d3::D3Header;
use crate::transport::omniscient::Omniscient;
use crate::transport::pdq;

/// The key of a `[[scheme]]` table that replaces the fluid form of its parts.
pub const DISCIPLINE: Parameter = Parameter {
    name: "discipline",
    kind: Kind::Choice(WORDS),
    default: None,
    about: "With engine = \"fluid\": how flows share links, instead of the discipline that follows \
            from the parts.",
    source: "PDQ 2012, 5.5",
};

/// A word of [`DISCIPLINE`].
#[derive(Clone, Copy, Debug)]
pub struct Discipline {
    /// The word.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
    /// Where it is from.
    pub source: &'static str,
    /// The fluid form that it stands for.
    flow_level: fn() -> FlowLevel,
}

const WORDS: &[&str] = &["max-min", "rcp", "las", "sjf", "srpt", "edf", "pdq", "d3", "optimal"];

/// All disciplines.
pub const DISCIPLINES: &[Discipline] = &[
    Discipline {
        name: "max-min",
        about: "Max-min fair sharing at once: what TCP aims at, without its windows.",
        source: "Bertsekas and Gallager, Data Networks, 6.5.2",
        flow_level: || Sharing::MaxMin.alone(),
    },
    Discipline {
        name: "rcp",
        about: "Max-min fair sharing, after a round trip in which switches learn of the flow.",
        source: "PDQ 2012, 5.1: RCP with exact flow counts",
        flow_level: || Sharing::MaxMin.by_request::<D3Header>(),
    },
    Discipline {
        name: "las",
        about: "Least attained service: 64 classes by bytes sent, each up to a quarter more than \
                the one before, from 1460 B to 1.5 GB.",
        source: "PIAS ToN 2017, V-C.1",
        flow_level: || Sharing::least_attained().alone(),
    },
    Discipline {
        name: "sjf",
        about: "The smallest flow first; each flow takes what the flows before it leave.",
        source: "PDQ 2012, 2.1",
        flow_level: || Sharing::SHORTEST_FIRST.alone(),
    },
    Discipline {
        name: "srpt",
        about: "The flow with the least left to send first.",
        source: "Alizadeh et al., SIGCOMM 2013",
        flow_level: || Sharing::SHORTEST_REMAINING_FIRST.alone(),
    },
    Discipline {
        name: "edf",
        about: "The flow with the earliest deadline first, then the smallest; flows without a \
                deadline last.",
        source: "PDQ 2012, 2.1",
        flow_level: || Sharing::EARLIEST_DEADLINE_FIRST.alone(),
    },
    Discipline {
        name: "pdq",
        about: "The earliest deadline first, then the least left to send; after a round trip, with \
                a header of 16 B per packet. Flows that cannot meet their deadlines are given up.",
        source: "PDQ 2012, 3 and 5.5",
        flow_level: pdq::by_critical_flows,
    },
    Discipline {
        name: "d3",
        about: "Flows reserve the rates that meet their deadlines, first come, first served, and \
                all share the rest; after a round trip.",
        source: "Wilson et al., SIGCOMM 2011; PDQ 2012, 2.1",
        flow_level: || Sharing::Reservations.by_request::<D3Header>(),
    },
    Discipline {
        name: "optimal",
        about: "An omniscient schedule without headers: the earliest deadline first, then the flow \
                that needs the least time. On one bottleneck no schedule meets more deadlines of \
                flows that start together, and none has a lower mean FCT without deadlines; \
                elsewhere it is a heuristic.",
        source: "PDQ 2012, 3 and 5.2.1",
        flow_level: Omniscient::flow_level,
    },
];

/// The fluid form that a word of [`DISCIPLINE`] stands for.
///
/// # Errors
/// If there is no such word.
pub(crate) fn flow_level(word: &str) -> Result<FlowLevel, SettingError> {
    let known = DISCIPLINES.iter().find(|discipline| discipline.name == word);
    known
        .map(|discipline| (discipline.flow_level)())
        .ok_or_else(|| SettingError::new(DISCIPLINE.name, word, WORDS.join(", ")))
}

#[test]
fn every_discipline_is_a_word_of_the_key() {
    assert!(DISCIPLINES.iter().map(|discipline| discipline.name).eq(WORDS.iter().copied()));
}
