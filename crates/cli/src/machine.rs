//! The machine that the program runs on.

use std::fs;

use nix::sys::resource::{Resource, getrlimit};

/// Bytes of memory that the program may use: the least of the machine's memory, the limit of the
/// process and that of its control group.
pub fn memory_of_machine() -> f64 {
    let limit = getrlimit(Resource::RLIMIT_AS).map_or(u64::MAX, |(soft, _)| soft);
    let least = [total_memory(), limit_of_group()].into_iter().flatten().fold(limit, u64::min);
    least as f64
}

fn total_memory() -> Option<u64> {
    let info = fs::read_to_string("/proc/meminfo").ok()?;
    let total = info.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    total.trim().strip_suffix("kB")?.trim().parse().ok().map(|kib: u64| kib * 1024)
}

fn limit_of_group() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let group = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
    fs::read_to_string(format!("/sys/fs/cgroup{group}/memory.max")).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_has_memory() {
        assert!(memory_of_machine() > 1e8);
    }
}
