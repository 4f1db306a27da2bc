//! When the flows of an experiment begin. Each begins at its time, whether or not earlier ones have
//! ended.
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

/// The longest time that a thread sleeps before it checks whether to stop, in milliseconds.
const LONGEST_SLEEP: u8 = 20;
/// The most events that are handled before the flows that are due begin.
const BATCH: usize = 64;
/// The epoll word of the timer. Connections have smaller words.
const TIMER: u64 = u64::MAX;
/// The shortest time that a timer is set to. Zero would disarm it.
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
    /// A schedule with a timer that `epoll` waits for.
    ///
    /// # Errors
    /// If the system refuses a request.
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

    /// Returns the next flow if it is due at `now`, and counts it as begun.
    pub(crate) fn next_due(&mut self, now: Time) -> Option<&'a Flow> {
        let flow = self.flows.get(self.next).filter(|flow| flow.start <= now)?;
        self.next += 1;
        self.starts.note(self.clock.now().saturating_sub(flow.start));
        Some(flow)
    }

    /// How late the flows until now began.
    pub(crate) fn starts(&self) -> Starts {
        self.starts
    }

    /// Waits until the next flow is due or connections have events. Returns the words of these
    /// connections.
    ///
    /// # Errors
    /// If the system refuses a request.
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
            // An expired timer would wake the thread again and again.
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
