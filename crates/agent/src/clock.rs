//! The clock that the BPF program reads.

use nix::time::{ClockId, clock_gettime};

/// Nanoseconds since the machine started, as the kernel's TCP stamps packets.
pub(crate) fn monotonic_ns() -> u64 {
    clock_gettime(ClockId::CLOCK_MONOTONIC)
        .map_or(0, |now| now.tv_sec() as u64 * 1_000_000_000 + now.tv_nsec() as u64)
}
