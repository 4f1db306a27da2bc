//! The simulation beside the lab: every scheme of an experiment has a twin that is simulated.

use flowsched_experiment::results::SIMULATED;
use flowsched_experiment::{Experiment, SchemeOfScene};
use flowsched_run::SettingError;

/// Adds a twin for each scheme to the experiment, after all other schemes.
pub fn beside_simulations(mut experiment: Experiment) -> Experiment {
    for scene in &mut experiment.scenes {
        let twin = |scheme: &SchemeOfScene| SchemeOfScene {
            name: format!("{}{SIMULATED}", scheme.name),
            ..scheme.clone()
        };
        let twins: Vec<SchemeOfScene> = scene.schemes.iter().map(twin).collect();
        scene.schemes.extend(twins);
    }
    experiment
}

/// Whether this is the name of a twin.
pub fn is_simulated(scheme: &str) -> bool {
    scheme.ends_with(SIMULATED)
}

/// Refuses names that look like those of twins.
pub fn check_names(schemes: &[SchemeOfScene]) -> Result<(), SettingError> {
    let Some(scheme) = schemes.iter().find(|scheme| is_simulated(&scheme.name)) else {
        return Ok(());
    };
    let problem = format!(
        "\"{}\" ends with \"{SIMULATED}\", which names the simulation beside the lab. Use another name.",
        scheme.name
    );
    Err(SettingError::sentence("scheme.name", problem))
}
