//! Decides which keys of a workload have an effect, given its other keys.

use flowsched_units::Settings;
use flowsched_workload::PATTERNS;
use flowsched_workload::parameters::{AT, EVERY, LOAD, LOAD_OF, PATTERN, SHARE, STAGGER};

/// How start times are determined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Starts {
    /// Random, from a load.
    Poisson,
    /// Fixed, from `at`.
    Fixed,
}

const OF_POISSON: [&str; 3] = [LOAD.name, LOAD_OF.name, SHARE.name];
const OF_FIXED: [&str; 3] = [AT.name, EVERY.name, STAGGER.name];

/// How the start times of flows with these settings are determined.
pub(crate) fn starts_of(settings: &Settings) -> Starts {
    if settings.get(&AT).is_some() { Starts::Fixed } else { Starts::Poisson }
}

/// Whether the two keys exclude each other: one belongs to a load, the other to fixed start times.
pub(crate) fn exclude_each_other(one: &str, other: &str) -> bool {
    let apart = |one, other| OF_POISSON.contains(one) && OF_FIXED.contains(other);
    apart(&one, &other) || apart(&other, &one)
}

/// Returns why `key` has no meaning beside the other keys; `None` if it has one.
pub(crate) fn misplaced(settings: &Settings, key: &str) -> Option<String> {
    let pattern = settings.text(&PATTERN);
    if let Some(owners) = owner_other_than(&pattern, key) {
        return Some(format!(
            "`{key}` works with the pattern {owners}, and the pattern here is {pattern}. Remove \
             `{key}` or change `pattern`."
        ));
    }
    match starts_of(settings) {
        Starts::Poisson if key != AT.name && OF_FIXED.contains(&key) => Some(format!(
            "`{key}` needs `at`, the time of the first start. Add `at` or remove `{key}`."
        )),
        Starts::Fixed if OF_POISSON.contains(&key) => Some(format!(
            "`{key}` conflicts with `at`: start times are either random or fixed. Remove one of \
                 them."
        )),
        _ => None,
    }
}

/// The patterns that `key` belongs to; `None` if it belongs to all, or to `pattern` among others.
pub(crate) fn owner_other_than(pattern: &str, key: &str) -> Option<String> {
    let owners: Vec<&str> = PATTERNS
        .iter()
        .filter(|pattern| pattern.own_keys.contains(&key))
        .map(|pattern| pattern.name)
        .collect();
    (!owners.is_empty() && !owners.contains(&pattern)).then(|| owners.join(" or "))
}
