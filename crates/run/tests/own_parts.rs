//! Parts of a caller's own, in the place of those that an experiment file names.

use flowsched_experiment::results::{Folder, Program, Summary};
use flowsched_experiment::{Arguments, Experiment, Source};
use flowsched_run::{Outcome, RunError, SettingError, Simulation, run};
use flowsched_schemes::Parts;
use flowsched_schemes::controller::NoController;
use flowsched_schemes::port::{Fifo, QueuePart};
use flowsched_schemes::tagger::{Departure, PlainTagger, Tag, Work};
use flowsched_schemes::transport::tcp::congestion::{Dctcp, DctcpSettings};
use flowsched_schemes::transport::tcp::{Tcp, settings::TcpSettings};

/// Two schemes of the same parameters, the second for parts of the caller's own.
const FILE: &str = r#"
seeds = 2
topology = { kind = "leaf-spine", leaves = 2, spines = 2, hosts_per_leaf = 3 }
workload = { sizes = "web-search-packets", flows = 60, load = 0.8 }
scheme = [{ preset = "dctcp" }, { preset = "dctcp", name = "own" }]
"#;

fn experiment(set: &[&str]) -> Experiment {
    let set = set.iter().map(|set| (*set).to_owned()).collect();
    let arguments = Arguments { set, ..Arguments::default() };
    let no_inputs = |_: &str| Err(std::io::ErrorKind::NotFound.into());
    Experiment::parse(&Source::new("own.toml", FILE), &arguments, &no_inputs).unwrap()
}

/// A tagger that the catalogue has as `none`.
struct Untagged;

impl PlainTagger for Untagged {
    type Memory = ();

    fn tag(&self, _: &mut (), _: &Departure, _: &Work) -> Tag {
        Tag::default()
    }
}

/// DCTCP, put together by hand.
fn own_dctcp(run: Simulation<'_>) -> Result<Outcome, SettingError> {
    let settings = &run.scheme().settings;
    let congestion = Dctcp::new(DctcpSettings::from_settings(settings));
    run.run_parts(Parts {
        transport: Tcp::new(TcpSettings::from_settings(settings), congestion),
        tagger: Untagged,
        ports: Fifo::build(settings)?.ports().clone(),
        controllers: |_| NoController,
    })
}

fn simulate(run: Simulation<'_>) -> Result<Outcome, SettingError> {
    if run.scheme().name == "own" { own_dctcp(run) } else { run.run() }
}

/// Every figure of each run of `scheme` but its name and costs.
fn figures<'a>(summary: &'a Summary, scheme: &str) -> Vec<impl PartialEq + std::fmt::Debug + 'a> {
    let runs = summary.runs.iter().filter(|run| run.scheme == scheme);
    runs.map(|run| (&run.fct_us, run.packet_hops, run.drops, run.ecn_marks, run.events)).collect()
}

#[test]
fn own_parts_give_what_the_same_parts_of_the_catalogue_give() {
    for set in [&[][..], &["topology.routing=spray"], &["until=3ms"]] {
        let folder = tempfile::tempdir().unwrap();
        let summary =
            run(experiment(set), &folder.path().join("results"), Program::default(), simulate);
        let summary = summary.unwrap();
        assert_eq!(figures(&summary, "own").len(), 2);
        assert_eq!(figures(&summary, "own"), figures(&summary, "dctcp"), "{set:?}");
    }
}

#[test]
fn own_parts_have_no_fluid_form() {
    let folder = tempfile::tempdir().unwrap();
    let experiment = experiment(&["engine=fluid"]);
    let error = run(experiment, folder.path(), Program::default(), simulate).unwrap_err();
    assert!(matches!(&error, RunError::Setting(error) if error.key == "engine"), "{error}");
}

#[test]
fn an_error_of_a_callers_own_ends_all_runs_and_keeps_what_was_run() {
    let folder = tempfile::tempdir().unwrap();
    let refuse = |run: Simulation<'_>| match run.scheme().name.as_str() {
        "own" => Err(SettingError::new("quantum", "\"0B\"", "a size above 0")),
        _ => run.run(),
    };
    let error = run(experiment(&[]), folder.path(), Program::default(), refuse).unwrap_err();
    assert_eq!(error.to_string(), "quantum: found \"0B\", expected a size above 0");
    let results = Folder::open(folder.path()).unwrap();
    assert!(!results.summary().complete);
    assert!(results.summary().runs.iter().all(|run| run.scheme == "dctcp"));
}
