//! Reservations: in the order of their starts, flows with deadlines reserve the rate that they need, and
//! all flows share what is left (Wilson et al., SIGCOMM 2011, as PDQ 2012, 2.1 describes it).

use flowsched_units::Time;

use super::{Allocator, Moment};
use crate::fair::Fair;
use crate::strict::{Criticality, Order, Strict};

/// Reservations, first come, first served, and fair shares of the rest.
#[derive(Clone, Debug)]
pub(crate) struct Reservations {
    reserved: Strict,
    shared: Fair,
    /// How many flows had started before each flow, by slot.
    turns: Vec<u64>,
    started: u64,
    /// Links whose flows ask again.
    touched: Vec<u32>,
    changed: Vec<u32>,
}

struct FirstComeFirstServed<'a> {
    turns: &'a [u64],
    moment: Moment<'a>,
}

impl Order for FirstComeFirstServed<'_> {
    fn criticality(&self, slot: u32) -> Criticality {
        Criticality { deadline: self.turns[slot as usize], size: 0.0, id: slot, path: 0 }
    }

    /// The flow's remaining bits divided by the time to its deadline. Zero without a deadline, or after it.
    fn asked(&self, slot: u32) -> f64 {
        let Moment { now, transfers } = self.moment;
        match transfers.get(slot) {
            Some(transfer) if now < transfer.deadline && transfer.deadline < Time::MAX => {
                let seconds = transfer.deadline.saturating_sub(now).as_secs_f64();
                transfer.left_at(now) / seconds
            }
            _ => 0.0,
        }
    }

    fn moves(&self) -> bool {
        false
    }

    fn gains(&self, behind: (u32, f64), ahead: (u32, f64)) -> bool {
        ahead.1 < behind.1
    }
}

impl Reservations {
    /// Links of these capacities, in bit/s, without flows.
    pub(crate) fn new(capacities: Vec<f64>) -> Reservations {
        Reservations {
            reserved: Strict::new(capacities.clone()),
            shared: Fair::new(capacities, 1),
            turns: Vec::new(),
            started: 0,
            touched: Vec::new(),
            changed: Vec::new(),
        }
    }
}

impl Allocator for Reservations {
    fn start(&mut self, slot: u32, path: &[u32], moment: Moment<'_>) {
        if slot as usize >= self.turns.len() {
            self.turns.resize(slot as usize + 1, 0);
        }
        self.turns[slot as usize] = self.started;
        self.started += 1;
        self.reserved.add(slot, path, &FirstComeFirstServed { turns: &self.turns, moment });
        self.shared.add(slot, path.iter().copied(), 0);
        self.touched.extend(path);
    }

    fn end(&mut self, slot: u32, moment: Moment<'_>) {
        self.touched.extend(self.reserved.path(slot));
        self.reserved.remove(slot, &FirstComeFirstServed { turns: &self.turns, moment });
        self.shared.remove(slot);
    }

    /// The deadline is past. The flow reserves nothing any more, and all flows on its links ask again.
    fn turn(&mut self, slot: u32, _: Moment<'_>) {
        self.touched.extend(self.reserved.path(slot));
    }

    /// Flows ask again when a flow starts, ends or misses its deadline on one of their links. Between these events,
    /// a flow that gets its request keeps needing the same rate.
    fn settle(&mut self, moment: Moment<'_>, mut changed: impl FnMut(u32)) {
        self.touched.sort_unstable();
        self.touched.dedup();
        for &link in &self.touched {
            let slots: Vec<u32> = self.reserved.on(link).map(|(slot, _)| slot).collect();
            slots.into_iter().for_each(|slot| self.reserved.look_at(slot));
        }
        let order = FirstComeFirstServed { turns: &self.turns, moment };
        let (reserved, told) = (&mut self.reserved, &mut self.changed);
        reserved.settle(&order, |slot| told.push(slot));
        let paths = self.changed.iter().map(|slot| self.reserved.path(*slot));
        self.touched.extend(paths.flatten());
        self.touched.sort_unstable();
        self.touched.dedup();
        for link in self.touched.drain(..) {
            self.shared.set_capacity(link, self.reserved.left(link));
        }
        self.changed.drain(..).for_each(&mut changed);
        self.shared.settle(changed);
    }

    fn rate(&self, slot: u32) -> f64 {
        self.reserved.rate(slot) + self.shared.rate(slot)
    }

    fn on(&self, link: u32, tell: impl FnMut(u32)) {
        self.shared.on(link).for_each(tell);
    }

    fn turning_point(&self, slot: u32, moment: Moment<'_>) -> Time {
        let deadline = moment.transfers.get(slot).map_or(Time::MAX, |transfer| transfer.deadline);
        if deadline > moment.now { deadline } else { Time::MAX }
    }
}
