//! The tree of queueing disciplines that PIAS needs on a Linux interface, as arguments of `tc`. It is
//! the same on a host's interface and on the ports of a software switch.

use flowsched_units::{Bytes, Rate};

/// The handle of the tree's root.
pub const ROOT: &str = "f5c0:";

/// The queueing discipline that schedules by strict priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bands {
    /// PRIO.
    Prio,
    /// ETS, with strict bands only.
    Ets,
}

/// The settings of an interface's tree.
#[derive(Clone, Copy, Debug)]
pub struct Tree<'a> {
    /// The name of the interface.
    pub interface: &'a str,
    /// The line rate.
    pub rate: Rate,
    /// The total queue length of all bands from which packets are marked.
    pub mark_at: Bytes,
    /// The buffer for packets.
    pub buffer: Bytes,
    /// The code point of each level, the highest priority first.
    pub dscp: &'a [u8],
}

impl Tree<'_> {
    /// The commands that build the tree: TBF shapes; RED below TBF marks by the total length of all bands
    /// ("per-port"); strict priorities are below RED.
    pub fn commands(&self, kind: Bands) -> Vec<String> {
        let Tree { interface, dscp, .. } = self;
        let (rate, buffer) = (self.rate.as_bps(), self.buffer.get());
        let mark_at = self.mark_at.get();
        // RED marks by an average length, between a minimum and a maximum. A maximum right above the
        // minimum and the shortest average that tc allows come closest to a plain threshold.
        let average = (mark_at + 1500) / 1500 + 1;
        let bands = dscp.len().max(2);
        // Packets other than IP, such as ARP, go first. The filters below match all IP packets.
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

/// The burst of TBF in bytes: at least 80,000, which is enough for one super-packet, and at least what
/// the line carries in 50 µs.
pub fn burst(rate: Rate) -> u64 {
    (rate.as_bps() / 8 / 20_000).max(80_000)
}

/// Commands that put packets into the class of their level, by DSCP. IP packets with other code points
/// go to the lowest level.
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

/// The default marking threshold: 20 packets up to 1 Gbps, 65 up to 10 Gbps (DCTCP 2010, 3.4), and in
/// proportion to the rate above.
pub fn default_mark_at(rate: Rate) -> Bytes {
    let packets = match rate.as_bps() {
        0..=1_000_000_000 => 20,
        1_000_000_001..=10_000_000_000 => 65,
        faster => 65 * faster / 10_000_000_000,
    };
    Bytes::new(packets * 1500)
}
