//! Where the threads of a run wait for each other.
//!
//! No thread leaves a meeting before all have come, unless the meeting is over for good: a thread that stops
//! early must not leave the others waiting.

use std::ops::ControlFlow;
use std::sync::PoisonError;

use crate::sync::{
    AtomicBool, AtomicU64, AtomicUsize, Condvar, Mutex, MutexGuard, Ordering, fence, hint,
};

/// The most numbers that a seat may bring to a round.
const MOST_BROUGHT: usize = 2;

/// A barrier that one thread per seat uses again and again.
#[derive(Debug)]
pub(crate) struct Meeting {
    seats: usize,
    /// The number of times that a thread looks for the others before it sleeps.
    looks: u32,
    /// How many threads sleep, or are about to.
    asleep: AtomicUsize,
    bed: Mutex<()>,
    alarm: Condvar,
    /// How many threads have come to the present round.
    present: AtomicUsize,
    /// How many rounds are complete.
    rounds: AtomicUsize,
    is_over: AtomicBool,
    /// The numbers that each seat brings to a round. Rounds use the two lists in turn: a seat may bring
    /// something to the next round while others still read what was brought to this one.
    brought: [Vec<[AtomicU64; MOST_BROUGHT]>; 2],
}

impl Meeting {
    /// A meeting of `seats` threads, which look `looks` times for the others before they sleep.
    pub(crate) fn new(seats: usize, looks: u32) -> Meeting {
        let nothing = || (0..seats).map(|_| [AtomicU64::new(0), AtomicU64::new(0)]).collect();
        Meeting {
            seats,
            looks,
            asleep: AtomicUsize::new(0),
            bed: Mutex::new(()),
            alarm: Condvar::new(),
            present: AtomicUsize::new(0),
            rounds: AtomicUsize::new(0),
            is_over: AtomicBool::new(false),
            brought: [nothing(), nothing()],
        }
    }

    /// Waits until all threads have come. Afterwards, all see what any of them did before. Returns
    /// [`ControlFlow::Break`] if the meeting is over.
    pub(crate) fn wait(&self) -> ControlFlow<()> {
        let round = self.rounds.load(Ordering::Relaxed);
        if self.present.fetch_add(1, Ordering::AcqRel) + 1 == self.seats {
            self.present.store(0, Ordering::Relaxed);
            self.rounds.store(round + 1, Ordering::Release);
            self.wake();
        } else {
            self.wait_until(|| self.rounds.load(Ordering::Acquire) != round)?;
        }
        if self.is_over() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Waits until all threads have come. Returns the least number of all seats for each place in
    /// `brings`; `None` once the meeting is over.
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

    /// Waits until `holds` returns true or the meeting is over. The thread that makes it true has to
    /// call [`Meeting::wake`].
    pub(crate) fn wait_until(&self, mut holds: impl FnMut() -> bool) -> ControlFlow<()> {
        let mut look = || match holds() {
            true => Some(ControlFlow::Continue(())),
            false => self.is_over().then_some(ControlFlow::Break(())),
        };
        for _ in 0..self.looks {
            if let Some(found) = look() {
                return found;
            }
            hint::spin_loop();
        }
        self.sleep_until(look)
    }

    fn sleep_until<T>(&self, mut look: impl FnMut() -> Option<T>) -> T {
        let mut bed = lock(&self.bed);
        self.asleep.fetch_add(1, Ordering::Relaxed);
        // Either this thread sees what was done before `wake`, or `wake` sees that this thread sleeps.
        fence(Ordering::SeqCst);
        let found = loop {
            match look() {
                Some(found) => break found,
                None => bed = self.alarm.wait(bed).unwrap_or_else(PoisonError::into_inner),
            }
        };
        self.asleep.fetch_sub(1, Ordering::Relaxed);
        found
    }

    /// Wakes the threads that sleep, so that they look again.
    pub(crate) fn wake(&self) {
        fence(Ordering::SeqCst);
        if self.asleep.load(Ordering::Relaxed) > 0 {
            // A thread holds the lock from before it looks until it sleeps.
            drop(lock(&self.bed));
            self.alarm.notify_all();
        }
    }

    /// Ends the meeting: no thread waits any more.
    pub(crate) fn end(&self) {
        self.is_over.store(true, Ordering::Release);
        self.wake();
    }

    pub(crate) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Acquire)
    }
}

/// Takes the lock even if a thread has panicked with it: the panic resumes where threads are joined.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
