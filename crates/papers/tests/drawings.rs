//! Drawings from the tables of a made-up study.

use std::path::Path;

use flowsched_experiment::results::{
    FlowRow, Folder, Meta, OfferedLoad, Point, PortRecord, PortRow, PortsOfRun, Program, RunKey,
    RunRecord, VariedKey, write,
};
use flowsched_papers::{Drawing, Drawn, DrawnOf, Measure, OverTime};
use flowsched_units::{Bytes, Rate, Time};

const FLOWS: u64 = 100;
const SAMPLES: u64 = 1_000;

/// Two schemes with two seeds at two loads, whose flows start in the first half of a millisecond. Under `fast`, flows
/// with odd numbers take half as long as under `slow`, and the last flow of each seed does not finish. Each microsecond,
/// the card of the host sends 1,000 bytes under `slow` and 500 under `fast`. The port of the switch has as many packets
/// as the last two digits of the time say, but 5,000 at 123 us.
fn write_study(dir: &Path) {
    let loads = ["0.4", "0.6"];
    let meta = Meta {
        name: "made up".to_owned(),
        experiment: String::new(),
        keys: vec![VariedKey::new("workload.load", loads.into_iter())],
        program: Program::default(),
        orders: Vec::new(),
        has_probe: false,
    };
    let mut runs = Vec::new();
    for load in loads {
        for scheme in ["slow", "fast"] {
            for seed in [1, 2] {
                let point = Point(vec![("workload.load".to_owned(), load.to_owned())]);
                runs.push(run(point, scheme, seed));
            }
        }
    }
    write(dir, &meta, runs).unwrap();
}

fn run(point: Point, scheme: &str, seed: u64) -> (RunRecord, PortsOfRun) {
    let is_fast = scheme == "fast";
    let flow = |flow: u64| FlowRow {
        flow,
        size: Bytes::new(1_000),
        start: Time::from_us(flow * 5),
        fct: (flow + 1 < FLOWS || !is_fast)
            .then(|| Time::from_us(if is_fast && flow % 2 == 1 { 10 } else { 20 })),
        ideal_fct: Time::from_us(5),
        measured: true,
        ..FlowRow::default()
    };
    let load = OfferedLoad { requested: Some(0.5), ..OfferedLoad::default() };
    let key = RunKey { point: point.clone(), scheme: scheme.to_owned(), seed };
    let record = RunRecord {
        point,
        scheme: scheme.to_owned(),
        seed,
        load,
        flows: (0..FLOWS).map(flow).collect(),
        ..RunRecord::default()
    };
    let port = |owner: &str, peer: &str, class: &str| PortRecord {
        owner: owner.to_owned(),
        peer: peer.to_owned(),
        class: class.to_owned(),
        rate: Rate::from_gbps(8),
    };
    let ports = vec![
        port("host 0", "switch 0", "host to switch"),
        port("switch 0", "host 0", "switch to host"),
    ];
    let sample = |us: u64, port: u32| {
        let packets = if us == 123 { 5_000 } else { us % 100 };
        PortRow {
            time: Time::from_us(us),
            port,
            queue_packets: packets + seed,
            queue_bytes: 1_000 * packets * u64::from(port),
            tx_bytes: us * if is_fast { 500 } else { 1_000 },
            ..PortRow::default()
        }
    };
    let samples = (0..=SAMPLES).flat_map(|us| [sample(us, 0), sample(us, 1)]).collect();
    (record, PortsOfRun { run: key, ports, samples })
}

/// What a drawing with these keys reads from the study, for a value that compares both schemes.
fn read(keys: &str) -> Result<Drawing, String> {
    let dir = tempfile::tempdir().unwrap();
    write_study(dir.path());
    let measure = "experiment = \"e\"\nfigure = \"drops\"\nscheme = \"fast\"\nbaseline = \"slow\"";
    let measure: Measure = toml::from_str(measure).unwrap();
    let drawn: Drawn = toml::from_str(&format!("title = \"Figure 1\"\n{keys}")).unwrap();
    let folder = Folder::open(dir.path()).unwrap();
    Drawing::read(&drawn, &measure, &folder).map_err(|error| error.to_string())
}

const AT: &str = "at = { \"workload.load\" = \"0.6\" }\n";

#[test]
fn rates_are_means_from_one_point_to_the_next() {
    let links = "links = \"card: host 0 to switch 0 from 100us to 900us\"\n";
    let drawing = read(&format!("{AT}{links}of = {{ over_time = \"rate_gbps\" }}")).unwrap();
    assert_eq!(drawing.of, DrawnOf::OverTime(OverTime::RateGbps));
    let names: Vec<&str> = drawing.curves.iter().map(|curve| curve.name.as_str()).collect();
    assert_eq!(names, ["fast", "slow"]);
    for (curve, gbps) in drawing.curves.iter().zip([4.0, 8.0]) {
        assert_eq!((curve.x.len(), curve.y.len()), (100, 100));
        assert_eq!((curve.x[0], curve.x[99]), (100.0, 900.0));
        assert!(curve.y.iter().all(|rate| *rate == gbps), "{curve:?}");
    }
    let used = read(&format!("{AT}{links}of = {{ over_time = \"utilisation\" }}")).unwrap();
    assert!(used.curves[0].y.iter().all(|share| *share == 0.5), "{used:?}");
}

#[test]
fn a_queue_keeps_its_extremes_and_is_of_the_first_seed() {
    let links = "links = \"up: host 0 to switch 0; down: switch 0 to host 0\"\n";
    let of = "schemes = [\"slow\"]\nof = { over_time = \"queue_packets\" }";
    let drawing = read(&format!("{AT}{links}{of}")).unwrap();
    let [up, down] = &drawing.curves[..] else { panic!("{drawing:?}") };
    assert_eq!((up.name.as_str(), down.name.as_str()), ("up", "down"));
    let points: Vec<(f64, f64)> = down.points().collect();
    assert!(points.len() <= 100, "{}", points.len());
    assert!(points.contains(&(123.0, 5_001.0)), "{points:?}");
    assert_eq!((points[0], points[points.len() - 1]), ((0.0, 1.0), (1_000.0, 1.0)));
}

#[test]
fn a_distribution_of_ratios_is_of_pairs_of_flows() {
    let of = "schemes = [\"fast\"]\nof = { distribution = \"fct_ratio\" }";
    let drawing = read(&format!("{AT}{of}")).unwrap();
    let [curve] = &drawing.curves[..] else { panic!("{drawing:?}") };
    assert_eq!(curve.name, "fast / slow");
    // The last flow has an odd number: 49 of 99 flows are twice as fast.
    let points: Vec<(f64, f64)> = curve.points().collect();
    assert_eq!(points, [(0.5, 0.0), (0.5, 0.49495), (1.0, 1.0)]);
}

/// The summary has percentiles of the same samples.
#[test]
fn queues_are_those_of_the_summary() {
    let dir = tempfile::tempdir().unwrap();
    write_study(dir.path());
    let folder = Folder::open(dir.path()).unwrap();
    let summary = &folder.summary().runs[0].queue_bytes;
    let drawing =
        read(&format!("{AT}schemes = [\"slow\"]\nof = {{ distribution = \"queue_bytes\" }}"))
            .unwrap();
    let points: Vec<(f64, f64)> = drawing.curves[0].points().collect();
    assert_eq!(points[points.len() - 1], (summary.max.unwrap(), 1.0));
    assert_eq!(summary.max, Some(5_000_000.0));
    // The starts are from 0 to 495 us. 15 of 496 samples are up to 2 packets, the first steps too low to be kept.
    assert_eq!(points[..2], [(0.0, 0.0), (2_000.0, 0.030242)]);
    let median = summary.p50.unwrap();
    let share = points.iter().rev().find(|(bytes, _)| *bytes <= median).unwrap().1;
    assert!((share - 0.5).abs() < 0.03, "{share} up to {median} bytes");
}

#[test]
fn equal_tables_give_equal_drawings() {
    let keys = format!("{AT}of = {{ distribution = \"queue_bytes\" }}");
    assert_eq!(read(&keys), read(&keys));
}

#[test]
fn what_the_tables_lack_is_refused_in_words() {
    let rate = "of = { over_time = \"rate_gbps\" }\n";
    let card = "links = \"card: host 0 to switch 0\"\n";
    for (keys, problem) in [
        (format!("{rate}{card}"), "the runs have 2 points with {}. Let `at` name one point."),
        (
            format!("{rate}{card}at = {{ \"workload.load\" = \"0.9\" }}"),
            "the runs have 0 points with {workload.load = 0.9}.",
        ),
        (
            format!("{rate}{card}{AT}schemes = [\"fats\"]"),
            "the runs have no scheme `fats`, but slow, fast.",
        ),
        (
            format!("{rate}{AT}links = \"card: host 9 to switch 0\""),
            "`fast` has fewer than two samples of host 9 to switch 0. Name ports of the experiment",
        ),
        (
            format!("{rate}{AT}links = \"card: host 0 to switch 0 from 2us to 2.5us\""),
            "`fast` has fewer than two samples",
        ),
    ] {
        let refused = read(&keys).unwrap_err();
        assert!(refused.starts_with("\"Figure 1\" cannot be drawn: "), "{refused}");
        assert!(refused.contains(problem), "{refused}");
    }
}
