//! `flowsched thresholds` in its formats.

use crate::common::{Place, SMALL};

const ASKED: [&str; 7] =
    ["thresholds", "--workload", "web-search-packets", "--load", "0.8", "--queues", "4"];

fn asked(more: &[&'static str]) -> Vec<&'static str> {
    [&ASKED, more].concat()
}

#[test]
fn json_has_one_threshold_fewer_than_queues() {
    let place = Place::new();
    let json = place.flowsched(&asked(&["--format", "json"])).json();
    let thresholds: Vec<u64> = serde_json::from_value(json["thresholds_bytes"].clone()).unwrap();
    assert_eq!(thresholds.len(), 3);
    assert!(thresholds.is_sorted(), "{thresholds:?}");
    assert_eq!(json["model"], "multilevel-fcfs");
    assert_eq!(json["objective"], "mean-fct");
    assert!(json["predicted"]["fct_us"]["all"].is_f64(), "{json}");
}

#[test]
fn a_comparison_shows_the_others_and_what_is_lost() {
    let place = Place::new();
    let asked = asked(&["--compare", "--objective", "mean-slowdown"]);
    let done = place.flowsched(&asked);
    assert_eq!(done.status, Some(0), "{}", done.errors);
    for word in ["one-queue", "equal-split", "exponential", "load 0.7", "sizes 2 times"] {
        assert!(done.output.contains(word), "no {word}:\n{}", done.output);
    }
}

#[test]
fn toml_goes_into_a_scheme() {
    let place = Place::new();
    let done = place.flowsched(&asked(&["--format", "toml"]));
    let line = done.output.lines().find(|line| line.starts_with("thresholds = ")).unwrap();
    let old = "queues = 2\nthresholds = \"10pkt\"";
    place.write("best.toml", &SMALL.replace(old, &format!("queues = 4\n{line}")));
    let check = place.flowsched(&["check", "best.toml"]);
    assert_eq!(check.status, Some(0), "{}", check.errors);
}

#[test]
fn what_has_no_answer_is_refused() {
    let place = Place::new();
    place.write("falls.cdf", "100 0.5\n200 0.4\n300 1\n");
    for (key, value, word) in [
        ("--load", "1", "less than 1"),
        ("--queues", "0", "queues"),
        ("--queues", "65", "queues"),
        ("--workload", "web-serch-packets", "did you mean \"web-search-packets\"?"),
        ("--workload", "falls.cdf", "falls.cdf:2:1"),
        ("--model", "guess", "multilevel-fcfs"),
        ("--objective", "joy", "mean-fct"),
        ("--link", "10us", "Gbps"),
    ] {
        let mut asked: Vec<&str> = ASKED.to_vec();
        match asked.iter().position(|argument| *argument == key) {
            Some(index) => asked[index + 1] = value,
            None => asked.extend([key, value]),
        }
        let done = place.flowsched(&asked);
        assert_eq!(done.status, Some(2), "{key} {value}: {}", done.errors);
        assert!(done.errors.contains(word), "{key} {value}: {}", done.errors);
    }
}
