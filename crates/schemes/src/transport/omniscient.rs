//! The schedule of an omniscient scheduler (PDQ 2012, 3 and 5.2.1). It is not a protocol and sends
//! no packets. The flow-level engine runs its schemes, whichever engine the experiment names.

use flowsched_units::Bytes;

use crate::controller::{ControllerPart, NoController};
use crate::flow_level::{Acknowledgements, FlowLevel, Sharing};
use crate::part::{Part, Role};
use crate::port::{Fifo, PortPart};
use crate::tagger::TaggerPart;
use crate::tagger::none::NoTagger;

/// The omniscient schedule.
#[derive(Clone, Copy, Debug)]
pub struct Omniscient;

impl Omniscient {
    /// The catalogue's entry.
    pub const PART: Part = Part {
        role: Role::Transport,
        name: "omniscient",
        about: "Not a protocol: a scheduler that knows all flows and controls them without delay. \
                It sends no packets: the flow-level engine runs it, without headers, whichever \
                engine the experiment names.",
        source: "PDQ 2012, 3 and 5.2.1",
        parameters: &[],
    };

    /// The parts that it can be combined with. They do nothing to packets.
    pub const BESIDE: [Part; 3] =
        [NoTagger::PART, <Fifo as PortPart>::PART, <NoController as ControllerPart<()>>::PART];

    /// The fluid form: as few late flows as possible, then as little waiting as possible, without
    /// headers.
    pub fn flow_level() -> FlowLevel {
        let nothing = Acknowledgements { size: Bytes::ZERO, packets: 1, same_way_back: false };
        FlowLevel {
            is_omniscient: true,
            header: Bytes::ZERO,
            acknowledgements: nothing,
            gives_up: true,
            ..Sharing::LEAST_TIME_LEFT_FIRST.alone()
        }
    }
}
