//! Checks that the resolved experiment is the same experiment.

use flowsched_experiment::{Arguments, Experiment, Traffic};
use flowsched_schemes::tagger::THRESHOLDS;
use flowsched_units::{Settings, Value};
use flowsched_workload::parameters::{FLOWS, LOAD};
use proptest::prelude::*;

use crate::common::{arguments, read};

/// Reads the resolved copy of `experiment`, with its inputs beside it.
fn read_back(experiment: &Experiment) -> Experiment {
    let files: Vec<(&str, &str)> = experiment
        .inputs
        .iter()
        .map(|input| (input.path.as_str(), input.source.text.as_str()))
        .collect();
    let again = read(experiment.resolved(), &Arguments::default(), &files);
    again.unwrap_or_else(|mistakes| panic!("{mistakes}\n{}", experiment.resolved()))
}

/// Checks that two experiments would run the same. Only the paths of their inputs may differ.
fn assert_same(one: &Experiment, other: &Experiment) {
    assert_eq!(one.resolved(), other.resolved());
    assert_eq!(one.runs(), other.runs());
    assert_eq!((&one.name, &one.varied), (&other.name, &other.varied));
    for (one, other) in one.scenes.iter().zip(&other.scenes) {
        assert_eq!((one.sample_interval, one.until), (other.sample_interval, other.until));
        assert_eq!(one.topology.settings, other.topology.settings);
        assert_eq!(one.topology.routing, other.topology.routing);
        assert_eq!(one.schemes.len(), other.schemes.len());
        for (one, other) in one.schemes.iter().zip(&other.schemes) {
            assert_eq!(one.settings, other.settings);
            assert_eq!(format!("{:?}", one.level), format!("{:?}", other.level));
        }
        let [flows, same_flows] = [one, other].map(|scene| {
            let network = scene.network().unwrap();
            scene.workload(&network, 7).unwrap().flows
        });
        assert_eq!(flows, same_flows);
    }
}

const FABRIC: &str = r#"
seeds = 3
sample_interval = "250us"

[topology]
kind = "leaf-spine"
leaves = 2
hosts_per_leaf = 2
routing = "spray"

[workload]
sizes = "data-mining-packets"
load = 0.6
flows = 20

[[scheme]]
preset = "dctcp"
ecn_threshold = "20pkt"

[[scheme]]
preset = "pias"
queues = 3
name = "pias \"three\""

[[scheme]]
preset = "dctcp"
name = "mixed"
tagger = "mlfq"
port = "strict-priority"
thresholds = "equal-split"
compat = "ns2"
"#;

fn fabric(set: &[&str], vary: &[&str]) -> Experiment {
    read(FABRIC, &arguments(set, vary), &[]).unwrap_or_else(|mistakes| panic!("{mistakes}"))
}

#[test]
fn every_default_is_filled_in() {
    let experiment = fabric(&[], &[]);
    let lines: Vec<&str> = experiment.resolved().lines().collect();
    let has = |key: &str| lines.iter().any(|line| line.starts_with(&format!("{key} = ")));
    let scene = &experiment.scenes[0];
    let settings = scene.schemes.iter().map(|scheme| &scheme.settings);
    for (key, value) in settings.chain([&scene.topology.settings]).flat_map(Settings::iter) {
        assert!(has(key), "{key} = {value} is missing:\n{}", experiment.resolved());
    }
    for line in [
        "name = \"a\"",
        "seeds = 3",
        "sample_interval = \"250us\"",
        "spines = 4",
        "load = 0.6",
        "pattern = \"all-to-all\"",
        "ecn_threshold = \"30KB\"",
        "ecn_threshold = \"97.5KB\"",
        "rto_backoff = false",
        "name = 'pias \"three\"'",
    ] {
        assert!(lines.contains(&line), "{line} is missing:\n{}", experiment.resolved());
    }
    assert!(!experiment.resolved().contains("optimal"), "sizes stand in the words' place");
    assert!(!experiment.resolved().contains("equal-split"), "sizes stand in the words' place");
}

#[test]
fn published_thresholds_follow_the_load_and_the_sizes() {
    let vary = ["workload.sizes=web-search-packets,data-mining-bytes", "workload.load=0.5,0.8"];
    let set = ["scheme.1.queues=8", "scheme.1.thresholds=published"];
    let experiment = fabric(&set, &vary);
    let first_and_last: Vec<String> = experiment
        .scenes
        .iter()
        .map(|scene| match scene.schemes[1].settings.get(&THRESHOLDS) {
            Some(Value::Sizes(sizes)) => format!("{:?} {:?}", sizes[0].get(), sizes[6].get()),
            other => panic!("{other:?}"),
        })
        .collect();
    let expected = [(1059, 2184), (909, 2484), (805, 22_272), (745, 27_245)]
        .map(|(first, last)| format!("{} {}", first * 1460, last * 1460));
    assert_eq!(first_and_last, expected);
    assert_same(&experiment, &read_back(&experiment));
    let one_point = fabric(&set, &[]);
    assert!(!one_point.resolved().contains("published"), "sizes stand in the word's place");
    assert_same(&one_point, &read_back(&one_point));
}

#[test]
fn it_reads_back_as_the_same() {
    let experiment = fabric(&[], &[]);
    assert_same(&experiment, &read_back(&experiment));
}

#[test]
fn what_varies_varies_again() {
    let vary = [
        "workload.load=0.4..0.6:0.2",
        "scheme.mixed.compat=none,ns2",
        "topology.routing=spray,ecmp",
    ];
    let experiment = fabric(&["seeds=2"], &vary);
    assert_eq!(experiment.scenes.len(), 8);
    assert_eq!(experiment.runs().len(), 8 * 2 * 3);
    assert_eq!(
        experiment.scenes[1].point.to_string(),
        "workload.load = 0.4, scheme.mixed.compat = none, topology.routing = ecmp"
    );
    let resolved = experiment.resolved();
    for part in [
        "\n# rto, first at workload.load = 0.4, scheme.mixed.compat = none, topology.routing = spray: \
         estimated\n",
        "\n[vary]\n\"workload.load\" = \"0.4,0.6\"\n\"scheme.mixed.compat\" = \"none,ns2\"\n",
    ] {
        assert!(resolved.contains(part), "{part} is missing:\n{resolved}");
    }
    assert_same(&experiment, &read_back(&experiment));
}

#[test]
fn thresholds_are_worked_out_for_the_load_of_each_point() {
    let sizes = "workload.sizes=exponential 100KB";
    let experiment = fabric(&[sizes], &["workload.load=0.4,0.8"]);
    let thresholds = |scene: usize| {
        experiment.scenes[scene].schemes[1].settings.get(&THRESHOLDS).map(ToString::to_string)
    };
    assert_ne!(thresholds(0), thresholds(1));
    let comment = "\n# thresholds, first at workload.load = 0.8: ";
    assert!(experiment.resolved().contains(comment), "{}", experiment.resolved());
    assert_same(&experiment, &read_back(&experiment));
}

#[test]
fn a_kind_that_varies_brings_its_own_defaults() {
    let text = FABRIC.replace("leaves = 2\n", "").replace("hosts_per_leaf = 2\n", "");
    let vary = arguments(&[], &["topology.kind=star,dumbbell", "scheme.0.preset=dctcp,ecn-star"]);
    let experiment = read(&text, &vary, &[]).unwrap_or_else(|mistakes| panic!("{mistakes}"));
    assert_same(&experiment, &read_back(&experiment));
}

#[test]
fn inputs_come_along() {
    let text = FABRIC.replace("data-mining-packets", "../one/sizes.cdf");
    let files = [("../one/sizes.cdf", "0 0\n1000 1\n"), ("two/sizes.cdf", "5000 1\n")];
    let vary = arguments(&[], &["workload.sizes=two/sizes.cdf,../one/sizes.cdf,fixed 1pkt"]);
    let experiment = read(&text, &vary, &files).unwrap_or_else(|mistakes| panic!("{mistakes}"));
    let paths: Vec<&str> = experiment.inputs.iter().map(|input| input.path.as_str()).collect();
    assert_eq!(paths, ["inputs/2-sizes.cdf", "inputs/sizes.cdf"]);
    let again = read_back(&experiment);
    assert_eq!(again.resolved(), read_back(&again).resolved());
    for (one, other) in experiment.scenes.iter().zip(&again.scenes) {
        let (Traffic::Drawn(one), Traffic::Drawn(other)) =
            (&one.workload.traffic, &other.workload.traffic)
        else {
            panic!("the flows are drawn")
        };
        assert_eq!(one.mean(), other.mean());
    }
}

#[test]
fn a_trace_stands_for_the_rest_of_the_workload() {
    let text = FABRIC.replace("load = 0.6", "load = 0.6\ntrace = \"flows.csv\"");
    let trace = "start_s,src,dst,size_bytes\n0,0,1,1000\n0.000001,1,2,3000\n0.00001,2,3,9000\n";
    let files = [("flows.csv", trace)];
    let experiment = read(&text, &Arguments::default(), &files).unwrap();
    assert_eq!(experiment.warnings.len(), 3, "sizes, load and flows: {:?}", experiment.warnings);
    assert!(!experiment.resolved().contains("\nload"), "{}", experiment.resolved());
    assert_same(&experiment, &read_back(&experiment));
    let scene = &experiment.scenes[0];
    let flows = scene.workload(&scene.network().unwrap(), 1).unwrap().flows;
    assert_eq!(flows.len(), 3);
}

const PARTS: &str = r#"
[topology]
kind = "leaf-spine"
leaves = 2
hosts_per_leaf = 4

[workload]
load = 0.6
flows = 40
warm_up_flows = 2
pattern = "incast"
degree = 3

[[workload.part]]
name = "short"
sizes = "uniform 8KB 32KB"
share = 0.3
deadlines = "exponential 20ms 3ms"

[[workload.part]]
name = "long"
sizes = "fixed 1MB"
application_rate = "400Mbps"
pattern = "staggered"
same_rack = 0.5
share = 0.7

[[workload.part]]
name = "burst"
sizes = "fixed 20KB"
at = "1ms"
every = "2ms"
stagger = "10us"
flows = 6

[[workload.flow]]
src = 0
dst = 7
size = "1MB"
deadline = "10ms"

[[workload.flow]]
start = "3ms"
src = 1
dst = 7
size = "5pkt"
part = "short"

[[scheme]]
preset = "pias"
queues = 2
"#;

#[test]
fn parts_and_listed_flows_read_back_as_the_same() {
    let with = |set: &[&str], vary: &[&str]| {
        let experiment = read(PARTS, &arguments(set, vary), &[]);
        experiment.unwrap_or_else(|mistakes| panic!("{mistakes}"))
    };
    let experiment = with(&[], &[]);
    assert_eq!(experiment.warnings, Vec::<String>::new());
    assert_same(&experiment, &read_back(&experiment));
    let scene = &experiment.scenes[0];
    let network = scene.network().unwrap();
    let workload = scene.workload(&network, 7).unwrap();
    assert_eq!(workload.flows.len() as u64, scene.workload.flow_count());
    assert_eq!(workload.flows.len(), 40 + 6 + 2);
    assert_eq!(workload.parts.names(), ["short", "long", "burst", "listed"]);
    let parts_of = |size| {
        let flows = workload.flows.iter().enumerate();
        let of_size = flows.filter(move |(_, flow)| flow.size.get() == size);
        of_size.map(|(index, _)| workload.parts.name_of(index)).collect::<Vec<_>>()
    };
    assert_eq!(parts_of(20_000), ["burst"; 6]);
    assert_eq!(parts_of(5 * 1460), ["short"]);
    assert_eq!(parts_of(1_000_000).iter().filter(|name| **name == "listed").count(), 1);

    let vary = [
        "workload.load=0.2,0.6",
        "workload.part.long.same_rack=0,0.5",
        "workload.flow.0.size=1KB,1MB",
    ];
    let experiment = with(&["workload.part.1.sizes=fixed 2MB"], &vary);
    assert_eq!(experiment.scenes.len(), 8);
    assert_same(&experiment, &read_back(&experiment));
    let loads: Vec<f64> = [0, 4]
        .map(|scene: usize| {
            let scene = &experiment.scenes[scene];
            let Traffic::Parts(parts) = &scene.workload.traffic else { panic!("there are parts") };
            parts.parts[0].settings.number(&LOAD)
        })
        .into();
    assert_eq!(loads, [0.2, 0.6], "parts take the load of the whole as it varies");
}

#[test]
fn a_listed_network_reads_back_as_the_same() {
    let topology =
        "kind = \"custom\"\nhosts = \"a b\"\nlinks = \"\"\"\n  a S 1Gbps\n  b S\n\"\"\"\n";
    let text = FABRIC.replace("kind = \"leaf-spine\"\nleaves = 2\nhosts_per_leaf = 2\n", topology);
    let experiment = read(&text, &Arguments::default(), &[]);
    let experiment = experiment.unwrap_or_else(|mistakes| panic!("{mistakes}"));
    let network = experiment.scenes[0].network().unwrap();
    assert_eq!(network.name(flowsched_topology::NodeId(2)), "S");
    assert_same(&experiment, &read_back(&experiment));
}

#[test]
fn starts_that_are_laid_down_need_no_load() {
    let text = FABRIC.replace("load = 0.6", "at = \"0ms\"\nstagger = \"1ms\"");
    let experiment = read(&text, &Arguments::default(), &[]);
    let experiment = experiment.unwrap_or_else(|mistakes| panic!("{mistakes}"));
    assert!(!experiment.resolved().contains("load_of"), "{}", experiment.resolved());
    assert_same(&experiment, &read_back(&experiment));
}

#[test]
fn the_first_seed_is_part_of_it() {
    let arguments = Arguments { seed: Some(42), ..Arguments::default() };
    let experiment = read(FABRIC, &arguments, &[]).unwrap();
    let seeds: Vec<u64> = experiment.runs().iter().map(|run| run.seed).collect();
    assert_eq!(seeds, [42, 42, 42, 43, 43, 43, 44, 44, 44]);
    assert!(experiment.resolved().contains("seed = 42\n"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn any_experiment_reads_back_as_the_same(
        name in "[^\r]{0,12}",
        seeds in 1u64..9,
        leaves in 1u64..4,
        link in 1u64..100_000_000_000,
        load in 0.001f64..1.0,
        size in 1u64..10_000_000,
        g in 0.0f64..1.0,
        buffer in prop::option::of(0u64..10_000_000),
        mut thresholds in prop::collection::vec(0u64..100_000_000, 1..7),
        backoff: bool,
        idle_ps in 1u64..u64::MAX,
    ) {
        thresholds.sort_unstable();
        let sizes: Vec<String> = thresholds.iter().map(|size| format!("{size}B")).collect();
        let buffer = buffer.map_or("unlimited".into(), |bytes| format!("{bytes}B"));
        let name = toml::Value::String(name).to_string();
        let text = format!(
            "name = {name}\nseeds = {seeds}\n[topology]\nkind = \"leaf-spine\"\n\
             leaves = {leaves}\nhosts_per_leaf = 2\nhost_link = \"{link}bps\"\n\
             [workload]\nsizes = \"fixed {size}B\"\nload = {load}\nflows = 5\n\
             [[scheme]]\npreset = \"dctcp\"\ng = {g}\nbuffer = \"{buffer}\"\n\
             [[scheme]]\npreset = \"pias\"\nqueues = {}\nthresholds = \"{}\"\n\
             rto_backoff = {backoff}\nmessage_idle = \"{idle_ps}ps\"\n",
            sizes.len() + 1, sizes.join(" "),
        );
        let experiment = read(&text, &Arguments::default(), &[]);
        let experiment = experiment.unwrap_or_else(|mistakes| panic!("{mistakes}\n{text}"));
        assert_same(&experiment, &read_back(&experiment));
    }
}

#[test]
fn quick_values_take_the_place_of_the_others_where_that_is_asked_for() {
    let text = "seeds = 5\n[topology]\nkind = \"star\"\n[workload]\nsizes = \"fixed 20KB\"\n\
                pattern = \"all-to-all\"\nload = 0.5\nflows = 1000\n[vary]\n\
                workload.load = \"0.5,0.8\"\n[[scheme]]\npreset = \"dctcp\"\n[quick]\nseeds = 1\n\
                workload.flows = 50\nworkload.load = \"0.8\"\n";
    let full = read(text, &Arguments::default(), &[]).unwrap();
    assert_eq!((full.seeds, full.scenes.len()), (5, 2));
    let quick = Arguments { quick: true, ..Arguments::default() };
    let small = read(text, &quick, &[]).unwrap();
    assert_eq!((small.seeds, small.scenes.len()), (1, 1));
    assert_eq!(small.scenes[0].workload.settings.count(&FLOWS), 50);
    let set = Arguments { set: vec!["workload.flows=70".into()], ..quick.clone() };
    let set = read(text, &set, &[]).unwrap();
    assert_eq!(set.scenes[0].workload.settings.count(&FLOWS), 70, "the command line is last");
    let unknown = text.replace("workload.flows = 50", "workloads.flows = 50");
    assert!(read(&unknown, &Arguments::default(), &[]).is_err(), "keys are checked in any case");
    let none = read(&text[..text.find("[quick]").unwrap()], &quick, &[]).unwrap_err();
    assert!(none.to_string().contains("[quick]"), "{none}");
}
