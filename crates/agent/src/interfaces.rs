//! The interfaces of this network namespace. An interface is known by its index, which it keeps for
//! its life; its name may change.

use std::fs;

/// An interface as it is now.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Interface {
    /// Its index, which no other interface has while it exists.
    pub(crate) index: u32,
    /// Its name.
    pub(crate) name: String,
}

/// All of them, in no particular order.
pub(crate) fn all() -> Vec<Interface> {
    let Ok(all) = nix::net::if_::if_nameindex() else { return Vec::new() };
    let interface = |one: &nix::net::if_::Interface| {
        Some(Interface { index: one.index(), name: one.name().to_str().ok()?.to_owned() })
    };
    all.iter().filter_map(interface).collect()
}

/// Those whose name is one of `patterns`, where `*` at the end stands for anything.
pub(crate) fn matching(patterns: &[String]) -> Vec<Interface> {
    let mut all = all();
    all.retain(|one| patterns.iter().any(|pattern| is_match(pattern, &one.name)));
    all
}

/// The interface of that index, if it still exists.
pub(crate) fn by_index(index: u32) -> Option<Interface> {
    all().into_iter().find(|one| one.index == index)
}

fn is_match(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == pattern,
    }
}

/// How many packets the interface has sent, by its own count.
pub(crate) fn sent_packets(name: &str) -> Option<u64> {
    // Not from /sys, which belongs to the network namespace that mounted it.
    sent_in(&fs::read_to_string("/proc/self/net/dev").ok()?, name)
}

fn sent_in(table: &str, name: &str) -> Option<u64> {
    /// Place of the packets sent behind the colon, after eight columns of what was received.
    const SENT: usize = 9;
    let columns = table.lines().find_map(|line| {
        let (found, columns) = line.split_once(':')?;
        (found.trim() == name).then_some(columns)
    })?;
    columns.split_whitespace().nth(SENT)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_end() {
        assert!(is_match("en*", "enp3s0") && is_match("*", "lo") && is_match("eth0", "eth0"));
        assert!(!is_match("eth0", "eth01") && !is_match("en*", "eth0"));
    }

    #[test]
    fn packets_sent_are_in_the_tenth_column() {
        let table = "Inter-|   Receive |  Transmit\n face |bytes    packets ...\n    \
                     lo: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n  eth0:21 22 23 24 25 26 27 28 \
                     29 30 31 32 33 34 35 36\n";
        assert_eq!((sent_in(table, "lo"), sent_in(table, "eth0")), (Some(10), Some(30)));
        assert_eq!(sent_in(table, "eth"), None);
        assert!(sent_packets("lo").is_some());
    }
}
