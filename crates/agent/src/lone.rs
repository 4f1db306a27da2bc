//! The time span in which the BPF program makes no state for a connection's first packet
//! (`bpf/lone.h`): while rules without options are in force. If a connection began to send at any
//! other time and has no state, the tagger did not see it.

use crate::bpf::types::{rule, rule_flag};

/// Sets this time span in `next`, the rule that follows `before` at the time `now`, in ns of the
/// monotonic clock.
pub(crate) fn follow(before: &rule, next: &mut rule, now: u64) {
    let is_open = before.lone_to == u64::MAX;
    (next.lone_from, next.lone_to) = match (is_open, has_options(next)) {
        (true, false) => (before.lone_from, u64::MAX),
        (false, false) => (now, u64::MAX),
        (true, true) => (before.lone_from, now),
        (false, true) => (before.lone_from, before.lone_to),
    };
}

fn has_options(rule: &rule) -> bool {
    rule.flags.0 & !rule_flag::FS_NO_OPTIONS.0 != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(before: &rule, flags: rule_flag, now: u64) -> rule {
        let mut next = rule { flags, ..rule::default() };
        follow(before, &mut next, now);
        next
    }

    fn period(rule: &rule) -> (u64, u64) {
        (rule.lone_from, rule.lone_to)
    }

    #[test]
    fn a_rule_with_options_ends_the_period_and_the_next_without_begins_another() {
        let first = after(&rule::default(), rule_flag::FS_TICKS, 10);
        assert_eq!(period(&first), (10, u64::MAX));
        let second = after(&first, rule_flag::FS_SENT_ENDS, 20);
        assert_eq!(period(&second), (10, u64::MAX));
        let third = after(&second, rule_flag::FS_SELECT_PORTS, 30);
        assert_eq!(period(&third), (10, 30));
        let fourth = after(&third, rule_flag::FS_CUMULATIVE, 40);
        assert_eq!(period(&fourth), (10, 30));
        assert_eq!(period(&after(&fourth, rule_flag::FS_TICKS, 50)), (50, u64::MAX));
    }

    #[test]
    fn a_first_rule_with_options_has_no_period() {
        assert_eq!(period(&after(&rule::default(), rule_flag::FS_TRACE, 10)), (0, 0));
    }
}
