//! The traffic: an experiment's flows as real TCP connections between the hosts.
//!
//! One thread plays all hosts. A flow begins when the experiment says, whatever happened to earlier
//! ones, and its completion time counts from there: a late start makes no flow look shorter.
//! A flow has arrived when its receiver has read its last byte. It has ended at the sender when the
//! kernel reports that this byte is acknowledged.
//!
//! What may not live here: namespaces, and what happens to packets between the hosts.

mod connection;
mod pool;

use std::sync::atomic::Ordering;

use flowsched_schemes::world::{FlowOutcome, Progress};
use flowsched_units::Time;
use flowsched_workload::Flow;
use nix::sys::epoll::{EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};

use crate::clock::{Clock, to_duration};
use crate::error::LabError;
use crate::hosts::Hosts;
use connection::News;
pub use connection::{Manners, Tags};
use pool::Pool;

/// Milliseconds that the generator sleeps at most before it looks whether it is to stop.
const LONGEST_SLEEP: u8 = 20;
/// Events handled before flows that are due have their turn.
const BATCH: usize = 64;
/// The word of the timer; connections have smaller ones.
const TIMER: u64 = u64::MAX;

/// Plays the flows of an experiment.
#[derive(Debug)]
pub struct Traffic<'a> {
    flows: &'a [Flow],
    next: usize,
    pool: Pool<'a>,
    clock: Clock,
    timer: TimerFd,
    outcomes: Vec<FlowOutcome>,
    ended: usize,
    /// The latest that a flow began after it should have.
    latest: Time,
}

impl<'a> Traffic<'a> {
    /// Opens the connections that are there from the start.
    ///
    /// # Errors
    /// What the system refuses.
    pub fn new(
        flows: &'a [Flow],
        hosts: &'a Hosts,
        manners: Manners,
        clock: Clock,
    ) -> Result<Traffic<'a>, LabError> {
        let refused = |error: nix::Error| LabError::system("set a timer", error);
        let mut pool = Pool::new(hosts, manners)?;
        let timer =
            TimerFd::new(ClockId::CLOCK_MONOTONIC, TimerFlags::TFD_NONBLOCK).map_err(refused)?;
        pool.epoll().add(&timer, EpollEvent::new(EpollFlags::EPOLLIN, TIMER)).map_err(refused)?;
        pool.open_first(flows)?;
        Ok(Traffic {
            flows,
            next: 0,
            pool,
            clock,
            timer,
            outcomes: vec![FlowOutcome::default(); flows.len()],
            ended: 0,
            latest: Time::ZERO,
        })
    }

    /// Plays all flows to their ends, or until `progress` says to stop or `until` comes: what became of
    /// each, and by how much the latest of them began too late.
    ///
    /// # Errors
    /// What the system says of a connection.
    pub fn play(
        mut self,
        until: Time,
        progress: &Progress,
    ) -> Result<(Vec<FlowOutcome>, Time), LabError> {
        let mut events = [EpollEvent::empty(); BATCH];
        while self.ended < self.flows.len() && !progress.stop.load(Ordering::Relaxed) {
            let now = self.clock.now();
            if now > until {
                break;
            }
            self.begin_due(now)?;
            let timeout = EpollTimeout::from(LONGEST_SLEEP);
            let count = match self.pool.epoll().wait(&mut events, timeout) {
                Ok(count) => count,
                Err(nix::Error::EINTR) => 0,
                Err(error) => return Err(LabError::system("wait for connections", error)),
            };
            let before = self.ended;
            for event in events.iter().take(count).filter(|event| event.data() != TIMER) {
                self.handle(event.data())?;
            }
            let ended = (self.ended - before) as u64;
            progress.finished_flows.fetch_add(ended, Ordering::Relaxed);
        }
        Ok((self.outcomes, self.latest))
    }

    /// Begins the flows that are due, and sets the timer to the next one.
    fn begin_due(&mut self, now: Time) -> Result<(), LabError> {
        while let Some(flow) = self.flows.get(self.next).filter(|flow| flow.start <= now) {
            self.next += 1;
            let late = self.clock.now().saturating_sub(flow.start);
            self.latest = self.latest.max(late);
            let connection = self.pool.begin(flow)?;
            self.outcomes[flow.id as usize].connection = connection;
        }
        let Some(flow) = self.flows.get(self.next) else { return Ok(()) };
        let wait = to_duration(flow.start.saturating_sub(self.clock.now())).max(TICK);
        let expiration = Expiration::OneShot(TimeSpec::from_duration(wait));
        let set = self.timer.set(expiration, TimerSetTimeFlags::empty());
        set.map_err(|error| LabError::system("set a timer", error))
    }

    fn handle(&mut self, word: u64) -> Result<(), LabError> {
        let Traffic { pool, outcomes, clock, .. } = self;
        self.ended += pool.handle(word, &mut |news| match news {
            News::Received { flow } => {
                outcomes[flow as usize].finished_at_receiver = Some(clock.now());
            }
            News::Acknowledged { flow, at, resent } => {
                let outcome = &mut outcomes[flow as usize];
                outcome.finished_at_sender = Some(clock.at(at));
                outcome.retransmissions = resent;
            }
        })?;
        Ok(())
    }
}

/// The shortest time that a timer is set to: zero would take it off.
const TICK: std::time::Duration = std::time::Duration::from_nanos(1);
