//! A processor that other threads keep busy, for threads that should run late.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::Pid;

/// Busy threads on the first processor, which leave hardly any of its time to the thread that made
/// this value. They end when the value is dropped. The same thread must drop it.
pub struct Crowded {
    ended: Arc<AtomicBool>,
    busy: Vec<JoinHandle<()>>,
}

impl Crowded {
    /// Starts this many busy threads.
    pub fn new(busy: usize) -> Crowded {
        let ended = Arc::new(AtomicBool::new(false));
        let busy = (0..busy)
            .map(|_| {
                let ended = ended.clone();
                thread::spawn(move || {
                    stay_with(libc::SCHED_OTHER);
                    while !ended.load(Ordering::Relaxed) {
                        std::hint::spin_loop();
                    }
                })
            })
            .collect();
        stay_with(libc::SCHED_IDLE);
        Crowded { ended, busy }
    }
}

impl Drop for Crowded {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        for thread in self.busy.drain(..) {
            let _ = thread.join();
        }
        stay_with(libc::SCHED_OTHER);
    }
}

/// Keeps this thread on the first processor, with this scheduling policy.
#[allow(unsafe_code)]
fn stay_with(policy: libc::c_int) {
    let mut first = CpuSet::new();
    first.set(0).unwrap();
    sched_setaffinity(Pid::from_raw(0), &first).unwrap();
    let priority = libc::sched_param { sched_priority: 0 };
    // SAFETY: the priority outlives the call.
    let result = unsafe { libc::sched_setscheduler(0, policy, &raw const priority) };
    assert_eq!(result, 0, "{}", std::io::Error::last_os_error());
}
