//! The interfaces of this network namespace. An interface is known by its index, which it keeps for
//! its life; its name may change.

use std::fs;

/// An interface with its present name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Interface {
    /// Its index, which no other interface has while it exists.
    pub(crate) index: u32,
    /// Its name.
    pub(crate) name: String,
}

/// All interfaces, in no particular order.
pub(crate) fn all() -> Vec<Interface> {
    let Ok(all) = nix::net::if_::if_nameindex() else { return Vec::new() };
    let interface = |one: &nix::net::if_::Interface| {
        Some(Interface { index: one.index(), name: one.name().to_str().ok()?.to_owned() })
    };
    all.iter().filter_map(interface).collect()
}

/// The interfaces with a name that matches one of `patterns`. A `*` at the end stands for anything.
pub(crate) fn matching(patterns: &[String]) -> Vec<Interface> {
    let mut all = all();
    all.retain(|one| patterns.iter().any(|pattern| is_match(pattern, &one.name)));
    all
}

/// The interface with this index, if it still exists.
pub(crate) fn by_index(index: u32) -> Option<Interface> {
    all().into_iter().find(|one| one.index == index)
}

fn is_match(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == pattern,
    }
}

/// The packets and bytes that an interface has sent, by its own count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sent {
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
}

/// Reads what the interface has sent; `None` if it does not exist.
pub(crate) fn sent_by(name: &str) -> Option<Sent> {
    // Do not read /sys: it belongs to the network namespace that mounted it.
    sent_in(&fs::read_to_string("/proc/self/net/dev").ok()?, name)
}

fn sent_in(table: &str, name: &str) -> Option<Sent> {
    /// The number of columns after the colon that count received data.
    const RECEIVED: usize = 8;
    let columns = table.lines().find_map(|line| {
        let (found, columns) = line.split_once(':')?;
        (found.trim() == name).then_some(columns)
    })?;
    let mut sent = columns.split_whitespace().skip(RECEIVED);
    let bytes = sent.next()?.parse().ok()?;
    Some(Sent { packets: sent.next()?.parse().ok()?, bytes })
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
    fn what_was_sent_is_in_the_ninth_and_tenth_column() {
        let table = "Inter-|   Receive |  Transmit\n face |bytes    packets ...\n    \
                     lo: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n  eth0:21 22 23 24 25 26 27 28 \
                     29 30 31 32 33 34 35 36\n";
        assert_eq!(sent_in(table, "lo"), Some(Sent { packets: 10, bytes: 9 }));
        assert_eq!(sent_in(table, "eth0"), Some(Sent { packets: 30, bytes: 29 }));
        assert_eq!(sent_in(table, "eth"), None);
        assert!(sent_by("lo").is_some());
    }
}
