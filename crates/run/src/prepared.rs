//! One run of an experiment, from its network and flows to its record.

use std::ops::ControlFlow;

use flowsched_experiment::results::{PortRow, RunKey, RunRecord, RunStart};
use flowsched_experiment::{Run, Scene};
use flowsched_schemes::world::{PortSample, Progress, Watch};
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
    meter: Meter,
}

impl<'a> Prepared<'a> {
    /// Builds the network and draws the flows.
    ///
    /// # Errors
    /// What only drawing all flows of a seed could show.
    pub fn new(scene: &'a Scene, run: Run) -> Result<Prepared<'a>, SettingError> {
        let meter = Meter::start();
        let network = scene.network()?;
        let workload = scene.workload(&network, run.seed)?;
        Ok(Prepared { scene, run, network, workload, meter })
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
            load_ports: load(self.scene, &self.network, &self.workload).ports,
        }
    }

    /// Has `simulator` simulate it. `samples` takes the samples of all ports at one time after the
    /// other, and ends the run with [`ControlFlow::Break`].
    ///
    /// # Errors
    /// Those of `simulator`.
    pub fn simulate(
        self,
        simulator: &Simulator,
        progress: &Progress,
        samples: &mut dyn FnMut(&[PortRow]) -> ControlFlow<()>,
    ) -> Result<RunRecord, RunError> {
        let Prepared { scene, run, network, workload, meter } = self;
        let mut rows = Vec::new();
        let mut hand_on = |of_ports: &[PortSample]| {
            rows.clear();
            rows.extend(of_ports.iter().map(port_row));
            samples(&rows)
        };
        let watch = Watch { progress, samples: &mut hand_on };
        let flows = &workload.flows;
        let outcome = simulator(Simulation { scene, run, network: &network, flows, watch })?;
        Ok(record(scene, run, &network, workload, outcome, meter.read()))
    }
}
