//! The first run of an experiment whose text is in a test.

use std::fs;

use flowsched_experiment::{Arguments, Experiment, Level, Source};
use flowsched_schemes::Scheme;
use flowsched_sim::Job;
use flowsched_topology::Network;
use flowsched_units::Time;
use flowsched_workload::Workload;

/// An experiment with its network and its flows for seed 1.
pub struct FirstRun {
    experiment: Experiment,
    pub network: Network,
    pub workload: Workload,
}

impl FirstRun {
    /// Reads the text of an experiment file. The files that it names are in the folder of experiments.
    pub fn of(text: &str) -> FirstRun {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../experiments");
        let open = |name: &str| {
            Ok(Source { name: name.into(), text: fs::read_to_string(format!("{folder}/{name}"))? })
        };
        let source = Source::new("test.toml", text);
        let experiment = Experiment::parse(&source, &Arguments::default(), &open).unwrap();
        let scene = &experiment.scenes[0];
        let network = scene.network().unwrap();
        let workload = scene.workload(&network, 1).unwrap();
        FirstRun { network, workload, experiment }
    }

    /// The first scheme.
    pub fn scheme(&self) -> &Scheme {
        match &self.experiment.scenes[0].schemes[0].level {
            Level::Packets(scheme) => scheme,
            Level::Flows(_) => panic!("the scheme has no packets"),
        }
    }

    /// The flows on the network, without samples.
    pub fn job(&self) -> Job<'_> {
        let scene = &self.experiment.scenes[0];
        Job {
            network: &self.network,
            routing: scene.topology.routing,
            flows: &self.workload.flows,
            seed: 1,
            sample_interval: Time::ZERO,
            until: scene.until,
        }
    }
}
