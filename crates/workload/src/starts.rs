//! When the flows of a part start: by a Poisson process, or at fixed times.

use flowsched_units::{SettingError, Settings, Time, Value};
use rand::Rng;
use rand_chacha::ChaCha8Rng;

use crate::arrivals::Arrivals;
use crate::flow::LATEST;
use crate::parameters::{AT, EVERY, STAGGER};
use crate::random::stream;

/// Checks that `count` fixed starts of the settings are not too late.
///
/// # Errors
/// [`SettingError`] of `every` if they are.
///
/// # Panics
/// If the settings were not checked against [`crate::PARAMETERS`].
pub fn check_starts(settings: &Settings, count: u64) -> Result<(), SettingError> {
    if are_laid_down(settings) { Starts::laid_down(settings, count).map(drop) } else { Ok(()) }
}

/// Whether the settings fix the starts, so that nothing is drawn from a load.
pub(crate) fn are_laid_down(settings: &Settings) -> bool {
    settings.get(&AT).is_some()
}

/// The instants of a part's arrivals, never falling.
#[derive(Clone, Debug)]
pub(crate) enum Starts {
    Poisson(Box<Arrivals>),
    Every { next: Time, every: Time },
}

impl Starts {
    /// The fixed starts of the settings, for up to `count` flows.
    pub(crate) fn laid_down(settings: &Settings, count: u64) -> Result<Starts, SettingError> {
        let Some(Value::Time(at)) = settings.get(&AT) else {
            return Err(SettingError::sentence(
                &AT,
                "`at` is missing: the time of the first start.",
            ));
        };
        let (every, stagger) = (settings.time(&EVERY), settings.time(&STAGGER));
        let last = every.saturating_mul(count - 1).saturating_add(*at).saturating_add(stagger);
        if last >= LATEST {
            let found = format!("{every}, with which the last of {count} starts is at {last}");
            return Err(SettingError::new(&EVERY, found, format!("all starts before {LATEST}")));
        }
        Ok(Starts::Every { next: *at, every })
    }
}

impl Iterator for Starts {
    type Item = Time;

    fn next(&mut self) -> Option<Time> {
        match self {
            Starts::Poisson(arrivals) => arrivals.next(),
            Starts::Every { next, every } => {
                let now = *next;
                *next = now.saturating_add(*every);
                Some(now)
            }
        }
    }
}

/// Puts off each start of a part by a random time of its own.
#[derive(Clone, Debug)]
pub(crate) struct Stagger {
    most: Time,
    random: ChaCha8Rng,
}

impl Stagger {
    /// Delays of less than the settings' `stagger`, where starts are fixed.
    pub(crate) fn from_settings(settings: &Settings, seed: u64, part: u64) -> Stagger {
        let most = if are_laid_down(settings) { settings.time(&STAGGER) } else { Time::ZERO };
        Stagger { most, random: stream(seed, "stagger", part) }
    }

    pub(crate) fn put_off(&mut self, start: Time) -> Time {
        match self.most {
            Time::ZERO => start,
            most => start.saturating_add(Time::from_ps(self.random.random_range(0..most.as_ps()))),
        }
    }
}
