//! Computes the memory that a configuration needs in the kernel. Nearly all of it is the map of flows
//! that are known by 5-tuple, which is allocated when the agent starts.

use std::fs;
use std::path::Path;

use crate::bpf::types;

/// The size of the kernel's `struct htab_elem`, without the key.
const ENTRY_HEADER: u64 = 48;
/// The size of `struct bucket`. There are as many buckets as entries, rounded up to a power of two.
const BUCKET: u64 = 16;
/// The agent itself, its other maps and the verifier at its peak. Measured: 10 MiB.
const OTHERWISE: u64 = 16 << 20;

/// The bytes of a map of flows with room for `max` flows.
pub(crate) fn of_flows(max: u32) -> u64 {
    let aligned = |size: usize| size.next_multiple_of(8) as u64;
    let entry = ENTRY_HEADER
        + aligned(size_of::<types::flow_key>())
        + aligned(size_of::<types::flow_state>());
    entry * u64::from(max) + BUCKET * u64::from(max).next_power_of_two()
}

/// The bytes that an agent needs with room for `max` flows.
pub(crate) fn of_agent(max: u32) -> u64 {
    of_flows(max) + OTHERWISE
}

/// The bytes that are available on this machine and in the control groups of this process.
pub(crate) fn available() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let left = [of_machine(), left_in_groups(Path::new("/sys/fs/cgroup"), &groups)];
    left.into_iter().flatten().min()
}

/// The least memory that any limit leaves to the groups in `list` (the text of `/proc/self/cgroup`) and
/// to the groups around them. `None` without a limit.
fn left_in_groups(mount: &Path, list: &str) -> Option<u64> {
    let left = list.lines().filter_map(|line| {
        let (controllers, group) = line.split_once(':')?.1.split_once(':')?;
        let is_memory = controllers.split(',').any(|one| one == "memory");
        let (folder, [limit, usage, cached]) = match controllers {
            "" => (mount.to_owned(), ["memory.max", "memory.current", "inactive_file"]),
            _ if is_memory => {
                let names =
                    ["memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"];
                (mount.join("memory"), names)
            }
            _ => return None,
        };
        let group = Path::new(group.trim_start_matches('/'));
        let number =
            |path: &Path| -> Option<u64> { fs::read_to_string(path).ok()?.trim().parse().ok() };
        let of_group = |group: &Path| {
            let group = folder.join(group);
            // Cached files are dropped as soon as the memory is needed.
            let statistics = fs::read_to_string(group.join("memory.stat")).unwrap_or_default();
            let mut lines = statistics.lines().filter_map(|line| line.split_once(' '));
            let cached: u64 = lines
                .find_map(|(name, bytes)| (name == cached).then(|| bytes.parse().ok())?)
                .unwrap_or(0);
            let used = number(&group.join(usage))?.saturating_sub(cached);
            Some(number(&group.join(limit))?.saturating_sub(used))
        };
        group.ancestors().filter_map(of_group).min()
    });
    left.min()
}

fn of_machine() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use std::os::fd::{AsFd, AsRawFd};
    use std::path::Path;

    use super::*;
    use crate::config::Config;
    use crate::tagger::{LoadOptions, Tagger};

    /// The size of the map according to the kernel, as `bpftool map show` prints it.
    fn memlock(file: i32) -> u64 {
        let text = fs::read_to_string(format!("/proc/self/fdinfo/{file}")).unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix("memlock:")).unwrap();
        line.trim().parse().unwrap()
    }

    #[test]
    fn the_least_limit_of_the_groups_around_a_process_counts() {
        let mount = tempfile::tempdir().unwrap();
        let group = |path: &str, files: [(&str, &str); 2]| {
            let folder = mount.path().join(path);
            fs::create_dir_all(&folder).unwrap();
            files.iter().for_each(|(name, text)| fs::write(folder.join(name), text).unwrap());
        };
        group("pods/agent", [("memory.max", "max\n"), ("memory.current", "5\n")]);
        group("pods", [("memory.max", "1000\n"), ("memory.current", "400\n")]);
        let left = |list| left_in_groups(mount.path(), list);
        assert_eq!(left("0::/pods/agent\n"), Some(600), "of the group around it");
        assert_eq!(left("0::/elsewhere\n"), None);
        let cached = "active_file 900\ninactive_file 300\n";
        fs::write(mount.path().join("pods/memory.stat"), cached).unwrap();
        assert_eq!(left("0::/pods/agent\n"), Some(900), "with what is cached of files");
        let names = ["memory.limit_in_bytes", "memory.usage_in_bytes"];
        group("memory/old", [(names[0], "300\n"), (names[1], "100\n")]);
        assert_eq!(left("3:cpu:/\n2:memory:/old\n0::/pods/agent\n"), Some(200));
        let cached = "inactive_file 9\ntotal_inactive_file 50\n";
        fs::write(mount.path().join("memory/old/memory.stat"), cached).unwrap();
        assert_eq!(left("2:memory:/old\n"), Some(250));
    }

    #[test]
    fn the_kernel_takes_as_much_as_is_foretold() {
        if !nix::unistd::geteuid().is_root() {
            eprintln!("skipped: loading needs root");
            return;
        }
        for max in [20_000, 65_536] {
            let text =
                format!("interfaces = [\"lo\"]\nthresholds = \"1KB\"\n[flows]\nmax = {max}\n");
            let config = Config::parse(&text, Path::new("agent.toml")).unwrap();
            let tagger = Tagger::load(&config, None, LoadOptions::default()).unwrap();
            let found = memlock(tagger.skel().maps.flows.as_fd().as_raw_fd());
            // Kernels before 6.4 do not count the buckets.
            let foretold = of_flows(max);
            println!("{max} flows: {found} bytes, foretold {foretold}");
            assert!(found.abs_diff(foretold) * 10 < foretold, "{found} instead of {foretold}");
        }
    }
}
