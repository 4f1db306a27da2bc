use std::time::Duration;

use super::*;

const TRIAL: Trial = Trial { share: 0.25, time: Duration::from_secs(600), retransmissions: 0.2 };

/// A group of eight hosts that put every announcement in force.
struct Fleet {
    rollout: Rollout,
    hosts: Vec<Sample>,
}

fn change(bytes: &[u64]) -> Decision {
    let thresholds = Some(bytes.iter().copied().map(Bytes::new).collect());
    Decision { thresholds, reason: Reason::Gain { gain: 0.1 } }
}

impl Fleet {
    fn new() -> Fleet {
        let state = State::new(&[Bytes::new(10), Bytes::new(20)]);
        let named = |n| Sample { host: format!("h{n}"), ..Sample::default() };
        Fleet {
            rollout: Rollout::new("g", &[48, 32, 0], state),
            hosts: (0..8).map(named).collect(),
        }
    }

    /// All hosts put the announcement in force and send 10,000 segments. `again` is how many of them
    /// other hosts and canaries retransmit.
    fn follow(&mut self, again: [u64; 2]) {
        let announced = self.rollout.state.announced.clone().unwrap();
        for host in &mut self.hosts {
            host.version = announced.version;
            host.is_canary = announced.is_canary(&host.host);
            host.segments += 10_000;
            host.retransmitted += again[usize::from(host.is_canary)];
        }
    }

    fn decided(&mut self, bytes: &[u64], now: u64) -> bool {
        self.rollout.decided(change(bytes), &self.hosts, &TRIAL, now)
    }

    fn watch(&mut self, now: u64) -> bool {
        self.rollout.watch(&self.hosts, &TRIAL, now)
    }
}

#[test]
fn a_trial_that_goes_well_reaches_all_hosts() {
    let mut fleet = Fleet::new();
    assert!(fleet.decided(&[5, 6], 0));
    let first = fleet.rollout.state.announced.clone().unwrap();
    assert_eq!((first.version, &first.thresholds), (1, &vec![10, 20]));
    let canaries = fleet.hosts.iter().filter(|host| first.is_canary(&host.host)).count();
    assert_eq!(canaries, 2);
    assert!(!fleet.watch(1));
    fleet.follow([10, 10]);
    assert!(!fleet.watch(300));
    fleet.follow([10, 10]);
    assert!(fleet.watch(601));
    let second = fleet.rollout.state.announced.clone().unwrap();
    assert_eq!((second.version, &second.thresholds, &second.canary), (2, &vec![5, 6], &None));
    assert_eq!(fleet.rollout.state.reason, Reason::TrialPassed);
}

#[test]
fn more_retransmissions_roll_a_trial_back_under_a_new_version() {
    let mut fleet = Fleet::new();
    fleet.decided(&[5, 6], 0);
    fleet.watch(1);
    fleet.follow([10, 100]);
    fleet.follow([10, 100]);
    assert!(fleet.watch(20), "{:?}", fleet.rollout.state);
    let after = fleet.rollout.state.announced.clone().unwrap();
    assert_eq!((after.version, &after.thresholds, &after.canary), (2, &vec![10, 20], &None));
    assert!(matches!(&fleet.rollout.state.reason, Reason::RolledBack(why) if why.contains("%")));
    assert_eq!(fleet.rollout.state.changed_at, Some(20), "the next trial waits");
}

#[test]
fn a_few_more_retransmissions_do_not() {
    let mut fleet = Fleet::new();
    fleet.decided(&[5, 6], 0);
    fleet.watch(1);
    fleet.follow([10, 11]);
    assert!(!fleet.watch(20));
}

#[test]
fn a_refusal_and_canaries_that_do_not_follow_end_a_trial() {
    let mut fleet = Fleet::new();
    fleet.decided(&[5, 6], 0);
    fleet.hosts[3].refused += 1;
    assert!(fleet.watch(2));
    assert!(fleet.rollout.state.reason.to_string().contains("h3 refused"));

    let mut fleet = Fleet::new();
    fleet.decided(&[5, 6], 0);
    fleet.watch(1);
    assert!(fleet.watch(700));
    assert!(fleet.rollout.state.reason.to_string().contains("no canary"));
}

#[test]
fn versions_never_go_backwards() {
    let mut fleet = Fleet::new();
    fleet.hosts[0].version = 41;
    fleet.decided(&[5, 6], 0);
    assert_eq!(fleet.rollout.state.version(), 42);
    // The controller's state is older than what the fleet has.
    fleet.hosts[0].version = 50;
    assert!(fleet.watch(1));
    let after = fleet.rollout.state.announced.clone().unwrap();
    assert_eq!((after.version, after.canary), (51, None));
}

#[test]
fn a_host_with_an_impossible_version_stops_nobody() {
    for version in [u64::MAX, LARGEST_LEAP + 2] {
        let mut fleet = Fleet::new();
        fleet.decided(&[5, 6], 0);
        let before = fleet.rollout.state.version();
        fleet.hosts[0].version = version;
        assert!(!fleet.watch(1), "the trial goes on");
        fleet.decided(&[7, 8], 10_000);
        assert!(fleet.rollout.state.version() <= before + 1, "others would refuse the next one");
    }
}

#[test]
fn a_clock_that_was_wrong_does_not_put_off_the_next_change() {
    let mut fleet = Fleet::new();
    assert_eq!(fleet.rollout.unchanged(5), None);
    fleet.decided(&[5, 6], 1_000_000);
    assert_eq!(fleet.rollout.unchanged(100), Some(0));
    assert_eq!(fleet.rollout.unchanged(160), Some(60));
}

#[test]
fn a_lone_host_gets_them_at_once() {
    let mut fleet = Fleet::new();
    fleet.hosts.truncate(1);
    assert!(fleet.decided(&[5, 6], 0));
    let announced = fleet.rollout.state.announced.clone().unwrap();
    assert_eq!((announced.thresholds, announced.canary), (vec![5, 6], None));
}
