//! Studies that are interrupted and resumed.

use std::fs;

use tempfile::tempdir;

use super::*;

fn runs() -> Vec<RunRecord> {
    let run_of = |(scheme, seed)| {
        run(scheme, seed, (0..100).map(|i| flow(i, 1_000 * i + 1, 20 + i * seed)).collect())
    };
    [("tcp", 1), ("pias", 1), ("tcp", 2), ("pias", 2)].into_iter().map(run_of).collect()
}

fn tables(dir: &Path) -> [Vec<u8>; 2] {
    ["flows.parquet", "ports.parquet"].map(|file| fs::read(dir.join(file)).unwrap())
}

fn program(commit: &str) -> Program {
    Program { commit: commit.to_owned(), ..Program::default() }
}

fn create(dir: &Path, commit: &str, earlier: Earlier) -> Writer {
    Writer::create(dir, &Meta { program: program(commit), ..meta() }, earlier).unwrap()
}

/// The folder of a study that was killed when it had finished two runs and was writing a third.
fn interrupted(commit: &str) -> tempfile::TempDir {
    let dir = tempdir().unwrap();
    let writer = create(dir.path(), commit, Earlier::Discarded);
    let runs = runs();
    add(&writer, 2, &runs[2]).unwrap();
    add(&writer, 0, &runs[0]).unwrap();
    let PortsOfRun { run, ports, samples } = samples_of(&runs[1]);
    let mut third = writer.begin(1, RunStart { key: run, ports, ..RunStart::default() }).unwrap();
    third.add_samples(&samples[..2]).unwrap();
    std::mem::forget(third);
    dir
}

#[test]
fn what_had_finished_is_kept_and_the_tables_are_the_same() {
    let whole = tempdir().unwrap();
    write_all(whole.path(), &meta(), runs()).unwrap();
    let dir = interrupted("");
    let writer = create(dir.path(), "", Earlier::Kept);
    assert_eq!(writer.places().unwrap(), [0, 2].into());
    for place in [3, 1] {
        add(&writer, place, &runs()[place]).unwrap();
    }
    let summary = writer.finish(Ending::Complete).unwrap();
    assert!(summary.complete);
    assert_eq!(tables(dir.path()), tables(whole.path()));
    assert_eq!(summary, *Folder::open(whole.path()).unwrap().summary());
    assert!(!dir.path().join("runs").exists(), "nothing is left over");
}

#[test]
fn what_another_program_ran_is_run_again() {
    let dir = interrupted("old");
    assert!(create(dir.path(), "new", Earlier::Kept).places().unwrap().is_empty());
    let dir = interrupted("old");
    assert!(create(dir.path(), "old", Earlier::Discarded).places().unwrap().is_empty());
}

/// The experiment is the same in every world, but the results are not.
#[test]
fn results_of_another_world_are_neither_kept_nor_replaced() {
    let in_lab = || Meta { program: program("").in_world(World::Lab), ..meta() };
    let unfinished = interrupted("");
    let finished = tempdir().unwrap();
    write_all(finished.path(), &meta(), runs()).unwrap();
    for dir in [&unfinished, &finished] {
        for earlier in [Earlier::Kept, Earlier::Discarded] {
            let error = Writer::create(dir.path(), &in_lab(), earlier).err().unwrap();
            assert!(matches!(error, ResultsError::OfWorld { .. }), "{error}");
            assert!(error.to_string().contains("has results of `flowsched run`"), "{error}");
        }
    }
    assert_eq!(create(unfinished.path(), "", Earlier::Kept).places().unwrap(), [0, 2].into());
}

#[test]
fn a_damaged_run_is_run_again() {
    let dir = interrupted("");
    fs::write(dir.path().join("runs/000002/run.json"), "{").unwrap();
    assert_eq!(create(dir.path(), "", Earlier::Kept).places().unwrap(), [0].into());
    let dir = interrupted("");
    fs::write(dir.path().join("runs/000002/flows.parquet"), "PAR1").unwrap();
    assert_eq!(create(dir.path(), "", Earlier::Kept).places().unwrap(), [0].into());
}

#[test]
fn a_run_cut_short_is_in_the_tables_and_run_again() {
    let dir = tempdir().unwrap();
    let writer = create(dir.path(), "", Earlier::Discarded);
    let runs = runs();
    add(&writer, 0, &runs[0]).unwrap();
    add(&writer, 1, &RunRecord { stopped: true, ..runs[1].clone() }).unwrap();
    let summary = writer.finish(Ending::Stopped).unwrap();
    assert_eq!((summary.complete, summary.runs.len()), (false, 2));
    drop(writer);
    assert_eq!(create(dir.path(), "", Earlier::Kept).places().unwrap(), [0].into());
}

#[test]
fn a_folder_has_one_writer() {
    let dir = tempdir().unwrap();
    let first = create(dir.path(), "", Earlier::Discarded);
    let second = Writer::create(dir.path(), &meta(), Earlier::Kept).err().unwrap();
    let process = format!("process {}", std::process::id());
    assert!(matches!(second, ResultsError::Busy { .. }), "{second}");
    assert!(second.to_string().contains(&process), "{second}");
    drop(first);
    create(dir.path(), "", Earlier::Discarded);
}

#[test]
fn runs_are_results_of_their_experiment() {
    let dir = interrupted("");
    let other = Meta { experiment: "name = \"another\"\n".to_owned(), ..meta() };
    let error = Writer::create(dir.path(), &other, Earlier::Discarded).err().unwrap();
    assert!(matches!(error, ResultsError::Occupied { .. }), "{error}");
    assert_eq!(runs_left(dir.path()), 2, "the third one is not finished");
}

/// Samples are written to the disk while a run is under way, in row groups of whole sample times.
#[test]
fn many_samples_are_written_in_pieces_and_read_back() {
    let dir = tempdir().unwrap();
    let one = run("tcp", 1, vec![flow(0, 1, 100)]);
    let PortsOfRun { run: key, ports, .. } = samples_of(&one);
    let writer = Writer::create(dir.path(), &meta(), Earlier::Discarded).unwrap();
    let start = RunStart { key: key.clone(), ports, ..RunStart::default() };
    let mut samples = writer.begin(0, start).unwrap();
    let at = |time: u64| {
        [0, 1].map(|port| PortRow {
            time: Time::from_us(time),
            port,
            queue_bytes: time % 7,
            tx_bytes: time,
            ..PortRow::default()
        })
    };
    let path = dir.path().join("runs/000000.partial/ports.parquet");
    for time in 0..150_000 {
        samples.add_samples(&at(time)).unwrap();
        if time == 140_000 {
            assert!(fs::metadata(&path).unwrap().len() > 10_000, "some are on the disk already");
        }
    }
    samples.finish(&one).unwrap();
    writer.finish(Ending::Complete).unwrap();
    let (mut pieces, mut rows) = (0, 0);
    Folder::open(dir.path())
        .unwrap()
        .ports(|piece| {
            assert_eq!((&piece.run, piece.ports.len()), (&key, 2));
            assert_eq!(piece.samples[..2], at(rows));
            pieces += 1;
            rows += piece.samples.len() as u64 / 2;
        })
        .unwrap();
    assert_eq!((pieces, rows), (3, 150_000));
}
