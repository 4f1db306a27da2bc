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

const MIXED: [&str; 9] = [
    "thresholds",
    "--workload",
    "web-search-packets",
    "--workload",
    "data-mining-packets",
    "--load",
    "0.5..0.7:0.1",
    "--queues",
    "4",
];

/// The regret of the common set under each forecast follows from that forecast's own best
/// thresholds, asked for one by one.
#[test]
fn several_loads_and_workloads_have_one_set() {
    let place = Place::new();
    let json = place.flowsched(&[&MIXED[..], &["--format", "json"]].concat()).json();
    let thresholds: Vec<u64> = serde_json::from_value(json["thresholds_bytes"].clone()).unwrap();
    assert_eq!((thresholds.len(), thresholds.is_sorted()), (3, true), "{thresholds:?}");
    assert_eq!(json["regret"], "worst");
    let scenes = json["scenes"].as_array().unwrap();
    assert_eq!(scenes.len(), 6);
    let mut worst: f64 = 0.0;
    for scene in scenes {
        let workload = scene["workload"].as_str().unwrap();
        let load = scene["load"].to_string();
        let own = ["thresholds", "--workload", workload, "--load", &load, "--queues", "4"];
        let own = place.flowsched(&[&own[..], &["--format", "json"]].concat()).json();
        let best = own["objective_value"].as_f64().unwrap();
        let regret = scene["objective_value"].as_f64().unwrap() / best - 1.0;
        assert!(regret >= -1e-9 && (regret - scene["regret"].as_f64().unwrap()).abs() < 1e-9);
        worst = worst.max(regret);
    }
    assert!((worst - json["worst_regret"].as_f64().unwrap()).abs() < 1e-9);
    let mean = ["--regret", "mean", "--format", "json"];
    let mean = place.flowsched(&[&MIXED[..], &mean].concat()).json();
    let of = |json: &serde_json::Value, key: &str| json[key].as_f64().unwrap();
    assert!(of(&mean, "mean_regret") <= of(&json, "mean_regret") + 1e-9);
    assert!(of(&mean, "worst_regret") >= of(&json, "worst_regret") - 1e-9);
    let table = place.flowsched(&MIXED).output;
    for word in ["at loads 0.5, 0.6, 0.7", "data-mining-packets", "at worst", "on average"] {
        assert!(table.contains(word), "no {word}:\n{table}");
    }
    let toml = place.flowsched(&[&MIXED[..], &["--format", "toml"]].concat()).output;
    let settings = toml.lines().filter(|line| line.starts_with("thresholds = "));
    assert_eq!(settings.count(), 1, "{toml}");
}

/// Scaling a link's rate only scales time. Its load changes which thresholds are best for
/// slowdowns.
#[test]
fn links_that_differ_have_thresholds_each() {
    let place = Place::new();
    let asked = |more: &[&'static str]| {
        let links = ["--link", "10Gbps@0.9", "--link", "40Gbps", "--load", "0.3"];
        let scene = ["thresholds", "--workload", "web-search-packets", "--queues", "4"];
        let objective = ["--objective", "mean-slowdown"];
        place.flowsched(&[&scene[..], &objective, &links, more].concat())
    };
    let json = asked(&["--format", "json"]).json();
    let links = json["links"].as_array().unwrap();
    assert_eq!(links.len(), 2);
    assert_eq!([&links[0]["link"], &links[1]["link"]], ["10Gbps", "40Gbps"]);
    assert_eq!(links[1]["load"], 0.3);
    assert_ne!(links[0]["thresholds_bytes"], links[1]["thresholds_bytes"]);
    assert!(links.iter().all(|link| link["loss_with_common"].as_f64().unwrap() >= -1e-9));
    assert_eq!(json["thresholds_bytes"].as_array().unwrap().len(), 3);
    let toml = asked(&["--format", "toml"]).output;
    assert_eq!(toml.matches("[[link]]\nrate = \"").count(), 2, "{toml}");
    let table = asked(&[]).output;
    for word in ["10Gbps, load 0.9", "40Gbps, load 0.3", "all links", "more with common"] {
        assert!(table.contains(word), "no {word}:\n{table}");
    }
}

#[test]
fn what_does_not_go_together_is_refused() {
    let place = Place::new();
    let workload = ["thresholds", "--workload", "web-search-packets"];
    for (more, word) in [
        (vec![], "--load"),
        (vec!["--link", "10Gbps"], "10Gbps@LOAD"),
        (vec!["--load", "0.5..0.9"], "the step is missing"),
        (vec!["--load", "0.5,1"], "found 1, expected a number over 0 and less than 1"),
        (vec!["--load", "0.5,0.8", "--compare"], "to compare at"),
        (vec!["--load", "0.5", "--regret", "mean"], "one workload and one load"),
        (vec!["--load", "0.5", "--link", "10Gbps@0.8"], "every --link has its own"),
        (vec!["--load", "0.5,0.8", "--link", "1Gbps", "--link", "2Gbps"], "one load for each link"),
        (vec!["--load", "0.5,0.8", "--model", "pias-mm1-bound"], "not a sum over levels"),
    ] {
        let done = place.flowsched(&[&workload[..], &more].concat());
        assert_eq!(done.status, Some(2), "{more:?}: {}", done.errors);
        assert!(done.errors.contains(word), "{more:?}: {}", done.errors);
    }
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
