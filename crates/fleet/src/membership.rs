//! Decides which hosts of a group are canaries: those whose place is below a bound. A host's place
//! depends only on its name and its group, so that hosts and controller agree without exchanging a
//! list.

/// A host's place: a hash of its name and group, uniform over 32 bits (FNV-1a with a final mix).
pub fn place(group: &str, host: &str) -> u32 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in group.bytes().chain([0]).chain(host.bytes()) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    hash ^= hash >> 32;
    hash = hash.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (hash >> 32) as u32
}

/// The bound below which `share` of the hosts lie. The number of hosts is rounded up, and is at least
/// one. `None` if no other host would remain to compare with.
pub fn bound<'a>(group: &str, hosts: impl IntoIterator<Item = &'a str>, share: f64) -> Option<u32> {
    let mut places: Vec<u32> = hosts.into_iter().map(|host| place(group, host)).collect();
    places.sort_unstable();
    places.dedup();
    let wanted = ((places.len() as f64 * share).ceil() as usize).max(1);
    places.get(wanted).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_has_the_share_of_hosts_below_it() {
        let names: Vec<String> = (0..1000).map(|n| format!("host-{n}")).collect();
        let hosts = || names.iter().map(String::as_str);
        let bound_of = bound("rack-1", hosts(), 0.05).unwrap();
        assert_eq!(hosts().filter(|host| place("rack-1", host) < bound_of).count(), 50);
        let other = hosts().filter(|host| place("rack-2", host) < bound_of).count();
        assert!((20..100).contains(&other), "{other}: places are not even");
        assert!(bound("g", ["a", "b"], 0.01).is_some(), "one of two is a canary");
        assert_eq!(bound("g", ["a"], 0.5), None);
    }
}
