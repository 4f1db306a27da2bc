//! How fast the applications of flows hand over what is to be sent.

use flowsched_units::{Rate, SettingError, Settings, Value};

use crate::parameters::APPLICATION_RATE;

/// The rate at which applications hand over the flows of the settings. `None` if they hand over
/// everything at the start.
///
/// # Errors
/// If the rate is 0.
pub(crate) fn application_rate(settings: &Settings) -> Result<Option<Rate>, SettingError> {
    match settings.get(&APPLICATION_RATE) {
        Some(Value::Rate(rate)) if *rate == Rate::default() => {
            let problem =
                "`application_rate` is 0, so that the flows never end. Raise it, or remove it.";
            Err(SettingError::sentence(&APPLICATION_RATE, problem.to_owned()))
        }
        Some(Value::Rate(rate)) => Ok(Some(*rate)),
        _ => Ok(None),
    }
}
