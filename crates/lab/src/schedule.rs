//! When the flows of an experiment begin: each at its time, whatever has become of earlier ones.
//!
//! A timer wakes the thread for the next flow while it waits for its connections.

use std::time::Duration;

use flowsched_units::Time;
use flowsched_workload::Flow;
use nix::sys::epoll::{Epoll, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};

use crate::clock::{Clock, to_duration};
use crate::error::LabError;
use crate::played::Starts;

/// Milliseconds that a thread sleeps at most before it looks whether it is to stop.
const LONGEST_SLEEP: u8 = 20;
/// Events handled before flows that are due have their turn.
const BATCH: usize = 64;
/// The word of the timer; connections have smaller ones.
const TIMER: u64 = u64::MAX;
/// The shortest time that a timer is set to: zero would take it off.
const TICK: Duration = Duration::from_nanos(1);

/// The flows of an experiment, in the order in which they begin.
#[derive(Debug)]
pub(crate) struct Schedule<'a> {
    flows: &'a [Flow],
    next: usize,
    clock: Clock,
    timer: TimerFd,
    starts: Starts,
}

impl<'a> Schedule<'a> {
    /// A schedule whose timer `epoll` waits for.
    ///
    /// # Errors
    /// What the system refuses.
    pub(crate) fn new(
        flows: &'a [Flow],
        clock: Clock,
        epoll: &Epoll,
    ) -> Result<Schedule<'a>, LabError> {
        let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, TimerFlags::TFD_NONBLOCK);
        let timer = timer.map_err(refused)?;
        epoll.add(&timer, EpollEvent::new(EpollFlags::EPOLLIN, TIMER)).map_err(refused)?;
        Ok(Schedule { flows, next: 0, clock, timer, starts: Starts::default() })
    }

    /// A flow that is due at `now` and has not begun.
    pub(crate) fn next_due(&mut self, now: Time) -> Option<&'a Flow> {
        let flow = self.flows.get(self.next).filter(|flow| flow.start <= now)?;
        self.next += 1;
        self.starts.note(self.clock.now().saturating_sub(flow.start));
        Some(flow)
    }

    /// How late flows began until now.
    pub(crate) fn starts(&self) -> Starts {
        self.starts
    }

    /// Waits until the next flow is due or connections have news: the words of these connections.
    ///
    /// # Errors
    /// What the system refuses.
    pub(crate) fn wait(&self, epoll: &Epoll) -> Result<Vec<u64>, LabError> {
        self.set_timer()?;
        let mut events = [EpollEvent::empty(); BATCH];
        let count = match epoll.wait(&mut events, EpollTimeout::from(LONGEST_SLEEP)) {
            Ok(count) => count,
            Err(nix::Error::EINTR) => 0,
            Err(error) => return Err(LabError::system("wait for connections", error)),
        };
        let words = events.iter().take(count).map(EpollEvent::data);
        Ok(words.filter(|word| *word != TIMER).collect())
    }

    fn set_timer(&self) -> Result<(), LabError> {
        let Some(flow) = self.flows.get(self.next) else {
            // One that has expired would wake the thread without end.
            return self.timer.unset().map_err(refused);
        };
        let wait = to_duration(flow.start.saturating_sub(self.clock.now())).max(TICK);
        let expiration = Expiration::OneShot(TimeSpec::from_duration(wait));
        self.timer.set(expiration, TimerSetTimeFlags::empty()).map_err(refused)
    }
}

fn refused(error: nix::Error) -> LabError {
    LabError::system("set a timer", error)
}

#[cfg(test)]
mod tests {
    use flowsched_topology::HostId;
    use flowsched_units::Bytes;
    use nix::sys::epoll::EpollCreateFlags;

    use super::*;

    /// A flow from host 0 to host 1.
    fn flow(start: Time) -> Flow {
        Flow::new(0, HostId(0), HostId(1), Bytes::new(1_000), start)
    }

    #[test]
    fn the_timer_wakes_the_thread_for_a_flow_and_never_after_the_last() {
        let epoll = Epoll::new(EpollCreateFlags::empty()).unwrap();
        let flows = [flow(Time::from_ms(1))];
        let clock = Clock::starting_in(Duration::ZERO);
        let mut schedule = Schedule::new(&flows, clock, &epoll).unwrap();
        while schedule.next_due(clock.now()).is_none() {
            assert!(schedule.wait(&epoll).unwrap().is_empty());
        }
        schedule.wait(&epoll).unwrap();
        let mut events = [EpollEvent::empty(); BATCH];
        assert_eq!(epoll.wait(&mut events, EpollTimeout::ZERO).unwrap(), 0);
    }
}
