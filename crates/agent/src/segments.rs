//! The TCP segments that this host has sent and retransmitted, as the kernel counts them for the
//! network namespace (RFC 4022).

use std::fs;

/// Counts since the namespace was created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segments {
    pub(crate) sent: u64,
    pub(crate) retransmitted: u64,
}

impl Segments {
    /// Reads the kernel's counts.
    pub(crate) fn read() -> Option<Segments> {
        Segments::parse(&fs::read_to_string("/proc/thread-self/net/snmp").ok()?)
    }

    fn parse(table: &str) -> Option<Segments> {
        let mut lines = table.lines().filter_map(|line| line.strip_prefix("Tcp: "));
        let (names, values) = (lines.next()?, lines.next()?);
        let count = |name: &str| {
            let place = names.split(' ').position(|found| found == name)?;
            values.split(' ').nth(place)?.parse().ok()
        };
        Some(Segments { sent: count("OutSegs")?, retransmitted: count("RetransSegs")? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_found_by_their_names() {
        let table = "Ip: A B\nIp: 1 2\nTcp: MaxConn OutSegs RetransSegs\nTcp: -1 70 3\n";
        assert_eq!(Segments::parse(table), Some(Segments { sent: 70, retransmitted: 3 }));
        assert_eq!(Segments::parse("Tcp: OutSegs\nTcp: 7\n"), None);
        assert!(Segments::read().is_some());
    }
}
