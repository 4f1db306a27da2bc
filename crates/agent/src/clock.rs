//! The clock that the BPF program reads.

use nix::time::{ClockId, clock_gettime};

/// The time since the machine started in nanoseconds, by the clock of the kernel's TCP time stamps.
pub(crate) fn monotonic_ns() -> u64 {
    clock_gettime(ClockId::CLOCK_MONOTONIC)
        .map_or(0, |now| now.tv_sec() as u64 * 1_000_000_000 + now.tv_nsec() as u64)
}
