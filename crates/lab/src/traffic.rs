//! Plays an experiment's flows as real TCP connections between the hosts.
//!
//! One thread plays all hosts. A flow begins at its time in the experiment, whatever happened to earlier
//! flows. Its completion time counts from then, so a late start makes no flow look shorter. A flow
//! has arrived when its receiver has read its last byte. It has ended at the sender when the kernel
//! reports that this byte is acknowledged.
//!
//! What may not live here: namespaces, and what happens to packets between the hosts.

mod connection;
pub(crate) mod pool;
mod resent;

use std::sync::atomic::Ordering;

use flowsched_schemes::world::{FlowOutcome, Progress, Uncounted};
use flowsched_units::Time;
use flowsched_workload::Flow;

use crate::clock::Clock;
use crate::error::LabError;
use crate::played::Played;
use crate::precedence::{Precedence, Rank, refused};
use crate::schedule::Schedule;
use connection::News;
pub use connection::{Manners, Tags};
pub use pool::Pool;

/// Plays the flows of an experiment.
#[derive(Debug)]
pub struct Traffic<'a> {
    schedule: Schedule<'a>,
    pool: Pool<'a>,
    clock: Clock,
    /// The outcome of each flow.
    outcomes: Vec<FlowOutcome>,
    ended: usize,
    uncounted: Uncounted,
}

impl<'a> Traffic<'a> {
    /// Plays these flows on the connections of `pool`.
    ///
    /// # Errors
    /// If the system refuses a request.
    pub fn new(flows: &'a [Flow], pool: Pool<'a>, clock: Clock) -> Result<Traffic<'a>, LabError> {
        let schedule = Schedule::new(flows, clock, pool.epoll())?;
        let outcomes = vec![FlowOutcome::default(); flows.len()];
        let uncounted = Uncounted { arrivals: true, ..Uncounted::default() };
        Ok(Traffic { schedule, pool, clock, outcomes, ended: 0, uncounted })
    }

    /// Plays all flows to their ends, or until `progress` says to stop or the time `until` has passed.
    ///
    /// # Errors
    /// If a connection fails.
    pub fn play(mut self, until: Time, progress: &Progress) -> Result<Played, LabError> {
        let mut precedence = Precedence::take(Rank::Hosts).map_err(refused)?;
        while self.ended < self.outcomes.len() && !progress.stop.load(Ordering::Relaxed) {
            precedence.keep().map_err(refused)?;
            let now = self.clock.now();
            if now > until {
                break;
            }
            while let Some(flow) = self.schedule.next_due(now) {
                self.outcomes[flow.id as usize].connection = self.pool.begin(flow)?;
            }
            let before = self.ended;
            for word in self.schedule.wait(self.pool.epoll())? {
                self.handle(word)?;
            }
            let ended = (self.ended - before) as u64;
            progress.finished_flows.fetch_add(ended, Ordering::Relaxed);
        }
        for (flow, resent) in self.pool.under_way()? {
            resent.note(&mut self.outcomes[flow as usize], &mut self.uncounted);
        }
        Ok(Played {
            flows: self.outcomes,
            starts: self.schedule.starts(),
            uncounted: self.uncounted,
            ..Played::default()
        })
    }

    fn handle(&mut self, word: u64) -> Result<(), LabError> {
        let Traffic { pool, outcomes, clock, uncounted, .. } = self;
        self.ended += pool.handle(word, &mut |news| match news {
            News::Received { flow } => {
                outcomes[flow as usize].finished_at_receiver = Some(clock.now());
            }
            News::Acknowledged { flow, at, resent } => {
                let outcome = &mut outcomes[flow as usize];
                outcome.finished_at_sender = Some(clock.at(at));
                resent.note(outcome, uncounted);
            }
        })?;
        Ok(())
    }
}
