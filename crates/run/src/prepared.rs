//! One run of an experiment, from its network and flows to its record.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;

use flowsched_experiment::results::{PortRow, RunKey, RunRecord, RunStart};
use flowsched_experiment::{ProbeOfScene, Run, Scene};
use flowsched_schemes::world::{Every, PortSample, Probe, Probing, Progress, Seen, Threads, Watch};
use flowsched_topology::Network;
use flowsched_units::SettingError;
use flowsched_workload::Workload;

use crate::cost::Meter;
use crate::error::RunError;
use crate::record::{load, port_row, ports, record};
use crate::simulation::{Simulation, Simulator};

/// A run whose network is built and whose flows are drawn.
pub struct Prepared<'a> {
    scene: &'a Scene,
    run: Run,
    network: Network,
    workload: Workload,
    threads: NonZeroUsize,
    meter: Meter,
}

impl<'a> Prepared<'a> {
    /// Builds the network and draws the flows.
    ///
    /// # Errors
    /// Settings that turn out to be wrong only when all flows of a seed are drawn.
    pub fn new(scene: &'a Scene, run: Run) -> Result<Prepared<'a>, SettingError> {
        let meter = Meter::start();
        let network = scene.network()?;
        let workload = scene.workload(&network, run.seed)?;
        Ok(Prepared { scene, run, network, workload, threads: NonZeroUsize::MIN, meter })
    }

    /// This run on up to this many threads instead of one.
    #[must_use]
    pub fn on_threads(self, threads: NonZeroUsize) -> Prepared<'a> {
        Prepared { threads, ..self }
    }

    /// What is known of the run before it begins.
    pub fn start(&self) -> RunStart {
        let starts = || self.workload.flows.iter().map(|flow| flow.start);
        RunStart {
            key: RunKey {
                point: self.scene.point.clone(),
                scheme: self.scene.schemes[self.run.scheme].name.clone(),
                seed: self.run.seed,
            },
            ports: ports(&self.network),
            arrivals: starts().min().zip(starts().max()),
            random_starts: self.workload.load_asked.is_some(),
            links: self.scene.links.clone(),
            has_probe: self.scene.probe.is_some(),
            load_ports: load(self.scene, &self.network, &self.workload).ports,
        }
    }

    /// Simulates the run with `simulator`, without keeping samples or what the probe sees.
    ///
    /// # Errors
    /// Those of `simulator`.
    pub fn simulate(
        self,
        simulator: &Simulator,
        progress: &Progress,
    ) -> Result<RunRecord, RunError> {
        self.simulate_into(simulator, progress, &mut |_| ControlFlow::Continue(()), None)
    }

    /// Simulates the run with `simulator`. `samples` gets the samples of all ports, one time after
    /// the other, and `seen` gets what the experiment's probe sees. Either can end the run with
    /// [`ControlFlow::Break`].
    ///
    /// # Errors
    /// Those of `simulator`.
    pub fn simulate_into(
        self,
        simulator: &Simulator,
        progress: &Progress,
        samples: &mut dyn FnMut(&[PortRow]) -> ControlFlow<()>,
        seen: Option<&mut dyn FnMut(Seen) -> ControlFlow<()>>,
    ) -> Result<RunRecord, RunError> {
        let Prepared { scene, run, network, workload, threads, meter } = self;
        let mut rows = Vec::new();
        let mut hand_on = |of_ports: &[PortSample]| {
            rows.clear();
            rows.extend(of_ports.iter().map(port_row));
            samples(&rows)
        };
        let probe = scene.probe.as_ref().map(probe);
        let probing = probe.as_ref().zip(seen).map(|(probe, seen)| Probing { probe, seen });
        let at_end = || meter.add_thread();
        let threads = Threads { count: threads, at_end: &at_end };
        let watch = Watch { threads, progress, samples: &mut hand_on, probing };
        let (flows, parts) = (&workload.flows, &workload.parts);
        let outcome = simulator(Simulation { scene, run, network: &network, flows, parts, watch })?;
        Ok(record(scene, run, &network, workload, outcome, meter.read()))
    }
}

/// What the probe of an engine is to look at.
fn probe(of_scene: &ProbeOfScene) -> Probe {
    let ProbeOfScene { ports, flows, interval, .. } = of_scene;
    let every = interval.map_or(Every::Change, Every::Interval);
    Probe { ports: ports.clone(), flows: flows.clone(), every }
}
