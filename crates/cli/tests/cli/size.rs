//! Compares estimates of what an experiment needs with what it takes.

use std::fs::File;

use parquet::file::reader::FileReader;
use parquet::file::serialized_reader::SerializedFileReader;

use crate::common::{Place, summary};

/// The number before `unit` in `text`: "about 1.5 million packet-hops" has 1.5e6 of them.
fn number(text: &str, unit: &str) -> f64 {
    let before = text.split(unit).next().unwrap().trim_end();
    let words: Vec<&str> = before.rsplit(' ').take(2).collect();
    let factor = match words[0] {
        "thousand" => 1e3,
        "million" => 1e6,
        "billion" => 1e9,
        number => return number.parse().unwrap(),
    };
    words[1].parse::<f64>().unwrap() * factor
}

#[test]
fn an_estimate_is_near_what_a_run_takes() {
    let place = Place::new();
    let cases: [&[&str]; 3] = [
        &["--set", "workload.flows=2000"],
        &["--set", "workload.flows=300", "--set", "topology.link_delay=1ms"],
        &["--set", "workload.flows=60", "--set", "workload.sizes=fixed 3MB"],
    ];
    for case in cases {
        let checked = place.flowsched(&[&["check", "small.toml"], case].concat()).output;
        let ran = place.flowsched(&[&["run", "small.toml"], case].concat());
        assert_eq!(ran.status, Some(0), "{}", ran.errors);
        let folder = place.path("results/small");
        let hops: u64 = summary(&folder)["runs"]
            .as_array()
            .unwrap()
            .iter()
            .map(|run| run["packet_hops"].as_u64().unwrap())
            .sum();
        let ratio = number(&checked, "packet-hops") / hops as f64;
        assert!((0.6..1.6).contains(&ratio), "{case:?}: {ratio} times the packet-hops");
        let ports = SerializedFileReader::new(File::open(folder.join("ports.parquet")).unwrap());
        let rows = ports.unwrap().metadata().file_metadata().num_rows();
        let ratio = number(&checked, "rows") / rows as f64;
        assert!((0.5..2.0).contains(&ratio), "{case:?}: {ratio} times the rows");
        std::fs::remove_dir_all(place.path("results")).unwrap();
    }
}

/// pFabric's senders try again every 250 us, however many of them wait.
#[test]
fn an_estimate_counts_the_timeouts_of_flows_that_wait() {
    let place = Place::new();
    let experiment = |copies: u32| {
        format!(
            "[topology]\nkind = \"star\"\nhosts = 4\n\n[[workload.flow]]\nsrc = 0\ndst = 3\n\
             size = \"1KB\"\ncopies = {copies}\n\n[[scheme]]\npreset = \"pfabric\"\n"
        )
    };
    place.write("copies.toml", &experiment(20_000));
    let checked = place.flowsched(&["check", "copies.toml"]).output;
    let ran = place.flowsched(&["run", "copies.toml"]);
    assert_eq!(ran.status, Some(0), "{}", ran.errors);
    let timeouts = summary(&place.path("results/copies"))["runs"][0]["timeouts"].as_f64().unwrap();
    let ratio = number(&checked, "time-outs") / timeouts;
    assert!((0.6..1.6).contains(&ratio), "{ratio} times the time-outs: {checked}");
    // Twice as many flows, of which only a sample is examined, have four times as many time-outs.
    place.write("copies.toml", &experiment(40_000));
    let twice = place.flowsched(&["check", "copies.toml"]).output;
    let growth = number(&twice, "time-outs") / number(&checked, "time-outs");
    assert!((3.8..4.2).contains(&growth), "{growth}: {twice}");
}
