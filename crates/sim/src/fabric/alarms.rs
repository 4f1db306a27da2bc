//! When the controllers of ports act of themselves, and what they say then.
//!
//! A message enters any port of its switch, even one of an earlier level, which the window has gone through
//! before it comes to the controller's port. A controller therefore says before the window which messages it
//! will send in it ([`Controller::settled_until`], [`Controller::foresee`]), and these are sent at the
//! window's start, with their times. The window ends at the first instant at which a controller may say
//! something that it does not know yet; this is sent at the window's end.

use flowsched_schemes::Packet;
use flowsched_schemes::controller::Controller;
use flowsched_schemes::packet::Header;
use flowsched_units::Time;

use crate::timers::{Armed, Timers};

/// The timer of one port's controller.
#[derive(Debug, Default)]
pub(super) struct Alarm {
    timers: Timers<()>,
    armed: Armed,
    /// How often the timer ran out, and when it last did.
    rung: u64,
    last: Time,
}

/// A message that a controller sends at a time.
pub(super) type Said<H> = (Time, Packet<H>);

impl Alarm {
    /// When the timer runs out next; [`Time::MAX`]: not before a packet comes.
    #[inline]
    pub(super) fn next(&self) -> Time {
        self.timers.first()
    }

    pub(super) fn rung(&self) -> u64 {
        self.rung
    }

    pub(super) fn last(&self) -> Time {
        self.last
    }

    /// Sets the timer to the controller's deadline.
    #[inline]
    pub(super) fn set<H: Header>(&mut self, controller: &impl Controller<H>) {
        self.timers.arm(&mut self.armed, controller.deadline(), ());
    }

    /// Has the controller act as often as it is due before `now`; what it says was foreseen.
    #[inline]
    pub(super) fn catch_up<H: Header>(&mut self, now: Time, controller: &mut impl Controller<H>) {
        while self.next() < now {
            self.ring_once(controller, |_, _| {});
        }
    }

    /// Has the controller act as often as it is due before `end`, and adds what it says to `said`; before
    /// `settled` it was foreseen.
    pub(super) fn ring<H: Header>(
        &mut self,
        end: Time,
        settled: Time,
        controller: &mut impl Controller<H>,
        said: &mut Vec<Said<H>>,
    ) {
        self.catch_up(end.min(settled), controller);
        while self.next() < end {
            self.ring_once(controller, |now, message| said.push((now, message)));
        }
    }

    #[inline(never)]
    fn ring_once<H: Header>(
        &mut self,
        controller: &mut impl Controller<H>,
        mut say: impl FnMut(Time, Packet<H>),
    ) {
        let Some((now, ())) = self.timers.pop() else { return };
        self.rung += 1;
        self.last = now;
        if self.armed.disarm(now) {
            controller.on_timer(now, |message| say(now, message));
            self.set(controller);
        }
    }
}
