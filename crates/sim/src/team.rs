//! The threads of one run, each of which simulates a part of the network.
//!
//! All threads go through the same windows of time. What one part does in a window reaches another part
//! in a later window or at a [`Meeting`], with one exception: at the instant at which a sender ends, its
//! receiver forgets the flow. Packets that come to the receiver later are copies, so this seldom
//! matters. Where it does, the receiver's part waits until the sender's part has reached the same turn
//! ([`Team::has_ended`]).
//!
//! This module has what threads tell each other about times and about flows that end. Packets that
//! change parts are in `fabric::crossing`.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::available_parallelism;

use flowsched_schemes::world::PortSample;
use flowsched_topology::{HostId, PortId};
use flowsched_units::Time;

use crate::division::Division;
use crate::meeting::Meeting;
use crate::share::add_samples;
use crate::timers::Side;

/// State that all threads of a run share.
#[derive(Debug)]
pub(crate) struct Company {
    pub(crate) division: Division,
    meeting: Meeting,
    /// The turn of each part, before which everything has happened there.
    positions: Vec<Mutex<Turn>>,
    /// For each part, the flows with a receiver there and a sender elsewhere that have ended since the
    /// part last asked.
    endings: Vec<Mutex<Vec<Ending>>>,
    /// The last samples of each part.
    samples: Vec<Mutex<Vec<PortSample>>>,
}

/// A flow's sender has ended.
#[derive(Clone, Copy, Debug)]
struct Ending {
    flow: u32,
    turn: Turn,
}

/// The place of an event of hosts in the order of all such events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Turn {
    pub(crate) at: Time,
    pub(crate) cause: Cause,
}

/// The cause of an event of hosts. Of events at the same time, the one whose cause is first in this list
/// comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Cause {
    /// A packet that arrives over the link behind this port.
    Arrival(PortId),
    /// A flow that starts.
    Start(u32),
    /// A timer of a flow or a host.
    Timer(u32, Side),
}

impl Default for Cause {
    fn default() -> Cause {
        Cause::Arrival(PortId(0))
    }
}

/// One thread's place in its team. A run on one thread is a team of one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Team<'a> {
    company: Option<&'a Company>,
    part: usize,
}

impl Company {
    pub(crate) fn new(division: Division) -> Company {
        let parts = division.parts;
        Company {
            meeting: Meeting::new(parts, looks(parts)),
            positions: (0..parts).map(|_| Mutex::default()).collect(),
            endings: (0..parts).map(|_| Mutex::default()).collect(),
            samples: (0..parts).map(|_| Mutex::default()).collect(),
            division,
        }
    }

    /// A place for each part.
    pub(crate) fn places(&self) -> impl Iterator<Item = Team<'_>> {
        (0..self.division.parts).map(|part| Team { company: Some(self), part })
    }
}

impl<'a> Team<'a> {
    /// A thread that simulates the whole network.
    pub(crate) fn alone() -> Team<'a> {
        Team { company: None, part: 0 }
    }

    /// The number of the thread's part.
    pub(crate) fn part(&self) -> usize {
        self.part
    }

    /// The parts of the network, if there are several.
    pub(crate) fn division(&self) -> Option<&'a Division> {
        self.company.map(|company| &company.division)
    }

    /// Whether this thread does what only one thread has to do.
    pub(crate) fn leads(&self) -> bool {
        self.part == 0
    }

    /// Whether the host is in the thread's part.
    #[inline]
    pub(crate) fn has(&self, host: HostId) -> bool {
        self.company.is_none_or(|company| company.division.of_host(host) == self.part)
    }

    /// Waits for the other threads. Afterwards, all see what any of them did before. Returns
    /// [`ControlFlow::Break`] if the run is to stop.
    pub(crate) fn meet(&self) -> ControlFlow<()> {
        self.company.map_or(ControlFlow::Continue(()), |company| company.meeting.wait())
    }

    /// Waits for the other threads. Returns the earliest time of all threads for each place in `times`;
    /// [`Time::MAX`] if the run is to stop.
    pub(crate) fn earliest<const N: usize>(&self, times: [Time; N]) -> [Time; N] {
        self.company.map_or(times, |company| {
            let least = company.meeting.least(self.part, times.map(Time::as_ps));
            least.map_or([Time::MAX; N], |least| least.map(Time::from_ps))
        })
    }

    /// Waits for the other threads. Returns the latest time of all threads, or `time` if the run is to
    /// stop.
    pub(crate) fn latest(&self, time: Time) -> Time {
        self.company.map_or(time, |company| {
            let least = company.meeting.least(self.part, [!time.as_ps()]);
            least.map_or(time, |[least]| Time::from_ps(!least))
        })
    }

    /// Stops the run: no thread waits any more.
    pub(crate) fn stop(&self) {
        if let Some(company) = self.company {
            company.meeting.end();
        }
    }

    /// Gives the leader the samples of all parts. Returns [`ControlFlow::Break`] if the run is to stop.
    pub(crate) fn gather_samples(&self, samples: &mut Vec<PortSample>) -> ControlFlow<()> {
        let Some(company) = self.company else { return ControlFlow::Continue(()) };
        if !self.leads() {
            lock(&company.samples[self.part]).clone_from(samples);
        }
        self.meet()?;
        if self.leads() {
            for of_part in &company.samples[1..] {
                add_samples(samples, &lock(of_part));
            }
        }
        ControlFlow::Continue(())
    }

    /// Tells the other threads that the hosts of this part have done everything before `time`.
    pub(crate) fn reach(&self, time: Time) {
        self.come_to(Turn { at: time, ..Turn::default() });
    }

    fn come_to(&self, turn: Turn) {
        if let Some(company) = self.company {
            *lock(&company.positions[self.part]) = turn;
            company.meeting.wake();
        }
    }

    /// Tells another part that a flow has ended whose receiver is there, at `to`.
    pub(crate) fn tell_ending(&self, flow: u32, to: HostId, turn: Turn) {
        if let Some(company) = self.company {
            let part = company.division.of_host(to);
            lock(&company.endings[part]).push(Ending { flow, turn });
        }
    }

    /// Hands `ended` the flows that ended in other parts before the last meeting. Their receivers are in
    /// this part.
    pub(crate) fn hear_endings(&self, mut ended: impl FnMut(u32)) {
        if let Some(company) = self.company {
            lock(&company.endings[self.part]).drain(..).for_each(|ending| ended(ending.flow));
        }
    }

    /// Whether a flow whose sender is at `from`, in another part, has ended before `turn`, the turn of an event
    /// at its receiver. Waits until that part has reached `turn`. Threads that wait for each other are at
    /// different turns, so the thread with the earliest turn always goes on.
    #[cold]
    #[inline(never)]
    pub(crate) fn has_ended(&self, flow: u32, from: HostId, turn: Turn) -> bool {
        let Some(company) = self.company else { return false };
        self.come_to(turn);
        let position = &company.positions[company.division.of_host(from)];
        let is_over = company.meeting.wait_until(|| *lock(position) >= turn).is_break();
        let is_it = |ending: &Ending| ending.flow == flow && ending.turn < turn;
        is_over || lock(&company.endings[self.part]).iter().any(is_it)
    }
}

/// The number of times that a thread looks for the others before it sleeps. A window of time is some
/// hundred microseconds of work, about as much as these looks take. If there are more threads than
/// processors, looking keeps others from working.
fn looks(threads: usize) -> u32 {
    let processors = available_parallelism().map_or(1, NonZeroUsize::get);
    if threads > processors { 0 } else { 1 << 12 }
}

/// Takes the lock even if a thread has panicked with it: the panic resumes where threads are joined.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
