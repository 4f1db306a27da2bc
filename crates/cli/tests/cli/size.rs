//! Estimates of what an experiment needs, against what it takes.

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
