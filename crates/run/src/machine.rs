//! The machine that the program runs on.

use std::fs;

use nix::sys::resource::{Resource, getrlimit};
use nix::sys::utsname::uname;

/// Bytes of memory that the program may use: the least of the machine's memory, the limit of the
/// process and that of its control group.
pub fn memory_of_machine() -> f64 {
    let limit = getrlimit(Resource::RLIMIT_AS).map_or(u64::MAX, |(soft, _)| soft);
    let least = [total_memory(), limit_of_group()].into_iter().flatten().fold(limit, u64::min);
    least as f64
}

/// The processor, how many cores the program may use, and the kernel's version to its second number.
pub fn machine_in_words() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let model = model.map_or("an unknown processor", |(_, name)| name);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let system = uname().map_or(String::new(), |names| {
        let release = names.release().to_string_lossy();
        let version: Vec<&str> = release.split('.').take(2).collect();
        format!(", {} {}", names.sysname().to_string_lossy(), version.join("."))
    });
    format!("{model}, {cores} cores{system}")
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
