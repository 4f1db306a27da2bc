//! The timers of controllers, and the messages that controllers send when timers run out.
//!
//! A message may enter any port of its switch, even one of an earlier level, which is served before the
//! controller's own port. A controller therefore tells before a window which messages it will send in the
//! window ([`Controller::settled_until`], [`Controller::foresee`]). These enter their ports at the window's
//! start, with the times at which they are sent. The window ends at the first instant at which a controller
//! may send a message that it does not know yet. Such a message enters its port at the window's end.

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
    /// The number of times that the timer ran out, and the last of them.
    rung: u64,
    last: Time,
}

/// A message of a controller, and when it is sent.
pub(super) type Said<H> = (Time, Packet<H>);

impl Alarm {
    /// When the timer runs out next: [`Time::MAX`] if it does not before a packet comes.
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

    /// Runs the timer each time that it runs out before `now`. The messages were foreseen.
    #[inline]
    pub(super) fn catch_up<H: Header>(&mut self, now: Time, controller: &mut impl Controller<H>) {
        while self.next() < now {
            self.ring_once(controller, |_, _| {});
        }
    }

    /// Runs the timer each time that it runs out before `end`. Messages before `settled` were foreseen; adds the
    /// others to `said`.
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
