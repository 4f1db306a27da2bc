//! The `tc` commands for an interface. They use PRIO (or ETS) and RED if the kernel has them, and
//! HTB otherwise.

use flowsched_fleet::nic::Nic;
use flowsched_fleet::tc::{self, Bands, Tree};

use super::qdiscs::Kinds;
use super::tc::{Command, command};
use crate::error::AgentError;

/// The handle of the root that the agent makes.
pub(super) const ROOT: &str = tc::ROOT;

/// The commands, and notes about them for the operator.
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
        (true, _) => Some(Bands::Prio),
        (false, true) => Some(Bands::Ets),
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

/// TBF shapes. RED below it marks on the total length of all bands ("per-port"). Strict priorities
/// are below RED.
fn priorities(interface: &str, nic: &Nic, dscp: &[u8], kind: Bands) -> Plan {
    let Nic { rate, mark_at, buffer } = *nic;
    let tree = Tree { interface, rate, mark_at, buffer, dscp };
    let commands = tree.commands(kind).iter().map(|text| command(text)).collect();
    Plan { commands, notes: Vec::new() }
}

/// A tree of HTB alone, with a class per level below a class of the line rate. Each level's class
/// has a small rate of its own. Only the rest is shared by priority, so the order is strict apart
/// from these rates.
fn classes(interface: &str, nic: &Nic, dscp: &[u8], codel: bool) -> Plan {
    let mut plan = Plan::default();
    let rate = nic.rate.as_bps();
    let (burst, own) = (tc::burst(nic.rate), (rate / 1000).max(8_000));
    plan.add(format!("qdisc replace dev {interface} root handle {ROOT} htb default 10"));
    plan.add(format!(
        "class add dev {interface} parent {ROOT} classid {ROOT}1 htb rate {rate}bit ceil {rate}bit \
         burst {burst}b cburst {burst}b quantum 60000"
    ));
    // Each queue marks by itself, by the time that a packet waits: the time to send `mark_at` at
    // the line rate.
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
    let class = |level| format!("{ROOT}{}", 10 + level);
    tc::filters(interface, ROOT, dscp, class).into_iter().for_each(|text| plan.add(text));
    plan.notes
        .push(format!("HTB: strict priorities but for {own} bit/s that each level has of its own"));
    plan.notes.push(if codel {
        "ECN marks are set by the time in the queue (codel), each level on its own".into()
    } else {
        "no ECN marking: this kernel has neither RED nor codel".into()
    });
    plan
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
