//! What a run costs: processor, time and memory.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;

/// What a run has cost.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    /// User CPU time of the run's threads, seconds.
    pub cpu_s: f64,
    /// Elapsed time, seconds.
    pub wall_s: f64,
    /// The largest resident memory of the process until now.
    pub peak_rss_bytes: u64,
}

/// Measures the cost of a run since the meter was started, on the thread that started it and on
/// threads that help.
pub struct Meter {
    cpu_s: f64,
    /// User CPU time of threads that have helped, microseconds.
    helpers_us: AtomicU64,
    start: Instant,
}

impl Meter {
    /// Starts measuring.
    pub fn start() -> Meter {
        let helpers_us = AtomicU64::new(0);
        Meter { cpu_s: thread_cpu_s(), helpers_us, start: Instant::now() }
    }

    /// Adds the user CPU time of the calling thread, which must call this at its end.
    pub fn add_thread(&self) {
        self.helpers_us.fetch_add((thread_cpu_s() * 1e6) as u64, Ordering::Relaxed);
    }

    /// The cost since the start. Call this on the thread that started the meter.
    pub fn read(&self) -> Cost {
        let helpers_s = self.helpers_us.load(Ordering::Relaxed) as f64 / 1e6;
        Cost {
            cpu_s: thread_cpu_s() - self.cpu_s + helpers_s,
            wall_s: self.start.elapsed().as_secs_f64(),
            peak_rss_bytes: peak_rss_bytes(),
        }
    }
}

fn thread_cpu_s() -> f64 {
    getrusage(UsageWho::RUSAGE_THREAD)
        .map_or(0.0, |usage| usage.user_time().num_microseconds() as f64 / 1e6)
}

/// The peak memory from the kernel's `VmHWM`: `ru_maxrss` would include what the process's parent
/// had in use when it started this one.
fn peak_rss_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|text| text.trim().strip_suffix("kB")?.trim().parse().ok());
    kib.map_or(0, |kib: u64| kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_costs_time_and_memory() {
        let meter = Meter::start();
        let mut sum = 0u64;
        while meter.read().cpu_s < 0.02 {
            sum = (0..100_000).fold(sum, |sum, x| std::hint::black_box(sum ^ x));
        }
        let work = || while thread_cpu_s() < 0.02 {};
        std::thread::scope(|threads| {
            threads.spawn(|| {
                work();
                meter.add_thread();
            });
        });
        let cost = meter.read();
        assert!(cost.cpu_s > 0.039, "two threads: {cost:?}");
        assert!(cost.wall_s > 0.0 && cost.peak_rss_bytes > 100_000, "{cost:?} {sum}");
    }
}
