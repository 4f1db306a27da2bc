//! Switches as tables: what the flow controller answers to a message, computed once for every state
//! that it gets into.
//!
//! The controllers are the ones that simulations run. What a controller does depends on what it
//! remembers, on the flow, on the message and on its direction. There are few combinations of these,
//! so the controller is asked once for each, and a state is a number from then on. The tables also
//! show which messages can come to a switch in any order.

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
    link_share: 1.0,
};

/// Whether headers have the field that says who paused a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PauseBy {
    Carried,
    /// A known-bad variant: only its rate of zero shows that a flow is paused.
    Missing,
}

/// What a header says beside the flow's own values: whether the rate is the link's or zero, and who
/// paused the flow.
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

    /// All that a message can say. If headers say who paused a flow, a flow that nobody has paused
    /// has a rate.
    fn all(pause_by: PauseBy) -> impl Iterator<Item = Said> {
        let all = (0..Said::COUNT).map(|said| Said(said as u8));
        all.filter(move |said| pause_by == PauseBy::Missing || *said != Said::default())
    }

    /// What a sender that knows this says in its next message: "R_H is always set to the maximal
    /// sending rate" (3.1).
    pub fn again(self) -> Said {
        Said(self.0 | 1)
    }

    /// This and a small number in one word.
    pub fn beside(self, number: u8) -> u16 {
        u16::from(self.0) << 8 | u16::from(number)
    }

    pub fn sends(self) -> bool {
        self.0 & 1 == 1
    }

    /// The header of a message of the flow. The less critical a flow, the longer it takes; all take
    /// many round-trip times.
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

/// A message on its way.
#[derive(Clone, Copy, Debug)]
pub struct Message {
    pub flow: usize,
    pub direction: Direction,
    pub said: Said,
}

impl Message {
    /// The message's place in tables by state, flow, direction and what is said.
    fn place(self, state: u16) -> usize {
        let place = usize::from(state) * MOST_FLOWS + self.flow;
        (place * 2 + self.direction as usize) * Said::COUNT + usize::from(self.said.0)
    }
}

/// How often each of the other flows can still meet a switch in this round, with one digit of base
/// three for each.
#[derive(Clone, Copy, Debug, Default)]
pub struct Others(usize);

impl Others {
    const COUNT: usize = 3_usize.pow(MOST_FLOWS as u32);

    fn once(flow: usize) -> usize {
        3_usize.pow(flow as u32)
    }

    /// Adds a flow whose message will meet the switch twice (there and back), once (on its way
    /// back), or not at all.
    pub fn add(&mut self, flow: usize, meetings: usize) {
        self.0 += meetings * Others::once(flow);
    }

    /// The direction of the flow's message when it meets the switch next, and the meetings that are
    /// left after that. `None` if it does not meet the switch again.
    fn next(self, flow: usize) -> Option<(Direction, Others)> {
        let direction = match self.0 / Others::once(flow) % 3 {
            0 => return None,
            1 => Direction::Back,
            _ => Direction::There,
        };
        Some((direction, Others(self.0 - Others::once(flow))))
    }
}

/// What a controller remembers: the flows, whether they may send, and who paused them.
type Remembered = Vec<(u32, Rate, Option<Pauser>)>;

/// One switch: the states that it has been in.
struct Switch {
    states: Vec<FlowController>,
    numbers: BTreeMap<Remembered, u16>,
    /// What `meet` returns, by state, flow, direction and message.
    answers: Vec<Option<(u16, Said)>>,
    /// Whether a message has the same result before and after the others that may still come. By
    /// state, flow, direction, message and others.
    commutes: Vec<Option<bool>>,
}

impl Switch {
    fn new(link: usize) -> Switch {
        let mut switch = Switch {
            states: Vec::new(),
            numbers: BTreeMap::new(),
            answers: Vec::new(),
            commutes: Vec::new(),
        };
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
            self.commutes.resize(answers * Others::COUNT, None);
            (self.states.len() - 1) as u16
        })
    }
}

/// All switches. State 0 is that of a switch that has met no flow.
pub struct Switches {
    switches: Vec<Switch>,
    pause_by: PauseBy,
}

impl Switches {
    pub fn new(pause_by: PauseBy) -> Switches {
        Switches { switches: (0..MOST_LINKS).map(Switch::new).collect(), pause_by }
    }

    /// Lets the message meet the switch of `link`, which is in `state`. Returns the next state, and
    /// what the message says then.
    pub fn meet(&mut self, link: usize, state: u16, message: Message) -> (u16, Said) {
        let place = message.place(state);
        if let Some(answer) = self.switches[link].answers[place] {
            return answer;
        }
        let switch = &mut self.switches[link];
        let mut controller = switch.states[usize::from(state)].clone();
        let mut header = message.said.header(message.flow);
        match message.direction {
            Direction::There => {
                controller.on_data(Time::ZERO, name(message.flow), &mut header, LINK);
            }
            Direction::Back => controller.on_ack(name(message.flow), &mut header),
        }
        if self.pause_by == PauseBy::Missing && header.paused_by.take().is_some() {
            header.rate = Rate::from_bps(0);
        }
        let said = Said::new(&header);
        assert!(Said::all(self.pause_by).any(|possible| possible == said), "{said:?}");
        let answer = (switch.number(controller), said);
        switch.answers[place] = Some(answer);
        answer
    }

    /// Whether the result is the same if the message meets the switch before and after `others`,
    /// whatever they say, in whatever order they come and however many of them. Each of them is
    /// tried in each state that they can bring the switch into.
    pub fn commutes(&mut self, link: usize, state: u16, message: Message, others: Others) -> bool {
        let place = message.place(state) * Others::COUNT + others.0;
        if let Some(commutes) = self.switches[link].commutes[place] {
            return commutes;
        }
        let commutes = (0..MOST_FLOWS).all(|flow| {
            let Some((direction, others)) = others.next(flow) else { return true };
            Said::all(self.pause_by).all(|said| {
                let other = Message { flow, direction, said };
                let (after, _) = self.meet(link, state, other);
                self.can_be_exchanged(link, state, message, other)
                    && self.commutes(link, after, message, others)
            })
        });
        self.switches[link].commutes[place] = Some(commutes);
        commutes
    }

    /// Whether both messages get the same answers and the switch remembers the same, whichever
    /// comes first.
    fn can_be_exchanged(&mut self, link: usize, state: u16, one: Message, other: Message) -> bool {
        let (after_one, one_hears) = self.meet(link, state, one);
        let (after_other, other_hears) = self.meet(link, state, other);
        let (after_both, one_hears_then) = self.meet(link, after_other, one);
        one_hears == one_hears_then
            && (after_both, other_hears) == self.meet(link, after_one, other)
    }

    /// Ends the flow. Returns the next state.
    pub fn end(&mut self, link: usize, state: u16, flow: usize) -> u16 {
        let switch = &mut self.switches[link];
        let mut controller = switch.states[usize::from(state)].clone();
        controller.on_term(name(flow));
        switch.number(controller)
    }
}
