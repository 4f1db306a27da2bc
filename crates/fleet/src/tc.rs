//! The tree of queueing disciplines that PIAS wants of a Linux interface, as arguments of `tc`: on a
//! host's own interface, and on the ports of a software switch.

use flowsched_units::{Bytes, Rate};

/// The handle of the tree's root.
pub const ROOT: &str = "f5c0:";

/// What schedules by strict priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bands {
    /// PRIO.
    Prio,
    /// ETS, with strict bands alone.
    Ets,
}

/// An interface with levels.
#[derive(Clone, Copy, Debug)]
pub struct Tree<'a> {
    /// Its name.
    pub interface: &'a str,
    /// The line rate.
    pub rate: Rate,
    /// The length of all bands together at which packets are marked.
    pub mark_at: Bytes,
    /// Room for packets.
    pub buffer: Bytes,
    /// The code point of each level, the highest priority first.
    pub dscp: &'a [u8],
}

impl Tree<'_> {
    /// The commands: TBF shapes, RED below it marks on the length of all bands together
    /// ("per-port"), and strict priorities are below that.
    pub fn commands(&self, kind: Bands) -> Vec<String> {
        let Tree { interface, dscp, .. } = self;
        let (rate, buffer) = (self.rate.as_bps(), self.buffer.get());
        let mark_at = self.mark_at.get();
        // RED marks between two lengths, on an average; both next to each other, and the average
        // as short as tc lets it be, come closest to a threshold on the length itself.
        let average = (mark_at + 1500) / 1500 + 1;
        let bands = dscp.len().max(2);
        // What is not IP (ARP) goes first; the filters below take all that is.
        let first = ["0"; 16].join(" ");
        let mut commands = vec![
            format!(
                "qdisc replace dev {interface} root handle {ROOT} tbf rate {rate}bit burst {}b \
                 limit {buffer}b",
                burst(self.rate)
            ),
            format!(
                "qdisc add dev {interface} parent {ROOT}1 handle 2: red limit {buffer}b min \
                 {mark_at}b max {}b avpkt 1500 burst {average} bandwidth {rate}bit probability 1 \
                 ecn nodrop",
                mark_at + 1500
            ),
            match kind {
                Bands::Ets => format!(
                    "qdisc add dev {interface} parent 2:1 handle 3: ets bands {bands} strict \
                     {bands} priomap {first}"
                ),
                Bands::Prio => format!(
                    "qdisc add dev {interface} parent 2:1 handle 3: prio bands {bands} priomap \
                     {first}"
                ),
            },
        ];
        let packets = buffer / 1500;
        for band in 1..=bands {
            commands.push(format!(
                "qdisc add dev {interface} parent 3:{band} handle {}: pfifo limit {packets}",
                100 + band
            ));
        }
        commands.extend(filters(interface, "3:", dscp, |level| format!("3:{}", level + 1)));
        commands
    }
}

/// Bytes that may leave at once at a rate: a super-packet at least, and what passes between two
/// looks at the clock.
pub fn burst(rate: Rate) -> u64 {
    (rate.as_bps() / 8 / 20_000).max(80_000)
}

/// Commands that put packets by DSCP into the class of their level; IP with another code point to
/// the lowest.
pub fn filters(
    interface: &str,
    parent: &str,
    dscp: &[u8],
    class: impl Fn(usize) -> String,
) -> Vec<String> {
    let mut commands = Vec::new();
    let lowest = dscp.len().saturating_sub(1);
    for (protocol, prio, field) in [("ip", 1, "ip dsfield"), ("ipv6", 2, "ip6 priority")] {
        for (level, code_point) in dscp.iter().enumerate() {
            commands.push(format!(
                "filter add dev {interface} parent {parent} protocol {protocol} prio {prio} u32 \
                 match {field} {:#04x} 0xfc flowid {}",
                code_point << 2,
                class(level)
            ));
        }
        commands.push(format!(
            "filter add dev {interface} parent {parent} protocol {protocol} prio {} u32 match u32 \
             0 0 flowid {}",
            prio + 2,
            class(lowest)
        ));
    }
    commands
}

/// 20 packets at 1 Gbps, 65 at 10 Gbps (DCTCP 2010, 3.4), in proportion beyond.
pub fn default_mark_at(rate: Rate) -> Bytes {
    let packets = match rate.as_bps() {
        0..=1_000_000_000 => 20,
        1_000_000_001..=10_000_000_000 => 65,
        faster => 65 * faster / 10_000_000_000,
    };
    Bytes::new(packets * 1500)
}
