//! Where the threads of a run wait for each other.
//!
//! A window of time is some hundred microseconds of work, so threads look for the others for a while before
//! they let other programs have the processor. If there are more threads than processors, they let each other
//! have it at once. No thread leaves a meeting before all have come, unless the
//! meeting is over for good: a thread that stops early must not leave the others waiting.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::thread::available_parallelism;

use crate::sync::{AtomicBool, AtomicU64, AtomicUsize, Ordering, hint, thread};

/// Looks at whether the others have come before the thread lets others run, if each has a processor.
const LOOKS: u32 = 1 << 10;

/// Numbers that a seat may bring to a round.
const MOST_BROUGHT: usize = 2;

/// Where as many threads as there are seats meet, again and again.
#[derive(Debug)]
pub(crate) struct Meeting {
    seats: usize,
    /// Looks before a thread lets others run.
    looks: u32,
    /// How many have come to the present round.
    present: AtomicUsize,
    /// How many rounds are complete.
    rounds: AtomicUsize,
    is_over: AtomicBool,
    /// What each seat brings to a round. Rounds take turns: a seat may bring something to the next
    /// round while others still read what was brought to this one.
    brought: [Vec<[AtomicU64; MOST_BROUGHT]>; 2],
}

impl Meeting {
    pub(crate) fn new(seats: usize) -> Meeting {
        let nothing = || (0..seats).map(|_| [AtomicU64::new(0), AtomicU64::new(0)]).collect();
        let processors = available_parallelism().map_or(1, NonZeroUsize::get);
        Meeting {
            seats,
            looks: if seats > processors { 1 } else { LOOKS },
            present: AtomicUsize::new(0),
            rounds: AtomicUsize::new(0),
            is_over: AtomicBool::new(false),
            brought: [nothing(), nothing()],
        }
    }

    /// Waits until all have come. What any of them did before, all see afterwards.
    /// [`ControlFlow::Break`]: the meeting is over.
    pub(crate) fn wait(&self) -> ControlFlow<()> {
        let round = self.rounds.load(Ordering::Relaxed);
        if self.present.fetch_add(1, Ordering::AcqRel) + 1 == self.seats {
            self.present.store(0, Ordering::Relaxed);
            self.rounds.store(round + 1, Ordering::Release);
        } else {
            self.wait_until(|| self.rounds.load(Ordering::Acquire) != round)?;
        }
        if self.is_over() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Waits until all have come, and hands on the least of what they brought, of each kind; `None` once
    /// the meeting is over.
    pub(crate) fn least<const N: usize>(&self, seat: usize, brings: [u64; N]) -> Option<[u64; N]> {
        const { assert!(N <= MOST_BROUGHT) };
        let brought = &self.brought[self.rounds.load(Ordering::Relaxed) % 2];
        for (place, number) in brought[seat].iter().zip(brings) {
            place.store(number, Ordering::Relaxed);
        }
        self.wait().continue_value()?;
        let least = |kind: usize| {
            let of_seats = brought.iter().map(|of_seat| of_seat[kind].load(Ordering::Relaxed));
            of_seats.min().unwrap_or(u64::MAX)
        };
        Some(std::array::from_fn(least))
    }

    /// Waits until something holds or the meeting is over.
    pub(crate) fn wait_until(&self, mut holds: impl FnMut() -> bool) -> ControlFlow<()> {
        let mut looks = 0;
        while !holds() {
            if self.is_over() {
                return ControlFlow::Break(());
            }
            looks += 1;
            if looks % self.looks == 0 { thread::yield_now() } else { hint::spin_loop() }
        }
        ControlFlow::Continue(())
    }

    /// Nobody waits here any more.
    pub(crate) fn end(&self) {
        self.is_over.store(true, Ordering::Release);
    }

    pub(crate) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Acquire)
    }
}
