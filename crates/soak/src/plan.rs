//! How the runs of a case are disturbed, drawn from its seed.

use std::time::Duration;

use nix::sys::signal::Signal;

use crate::draw::Draw;

/// What happens to the second run of a case.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Trouble {
    /// Nothing.
    None,
    /// It gets a signal that asks it to stop, after this share of the first run's time.
    Signal(Signal, f64),
    /// It is killed, after this share of the first run's time.
    Kill(f64),
    /// Its files cannot grow beyond this many bytes, as on a full disk.
    FullDisk(u64),
}

/// The threads of a case's runs, and what disturbs the second one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// Threads of the first run, and of all other runs.
    pub threads: [u64; 2],
    /// What happens to the second run.
    pub trouble: Trouble,
}

const REQUESTS: &[Signal] = &[Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP];

impl Plan {
    /// The plan of the case of `seed`.
    pub fn new(seed: u64) -> Plan {
        let draw = &mut Draw::new(seed, "plan");
        let first = draw.count(1, 3);
        let trouble = match draw.count(0, 9) {
            0..3 => Trouble::None,
            3..6 => Trouble::Signal(draw.pick(REQUESTS), draw.number(0.0, 1.0)),
            6..9 => Trouble::Kill(draw.number(0.0, 1.0)),
            _ => Trouble::FullDisk(draw.magnitude(4_000, 1_000_000)),
        };
        Plan { threads: [first, first % 3 + 1], trouble }
    }
}

impl Trouble {
    /// The signal to send, and when to send it, if the run takes `wall` without trouble.
    pub fn signal(&self, wall: Duration) -> Option<(Signal, Duration)> {
        match self {
            Trouble::Signal(signal, share) => Some((*signal, wall.mul_f64(*share))),
            Trouble::Kill(share) => Some((Signal::SIGKILL, wall.mul_f64(*share))),
            Trouble::None | Trouble::FullDisk(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_one_plan_and_seeds_give_all_kinds_of_trouble() {
        let plans: Vec<Plan> = (0..100).map(Plan::new).collect();
        assert_eq!(plans, (0..100).map(Plan::new).collect::<Vec<_>>());
        for plan in &plans {
            assert_ne!(plan.threads[0], plan.threads[1]);
        }
        let has = |is: fn(&Trouble) -> bool| plans.iter().any(|plan| is(&plan.trouble));
        assert!(has(|trouble| matches!(trouble, Trouble::None)));
        assert!(has(|trouble| matches!(trouble, Trouble::Signal(..))));
        assert!(has(|trouble| matches!(trouble, Trouble::Kill(_))));
        assert!(has(|trouble| matches!(trouble, Trouble::FullDisk(_))));
    }
}
