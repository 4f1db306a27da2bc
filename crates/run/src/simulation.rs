//! A run that is ready to be simulated, with the engine of its scheme's level.

use flowsched_experiment::results::RunKey;
use flowsched_experiment::{Level, Run, Scene, SchemeOfScene};
use flowsched_schemes::Scheme;
use flowsched_schemes::tagger::Tagging;
use flowsched_schemes::transport::Transport;
use flowsched_schemes::world::{Controllers, Outcome, Parts, Ports, Watch};
use flowsched_topology::{Network, Routing};
use flowsched_units::SettingError;
use flowsched_workload::{Flow, FlowParts};

use crate::error::RunError;

/// Simulates a run.
pub type Simulator = dyn Fn(Simulation<'_>) -> Result<Outcome, RunError> + Send + Sync;

/// A run that is ready to be simulated, once.
pub struct Simulation<'a> {
    pub(crate) scene: &'a Scene,
    pub(crate) run: Run,
    pub(crate) network: &'a Network,
    pub(crate) flows: &'a [Flow],
    pub(crate) parts: &'a FlowParts,
    pub(crate) watch: Watch<'a>,
}

/// Refuses `engine = "fluid"` and schedules where packets are needed.
#[doc(hidden)]
pub fn no_packets() -> SettingError {
    let problem = "Fluids and schedules have no packets. Use `engine = \"packet\"` and a transport that \
                   sends packets.";
    SettingError::sentence("engine", problem)
}

impl<'a> Simulation<'a> {
    /// The scheme of the run as in the experiment file: its name, and a value for each of its keys.
    pub fn scheme(&self) -> &'a SchemeOfScene {
        &self.scene.schemes[self.run.scheme]
    }

    /// Which run of the experiment it is.
    #[doc(hidden)]
    pub fn key(&self) -> RunKey {
        RunKey {
            point: self.scene.point.clone(),
            scheme: self.scheme().name.clone(),
            seed: self.run.seed,
        }
    }

    /// Whether a real memcached serves each flow in the lab.
    #[doc(hidden)]
    pub fn served_by_memcached(&self) -> Vec<bool> {
        let served = self.scene.workload.parts_of_memcached();
        // A workload without parts is one part without a name, although `size_parts` may have named its flows.
        let serves_all = served == [""];
        let is_served = |flow| serves_all || served.contains(&self.parts.name_of(flow));
        (0..self.flows.len()).map(is_served).collect()
    }

    /// Simulates the run as the experiment file says.
    ///
    /// # Errors
    /// None. The type is that of [`Simulation::run_parts`].
    pub fn run(mut self) -> Result<Outcome, SettingError> {
        Ok(match &self.scheme().level {
            Level::Packets(scheme) => {
                flowsched_sim::run_watched(&self.packet_job(), scheme, &mut self.watch)
            }
            Level::Flows(scheme) => {
                let Simulation { scene, run: Run { seed, .. }, network, flows, .. } = self;
                let (sample_interval, until) = (scene.sample_interval, scene.until);
                let job =
                    flowsched_fluid::Job { network, flows, scheme, seed, sample_interval, until };
                flowsched_fluid::run_watched(&job, &mut self.watch)
            }
        })
    }

    /// Simulates the run's packets with these parts in the place of those that the file names.
    ///
    /// # Errors
    /// If the file asks for `engine = "fluid"` or for a schedule, which have no packets; or if it
    /// sprays packets and the transport needs all packets of a flow on one path.
    pub fn run_parts<T, G, P, C>(
        mut self,
        parts: Parts<T, G, P, C>,
    ) -> Result<Outcome, SettingError>
    where
        T: Transport,
        G: Tagging<T::Header>,
        P: Ports<T::Header, Port: Send>,
        C: Controllers<T::Header>,
    {
        let Level::Packets(scheme) = &self.scheme().level else {
            let problem = "Parts of your own send packets. Use `engine = \"packet\"` and a transport \
                           that sends packets.";
            return Err(SettingError::sentence("engine", problem));
        };
        let job = self.packet_job().under(scheme);
        if T::NEEDS_ONE_PATH && job.routing == Routing::Spray {
            let problem = "`routing = \"spray\"` does not work with a transport that needs one path. \
                           Use `routing = \"ecmp\"`.";
            return Err(SettingError::sentence("topology.routing", problem));
        }
        Ok(flowsched_sim::run_parts_on_threads(&job, parts, &mut self.watch))
    }

    /// The job, the scheme and the watch of the run, for a world outside this crate.
    ///
    /// # Errors
    /// If the file asks for `engine = "fluid"` or for a schedule, which have no packets.
    #[doc(hidden)]
    pub fn into_packets(
        self,
    ) -> Result<(flowsched_sim::Job<'a>, &'a Scheme, Watch<'a>), SettingError> {
        let Level::Packets(scheme) = &self.scheme().level else {
            return Err(no_packets());
        };
        Ok((self.packet_job(), scheme, self.watch))
    }

    fn packet_job(&self) -> flowsched_sim::Job<'a> {
        let Simulation { scene, run, network, flows, .. } = self;
        flowsched_sim::Job {
            network,
            routing: scene.topology.routing,
            flows,
            seed: run.seed,
            sample_interval: scene.sample_interval,
            until: scene.until,
        }
    }
}
