//! An experiment, complete and checked.

use flowsched_topology::{LOSS, Network, ROUTING, Routing, TopologyKind};
use flowsched_units::{Parameter, SettingError, Settings, Time};
use flowsched_workload::{PartError, Workload};

use crate::engine::Engine;
use crate::inputs::Input;
use crate::parameters::KIND;
use crate::probe::ProbeOfScene;
use crate::results::{NamedLink, Order, Point};
use crate::scheme::SchemeOfScene;
use crate::workload::WorkloadOfScene;

/// An experiment with all its runs, complete and checked.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// The title of the report.
    pub name: String,
    /// The number of seeds.
    pub seeds: u64,
    /// The first seed.
    pub first_seed: u64,
    /// The varied keys, in the order of the points' values.
    pub varied: Vec<String>,
    /// The scenes: one, or one for every point of the varied keys.
    pub scenes: Vec<Scene>,
    /// The orders of schemes that the report checks.
    pub orders: Vec<Order>,
    /// The files that the experiment refers to.
    pub inputs: Vec<Input>,
    /// Warnings about what is allowed but may be wrong: keys without effect, and settings that
    /// contradict each other.
    pub warnings: Vec<String>,
    pub(crate) resolved: String,
}

/// The parts that the runs of one point share.
#[derive(Clone, Debug)]
pub struct Scene {
    /// The values of the varied keys.
    pub point: Point,
    /// The engine.
    pub engine: Engine,
    /// The time between two samples of the ports.
    pub sample_interval: Time,
    /// The links that the report covers.
    pub links: Vec<NamedLink>,
    /// The ports and flows that are recorded over time, if any.
    pub probe: Option<ProbeOfScene>,
    /// The time at which a run stops; `None` if it stops with its last flow.
    pub until: Option<Time>,
    /// The network.
    pub topology: Topology,
    /// The workload.
    pub workload: WorkloadOfScene,
    /// The schemes.
    pub schemes: Vec<SchemeOfScene>,
}

/// A network to build.
#[derive(Clone, Debug)]
pub struct Topology {
    /// The kind of network.
    pub kind: &'static TopologyKind,
    /// A value for each of the kind's parameters, and for `kind`, `routing`, `loss` and `loss_on`.
    pub settings: Settings,
    /// How packets choose among equal paths.
    pub routing: Routing,
}

/// One run: one scheme on one flow sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The scene, by its place in [`Experiment::scenes`].
    pub scene: usize,
    /// The scheme, by its place in [`Scene::schemes`].
    pub scheme: usize,
    /// The seed of the flow sequence and of everything random in the network.
    pub seed: u64,
}

impl Experiment {
    /// Every run. Runs with the same flow sequence follow each other.
    pub fn runs(&self) -> Vec<Run> {
        let mut runs = Vec::new();
        for (scene, Scene { schemes, .. }) in self.scenes.iter().enumerate() {
            for seed in (0..self.seeds).map(|index| self.first_seed + index) {
                runs.extend((0..schemes.len()).map(|scheme| Run { scene, scheme, seed }));
            }
        }
        runs
    }

    /// The same experiment with `seed` as its only seed.
    #[doc(hidden)]
    pub fn with_seed(&self, seed: u64) -> Experiment {
        let mut is_top = true;
        let set = |line: &str| {
            // Both keys stand before the first table.
            is_top &= !line.starts_with('[');
            match line.split_once(" = ") {
                Some(("seed", _)) if is_top => format!("seed = {seed}\n"),
                Some(("seeds", _)) if is_top => "seeds = 1\n".to_owned(),
                _ => line.to_owned(),
            }
        };
        let resolved = self.resolved.split_inclusive('\n').map(set).collect();
        Experiment { resolved, first_seed: seed, seeds: 1, ..self.clone() }
    }

    /// The experiment as a file in which every default is filled in. Its inputs are expected beside
    /// the file. Reading the file gives the same experiment.
    pub fn resolved(&self) -> &str {
        &self.resolved
    }
}

impl Topology {
    /// The parameters of the `[topology]` table.
    pub fn parameters(&self) -> impl Iterator<Item = &'static Parameter> {
        let of_all = std::iter::once(&ROUTING).chain(LOSS);
        std::iter::once(&KIND).chain(self.kind.parameters).chain(of_all)
    }
}

impl Scene {
    /// The network of every run.
    ///
    /// # Errors
    /// None: reading the experiment has found all mistakes of the network.
    pub fn network(&self) -> Result<Network, SettingError> {
        flowsched_topology::build(self.topology.kind.name, &self.topology.settings)
    }

    /// The flow sequence of `seed`, the same for every scheme.
    ///
    /// # Errors
    /// If the sizes and the load give flows that are not allowed, such as one that starts too late.
    pub fn workload(&self, network: &Network, seed: u64) -> Result<Workload, SettingError> {
        self.workload.flows(network, seed).map_err(|PartError { error, .. }| error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameters::{PARAMETERS, SEEDS};

    #[test]
    fn another_seed_is_as_if_the_file_said_so() {
        let file = |seeds: &str| {
            let text = format!(
                "{seeds}\ntopology = {{ kind = \"star\", hosts = 3 }}\n\
                 workload = {{ sizes = \"fixed 10KB\", flows = 5, load = 0.5 }}\n\
                 scheme = [{{ preset = \"dctcp\" }}]\n"
            );
            let no_inputs = |_: &str| Err(std::io::ErrorKind::NotFound.into());
            let source = crate::Source::new("a.toml", text);
            Experiment::parse(&source, &crate::Arguments::default(), &no_inputs).unwrap()
        };
        let (other, said) = (file("seeds = 3").with_seed(7), file("seed = 7"));
        assert_eq!(other.resolved(), said.resolved());
        assert_eq!(other.runs(), said.runs());
    }

    #[test]
    fn defaults_are_of_their_kinds() {
        assert_eq!(Settings::defaults(PARAMETERS).count(&SEEDS), 1);
    }
}
