//! The priorities of code points at the switch.

use crate::switch::headers::Levels;

/// The priority of each code point at ports with this many priorities. The code point's upper three bits
/// decide, as in switches.
pub(crate) fn levels(priorities: usize) -> Levels {
    let lowest = priorities.saturating_sub(1);
    std::array::from_fn(|code_point| lowest.saturating_sub(code_point >> 3) as u8)
}

#[cfg(test)]
mod tests {
    use flowsched_schemes::on_linux::code_point;

    use super::*;

    #[test]
    fn every_code_point_leads_back_to_its_priority() {
        for priorities in 1..=8 {
            let levels = levels(priorities);
            for priority in 0..priorities {
                let code_point = code_point(priority, priorities);
                assert_eq!(usize::from(levels[usize::from(code_point)]), priority);
            }
            assert_eq!(usize::from(levels[0]), priorities - 1, "untagged packets go last");
        }
    }
}
