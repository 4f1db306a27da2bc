//! One round-trip time: every order in which the messages can meet the switches, up to what makes
//! no difference.
//!
//! A message changes the state of the switch that it meets, and what it says itself. Two steps of
//! different messages at different switches therefore commute, and neither prevents the other.
//! [`Orders::Enough`] makes use of that by a *persistent set* (Godefroid, "Partial-Order
//! Methods for the Verification of Concurrent Systems", 1996, chapter 4): in each state only the next
//! steps of some messages are taken, such that no other message will meet, in all that is left of
//! the round, a switch that one of these steps is at. Whatever the others do first comes to the same
//! if it is done after one of these steps, and a message within the set that does a later step has
//! done one of these before. A round always ends, so that every state at its end is still reached
//! (theorem 4.3 there), and what is asked of the flows is asked at the ends of rounds only. The loss
//! of a message is one more next step of that message, at no switch; losing one leaves the others as
//! they are, and a message that could be lost first can be lost later, before it meets its next
//! switch.
//!
//! States within a round are forgotten at its end: only ends are kept.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

use crate::switches::{Direction, Said, Switches};
use crate::topologies::{MOST_FLOWS, MOST_LINKS, Paths};

/// Which orders are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Orders {
    /// Enough of them to get to every end.
    Enough,
    /// All.
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
    /// Switches that each message has met, on its way there and back.
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

/// A hasher that is fast and the same everywhere: sets are only asked what is in them.
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
    /// By flow and by how many switches its message has met: the next one's link.
    next: Vec<Vec<usize>>,
    /// The same: the links of all that it will still meet, a bit each.
    ahead: Vec<Vec<u8>>,
    active: Vec<usize>,
}

impl Course {
    pub fn new(paths: &Paths, active: &[bool]) -> Course {
        let there_and_back = |path: &Vec<usize>| -> Vec<usize> {
            path.iter().chain(path.iter().rev()).copied().collect()
        };
        let next: Vec<Vec<usize>> = paths.iter().map(there_and_back).collect();
        let bits = |links: &[usize]| links.iter().fold(0, |bits, link| bits | (1 << link));
        let ahead = |links: &Vec<usize>| (0..=links.len()).map(|met| bits(&links[met..])).collect();
        let ahead = next.iter().map(ahead).collect();
        Course { next, ahead, active: (0..paths.len()).filter(|flow| active[*flow]).collect() }
    }

    /// The messages whose next steps are taken: a set of flows, a bit each.
    fn chosen(&self, inside: &Inside, orders: Orders) -> u8 {
        let is_pending = |flow: &&usize| self.ahead[**flow][usize::from(inside.met[**flow])] != 0;
        let pending = || self.active.iter().filter(is_pending);
        if orders == Orders::All {
            return pending().fold(0, |all, flow| all | (1 << flow));
        }
        let ahead = |flow: usize| self.ahead[flow][usize::from(inside.met[flow])];
        let next = |flow: usize| self.next[flow][usize::from(inside.met[flow])];
        let with_all_that_matter = |first: &usize| {
            let mut chosen = 1_u8 << first;
            let mut links = 1_u8 << next(*first);
            loop {
                let is_new = |flow: &&usize| chosen & (1 << **flow) == 0;
                let Some(flow) = pending().filter(is_new).find(|flow| ahead(**flow) & links != 0)
                else {
                    return chosen;
                };
                chosen |= 1 << flow;
                links |= 1 << next(*flow);
            }
        };
        pending().map(with_all_that_matter).min_by_key(|chosen| chosen.count_ones()).unwrap_or(0)
    }

    /// The flow's message takes its next step.
    fn step(&self, switches: &mut Switches, inside: &mut Inside, flow: usize) {
        let (met, route) = (usize::from(inside.met[flow]), &self.next[flow]);
        let direction = if met < route.len() / 2 { Direction::There } else { Direction::Back };
        let (link, said) = (route[met], inside.said[flow]);
        let (state, said) = switches.meet(link, inside.links[link], flow, direction, said);
        inside.links[link] = state;
        inside.said[flow] = said;
        inside.met[flow] += 1;
    }

    /// What a round in which messages go one after the other leads to.
    pub fn one_after_the_other(&self, switches: &mut Switches, from: &Rest) -> Rest {
        let mut inside = self.begin(from);
        for flow in &self.active {
            (0..self.next[*flow].len()).for_each(|_| self.step(switches, &mut inside, *flow));
        }
        Rest { links: inside.links, senders: inside.said }
    }

    /// The active flows send their messages.
    fn begin(&self, from: &Rest) -> Inside {
        let Rest { links, senders: mut said } = *from;
        self.active.iter().for_each(|flow| said[*flow] = said[*flow].again());
        Inside { links, has_lost: false, met: [0; MOST_FLOWS], said }
    }

    /// Every way in which a round that begins like this can end, if a message may be lost in it or
    /// none; and how many states there are on the way.
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
            let chosen = self.chosen(&inside, orders);
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
