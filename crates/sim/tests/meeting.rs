//! Lets two threads of a run meet in all orders with at most two interruptions. With a third thread,
//! which waits too, there are too many orders.

use loom::sync::Arc;
use loom::sync::atomic::{AtomicU64, Ordering};
use loom::thread;
use meeting::Meeting;

#[path = "../src/meeting.rs"]
mod meeting;

/// The items of the simulator's module `sync`, replaced by those of `loom`.
mod sync {
    pub(crate) use loom::{
        hint,
        sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering, fence},
        sync::{Condvar, Mutex, MutexGuard},
    };
}

fn in_all_orders<S: Default + Send + Sync + 'static>(run: fn(&Meeting, &S, usize)) {
    for looks in [0, 1] {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(2);
        model.check(move || {
            let shared = Arc::new((Meeting::new(2, looks), S::default()));
            let others = Arc::clone(&shared);
            let other = thread::spawn(move || run(&others.0, &others.1, 1));
            run(&shared.0, &shared.1, 0);
            other.join().unwrap();
        });
    }
}

#[test]
fn both_get_the_least_of_what_they_bring_to_each_round() {
    in_all_orders::<()>(|meeting, (), seat| {
        for round in 0..3 {
            let brings = [10 * round + seat as u64, 5 + round - seat as u64];
            assert_eq!(meeting.least(seat, brings), Some([10 * round, 4 + round]));
        }
    });
}

#[test]
fn what_happened_before_a_meeting_is_seen_after_it() {
    in_all_orders::<[AtomicU64; 2]>(|meeting, done, seat| {
        for round in 1..3 {
            done[seat].store(round, Ordering::Relaxed);
            assert!(meeting.wait().is_continue());
            assert_eq!(done[1 - seat].load(Ordering::Relaxed), round);
            assert!(meeting.wait().is_continue());
        }
    });
}

#[test]
fn who_waits_for_something_is_woken() {
    in_all_orders::<AtomicU64>(|meeting, place, seat| {
        if seat == 0 {
            place.store(1, Ordering::Release);
            meeting.wake();
        } else {
            assert!(meeting.wait_until(|| place.load(Ordering::Acquire) == 1).is_continue());
        }
    });
}

#[test]
fn nobody_waits_for_a_thread_that_ends_the_meeting() {
    in_all_orders::<()>(|meeting, (), seat| {
        if seat == 0 {
            meeting.end();
        } else {
            assert_eq!(meeting.least(seat, [1]), None);
        }
    });
}
