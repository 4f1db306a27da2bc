//! The `tc` commands for an interface: with PRIO (or ETS) and RED where the kernel has them, with
//! HTB otherwise.

use super::qdiscs::Kinds;
use super::tc::{Command, command};
use crate::config::Nic;
use crate::error::AgentError;

/// The handle of the root that is made here.
pub(super) const ROOT: &str = "f5c0:";

/// Commands, and what the operator should know of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) commands: Vec<Command>,
    pub(super) notes: Vec<String>,
}

impl Plan {
    fn add(&mut self, text: String) {
        self.commands.push(command(&text));
    }
}

/// The best plan for the kernel.
pub(super) fn plan(
    interface: &str,
    nic: &Nic,
    dscp: &[u8],
    kinds: Kinds,
) -> Result<Plan, AgentError> {
    let bands = match (kinds.prio, kinds.ets) {
        (true, _) => Some("prio"),
        (false, true) => Some("ets"),
        (false, false) => None,
    };
    match bands {
        Some(bands) if kinds.tbf && kinds.red => Ok(priorities(interface, nic, dscp, bands)),
        _ if kinds.htb => Ok(classes(interface, nic, dscp, kinds.codel)),
        _ => Err(AgentError::Missing(
            "this kernel has neither TBF with RED and PRIO or ETS, nor HTB: no interface can be \
             scheduled"
                .into(),
        )),
    }
}

/// Bytes that may leave at once: a super-packet at least, and what passes between two looks at
/// the clock.
fn burst(nic: &Nic) -> u64 {
    (nic.rate.as_bps() / 8 / 20_000).max(80_000)
}

/// TBF shapes, RED below it marks on the length of all bands together ("per-port"), and strict
/// priorities are below that.
fn priorities(interface: &str, nic: &Nic, dscp: &[u8], kind: &str) -> Plan {
    let mut plan = Plan::default();
    let (rate, buffer, mark_at) = (nic.rate.as_bps(), nic.buffer.get(), nic.mark_at.get());
    plan.add(format!(
        "qdisc replace dev {interface} root handle {ROOT} tbf rate {rate}bit burst {}b limit {buffer}b",
        burst(nic)
    ));
    // RED marks between two lengths, on an average; both next to each other, and the average as
    // short as tc lets it be, come closest to a threshold on the length itself.
    let average = (mark_at + 1500) / 1500 + 1;
    plan.add(format!(
        "qdisc add dev {interface} parent {ROOT}1 handle 2: red limit {buffer}b min {mark_at}b \
         max {}b avpkt 1500 burst {average} bandwidth {rate}bit probability 1 ecn nodrop",
        mark_at + 1500
    ));
    let bands = dscp.len().max(2);
    // What is not IP (ARP) goes first; the filters below take all that is.
    let first = ["0"; 16].join(" ");
    plan.add(match kind {
        "ets" => format!(
            "qdisc add dev {interface} parent 2:1 handle 3: ets bands {bands} strict {bands} \
             priomap {first}"
        ),
        _ => format!(
            "qdisc add dev {interface} parent 2:1 handle 3: prio bands {bands} priomap {first}"
        ),
    });
    let packets = nic.buffer.get() / 1500;
    for band in 1..=bands {
        plan.add(format!(
            "qdisc add dev {interface} parent 3:{band} handle {}: pfifo limit {packets}",
            100 + band
        ));
    }
    filters(&mut plan, interface, "3:", dscp, |level| format!("3:{}", level + 1));
    plan
}

/// HTB alone: a class a level below one of the line rate. Only what exceeds a class's own small
/// rate is handed out by priority, so that the order is strict but for that.
fn classes(interface: &str, nic: &Nic, dscp: &[u8], codel: bool) -> Plan {
    let mut plan = Plan::default();
    let rate = nic.rate.as_bps();
    let (burst, own) = (burst(nic), (rate / 1000).max(8_000));
    plan.add(format!("qdisc replace dev {interface} root handle {ROOT} htb default 10"));
    plan.add(format!(
        "class add dev {interface} parent {ROOT} classid {ROOT}1 htb rate {rate}bit ceil {rate}bit \
         burst {burst}b cburst {burst}b quantum 60000"
    ));
    // Each queue on its own, by the time a packet waits: that of mark_at at the line rate.
    let wait_us = (nic.mark_at.get() * 8 * 1_000_000 / rate).max(1);
    let packets = nic.buffer.get() / 1500;
    for (level, _) in dscp.iter().enumerate() {
        let class = 10 + level;
        plan.add(format!(
            "class add dev {interface} parent {ROOT}1 classid {ROOT}{class} htb rate {own}bit \
             ceil {rate}bit burst 3000b cburst {burst}b prio {level} quantum 60000"
        ));
        plan.add(if codel {
            format!(
                "qdisc add dev {interface} parent {ROOT}{class} handle {}: codel limit {packets} \
                 target 1s ecn ce_threshold {wait_us}us",
                100 + level
            )
        } else {
            format!(
                "qdisc add dev {interface} parent {ROOT}{class} handle {}: pfifo limit {packets}",
                100 + level
            )
        });
    }
    filters(&mut plan, interface, ROOT, dscp, |level| format!("{ROOT}{}", 10 + level));
    plan.notes
        .push(format!("HTB: strict priorities but for {own} bit/s that each level has of its own"));
    plan.notes.push(if codel {
        "ECN marks are set by the time in the queue (codel), each level on its own".into()
    } else {
        "no ECN marking: this kernel has neither RED nor codel".into()
    });
    plan
}

/// By DSCP into the levels; IP with another code point to the lowest.
fn filters(
    plan: &mut Plan,
    interface: &str,
    parent: &str,
    dscp: &[u8],
    class: impl Fn(usize) -> String,
) {
    let lowest = dscp.len().saturating_sub(1);
    for (protocol, prio, field) in [("ip", 1, "ip dsfield"), ("ipv6", 2, "ip6 priority")] {
        for (level, code_point) in dscp.iter().enumerate() {
            plan.add(format!(
                "filter add dev {interface} parent {parent} protocol {protocol} prio {prio} u32 \
                 match {field} {:#04x} 0xfc flowid {}",
                code_point << 2,
                class(level)
            ));
        }
        plan.add(format!(
            "filter add dev {interface} parent {parent} protocol {protocol} prio {} u32 \
             match u32 0 0 flowid {}",
            prio + 2,
            class(lowest)
        ));
    }
}

#[cfg(test)]
mod tests {
    use flowsched_units::{Bytes, Rate};

    use super::*;

    const NIC: Nic =
        Nic { rate: Rate::from_gbps(10), mark_at: Bytes::new(97_500), buffer: Bytes::new(360_000) };
    const ALL: Kinds =
        Kinds { tbf: true, prio: true, ets: true, red: true, htb: true, codel: true };

    fn text(kinds: Kinds) -> String {
        let plan = plan("eth0", &NIC, &[16, 8, 0], kinds).unwrap();
        plan.commands.iter().map(|command| command.join(" ") + "\n").collect()
    }

    #[test]
    fn the_best_that_the_kernel_has_is_used() {
        assert!(text(ALL).contains("prio bands 3") && text(ALL).contains(" red "));
        assert!(text(Kinds { prio: false, ..ALL }).contains("ets bands 3 strict 3"));
        assert!(text(Kinds { red: false, ..ALL }).contains("ce_threshold 78us"));
        let htb = Kinds { htb: true, ..Kinds::default() };
        assert!(text(htb).contains("htb default 10") && !text(htb).contains("codel"));
        assert!(plan("eth0", &NIC, &[0], Kinds::default()).is_err());
    }

    #[test]
    fn every_level_has_its_class_in_both_versions_of_ip() {
        let text = text(ALL);
        for (code_point, band) in [("0x40", 1), ("0x20", 2), ("0x00", 3)] {
            for field in ["ip dsfield", "ip6 priority"] {
                let filter = format!("match {field} {code_point} 0xfc flowid 3:{band}\n");
                assert!(text.contains(&filter), "{filter} is not in\n{text}");
            }
        }
    }
}
