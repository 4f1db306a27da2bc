//! Converts a configuration to the rule for the BPF program.

use flowsched_units::Time;
use nix::time::{ClockId, clock_getres};

use super::{Config, MessageEnd};
use crate::bpf::{LEVELS, types};

impl Config {
    /// The rule for the BPF program.
    pub(crate) fn rule(&self) -> types::rule {
        let mut rule = types::rule {
            thresholds: [u64::MAX; LEVELS],
            message_idle_ns: nanoseconds(self.message_idle),
            flow_idle_ns: nanoseconds(self.flow_idle),
            timeout_gap_ns: nanoseconds(Some(self.timeout_gap)),
            ageing_timeouts: self.ageing_timeouts,
            flags: types::rule_flag(self.flags()),
            mark_mask: self.start_mark.unwrap_or(0),
            priority_mask: if self.start_priority { u32::MAX } else { 0 },
            vxlan_port: self.vxlan_port,
            ports: port_bitmap(&self.selection.ports),
            ..types::rule::default()
        };
        for (place, threshold) in rule.thresholds.iter_mut().zip(&self.thresholds) {
            *place = threshold.get();
        }
        let lowest = self.dscp.last().copied().unwrap_or(0);
        rule.dscp = std::array::from_fn(|level| self.dscp.get(level).copied().unwrap_or(lowest));
        rule
    }

    /// Whether a UDP flow's time is read only once per tick of the kernel's clock. This is so if
    /// its idle time is so long that one tick does not matter.
    pub(crate) fn knows_time_by_ticks(&self) -> bool {
        self.flow_idle.is_none_or(|idle| idle >= tick().saturating_mul(TICKS))
    }

    fn flags(&self) -> u32 {
        use types::rule_flag as bit;
        let all = [
            (self.cumulative, bit::FS_CUMULATIVE),
            (self.respect_dscp, bit::FS_RESPECT_DSCP),
            (self.force_ect, bit::FS_FORCE_ECT),
            (!self.selection.ports.is_empty(), bit::FS_SELECT_PORTS),
            (!self.selection.prefixes.is_empty(), bit::FS_SELECT_PREFIXES),
            (!self.selection.cgroups.is_empty(), bit::FS_SELECT_CGROUPS),
            (self.knows_time_by_ticks(), bit::FS_TICKS),
            (self.message_end == MessageEnd::Sent, bit::FS_SENT_ENDS),
            (self.start_priority || self.start_mark.is_some(), bit::FS_TOKENS),
        ];
        all.into_iter().filter(|(set, _)| *set).fold(0, |flags, (_, one)| flags | one.0)
    }
}

/// One tick of the kernel's clock does not matter for idle times of at least this many ticks.
const TICKS: u64 = 8;

/// A tick of the kernel's clock.
fn tick() -> Time {
    let found = clock_getres(ClockId::CLOCK_MONOTONIC_COARSE);
    found.map_or(Time::MAX, |tick| {
        Time::from_ns(tick.tv_sec() as u64 * 1_000_000_000 + tick.tv_nsec() as u64)
    })
}

fn nanoseconds(time: Option<Time>) -> u64 {
    time.map_or(u64::MAX, |time| time.as_ps() / 1000)
}

/// A bitmap with a bit for each port.
fn port_bitmap(ranges: &[(u16, u16)]) -> [u8; 8192] {
    let mut bitmap = [0; 8192];
    for port in ranges.iter().flat_map(|(first, last)| *first..=*last) {
        bitmap[usize::from(port >> 3)] |= 1 << (port & 7);
    }
    bitmap
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_bits() {
        let bitmap = port_bitmap(&[(80, 80), (8000, 8002), (65535, 65535)]);
        let set: Vec<u16> = (0..=u16::MAX)
            .filter(|port| bitmap[usize::from(port >> 3)] >> (port & 7) & 1 == 1)
            .collect();
        assert_eq!(set, [80, 8000, 8001, 8002, 65535]);
    }
}
