//! Switches as tables: what the flow controller says to a message, found out once for every state
//! that it gets into.
//!
//! The controllers are those that simulations run. What one does depends on what it remembers, on
//! the flow, on the message and on its direction, of which there are few; so it is asked once, and
//! a state is a number from then on.

use std::collections::BTreeMap;

use flowsched_schemes::controller::pdq::comparator::Comparator;
use flowsched_schemes::controller::pdq::flow_controller::{
    FlowControl, FlowController, LinkState, Name,
};
use flowsched_schemes::transport::pdq::{Pauser, PdqHeader};
use flowsched_units::{Rate, Time};

use crate::topologies::{MOST_FLOWS, MOST_LINKS};

const LINK: LinkState = LinkState { capacity: Rate::from_gbps(1), mean_rtt: Time::from_us(200) };

const CONTROL: FlowControl = FlowControl {
    comparator: Comparator::DeadlineThenSize,
    early_start: 2.0,
    probe_spacing: 0.2,
    dampening: 0.0,
    most_flows: 100,
};

/// Whether headers have the field that says who paused a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PauseBy {
    Carried,
    /// A known-bad variant: a paused flow is only known by its rate of zero.
    Missing,
}

/// What a header says beside what is the flow's own: whether the rate is the link's or zero, and
/// who paused the flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Said(u8);

impl Said {
    const COUNT: usize = 2 * (MOST_LINKS + 1);

    fn new(header: &PdqHeader) -> Said {
        let sends = header.rate > Rate::from_bps(0);
        assert!(!sends || header.rate == LINK.capacity, "links accept one flow at a time");
        let is_pauser = |link: &usize| header.paused_by == Some(pauser(*link));
        let pauser = (0..MOST_LINKS).find(is_pauser).map_or(0, |link| link + 1);
        Said((2 * pauser) as u8 + u8::from(sends))
    }

    /// Of a sender that knows this, when it sends its next message: "R_H is always set to the
    /// maximal sending rate" (3.1).
    pub fn again(self) -> Said {
        Said(self.0 | 1)
    }

    /// Together with a small number, as one word.
    pub fn beside(self, number: u8) -> u16 {
        u16::from(self.0) << 8 | u16::from(number)
    }

    pub fn sends(self) -> bool {
        self.0 & 1 == 1
    }

    /// The less critical a flow, the longer it takes; all take many round-trip times.
    fn header(self, flow: usize) -> PdqHeader {
        let pausing = usize::from(self.0 / 2).checked_sub(1);
        PdqHeader {
            rate: if self.sends() { LINK.capacity } else { Rate::from_bps(0) },
            transmission: LINK.mean_rtt * (100 + flow as u64),
            rtt: LINK.mean_rtt,
            paused_by: pausing.map(pauser),
            ..PdqHeader::default()
        }
    }
}

fn pauser(link: usize) -> Pauser {
    Pauser::of_port(link as u32)
}

fn name(flow: usize) -> Name {
    Name { flow: flow as u32, path: 0 }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    There,
    Back,
}

/// What a controller remembers: the flows, whether they may send, and who paused them.
type Remembered = Vec<(u32, Rate, Option<Pauser>)>;

/// One switch: the states that it has been in.
struct Switch {
    states: Vec<FlowController>,
    numbers: BTreeMap<Remembered, u16>,
    /// By state, flow, direction and message.
    answers: Vec<Option<(u16, Said)>>,
}

impl Switch {
    fn new(link: usize) -> Switch {
        let mut switch =
            Switch { states: Vec::new(), numbers: BTreeMap::new(), answers: Vec::new() };
        switch.number(FlowController::new(CONTROL, pauser(link)));
        switch
    }

    fn number(&mut self, controller: FlowController) -> u16 {
        let entries = controller.list().entries().iter();
        let remembered =
            entries.map(|entry| (entry.criticality.flow, entry.rate, entry.paused_by)).collect();
        *self.numbers.entry(remembered).or_insert_with(|| {
            self.states.push(controller);
            let answers = self.states.len() * MOST_FLOWS * 2 * Said::COUNT;
            self.answers.resize(answers, None);
            (self.states.len() - 1) as u16
        })
    }
}

/// All switches; their first state, 0, is that of one that has met no flow.
pub struct Switches {
    switches: Vec<Switch>,
    pause_by: PauseBy,
}

impl Switches {
    pub fn new(pause_by: PauseBy) -> Switches {
        Switches { switches: (0..MOST_LINKS).map(Switch::new).collect(), pause_by }
    }

    /// The flow's message meets the switch of `link`, which is in `state`: the next state, and what
    /// the message says then.
    pub fn meet(
        &mut self,
        link: usize,
        state: u16,
        flow: usize,
        direction: Direction,
        said: Said,
    ) -> (u16, Said) {
        let place = (usize::from(state) * MOST_FLOWS + flow) * 2 + direction as usize;
        let place = place * Said::COUNT + usize::from(said.0);
        if let Some(answer) = self.switches[link].answers[place] {
            return answer;
        }
        let switch = &mut self.switches[link];
        let mut controller = switch.states[usize::from(state)].clone();
        let mut header = said.header(flow);
        match direction {
            Direction::There => {
                controller.on_data(Time::ZERO, name(flow), &mut header, LINK);
            }
            Direction::Back => controller.on_ack(name(flow), &mut header),
        }
        if self.pause_by == PauseBy::Missing && header.paused_by.take().is_some() {
            header.rate = Rate::from_bps(0);
        }
        let answer = (switch.number(controller), Said::new(&header));
        switch.answers[place] = Some(answer);
        answer
    }

    /// The flow ends.
    pub fn end(&mut self, link: usize, state: u16, flow: usize) -> u16 {
        let switch = &mut self.switches[link];
        let mut controller = switch.states[usize::from(state)].clone();
        controller.on_term(name(flow));
        switch.number(controller)
    }
}
