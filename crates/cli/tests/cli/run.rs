//! What `flowsched run` leaves behind and prints.

use std::fs;

use crate::common::{Place, summary};
use serde_json::Value;

#[test]
fn json_is_one_object_with_a_run_for_every_scheme_and_seed() {
    let place = Place::new();
    let done = place.flowsched(&["run", "small.toml", "--format", "json"]);
    assert_eq!(done.status, Some(0), "{}", done.errors);
    let json = done.json();
    let runs = json["runs"].as_array().unwrap();
    let keys: Vec<(&str, u64)> = runs
        .iter()
        .map(|run| (run["scheme"].as_str().unwrap(), run["seed"].as_u64().unwrap()))
        .collect();
    assert_eq!(keys, [("dctcp", 1), ("pias", 1), ("dctcp", 2), ("pias", 2)]);
    for run in runs {
        let counts = [
            "flows",
            "finished",
            "packet_hops",
            "events",
            "peak_rss_bytes",
            "drops",
            "ecn_marks",
            "timeouts",
            "retransmissions",
        ];
        for key in counts {
            assert!(run[key].is_u64(), "{key}: {run}");
        }
        assert!(run["cpu_s"].is_number() && run["wall_s"].is_number());
        assert_eq!((&run["flows"], &run["finished"]), (&50.into(), &50.into()));
        for class in ["all", "small", "medium", "large"] {
            for figure in ["mean", "p50", "p95", "p99", "p999", "max"] {
                let is_empty = !matches!(class, "all" | "small");
                for quantity in ["fct_us", "slowdown"] {
                    let value = &run[quantity][class][figure];
                    assert_eq!(value.is_null(), is_empty, "{quantity} {class} {figure}: {value}");
                    assert!(is_empty || value.is_f64());
                }
            }
            assert!(run["fct_us"][class]["count"].is_u64());
        }
    }
    assert_eq!(json["comparisons"].as_array().unwrap().len(), 1);
    assert_eq!(json["comparisons"][0]["scheme"], "pias");
    for file in ["experiment.toml", "flows.parquet", "ports.parquet", "summary.json", "report.html"]
    {
        assert!(place.path("results/small").join(file).exists(), "{file}");
    }
    assert_eq!(summary(&place.path("results/small")), json);
}

#[test]
fn a_packet_crosses_two_links_of_a_star_and_so_does_its_ack() {
    let place = Place::new();
    let arguments = ["run", "small.toml", "--set", "workload.flows=1", "--format", "json"];
    let json = place.flowsched(&arguments).json();
    for run in json["runs"].as_array().unwrap() {
        assert_eq!(run["packet_hops"], 20 * 4, "{run}");
    }
}

#[test]
fn tables_are_the_same_for_any_number_of_threads_and_for_the_resolved_experiment() {
    let place = Place::new();
    let tables = |file: &str, threads: &str, out: &str| {
        let arguments = ["run", file, "--threads", threads, "--out", out];
        let done = place.flowsched(&arguments);
        assert_eq!(done.status, Some(0), "{}", done.errors);
        ["flows.parquet", "ports.parquet", "experiment.toml"]
            .map(|file| fs::read(place.path(out).join(file)).unwrap())
    };
    let one = tables("small.toml", "1", "one");
    assert!(one == tables("small.toml", "3", "three"), "one thread or three");
    assert!(one == tables("one/experiment.toml", "2", "again"), "as resolved");
}

#[test]
fn what_varies_is_in_every_run() {
    let place = Place::new();
    let json = place
        .flowsched(&[
            "run",
            "small.toml",
            "--set",
            "seeds=1",
            "--seed",
            "7",
            "--vary",
            "workload.load=0.2,0.4",
            "--vary",
            "scheme.pias.queues=2",
            "--format",
            "json",
        ])
        .json();
    let points: Vec<(&Value, &Value)> = json["runs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| (&run["point"]["workload.load"], &run["seed"]))
        .collect();
    let (low, high, seven) = (Value::from("0.2"), Value::from("0.4"), Value::from(7));
    assert_eq!(points, [(&low, &seven), (&low, &seven), (&high, &seven), (&high, &seven)]);
}

#[test]
fn the_table_names_schemes_and_the_report() {
    let place = Place::new();
    let done = place.flowsched(&["run", "small.toml"]);
    assert!(done.output.contains("dctcp") && done.output.contains("pias"), "{}", done.output);
    assert!(done.output.contains("Report: results/small/report.html"), "{}", done.output);
    assert!(done.errors.contains("run 4 of 4: "), "{}", done.errors);
    let again = place.flowsched(&["report", "results/small"]);
    assert_eq!((again.status, again.output), (Some(0), done.output));
}

#[test]
fn a_trace_is_kept_beside_its_results() {
    let place = Place::new();
    let from = "sizes = \"fixed 20pkt\"\nload = 0.5\nflows = 50";
    place.write("traced.toml", &crate::common::SMALL.replace(from, "trace = \"flows.csv\""));
    let trace = "start_s,src,dst,size_bytes\n0,0,1,1460\n0.001,2,3,14600\n";
    place.write("flows.csv", trace);
    assert_eq!(place.flowsched(&["run", "traced.toml"]).status, Some(0));
    let kept = fs::read_to_string(place.path("results/traced/inputs/flows.csv")).unwrap();
    assert_eq!(kept, trace);
    place.write("flows.csv", &trace.replace("14600", "1460"));
    let other = place.flowsched(&["run", "traced.toml"]);
    assert_eq!(other.status, Some(2), "results of another trace are there: {}", other.errors);
}

#[test]
fn a_fluid_runs_from_the_same_file_and_has_no_packets() {
    let place = Place::new();
    let done = place.flowsched(&["run", "small.toml", "--set", "engine=fluid", "--format", "json"]);
    assert_eq!(done.status, Some(0), "{}", done.errors);
    for run in done.json()["runs"].as_array().unwrap() {
        assert_eq!((&run["flows"], &run["finished"]), (&50.into(), &50.into()));
        assert_eq!((&run["packet_hops"], &run["drops"]), (&0.into(), &0.into()));
        // No flow is faster than it is alone.
        let slowdown = &run["slowdown"]["all"];
        assert!(slowdown["mean"].as_f64() >= Some(1.0), "{slowdown}");
    }
}

/// A schedule of flows runs beside schemes of packets, and the results say which bound it gives, if
/// any.
#[test]
fn the_optimum_is_run_beside_packets_and_labelled() {
    let place = Place::new();
    let optimal = "[[scheme]]\npreset = \"optimal\"\n\n[[scheme]]\npreset = \"dctcp\"";
    let beside = crate::common::SMALL.replace("[[scheme]]\npreset = \"dctcp\"", optimal);
    place.write("beside.toml", &beside);
    let to_one = beside.replace("load = 0.5", "at = \"0ms\"\npattern = \"many-to-one\"");
    place.write("to-one.toml", &to_one);
    let due = to_one.replace("at = \"0ms\"", "at = \"0ms\"\ndeadlines = \"uniform 40us 1ms\"");
    place.write("due.toml", &due);
    for (file, worth, label) in [
        ("beside.toml", "heuristic", "here a heuristic, not a bound."),
        ("to-one.toml", "least-mean-fct", "no scheme has a lower mean FCT."),
        ("due.toml", "most-deadlines-met", "no scheme meets more deadlines."),
    ] {
        let done = place.flowsched(&["run", file, "--format", "json"]);
        assert_eq!(done.status, Some(0), "{}", done.errors);
        let of = |scheme: &str| {
            let runs = done.json()["runs"].as_array().unwrap().clone();
            runs.into_iter().filter(|run| run["scheme"] == scheme).collect::<Vec<_>>()
        };
        assert!(of("optimal").iter().all(|run| run["schedule"] == worth), "{file}");
        assert!(of("optimal").iter().all(|run| run["packet_hops"] == 0), "{file}");
        assert!(of("dctcp").iter().all(|run| run["schedule"].is_null()), "{file}");
        assert!(of("dctcp").iter().all(|run| run["packet_hops"] != 0), "{file}");
        let folder = format!("results/{}", file.trim_end_matches(".toml"));
        let table = place.flowsched(&["report", &folder]).output.replace('\n', " ");
        assert!(table.contains(label), "{file}: {table}");
        let has_deadlines = table.contains("deadlines met");
        assert_eq!(has_deadlines, file == "due.toml", "{file}: {table}");
    }
}

/// Eight flows that overflow a port, and later a single flow.
const CROWDED_AND_CALM: &str = r#"name = "parts"

[topology]
kind = "star"
hosts = 9

[[workload.part]]
name = "query"
sizes = "fixed 20KB"
pattern = "incast"
degree = 8
receiver = "0"
at = "1ms"
flows = 8

[[workload.part]]
name = "calm"
sizes = "fixed 1KB"
pattern = "many-to-one"
receiver = "1"
at = "5s"
flows = 1

[[scheme]]
preset = "tcp"
buffer = "15KB"
"#;

#[test]
fn parts_count_the_timeouts_of_their_own_flows() {
    let place = Place::new();
    place.write("parts.toml", CROWDED_AND_CALM);
    let done = place.flowsched(&["run", "parts.toml", "--format", "json"]);
    let summary: Value = serde_json::from_str(&done.output).unwrap();
    let run = &summary["runs"][0];
    let [crowded, calm] = [0, 1].map(|part| run["parts"][part]["timeouts"].as_u64().unwrap());
    assert!(crowded > 0, "{summary:#}");
    assert_eq!((crowded, calm), (run["timeouts"].as_u64().unwrap(), 0));
}
