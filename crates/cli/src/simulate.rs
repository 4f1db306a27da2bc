//! One run of an experiment: its network and flows, then the engine of its scheme's level.

use std::ops::ControlFlow;

use flowsched_experiment::results::{PortSample, RunKey, RunRecord, RunStart};
use flowsched_experiment::{Level, Run, Scene};
use flowsched_sim::Progress;
use flowsched_topology::Network;
use flowsched_units::SettingError;
use flowsched_workload::Workload;

use crate::cost::Meter;
use crate::record::{Ran, fluid_sample, load, packet_sample, ports, record};

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
            load_ports: load(self.scene, &self.network, &self.workload).ports,
        }
    }

    /// Runs it. `samples` takes the samples of all ports at one time after the other, and ends the
    /// run with [`ControlFlow::Break`].
    pub fn simulate(
        self,
        progress: &Progress,
        samples: &mut dyn FnMut(&[PortSample]) -> ControlFlow<()>,
    ) -> RunRecord {
        let ran = self.ran(progress, samples);
        let Prepared { scene, run, network, workload, meter } = self;
        let scheme = &scene.schemes[run.scheme].name;
        record(scene, scheme, run.seed, &network, workload, ran, meter.read())
    }

    fn ran(
        &self,
        progress: &Progress,
        samples: &mut dyn FnMut(&[PortSample]) -> ControlFlow<()>,
    ) -> Ran {
        let Prepared { scene, run: Run { seed, scheme, .. }, network, workload, .. } = self;
        let (network, flows, seed) = (network, workload.flows.as_slice(), *seed);
        let (sample_interval, until) = (scene.sample_interval, scene.until);
        let mut converted = Vec::new();
        match &scene.schemes[*scheme].level {
            Level::Packets(scheme) => {
                let routing = scene.topology.routing;
                let job =
                    flowsched_sim::Job { network, routing, flows, seed, sample_interval, until };
                let mut hand_on = |of_ports: &[flowsched_sim::PortSample]| {
                    converted.clear();
                    converted.extend(of_ports.iter().map(packet_sample));
                    samples(&converted)
                };
                let mut watch = flowsched_sim::Watch { progress, samples: &mut hand_on };
                flowsched_sim::run_watched(&job, scheme, &mut watch).into()
            }
            Level::Flows(scheme) => {
                let job =
                    flowsched_fluid::Job { network, flows, scheme, seed, sample_interval, until };
                let mut hand_on = |of_ports: &[flowsched_fluid::PortSample]| {
                    converted.clear();
                    converted.extend(of_ports.iter().map(fluid_sample));
                    samples(&converted)
                };
                let Progress { finished_flows, stop } = progress;
                let progress = flowsched_fluid::Progress { finished_flows, stop };
                let mut watch = flowsched_fluid::Watch { progress, samples: &mut hand_on };
                flowsched_fluid::run_watched(&job, &mut watch).into()
            }
        }
    }
}
