use std::time::Duration;

use flowsched_fleet::bins;
use flowsched_workload::sizes::by_name;

use super::*;
use crate::windows::Window;

const LINK: Rate = Rate::from_gbps(10);

fn guard() -> Guard {
    Guard {
        every: Duration::from_secs(600),
        improvement: 0.02,
        interval: Duration::from_secs(3600),
        least_threshold: Bytes::new(1460),
        least_messages: 10_000,
    }
}

fn window(name: &str, load: f64) -> Window {
    let sizes = by_name(name).unwrap();
    let mut before = 0.0;
    let up_to = bins::bounds().map(|bound| sizes.cdf(bound as f64)).chain([1.0]);
    let counts = up_to
        .map(|up_to| {
            let count = 1e6 * (up_to - before);
            before = up_to;
            count
        })
        .collect();
    Window { seconds: 3600.0, bytes: load, capacity: 1.0, counts }
}

fn decided(windows: &Windows, current: &[u64], unchanged: Option<u64>, guard: &Guard) -> Decision {
    let current: Vec<Bytes> = current.iter().copied().map(Bytes::new).collect();
    decide(&Situation { windows, link: LINK, current: &current, unchanged, guard })
}

#[test]
fn thresholds_that_are_far_off_change_and_good_ones_stay() {
    let windows: Windows = [window("web-search-bytes", 0.6)].into_iter().collect();
    let first = decided(&windows, &[100, 200, 300], None, &guard());
    assert!(matches!(first.reason, Reason::Gain { gain } if gain > 0.02), "{first:?}");
    let better: Vec<u64> = first.thresholds.unwrap().iter().map(|bytes| bytes.get()).collect();
    let second = decided(&windows, &better, None, &guard());
    assert!(matches!(second.reason, Reason::NoGain { gain, .. } if gain < 0.001), "{second:?}");
    assert_eq!(second.thresholds, None);
}

#[test]
fn guard_rails_hold() {
    let windows: Windows = [window("web-search-bytes", 0.6)].into_iter().collect();
    let bad = [100, 200, 300];
    let soon = decided(&windows, &bad, Some(3000), &guard());
    assert_eq!(soon.reason, Reason::TooSoon { seconds: 600 });
    assert!(decided(&windows, &bad, Some(3600), &guard()).thresholds.is_some());
    let none = decided(&Windows::default(), &bad, None, &guard());
    assert_eq!(none.reason, Reason::FewMessages { found: 0, least: 10_000 });
    let high = Guard { least_threshold: Bytes::new(5_000_000), ..guard() };
    let found = decided(&windows, &bad, None, &high).thresholds.unwrap();
    assert!(found.iter().all(|bytes| bytes.get() >= 5_000_000), "{found:?}");
    let demanding = Guard { improvement: 0.99, ..guard() };
    assert_eq!(decided(&windows, &bad, None, &demanding).thresholds, None);
}

/// Over both hours, thresholds chosen for both cost less than thresholds chosen for the last hour.
#[test]
fn one_set_serves_all_hours_of_a_day() {
    let hours = [window("web-search-bytes", 0.7), window("data-mining-bytes", 0.5)];
    let all: Windows = hours.iter().cloned().collect();
    let last: Windows = hours[1..].iter().cloned().collect();
    let bad = [100, 200, 300];
    let robust = decided(&all, &bad, None, &guard()).thresholds.unwrap();
    let own = decided(&last, &bad, None, &guard()).thresholds.unwrap();
    assert_ne!(robust, own);
    let bytes: Vec<u64> = own.iter().map(|bytes| bytes.get()).collect();
    let from_own = decided(&all, &bytes, None, &Guard { improvement: 0.0, ..guard() });
    assert!(matches!(from_own.reason, Reason::Gain { gain } if gain > 0.0), "{from_own:?}");
}
