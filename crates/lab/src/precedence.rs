//! Lets the lab's threads run as soon as they have something to do, whatever else the machine does.
//!
//! The system runs a real-time thread as soon as it wakes. Any other thread may wait until the running one has used
//! up its slice, which takes milliseconds however high the waiting thread's priority is. But the system stops
//! real-time threads that take nearly all of a second, for the rest of that second
//! (`/proc/sys/kernel/sched_rt_runtime_us`). A thread that comes close to this limit therefore becomes an ordinary
//! thread of the highest priority for a while.

use std::collections::VecDeque;
use std::io;
use std::time::{Duration, Instant};

use nix::time::{ClockId, clock_gettime};

use crate::error::LabError;
use crate::sys::Scheduling;

/// How often a thread checks how long it has been in real time.
const LOOK: Duration = Duration::from_millis(2);
/// Real time is added up over spans of this length.
const SPAN: Duration = Duration::from_millis(100);
/// As many spans as make up a second, in which the system allows 950 ms of real time by default.
const SPANS: usize = 10;
/// After this much real time within a second, a thread becomes ordinary. It is well below the system's limit, because
/// the switch and the hosts may run on one processor.
const BUDGET: Duration = Duration::from_millis(750);

/// The highest priority of ordinary threads.
const HIGHEST: i32 = -20;

/// The order of the lab's threads in real time. The highest rank goes first.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rank {
    Hosts = 1,
    Switch = 2,
}

/// The precedence of a thread over all threads outside the lab, until this is dropped. Threads that it starts
/// meanwhile have it too.
#[derive(Debug)]
pub(crate) struct Precedence {
    before: Scheduling,
    rank: Rank,
    is_real_time: bool,
    next_look: Instant,
    span_ends: Instant,
    /// The thread's processor time at the last look.
    used: Duration,
    /// The part of it that was in real time, by span: the present span first, then the ones before it.
    in_real_time: VecDeque<Duration>,
}

impl Precedence {
    /// Gives the calling thread precedence. The same thread has to drop it.
    ///
    /// # Errors
    /// If the system refuses: it grants a higher priority to root alone.
    pub(crate) fn take(rank: Rank) -> io::Result<Precedence> {
        let now = Instant::now();
        let precedence = Precedence {
            before: Scheduling::current()?,
            rank,
            is_real_time: true,
            next_look: now + LOOK,
            span_ends: now + SPAN,
            used: processor_time()?,
            in_real_time: VecDeque::from([Duration::ZERO]),
        };
        precedence.set()?;
        Ok(precedence)
    }

    /// Checks whether the thread has real time left. Call this every few milliseconds or more often.
    ///
    /// # Errors
    /// If the system refuses the change.
    pub(crate) fn keep(&mut self) -> io::Result<()> {
        let now = Instant::now();
        if now < self.next_look {
            return Ok(());
        }
        self.next_look = now + LOOK;
        self.note(now, processor_time()?);
        let has_budget = self.has_budget();
        let had_budget = std::mem::replace(&mut self.is_real_time, has_budget);
        if has_budget == had_budget { Ok(()) } else { self.set() }
    }

    /// Notes that the thread has used the processor for `used` in total until `now`.
    fn note(&mut self, now: Instant, used: Duration) {
        let before = std::mem::replace(&mut self.used, used);
        if self.is_real_time {
            self.in_real_time[0] += used.saturating_sub(before);
        }
        if now >= self.span_ends {
            self.span_ends = now + SPAN;
            self.in_real_time.push_front(Duration::ZERO);
            self.in_real_time.truncate(1 + SPANS);
        }
    }

    fn has_budget(&self) -> bool {
        self.in_real_time.iter().sum::<Duration>() < BUDGET
    }

    /// Tells the system how to schedule the thread. Where the system grants no real time, the thread stays ordinary.
    fn set(&self) -> io::Result<()> {
        let ordinary = || self.ordinary().set();
        if self.is_real_time { self.real_time().set().or_else(|_| ordinary()) } else { ordinary() }
    }

    fn real_time(&self) -> Scheduling {
        Scheduling { policy: libc::SCHED_FIFO, rank: self.rank as i32, niceness: HIGHEST }
    }

    fn ordinary(&self) -> Scheduling {
        Scheduling { policy: libc::SCHED_OTHER, rank: 0, niceness: HIGHEST }
    }
}

/// The processor time that the calling thread has used.
fn processor_time() -> io::Result<Duration> {
    Ok(Duration::from(clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID)?))
}

/// The error of a run whose threads do not get their precedence from the system.
pub(crate) fn refused(error: io::Error) -> LabError {
    LabError::system("raise the priority of a thread", error)
}

impl Drop for Precedence {
    fn drop(&mut self) {
        // Giving up precedence needs no privilege.
        let _ = self.before.set();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In any second, a thread that never sleeps is in real time for no more than its budget and one look.
    #[test]
    fn a_busy_thread_is_ordinary_for_a_part_of_each_second() {
        let mut precedence = Precedence::take(Rank::Hosts).unwrap();
        let (began, mut used) = (Instant::now(), Duration::ZERO);
        let mut looks = Vec::new();
        for look in 1..5_000 {
            used += LOOK;
            precedence.note(began + look * LOOK, used);
            precedence.is_real_time = precedence.has_budget();
            looks.push(precedence.is_real_time);
        }
        let of_a_second =
            |second: &[bool]| second.iter().filter(|is_real_time| **is_real_time).count();
        let a_second = Duration::from_secs(1).div_duration_f64(LOOK) as usize;
        let most = BUDGET.div_duration_f64(LOOK) as usize + 1;
        let shares: Vec<usize> = looks.windows(a_second).map(of_a_second).collect();
        assert!(shares.iter().all(|share| (most / 2..=most).contains(share)), "{shares:?}");
    }

    #[test]
    fn a_thread_has_its_old_scheduling_back() {
        let before = Scheduling::current().unwrap();
        drop(Precedence::take(Rank::Hosts).unwrap());
        assert_eq!(Scheduling::current().unwrap(), before);
    }

    #[test]
    fn threads_share_what_the_one_that_starts_them_has() {
        let precedence = Precedence::take(Rank::Switch).unwrap();
        let inner = std::thread::spawn(|| Scheduling::current().unwrap()).join().unwrap();
        assert_eq!(inner, Scheduling::current().unwrap());
        drop(precedence);
        assert!(inner != Scheduling::current().unwrap(), "{inner:?}");
    }
}
