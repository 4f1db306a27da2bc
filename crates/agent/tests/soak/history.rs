//! Records which rule was in force at which time, as far as this is known from outside: a command
//! takes effect between the moment before it and the moment after it.

use std::fmt::Write;

use crate::draw::Rule;

/// The state between two changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phase {
    /// The rule; `None` if packets are not tagged.
    pub rule: Option<Rule>,
    /// The number of the installation; 0 if nothing is installed. Each installation begins without
    /// any state.
    pub life: u32,
}

/// The beginning of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// When the command began and ended.
    pub before: u64,
    pub after: u64,
    /// Whether packets may be counted twice, or be counted without arriving.
    pub blurs: bool,
}

/// All phases of a case.
#[derive(Clone, Debug)]
pub struct History {
    phases: Vec<(Change, Phase)>,
    /// The longest time that a packet may take from the tagger to the capture.
    delay: u64,
}

impl History {
    /// A history in which nothing is installed.
    pub fn new(delay: u64) -> History {
        let start = Change { before: 0, after: 0, blurs: false };
        History { phases: vec![(start, Phase { rule: None, life: 0 })], delay }
    }

    pub fn push(&mut self, change: Change, phase: Phase) {
        self.phases.push((change, phase));
    }

    /// All changes, for analysing a failure.
    pub fn describe(&self) -> String {
        let mut text = String::new();
        for (Change { before, after, .. }, Phase { rule, life }) in &self.phases {
            let code_points = rule.map(|rule| rule.dscp);
            let _ = writeln!(text, "{before} to {after}: life {life}, {code_points:?}");
        }
        text
    }

    /// The end of a phase. No packet of the phase is captured later.
    fn end(&self, index: usize) -> u64 {
        self.phases.get(index + 1).map_or(u64::MAX, |(change, _)| change.after + self.delay)
    }

    /// The phases in which a packet that was captured at `at` may have been sent.
    pub fn at(&self, at: u64) -> Vec<Phase> {
        let phases = self.phases.iter().enumerate();
        phases
            .filter(|(index, (change, _))| change.before <= at && at <= self.end(*index))
            .map(|(_, (_, phase))| *phase)
            .collect()
    }

    /// Whether some packets between `from` and `to` may have been miscounted.
    pub fn is_blurred(&self, from: u64, to: u64) -> bool {
        self.phases.iter().any(|(change, _)| {
            change.blurs && change.before <= to && from <= change.after + self.delay
        })
    }

    /// The earliest and the latest time at which an installation may have begun, in times of
    /// captured packets.
    pub fn birth(&self, life: u32) -> (u64, u64) {
        let first = self.phases.iter().find(|(_, phase)| phase.life == life);
        first.map_or((0, 0), |(change, _)| (change.before, change.after + self.delay))
    }

    /// Whether an installation did not tag at some time between `from` and `to`.
    pub fn has_gap(&self, life: u32, from: u64, to: u64) -> bool {
        self.phases.iter().enumerate().any(|(index, (change, phase))| {
            phase.life == life
                && phase.rule.is_none()
                && change.before <= to
                && from <= self.end(index)
        })
    }
}

#[test]
fn around_a_change_both_phases_are_possible() {
    let rule = Rule { thresholds: [1, 2], dscp: [1, 2, 3] };
    let mut history = History::new(10);
    let [off, on] = [Phase { rule: None, life: 0 }, Phase { rule: Some(rule), life: 1 }];
    history.push(Change { before: 100, after: 200, blurs: false }, on);
    assert_eq!(history.at(99), [off]);
    assert_eq!(history.at(100), [off, on]);
    assert_eq!(history.at(210), [off, on]);
    assert_eq!(history.at(211), [on]);
    assert_eq!(history.birth(1), (100, 210));
    history.push(Change { before: 300, after: 300, blurs: false }, Phase { rule: None, ..on });
    history.push(Change { before: 400, after: 450, blurs: false }, on);
    assert!(history.has_gap(1, 250, 300) && history.has_gap(1, 460, 470));
    assert!(!history.has_gap(1, 211, 299) && !history.has_gap(1, 461, 470));
}
