//! A results folder as the oracles read it: every run with its rows, and what its scheme promises.
//!
//! What lives here: reading. What may not: judging.

use std::path::Path;

use flowsched_experiment::results::{FlowRow, Folder, PortRecord, PortRow, RunSummary};
use flowsched_experiment::{Arguments, Experiment, Level, Scene, SchemeOfScene};
use flowsched_schemes::flow_level::{Admission, FlowLevel};
use flowsched_topology::{PROBABILITY, Routing};
use flowsched_units::{Bytes, Time};

/// The largest port table that is read, in bytes: its rows take a hundred times as much memory.
const LARGEST_TABLE: u64 = 8_000_000;

/// The results of an experiment.
#[derive(Clone, Debug)]
pub struct Study {
    /// Whether the summary calls the experiment complete.
    pub is_complete: bool,
    /// The number of runs of the experiment, finished or not.
    pub expected: usize,
    /// The runs that the folder has.
    pub runs: Vec<RunView>,
}

/// One run.
#[derive(Clone, Debug, Default)]
pub struct RunView {
    /// What its scheme and network promise.
    pub promises: Promises,
    /// Its summary.
    pub summary: RunSummary,
    /// Its flows.
    pub flows: Vec<FlowRow>,
    /// Its ports.
    pub ports: Vec<PortRecord>,
    /// The ports' counters. Those of the end of the run come last. Empty if the table is too large
    /// to read.
    pub samples: Vec<PortRow>,
}

/// What must hold for a run because of its experiment.
#[derive(Clone, Copy, Debug, Default)]
pub struct Promises {
    /// Whether packets were simulated.
    pub has_packets: bool,
    /// Whether each flow keeps to one path, and all its paths have the same length and rates.
    pub is_one_path: bool,
    /// Whether only hosts send packets of their own, not switches.
    pub is_quiet_inside: bool,
    /// Whether no link loses packets.
    pub is_lossless: bool,
    /// The run stops at this time even if flows have not ended.
    pub until: Option<Time>,
    /// The header of each packet; zero for a schedule.
    pub header: Bytes,
    /// The acknowledgements of fluids whose bytes on links follow from their sizes alone; `None`
    /// for other schemes.
    pub exact: Option<Back>,
}

/// The acknowledgements of a fluid flow.
#[derive(Clone, Copy, Debug, Default)]
pub struct Back {
    /// Bytes of each acknowledgement.
    pub size: u64,
    /// Data packets per acknowledgement.
    pub packets: u64,
}

impl Study {
    /// Reads the folder.
    ///
    /// # Errors
    /// A sentence that says what cannot be read.
    pub fn read(dir: &Path) -> Result<Study, String> {
        let folder = Folder::open(dir).map_err(|error| error.to_string())?;
        let file = dir.join("experiment.toml");
        let experiment = Experiment::read(&file, &Arguments::default())
            .map_err(|mistakes| format!("the resolved experiment is refused: {mistakes}"))?;
        let view = |summary: &RunSummary| RunView {
            promises: Promises::for_run(&experiment, summary),
            summary: summary.clone(),
            ..RunView::default()
        };
        let mut runs: Vec<RunView> = folder.summary().runs.iter().map(view).collect();
        let place = |runs: &[RunView], key: &flowsched_experiment::results::RunKey| {
            runs.iter().position(|run| {
                let RunSummary { point, scheme, seed, .. } = &run.summary;
                (point, scheme, seed) == (&key.point, &key.scheme, &key.seed)
            })
        };
        let mut unknown = Vec::new();
        let read = folder.flows(|found| match place(&runs, &found.run) {
            Some(at) => runs[at].flows = found.flows,
            None => unknown.push(found.run),
        });
        read.map_err(|error| error.to_string())?;
        if folder.summary().tables.ports.bytes <= LARGEST_TABLE {
            let read = folder.ports(|found| match place(&runs, &found.run) {
                Some(at) => (runs[at].ports, runs[at].samples) = (found.ports, found.samples),
                None => unknown.push(found.run),
            });
            read.map_err(|error| error.to_string())?;
        }
        match unknown.first() {
            Some(run) => Err(format!("the tables have a run that the summary has not: {run:?}")),
            None => {
                let is_complete = folder.summary().complete;
                Ok(Study { is_complete, expected: experiment.runs().len(), runs })
            }
        }
    }
}

impl RunView {
    /// The name of the run in messages.
    pub fn name(&self) -> String {
        let RunSummary { point, scheme, seed, .. } = &self.summary;
        format!("scheme {scheme}, seed {seed}, point \"{point}\"")
    }

    /// The counters of every port at the end of the run; empty if they were not read.
    pub fn last(&self) -> &[PortRow] {
        &self.samples[self.samples.len().saturating_sub(self.ports.len())..]
    }

    /// When the run ended; `None` if samples were not read.
    pub fn end(&self) -> Option<Time> {
        self.samples.last().map(|sample| sample.time)
    }

    /// Whether the run is complete and was not limited by `until`.
    pub fn is_over(&self) -> bool {
        self.summary.complete && self.promises.until.is_none()
    }

    /// The ports of a host.
    pub fn ports_from(&self, host: u32) -> impl Iterator<Item = usize> + '_ {
        let name = self.ports.get(host as usize).map(|port| port.owner.as_str());
        (0..self.ports.len()).filter(move |port| Some(self.ports[*port].owner.as_str()) == name)
    }

    /// The ports whose links lead to a host.
    pub fn ports_to(&self, host: u32) -> impl Iterator<Item = usize> + '_ {
        let name = self.ports.get(host as usize).map(|port| port.owner.as_str());
        (0..self.ports.len()).filter(move |port| Some(self.ports[*port].peer.as_str()) == name)
    }
}

impl Promises {
    /// The promises of the run that the summary describes; the weakest ones if the experiment has
    /// no such run.
    fn for_run(experiment: &Experiment, summary: &RunSummary) -> Promises {
        let scene = experiment.scenes.iter().find(|scene| scene.point == summary.point);
        let scheme = scene
            .and_then(|scene| scene.schemes.iter().find(|scheme| scheme.name == summary.scheme));
        match scene.zip(scheme) {
            Some((scene, scheme)) => Promises::of_scheme(scene, scheme),
            None => Promises::default(),
        }
    }

    fn of_scheme(scene: &Scene, scheme: &SchemeOfScene) -> Promises {
        let settings = &scene.topology.settings;
        let is_like_all = scene.topology.kind.name != "custom";
        let common = Promises {
            until: scene.until,
            is_lossless: settings.number(&PROBABILITY) == 0.0,
            is_one_path: is_like_all,
            is_quiet_inside: true,
            header: Bytes::new(flowsched_units::PACKET_HEADER),
            ..Promises::default()
        };
        match &scheme.level {
            Level::Packets(scheme) => {
                let is_sprayed = scene.topology.routing == Routing::Spray || scheme.ns2_routing;
                let facts = scheme.facts();
                Promises {
                    has_packets: true,
                    is_one_path: is_like_all && !is_sprayed && !facts.is_spread,
                    is_quiet_inside: !facts.has_controllers,
                    ..common
                }
            }
            Level::Flows(level) => Promises {
                header: level.header,
                exact: exact(level),
                is_one_path: is_like_all && !level.is_omniscient && level.subflows.is_none(),
                ..common
            },
        }
    }
}

/// The acknowledgements of flows that start at once and send nothing but their bytes; `None` for
/// other flows.
fn exact(level: &FlowLevel) -> Option<Back> {
    let back = level.acknowledgements;
    let is_exact = level.admission == Admission::AtOnce;
    is_exact.then_some(Back { size: back.size.get(), packets: u64::from(back.packets) })
}
