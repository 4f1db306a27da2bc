//! One round-trip time: every order in which the messages can meet the switches, except those that make
//! no difference.
//!
//! A message changes the state of the switch that it meets, and the switch changes what the message
//! says. The order of two messages makes no difference at different switches, and often none at the
//! same one: most messages on their way back change nothing there. [`Orders::Enough`] makes use of
//! that. It looks for a message whose next step has the same result before and after all that the
//! others can still do at its switch in this round ([`Switches::commutes`]). If there is one, only this
//! step is taken.
//!
//! Nothing is missed. However the round goes on, the message takes its next step at some moment. Only
//! steps of other messages come before that. The message's step can be exchanged with each of them, the
//! last one first, so it may as well be taken at once. A round always ends, so every state at its end is still
//! reached, and the properties of flows are checked only at the ends of rounds. (This is a *persistent
//! set* of one message: Godefroid, "Partial-Order Methods for the Verification of Concurrent Systems",
//! 1996, chapter 4.)
//!
//! The loss of a message is one more next step of that message, at no switch. It can be exchanged with
//! all steps of others. Only the number of losses is limited, and this limit is the same in any order.
//! A message whose next step commutes therefore either takes this step or is lost, at once.
//!
//! States within a round are forgotten at its end: only ends are kept.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

use crate::switches::{Direction, Message, Others, Said, Switches};
use crate::topologies::{MOST_FLOWS, MOST_LINKS, Paths};

/// The orders that are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Orders {
    /// Enough orders to get to every end.
    Enough,
    /// All orders.
    All,
}

/// The switches and the senders between two rounds, when nothing is under way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Rest {
    /// The states of the switches, by link.
    pub links: [u16; MOST_LINKS],
    /// What the senders know: whether they may send, and who paused them.
    pub senders: [Said; MOST_FLOWS],
}

/// A step within a round: the flow's message meets the next switch, or is lost.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Step {
    flow: usize,
    is_lost: bool,
}

impl std::fmt::Debug for Step {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}{}", self.flow, if self.is_lost { " lost" } else { "" })
    }
}

/// How a round can end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct End {
    pub rest: Rest,
    pub has_lost: bool,
    /// An order that leads there.
    pub order: Vec<Step>,
}

/// A state within a round.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Inside {
    links: [u16; MOST_LINKS],
    has_lost: bool,
    /// The number of switches that each message has met, on its way there and back.
    met: [u8; MOST_FLOWS],
    said: [Said; MOST_FLOWS],
}

impl std::hash::Hash for Inside {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let word = |low: u64, high: u16| (low << 16) | u64::from(high);
        let links = self.links.iter().fold(u64::from(self.has_lost), |all, link| word(all, *link));
        hasher.write_u64(links);
        let pairs = self.met.iter().zip(&self.said);
        hasher.write_u64(pairs.fold(0, |all, (met, said)| word(all, said.beside(*met))));
    }
}

/// A fast hasher that is the same everywhere. Sets are only asked what is in them, so their order does
/// not matter.
#[derive(Default)]
struct Mixer(u64);

impl Hasher for Mixer {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u64(&mut self, word: u64) {
        let mixed = (self.0 ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ (mixed >> 29);
    }
}

/// Where the messages of a scene go.
pub struct Course {
    /// The link of the next switch, by flow and by the number of switches that its message has met.
    next: Vec<Vec<usize>>,
    active: Vec<usize>,
}

impl Course {
    pub fn new(paths: &Paths, active: &[bool]) -> Course {
        let there_and_back = |path: &Vec<usize>| -> Vec<usize> {
            path.iter().chain(path.iter().rev()).copied().collect()
        };
        let next = paths.iter().map(there_and_back).collect();
        Course { next, active: (0..paths.len()).filter(|flow| active[*flow]).collect() }
    }

    /// The flows whose messages take their next steps, one bit per flow.
    fn chosen(&self, switches: &mut Switches, inside: &Inside, orders: Orders) -> u8 {
        let is_pending = |flow: &&usize| self.links_ahead(inside, **flow).next().is_some();
        let pending = self.active.iter().filter(is_pending);
        if orders == Orders::Enough {
            let mut able = pending.clone();
            if let Some(flow) = able.find(|flow| self.can_be_first(switches, inside, **flow)) {
                return 1 << flow;
            }
        }
        pending.fold(0, |all, flow| all | (1 << flow))
    }

    /// Whether the next step of the flow's message has the same result before and after all that the
    /// others can still do.
    fn can_be_first(&self, switches: &mut Switches, inside: &Inside, flow: usize) -> bool {
        let (link, message) = self.next_step(inside, flow);
        let mut others = Others::default();
        for other in self.active.iter().filter(|other| **other != flow) {
            let meetings = self.links_ahead(inside, *other).filter(|ahead| *ahead == link).count();
            others.add(*other, meetings);
        }
        switches.commutes(link, inside.links[link], message, others)
    }

    /// The links of the switches that the flow's message will still meet.
    fn links_ahead(&self, inside: &Inside, flow: usize) -> impl Iterator<Item = usize> {
        self.next[flow][usize::from(inside.met[flow])..].iter().copied()
    }

    /// The link whose switch the flow's message meets next, and how it gets there.
    fn next_step(&self, inside: &Inside, flow: usize) -> (usize, Message) {
        let (met, route) = (usize::from(inside.met[flow]), &self.next[flow]);
        let direction = if met < route.len() / 2 { Direction::There } else { Direction::Back };
        (route[met], Message { flow, direction, said: inside.said[flow] })
    }

    /// Takes the next step of the flow's message.
    fn step(&self, switches: &mut Switches, inside: &mut Inside, flow: usize) {
        let (link, message) = self.next_step(inside, flow);
        let (state, said) = switches.meet(link, inside.links[link], message);
        inside.links[link] = state;
        inside.said[flow] = said;
        inside.met[flow] += 1;
    }

    /// The state after a round in which messages go one after the other.
    pub fn one_after_the_other(&self, switches: &mut Switches, from: &Rest) -> Rest {
        let mut inside = self.begin(from);
        for flow in &self.active {
            (0..self.next[*flow].len()).for_each(|_| self.step(switches, &mut inside, *flow));
        }
        Rest { links: inside.links, senders: inside.said }
    }

    /// The state in which the active flows have sent their messages.
    fn begin(&self, from: &Rest) -> Inside {
        let Rest { links, senders: mut said } = *from;
        self.active.iter().for_each(|flow| said[*flow] = said[*flow].again());
        Inside { links, has_lost: false, met: [0; MOST_FLOWS], said }
    }

    /// Every way in which a round that begins at `from` can end, and the number of states on the way.
    /// At most one message is lost in it, and none unless `may_lose`.
    pub fn ends(
        &self,
        switches: &mut Switches,
        from: &Rest,
        may_lose: bool,
        orders: Orders,
    ) -> (Vec<End>, usize) {
        let mut known = HashSet::<Inside, BuildHasherDefault<Mixer>>::default();
        let mut open = vec![(self.begin(from), Order::default())];
        let mut ends = Vec::new();
        let mut states = 1;
        while let Some((inside, order)) = open.pop() {
            let chosen = self.chosen(switches, &inside, orders);
            if chosen == 0 {
                let Inside { links, has_lost, said: senders, .. } = inside;
                ends.push(End { rest: Rest { links, senders }, has_lost, order: order.steps() });
                continue;
            }
            let mut reach = |inside: Inside, step| {
                if known.insert(inside) {
                    states += 1;
                    open.push((inside, order.and(step)));
                }
            };
            for flow in (0..MOST_FLOWS).filter(|flow| chosen & (1 << flow) != 0) {
                let mut next = inside;
                self.step(switches, &mut next, flow);
                reach(next, Step { flow, is_lost: false });
                if may_lose && !inside.has_lost {
                    // The sender keeps what it knew.
                    let mut next = Inside { has_lost: true, ..inside };
                    next.met[flow] = self.next[flow].len() as u8;
                    next.said[flow] = from.senders[flow];
                    reach(next, Step { flow, is_lost: true });
                }
            }
        }
        (ends, states)
    }
}

/// The steps so far, three bits each.
#[derive(Clone, Copy, Default)]
struct Order {
    steps: u128,
    count: u32,
}

impl Order {
    fn and(self, step: Step) -> Order {
        let step = (step.flow as u128) | (u128::from(step.is_lost) << 2);
        Order { steps: self.steps | (step << (3 * self.count)), count: self.count + 1 }
    }

    fn steps(self) -> Vec<Step> {
        let step = |at: u32| self.steps >> (3 * at);
        let step = |at| Step { flow: (step(at) & 3) as usize, is_lost: step(at) & 4 != 0 };
        (0..self.count).map(step).collect()
    }
}
