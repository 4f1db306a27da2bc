use std::fs;

use flowsched_workload::FlowParts;
use proptest::prelude::*;
use tempfile::tempdir;

use super::*;

fn any_time() -> impl Strategy<Value = Time> {
    (0..1u64 << 62).prop_map(Time::from_ps)
}

prop_compose! {
    fn any_flow()(
        numbers in any::<(u32, u32, u32, u32, bool)>(),
        size in 1..1u64 << 40,
        times in (any_time(), any_time()),
        ends in prop::option::of((any_time(), any_time(), prop::option::of(any_time()))),
    ) -> FlowRow {
        FlowRow {
            flow: numbers.0.into(),
            src: numbers.1,
            dst: numbers.2,
            size: Bytes::new(size),
            start: times.0,
            fct: ends.map(|e| e.0),
            receiver_fct: ends.map(|e| e.1),
            ideal_fct: times.1,
            deadline: ends.and_then(|e| e.2),
            retransmissions: numbers.3.into(),
            gave_up: ends.is_none(),
            timeouts: numbers.0.into(),
            packets: PacketCounters::default(),
            measured: numbers.4,
        }
    }
}

prop_compose! {
    fn any_run(seed: u64)(
        scheme in "\\PC{1,8}", load in "[0-9]{1,2}(\\.[0-9]{0,2}|us)?",
        flows in prop::collection::vec((any_flow(), "[ab]?"), 0..40), is_one: bool,
    ) -> RunRecord {
        let point = Point(vec![("workload.load".to_owned(), load)]);
        let (flows, parts): (Vec<FlowRow>, Vec<String>) = flows.into_iter().unzip();
        let names = parts.iter().map(|part| if is_one { "" } else { part.as_str() });
        RunRecord { point, parts: FlowParts::from_names(names), ..run(&scheme, seed, flows) }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn what_is_written_reads_back(runs in (any_run(1), any_run(2), any_run(3))) {
        let runs = [runs.0, runs.1, runs.2];
        let dir = tempdir().unwrap();
        let loads = runs.iter().filter_map(|run| run.point.get("workload.load"));
        let meta = Meta { keys: vec![VariedKey::new("workload.load", loads)], ..meta() };
        let summary = write_all(dir.path(), &meta, runs.clone()).unwrap();

        let folder = Folder::open(dir.path()).unwrap();
        prop_assert_eq!(folder.summary(), &summary);
        prop_assert_eq!(folder.experiment(), &meta.experiment);
        let mut flows = Vec::new();
        folder.flows(|run| flows.push(run)).unwrap();
        let expected: Vec<FlowsOfRun> = runs
            .iter()
            .filter(|r| !r.flows.is_empty())
            .map(|r| FlowsOfRun {
                run: r.key(),
                flows: r.flows.clone(),
                parts: r.parts.clone(),
            })
            .collect();
        prop_assert_eq!(flows, expected);
        let mut ports = Vec::new();
        folder.ports(|run| ports.push(run)).unwrap();
        let expected: Vec<PortsOfRun> = runs.iter().map(samples_of).collect();
        prop_assert_eq!(ports, expected);
    }
}

#[test]
fn the_same_runs_give_the_same_tables() {
    let flows: Vec<FlowRow> = (0..5_000).map(|i| flow(i, i * i, 20 + i % 977)).collect();
    let write_once = |cpu_s| {
        let dir = tempdir().unwrap();
        let mut run = run("pias", 1, flows.clone());
        run.counters.cpu_s = cpu_s;
        write_all(dir.path(), &meta(), [run]).unwrap();
        let read = |file| fs::read(dir.path().join(file)).unwrap();
        (read("flows.parquet"), read("ports.parquet"))
    };
    assert_eq!(write_once(1.0), write_once(2.0));
}

#[test]
fn a_folder_without_runs_reads_back() {
    let dir = tempdir().unwrap();
    write_all(dir.path(), &meta(), []).unwrap();
    let folder = Folder::open(dir.path()).unwrap();
    folder.flows(|_| panic!("there is no run")).unwrap();
    folder.ports(|_| panic!("there is no run")).unwrap();
}

#[test]
fn results_of_another_experiment_are_not_overwritten() {
    let dir = tempdir().unwrap();
    write_all(dir.path(), &meta(), [run("tcp", 1, vec![flow(0, 1, 1)])]).unwrap();
    let before = fs::read(dir.path().join("flows.parquet")).unwrap();

    let other = Meta { experiment: "name = \"another\"\n".to_owned(), ..meta() };
    let error = write_all(dir.path(), &other, []).unwrap_err();
    assert!(matches!(error, ResultsError::Occupied { .. }), "{error}");
    assert_eq!(fs::read(dir.path().join("flows.parquet")).unwrap(), before);

    write_all(dir.path(), &meta(), []).expect("the same experiment may run again");
    fs::remove_file(dir.path().join("experiment.toml")).unwrap();
    assert!(check_free(dir.path(), &meta().experiment).is_err(), "whose results these are is lost");
}

#[test]
fn other_files_in_a_folder_do_not_matter() {
    let dir = tempdir().unwrap();
    fs::write(dir.path().join("notes.txt"), "mine").unwrap();
    write_all(dir.path(), &meta(), []).unwrap();
    assert_eq!(fs::read(dir.path().join("notes.txt")).unwrap(), b"mine");
    let left = |name: &str| dir.path().join(name).exists();
    assert!(!left("flows.parquet.partial") && !left("summary.json.partial") && !left("runs"));
}

#[test]
fn an_interrupted_study_is_marked_and_keeps_what_there_is() {
    let dir = tempdir().unwrap();
    let writer = Writer::create(dir.path(), &meta(), Earlier::Discarded).unwrap();
    add(&writer, 0, &run("tcp", 1, vec![flow(0, 1, 1)])).unwrap();
    assert!(Folder::open(dir.path()).is_err(), "nothing is readable before its end");
    let summary = writer.finish(Ending::Stopped).unwrap();
    assert!(!summary.complete && summary.runs[0].complete);
    drop(writer);

    let stopped = RunRecord { stopped: true, ..run("tcp", 1, vec![]) };
    let summary = write_all(dir.path(), &meta(), [stopped]).unwrap();
    assert!(!summary.complete && !summary.runs[0].complete);
}

#[test]
fn two_runs_that_cannot_be_told_apart_are_refused() {
    let dir = tempdir().unwrap();
    let runs = [run("tcp", 1, vec![]), run("tcp", 1, vec![])];
    let error = write_all(dir.path(), &meta(), runs).unwrap_err();
    assert!(error.to_string().contains("distinct names"), "{error}");
    assert_eq!(Folder::open(dir.path()).unwrap().summary().runs.len(), 1);
}
